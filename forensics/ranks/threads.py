"""The threads of a rank: which one is at work, whether it stands in a collective call, and whether the process is a rank at all.

"MainThread"  wait (threading.py:320) < result (_base.py:451) < learn (train.py:94)      it waits for the other thread
"exchange_0"  all_reduce (distributed_c10d.py:2810) < mean (train.py:30)                  -> at work, in a collective call
"""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType

from msgspec.structs import replace

from forensics.capture.live_stacks import numbered as numbered_marks
from forensics.capture.rank_dumps import TASK_PREFIX
from forensics.database.tables import read_table
from forensics.model.dumps import Frame
from forensics.model.stacks import ProcessStacks, ThreadStack
from forensics.readers.identity.entity_ids import rank_of_file_name
from forensics.readers.python.library_files import installed_package, is_library_file

COLLECTIVE_FILES = ("torch/distributed/", "distributed_c10d.py", "c10d_logger.py", "libnccl", "libmpi.so")
WRAPPED_MODEL = "torch/nn/parallel/distributed.py"  # its innermost frame calls into C++, which makes the collective calls
TAKES_INTERPRETER = (  # ends of names of native functions that wait for the interpreter's lock
    *("take_gil", "PyEval_RestoreThread", "PyEval_AcquireThread", "PyGILState_Ensure"),
    *("::~gil_scoped_release", "::gil_scoped_acquire"),
)
AGENT_FOLDER = "torch/distributed/elastic/agent/"  # of the process that starts torchrun's ranks and ends them
LAUNCHER_FRAMES = (  # file and function in the stack of a process that starts the ranks and waits for them
    (AGENT_FOLDER, ""),
    ("torch/distributed/launcher/", ""),
    ("torch/distributed/run.py", ""),
    ("torch/multiprocessing/spawn.py", "start_processes"),
    ("accelerate/commands/launch.py", ""),
    ("deepspeed/launcher/", ""),
)
CHILD_FILE = "multiprocessing/process.py"  # in the stack of a process that another Python process started, as a data loader's
CHILD_STARTS = "_bootstrap"  # the function of that file in which each child starts, and once more in a child of a child by fork
LOADER_FILE, LOADER_WAITS = "utils/data/dataloader.py", "_try_get_data"  # where a rank waits for a worker of its data loader
WORKER_FILE = "utils/data/_utils/worker.py"
HELPER_FILES = (WORKER_FILE, "multiprocessing/pool.py", "concurrent/futures/process.py", "multiprocessing/managers.py")
OWN_PROGRAMS = ("forensics/capture/__main__.py", "forensics/__main__.py")
GUARD_FILE = "forensics/capture/guard.py"
OWN_PACKAGE = GUARD_FILE.partition("/")[0]
NATIVE_CALLS = "c10d::"  # of the library's code in C++, where py-spy --native shows it: c10d::Work::wait
UNNAMED_CALL = "a collective call"
STARTING = "init_process_group"
SHOWN_FRAMES = 4  # of Python; chosen by hand
BACKWARD = "_engine_run_backward"  # another thread runs the hooks meanwhile
POOL_FILE = "concurrent/futures/thread.py"  # below what a thread of a pool runs
FUTURE_FILE = "concurrent/futures/_base.py"
THREAD_FILES = ("threading.py", "queue.py", FUTURE_FILE)  # of a frame that waits for another thread
EVENT_LOOP = "asyncio/base_events.py"  # its innermost frames wait for a thread, too, or for a time or the network
TO_THREAD_FILE = "asyncio/threads.py"  # of a coroutine that waits for a thread
TASK_FILES = ("asyncio/queues.py", "asyncio/locks.py", TO_THREAD_FILE)  # of one that waits for another task, or for a thread
TASKS_FILE, TASK_WAITS = "asyncio/tasks.py", ("wait", "wait_for", "_wait", "_wait_for_one")
SPAWN_FILE, SPAWNED = "torch/multiprocessing/spawn.py", "_wrap"  # the outermost function of torch in a rank that it spawned


