"""The threads of a rank: which one is at work, whether it stands in a collective call, and whether the process is a rank at all.

"MainThread"  wait (threading.py:320) < result (_base.py:451) < learn (train.py:94)      it waits for the other thread
"exchange_0"  all_reduce (distributed_c10d.py:2810) < mean (train.py:30)                  -> at work, in a collective call
"""

from collections import Counter
from collections.abc import Iterable

from forensics.model.stacks import ProcessStacks, ThreadStack
from forensics.readers.python.library_files import is_others_code

COLLECTIVE_FILES = ("torch/distributed/", "distributed_c10d.py", "c10d_logger.py", "libnccl", "libmpi.so")
WRAPPED_MODEL = "torch/nn/parallel/distributed.py"  # its innermost frame calls into C++, which makes the collective calls
LAUNCHER_FRAMES = (  # file and function in the stack of a process that starts the ranks and waits for them
    ("torch/distributed/elastic/agent/", ""),
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
HELPER_FILES = (
    WORKER_FILE,
    "multiprocessing/pool.py",
    "concurrent/futures/process.py",
    "multiprocessing/managers.py",
)
OWN_PROGRAMS = ("forensics/capture/__main__.py", "forensics/__main__.py")
GUARD_FILE = "forensics/capture/guard.py"
UNNAMED_CALL = "a collective call"
STARTING = "init_process_group"
SHOWN_FRAMES = 4  # innermost ones that say what a thread does
BACKWARD = "_engine_run_backward"  # another thread runs the hooks meanwhile
POOL_FILE = "concurrent/futures/thread.py"  # below what a thread of a pool runs
FUTURE_FILE = "concurrent/futures/_base.py"
THREAD_FILES = ("threading.py", "queue.py", FUTURE_FILE)  # of a frame that waits for another thread
EVENT_LOOP = "asyncio/base_events.py"  # its innermost frames wait for a thread, too, or for a time or the network
SPAWN_FILE, SPAWNED = "torch/multiprocessing/spawn.py", "_wrap"  # the outermost function of torch in a rank that it spawned


def at_work(stacks: ProcessStacks) -> ThreadStack | None:
    """The main thread; while it waits for the backward pass, the thread that runs a hook, and while it waits for another thread,
    the one that stands in a collective call, else the one that computes."""
    main = stacks.main
    if main is None:
        return None
    rest = [t for t in stacks.threads if t is not main and t.frames]
    if _waits_for_gradients(main):
        return next((t for t in rest if t.name in ("", "Dummy-1")), main)
    if _waits_for_thread(main) and not in_collective(main):
        called = next(filter(in_collective, rest), None) or next(filter(_computes, rest), None)
        return called or (next(filter(_is_of_pool, rest), main) if _waits_for_pool(main) else main)
    return main


def _waits_for_thread(main: ThreadStack) -> bool:
    """Does the thread wait for another one, or do callbacks of an event loop, which may do so?"""
    return main.frames[0].file.endswith(THREAD_FILES) or in_event_loop(main)


def in_event_loop(thread: ThreadStack) -> bool:
    """Is the thread in the loop of asyncio, and in no callback of it?"""
    inner = thread.frames[:SHOWN_FRAMES]
    return any(f.file.endswith(EVENT_LOOP) and f.function.endswith("_run_once") for f in inner)


def _waits_for_pool(main: ThreadStack) -> bool:
    """Does the thread wait for what it gave to a pool of threads?"""
    return in_event_loop(main) or any(f.file.endswith(FUTURE_FILE) for f in main.frames[:SHOWN_FRAMES])


def _is_of_pool(thread: ThreadStack) -> bool:
    """Does a thread of a pool run code of the program, and not wait for work?"""
    return any(f.file.endswith(POOL_FILE) for f in thread.frames) and _runs_program(thread)


def _runs_program(thread: ThreadStack) -> bool:
    return any(f.line and not is_others_code(f.file) for f in thread.frames)


def waits_for_loader(thread: ThreadStack) -> bool:
    """Does the thread wait for a worker of its data loader?"""
    return any(f.file.endswith(LOADER_FILE) and f.function.endswith(LOADER_WAITS) for f in thread.frames)


def loads_for_another(main: ThreadStack) -> bool:
    """Is it a worker of a data loader that runs code of the program, and does not wait for work? A forked one has the frames of
    its parent below its own."""
    at = next((n for n, f in enumerate(main.frames) if f.file.endswith(WORKER_FILE)), 0)
    return any(f.line and not is_others_code(f.file) for f in main.frames[:at])


def _computes(thread: ThreadStack) -> bool:
    """Does the thread run code of the program, and not only that of a library?"""
    return thread.state.startswith("active") and _runs_program(thread)


def in_collective(thread: ThreadStack) -> bool:
    """Does the thread wait in a collective call?"""
    inner = thread.frames[:SHOWN_FRAMES]
    if is_launcher(thread):
        return False
    return inner[0].file.endswith(WRAPPED_MODEL) or any(part in frame.file for frame in inner for part in COLLECTIVE_FILES)


def collective_name(thread: ThreadStack) -> str:
    """What the thread called: the innermost function of the library's Python files."""
    return next((f.function for f in thread.frames if f.file.endswith(COLLECTIVE_FILES[1])), UNNAMED_CALL)


def waits_in_call(thread: ThreadStack) -> bool:
    """Does the thread wait in a collective call, or for the backward pass, which makes those of gradients?"""
    return in_collective(thread) or (not thread.state.startswith("active") and _waits_for_gradients(thread))


def _waits_for_gradients(thread: ThreadStack) -> bool:
    """Does the thread stand in the backward pass, and not in a hook that it calls?"""
    at = next((n for n, f in enumerate(thread.frames[:SHOWN_FRAMES]) if f.function == BACKWARD), None)
    return at is not None and not any(f.file.endswith(".py") for f in thread.frames[:at])


def is_launcher(thread: ThreadStack) -> bool:
    """Is it the thread of a launcher, which waits for the ranks?"""
    inner = thread.frames[:SHOWN_FRAMES]
    return any(file in f.file and function in f.function for f in inner for file, function in LAUNCHER_FRAMES)


def is_ranks_own(one: ProcessStacks, known: ProcessStacks | None) -> bool:
    """Are they the stacks of a rank, and not of its launcher or of its helpers, which have the rank in their environment, too?
    A helper was started later than its rank. `known`: those of the same rank that were seen before."""
    if one.main is None or is_launcher(one.main) or _has_left(one.main) or _watches(one.main):
        return False
    return known is None or _helper_order(one) <= _helper_order(known)


def _watches(main: ThreadStack) -> bool:
    """Is it the process that guard() started beside a rank, or that reports its end? It has the rank in its environment, too."""
    return any(f.file.endswith(OWN_PROGRAMS) for f in main.frames)


def _has_left(main: ThreadStack) -> bool:
    """Did the program end what guard() watches, so that its thread only waits for the report?"""
    return any(f.file.endswith(GUARD_FILE) and f.function.endswith("__exit__") for f in main.frames)


def _helper_order(one: ProcessStacks) -> tuple[bool, int]:
    frames = one.main.frames if one.main else ()
    return any(f.file.endswith(CHILD_FILE) for f in frames), one.pid or 0


def of_one_moment(stacks: Iterable[ProcessStacks]) -> list[ProcessStacks]:
    """Of stacks that were taken several times, those of each host's moment in which most processes waited in a call, then of the
    one with the most processes, then the last: before it they started, after it they gave up. Stacks without a moment stay."""
    given = list(stacks)
    threads = ((one, at_work(one)) for one in given)
    waiting = Counter(
        (one.host, one.taken) for one, thread in threads if thread and waits_in_call(thread) and not _starts(thread)
    )
    present = Counter((one.host, one.taken) for one in given)
    best: dict[str, tuple[int, int, float]] = {}
    for one in given:
        if one.taken is not None:
            at = one.host, one.taken
            best[one.host] = max(best.get(one.host, (0, 0, 0.0)), (waiting[at], present[at], one.taken))
    return [one for one in given if one.taken is None or one.taken == best[one.host][2]]


def _starts(thread: ThreadStack) -> bool:
    """Does the thread still wait for all ranks to start?"""
    return any(f.function == STARTING for f in thread.frames)


def started_ranks(stacks: Iterable[ProcessStacks]) -> dict[int, int]:
    """The ranks of processes that one Python process started on one host, by pid: it starts them in order, and tells none of them
    its number by the environment. Empty where stacks tell ranks, or are of several hosts."""
    given = [one for one in stacks if one.pid is not None and one.main is not None and not _watches(one.main)]
    if any(one.rank is not None for one in given) or len({one.host for one in given if one.host}) > 1:
        return {}
    own = [one for one in given if _is_spawned(one)] or _members(given)
    by_pid = {one.pid: one.child for one in own if one.pid is not None}
    numbers = {pid: child[0] for pid, child in by_pid.items() if child}
    told = len(numbers) == len(by_pid) == len(set(numbers.values()))
    return numbers if told else {pid: rank for rank, pid in enumerate(sorted(by_pid))}


def _is_spawned(one: ProcessStacks) -> bool:
    """Does the process run the function that each spawned rank runs, and not that of a helper, which has it below its own?"""
    frames = one.main.frames if one.main else ()
    at = next((n for n, f in enumerate(frames) if f.file.endswith(SPAWN_FILE) and f.function == SPAWNED), len(frames))
    return at < len(frames) and not any(f.file.endswith(CHILD_FILE) for f in frames[:at])


def _members(given: Iterable[ProcessStacks]) -> list[ProcessStacks]:
    """The processes that multiprocessing started for functions of the program, if one of them waits in a collective call."""
    found = [one for one in given if one.main and _is_member(one.main)]
    return found if any(waits_in_call(t) for one in found if (t := at_work(one))) else []


def _is_member(main: ThreadStack) -> bool:
    """Does the thread run a function in a child of the program's first process, and not the loop of a library's helper?"""
    started = [n for n, f in enumerate(main.frames) if f.file.endswith(CHILD_FILE) and f.function.endswith(CHILD_STARTS)]
    return len(started) == 1 and not any(f.file.endswith(HELPER_FILES) for f in main.frames[: started[0]])