def at_work(stacks: ProcessStacks, callers: Collection[Frame] = (), ordinary: Collection[Frame] = ()) -> ThreadStack | None:
    """The main thread; while it waits for the backward pass, the thread that runs a hook, and while it waits for another thread
    or task, the one that stands in a collective call, else one of `callers`, that began where those of other ranks did that stand
    in one, else the one that computes, else the one that waits for something else than others. `ordinary`: the innermost frames
    of the program in such threads of several ranks."""
    main = stacks.main
    if main is None:
        return None
    rest = [t for t in stacks.threads if t is not main and t.frames]
    if _waits_for_gradients(main):
        return next((t for t in rest if t.name in ("", "Dummy-1")), main)
    in_loop = in_event_loop(main)  # its callbacks may wait for another thread
    if (in_loop or _waits_for_thread(main)) and not in_collective(main):
        called = next(filter(in_collective, rest), None)
        called = called or next((t for t in rest if begun_at(t) in callers and not _waits_for_thread(t)), None)
        own = [t for t in rest if program_frames(t.frames)]
        called = called or next((t for t in own if t.state.startswith("active")), None) or _awaited(main, own, ordinary)
        called = called or next((t for t in rest if begun_at(t) in callers), None)
        of_pool = (t for t in own if any(f.file.endswith(POOL_FILE) for f in t.frames))
        for_pool = in_loop or any(f.file.endswith(FUTURE_FILE) for f in shown_frames(main))
        shown = main if program_frames(main.frames) else next(iter(own), main)  # at its end it waits for that of its threads
        return called or (next(of_pool, shown) if for_pool else shown)
    return main


def _awaited(main: ThreadStack, own: Iterable[ThreadStack], ordinary: Collection[Frame]) -> ThreadStack | None:
    """The thread or task for which others of its process wait: it waits for none of them, and is one that an event loop runs, or
    runs code of the file in which the main thread waits."""
    here = next((f.file for f in program_frames(main.frames)), "")
    waiting = (t for t in own if not _waits_for_thread(t) and program_frames(t.frames)[0] not in ordinary)
    return next((t for t in waiting if t.name.startswith(TASK_PREFIX) or any(f.file == here for f in t.frames)), None)


def _waits_for_thread(thread: ThreadStack) -> bool:
    """Does it wait for another thread, or for another task of its event loop?"""
    inner = thread.frames[thread.innermost]
    return inner.file.endswith((*THREAD_FILES, *TASK_FILES)) or (inner.file.endswith(TASKS_FILE) and inner.function in TASK_WAITS)


def asking_for(stacks: ProcessStacks, thread: ThreadStack) -> tuple[Frame, ...]:
    """The frames, innermost first, that wait for what `thread` calls for them: those of the main thread, or of the one task of
    its event loop that waits for a thread; none where it is the main thread itself."""
    main = stacks.main
    if main is None or main is thread:
        return ()
    tasks = [t for t in stacks.threads if t.name.startswith(TASK_PREFIX) and t.frames[0].file.endswith(TO_THREAD_FILE)]
    return tasks[0].frames if len(tasks) == 1 else main.frames


def program_frames(frames: Sequence[Frame], files: Sequence[str] = (), packages: Collection[str] = ()) -> list[Frame]:
    """The frames of the program itself, innermost first. `files`, `packages`: those of the program that dumps show. A program
    that is itself installed is the package of its outermost frame."""
    given = [f for f in frames if f.line and not is_library_file(f.file)]
    if own := [f for f in given if _is_of_program(f.file, files, packages)] or [f for f in given if "/" not in f.file]:
        return own
    names = (installed_package(f.file) for f in reversed(frames))
    package = next((name for name in names if name not in ("", "torch")), None)
    return [f for f in frames if f.line and installed_package(f.file) == package]


def parting(one: Sequence[Frame], other: Sequence[Frame]) -> tuple[int, Frame, Frame] | None:
    """The first frame, seen from the outermost one, at which two stacks are not at one line: its number, and both frames. Both
    are given outermost first."""
    return next(((n, a, b) for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)


def fork_of(one: Sequence[Frame], other: Sequence[Frame]) -> tuple[Frame, Frame] | None:
    """The lines of one function at which two stacks part; None where their innermost frames are these. Both are given outermost
    first."""
    _, mine, theirs = parting(one, other) or (0, None, None)
    if not mine or not theirs or (mine.file, mine.function) != (theirs.file, theirs.function):
        return None
    return None if (mine, theirs) == (one[-1], other[-1]) else (mine, theirs)


def _is_of_program(file: str, files: Sequence[str], packages: Collection[str]) -> bool:
    """py-spy shortens paths: `train.py` stands for `/home/u/train.py`, `data/loader.py` for `/home/u/data/loader.py`, and
    `queue.py` for one of Python's own. Where no dump tells the files of the program, they are those of no known package."""
    module, is_in_folder, _ = file.removesuffix(".py").partition("/")
    if file.startswith("/"):
        return file in files or file.endswith(".py")
    if any(own.endswith("/" + file) for own in files) or (is_in_folder and module in packages):
        return True
    if (is_in_folder and files) or not file.endswith(".py") or module in sys.stdlib_module_names:
        return False
    return not is_in_folder or module not in _known_packages()


@cache
def _known_packages() -> frozenset[str]:
    """The names by which programs import packages that are known, and that of this one."""
    return frozenset({OWN_PACKAGE, *read_table("import_names")})


def begun_at(thread: ThreadStack) -> Frame | None:
    """The function of the program that a thread runs, without a line."""
    own = program_frames(thread.frames)
    return replace(own[-1], line=0) if own else None


def in_event_loop(thread: ThreadStack) -> bool:
    """Is the thread in the loop of asyncio, and in no callback of it?"""
    inner = shown_frames(thread)
    return any(f.file.endswith(EVENT_LOOP) and f.function.endswith("_run_once") for f in inner)


def waits_for_loader(thread: ThreadStack) -> bool:
    """Does the thread wait for a worker of its data loader?"""
    return any(f.file.endswith(LOADER_FILE) and f.function.endswith(LOADER_WAITS) for f in thread.frames)


def loads_for_another(main: ThreadStack) -> bool:
    """Is it a worker of a data loader that runs code of the program, and does not wait for work? A forked one has the frames of
    its parent below its own."""
    at = next((n for n, f in enumerate(main.frames) if f.file.endswith(WORKER_FILE)), 0)
    return bool(program_frames(main.frames[:at]))


def shown_frames(thread: ThreadStack) -> tuple[Frame, ...]:
    """The innermost frames, which say what a thread does: some of Python, and those of native code in front of them."""
    return thread.frames[: thread.innermost + SHOWN_FRAMES]


def in_collective(thread: ThreadStack) -> bool:
    """Does the thread wait in a collective call? Not if that call is done, and waits for the interpreter."""
    if is_launcher(thread) or takes_interpreter(thread):
        return False
    by_model = thread.frames[thread.innermost].file.endswith(WRAPPED_MODEL)
    by_native = any(frame.function.startswith(NATIVE_CALLS) for frame in thread.frames[: thread.innermost])
    return by_model or by_native or any(part in frame.file for frame in shown_frames(thread) for part in COLLECTIVE_FILES)


def takes_interpreter(thread: ThreadStack) -> bool:
    """Does a thread wait in native code for the interpreter's lock?"""
    return any(frame.function.endswith(TAKES_INTERPRETER) for frame in thread.frames[: thread.innermost])


def collective_name(thread: ThreadStack) -> str:
    """What the thread called: the innermost function of the library's Python files."""
    return next((f.function for f in thread.frames if f.file.endswith(COLLECTIVE_FILES[1])), UNNAMED_CALL)


def waits_in_call(thread: ThreadStack) -> bool:
    """Does the thread wait in a collective call, or for the backward pass, which makes those of gradients?"""
    return in_collective(thread) or (not thread.state.startswith("active") and _waits_for_gradients(thread))


def _waits_for_gradients(thread: ThreadStack) -> bool:
    """Does the thread stand in the backward pass, and not in a hook that it calls?"""
    at = next((n for n, f in enumerate(shown_frames(thread)) if f.function == BACKWARD), None)
    return at is not None and not any(f.file.endswith(".py") for f in thread.frames[:at])


def is_launcher(thread: ThreadStack) -> bool:
    """Is it the thread of a launcher, which waits for the ranks?"""
    inner = shown_frames(thread)
    return any(file in f.file and function in f.function for f in inner for file, function in LAUNCHER_FRAMES)


def is_ranks_own(one: ProcessStacks, known: ProcessStacks | None) -> bool:
    """Are they the stacks of a rank, and not of its launcher or of its helpers, which have the rank in their environment, too?
    A helper was started later than its rank. `known`: those of the same rank that were seen before."""
    own = one.main.frames if one.main else ()
    if not _may_be_rank(one) or any(f.file.endswith(GUARD_FILE) and f.function.endswith("__exit__") for f in own):
        return False  # it left what guard() watches, and its thread waits for the report
    return known is None or _helper_order(one) <= _helper_order(known)


def _may_be_rank(one: ProcessStacks) -> bool:
    """Is it no launcher, and not what guard() started beside a rank, which has the rank in its environment, too?"""
    own = one.main.frames if one.main else ()
    ends_ranks = any(AGENT_FOLDER in f.file for f in own) and not any(CHILD_FILE in f.file for f in own)  # also deep in a wait
    is_one = one.main is not None and not is_launcher(one.main) and not ends_ranks
    return is_one and not any(f.file.endswith(OWN_PROGRAMS) for f in own)


def _has_shared_rank(given: Iterable[ProcessStacks]) -> bool:
    """Do several processes wait in collective calls at one moment that have one rank, which a program got that started them?"""
    waiting = [one for one in given if one.rank is not None and one.taken and (t := at_work(one)) and waits_in_call(t)]
    return len({(one.host, one.taken, one.rank) for one in waiting}) < len({(one.host, one.taken, one.pid) for one in waiting})


def _helper_order(one: ProcessStacks) -> tuple[bool, int]:
    frames = one.main.frames if one.main else ()
    return any(f.file.endswith(CHILD_FILE) for f in frames), one.pid or 0


def of_one_moment(stacks: Iterable[ProcessStacks], gave_up_at: Collection[str] = (), ranks: int = 0) -> list[ProcessStacks]:
    """Of stacks that were taken several times, those of each host's moment in which a process waits in a call, and most wait at
    the lines at which `ranks` gave up (`gave_up_at`), no more than those, then most stand where they stand at another moment,
    too, then most wait, then most are there, then the last: before it they started or paused, after it they gave up. Beside
    stacks with a moment, those without one stay, and those of no known process."""
    every = list(stacks)
    given = [one for one in every if one.pid is not None or one.rank is not None]
    frames = {id(one): thread.frames for one in given if (thread := at_work(one))}
    starts = {key for key, own in frames.items() if any(f.function == STARTING for f in own)}
    waits = [one for one in given if (t := at_work(one)) and waits_in_call(t) and id(one) not in starts]
    moments = {id(one): one.look if one.taken is None else one.taken for one in given}
    at = {id(one): (one.host, moments[id(one)]) for one in given}
    waiting = Counter(at[id(one)] for one in waits)
    ending = Counter(at[id(one)] for one in waits if any(f.place in gave_up_at for f in program_frames(frames[id(one)])[:1]))
    present = Counter(at.values())
    stood = Counter((one.host, one.pid, frames.get(id(one))) for one in given)
    steady = Counter(at[id(one)] for one in given if stood[one.host, one.pid, frames.get(id(one))] > 1)
    best: dict[str, tuple[bool, int, int, int, int, float]] = {}
    for host, moment in at.values():
        here = host, moment
        known = min(ending[here], ranks), steady[here] if waiting[here] else 0
        key = waiting[here] > 0, *known, waiting[here], present[here], moment
        best[host] = max(best.get(host, key), key)
    timed = any(one.taken is not None for one in given)
    kept = {id(one) for one in given if (timed and one.taken is None) or moments[id(one)] == best[one.host][-1]}
    return [one for one in every if id(one) in kept or id(one) not in moments]


def ranked(
    stacks: Iterable[ProcessStacks], numbered: Mapping[str, int], logged: Mapping[int, int] = MappingProxyType({})
) -> list[ProcessStacks]:
    """Stacks with the ranks of those that tell none. Others may tell it of the same process, or a log by its pid (`logged`); else
    those are ranks that one process started, or that are of one program, of which one waits in a collective call, by the numbers
    that tell them apart, or that run one command, in the order of their pids. Several hosts may have one number. `numbered`:
    those of the names of their sources."""
    given = list(stacks)
    if not any(one.rank is not None for one in given):
        given = [replace(one, rank=logged.get(one.pid or 0)) for one in given]
    if _has_shared_rank(given):
        given = [replace(one, rank=None) for one in given]
    told = {(one.host, one.pid): one.rank for one in given if one.rank is not None}
    hosts = {one.host for one in given if one.host}
    known = {one.pid: one.rank for one in given if one.rank is not None and _may_be_rank(one)}
    found = _alike(given) if known else max(_families(given, numbered), key=lambda f: (_waiting(f), _is_named(f)), default=[])
    if len(hosts) > 1 or (known and not known.items() <= {one.pid: rank for one, rank in found}.items()):
        return [replace(one, rank=told.get((one.host, one.pid))) if one.rank is None and one.pid else one for one in given]
    is_told = known or _waiting(found) or _is_named(found)
    ranks = {one.pid or one.source: rank for one, rank in found} if is_told else {}
    by_name = {one.pid: rank_of_file_name(one.source) for one in given if is_told and not one.threads}  # nobody could look at it
    return [replace(one, rank=ranks.get(one.pid or one.source, by_name.get(one.pid))) for one in given]


def numbered_names(names: Iterable[str]) -> dict[str, int]:
    """The numbers by which names of sources differ that are otherwise the same: out/worker_0.log, out/worker_1.log."""
    return dict(chain.from_iterable(numbers.items() for numbers in numbered_marks([(name, [name]) for name in names])))


_Family = list[tuple[ProcessStacks, int]]


def _families(given: Sequence[ProcessStacks], numbered: Mapping[str, int]) -> Iterator[_Family]:
    """Processes that may be the ranks of a job, each with its number: those of one parent, those whose commands differ by a
    number, those of sources whose names do, and those that multiprocessing started, in that order."""
    given = [one for one in given if _may_be_rank(one)]
    for parent in dict.fromkeys(one.child[1] for one in given if one.child):
        yield [(one, one.child[0]) for one in given if one.child and one.child[1] == parent]
    pids = sorted({one.pid for one in given if one.pid is not None})
    commands = {one.command: one.pid for pid in reversed(pids) for one in given if one.pid == pid}  # of helpers with one
    for numbers in numbered_marks([(pid, [command]) for command, pid in commands.items()]):
        yield [(one, numbers[one.pid]) for one in given if one.pid in numbers]
    named = [(one, numbered[one.source]) for one in given if numbered.get(one.source, one.pid) != one.pid]
    ranks = [(one, rank) for one in given if (rank := rank_of_file_name(one.source)) is not None]
    yield ranks if _is_one_each(ranks) else []
    yield named if _is_one_each(named) else []  # and no number of a look
    yield _by_pid([one for one in given if _is_spawned(one)] or [one for one in given if _is_member(one)])
    yield _alike(given)


def _is_one_each(family: _Family) -> bool:
    """Has each process one number, and each number one process?"""
    pairs = {(one.pid or one.source, number) for one, number in family}
    return len(pairs) == len(dict(pairs)) == len({number for _, number in pairs})


def _alike(given: Iterable[ProcessStacks]) -> _Family:
    """Those that run one command from its first line, as a launcher starts its ranks, one after the other."""
    own = [
        one
        for one in given
        if one.command
        and (_may_be_rank(one) or not one.threads)
        and not any(map(_is_childs, one.main.frames if one.main else ()))
    ]
    pids: dict[str, set[int | None]] = {}
    for one in own:
        pids.setdefault(one.command, set()).add(one.pid)
    most = max(pids, key=lambda command: len(pids[command]), default="")
    return _by_pid([one for one in own if one.command == most and len(pids[most]) > 1])


def _is_childs(frame: Frame) -> bool:
    return frame.file.endswith(CHILD_FILE)  # below the loop of a helper, too, and not below what waits for one


def _by_pid(own: Sequence[ProcessStacks]) -> _Family:
    pids = sorted({one.pid for one in own if one.pid is not None})
    return [(one, pids.index(one.pid)) for one in own if one.pid is not None]


def _waiting(family: _Family) -> int:
    """How many of them wait in a collective call, or were started by PyTorch for the function of a rank."""
    return sum(1 for one, _ in family if _is_spawned(one) or ((thread := at_work(one)) and waits_in_call(thread)))


def _is_named(family: _Family) -> bool:
    """Do the names of their sources call those numbers ranks?"""
    return bool(family) and all(rank_of_file_name(one.source) == number for one, number in family)


def _is_spawned(one: ProcessStacks) -> bool:
    """Does the process run the function that each spawned rank runs, and not that of a helper, which has it below its own?"""
    frames = one.main.frames if one.main else ()
    at = next((n for n, f in enumerate(frames) if f.file.endswith(SPAWN_FILE) and f.function == SPAWNED), len(frames))
    return at < len(frames) and not any(f.file.endswith(CHILD_FILE) for f in frames[:at])


def _is_member(one: ProcessStacks) -> bool:
    """Does the process run a function as a child of the program's first one, and not the loop of a library's helper?"""
    frames = one.main.frames if one.main else ()
    started = [n for n, f in enumerate(frames) if f.file.endswith(CHILD_FILE) and f.function.endswith(CHILD_STARTS)]
    helper = next((n for n, f in enumerate(frames) if f.file.endswith(HELPER_FILES)), len(frames))
    return (
        len(started) == 1
        and bool(program_frames(frames[:helper]))
        and not frames[min(helper, *started)].file.endswith(WORKER_FILE)
    )
