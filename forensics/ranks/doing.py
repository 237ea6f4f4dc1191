"""What a rank does outside of any collective call, and where all processes of a running job stand now, from their stacks.

Thread 26914 (active+gil): "MainThread"  decode (train.py:71) < load (train.py:61)    -> computes: it loads data
Thread 4711 (idle): "MainThread"         wait_for (train.py:80)                       -> outside: it waits, without computing
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.capture.rank_dumps import LISTENER
from forensics.capture.stacks import FROZEN_CALL, STOPPED_CALL
from forensics.model import Line
from forensics.model.dumps import Frame
from forensics.model.ranks import Kind, ProofPlace
from forensics.model.stacks import LiveHost, LiveProcess, ProcessStacks, Standing, ThreadStack
from forensics.ranks.case import MIN_LOOKS, RankCase
from forensics.ranks.helpers import waits_for_helper
from forensics.ranks.hooks import BY_NAME, WRAPPER_FILES, hook_of
from forensics.ranks.observation import at as at_frame
from forensics.ranks.observation import numbers
from forensics.ranks.threads import (
    UNNAMED_CALL,
    at_work,
    in_collective,
    in_event_loop,
    is_launcher,
    loads_for_another,
    program_frames,
    shown_frames,
    takes_interpreter,
    waits_for_loader,
    waits_in_call,
)
from forensics.readers.python.process_stacks import read_stacks
from forensics.readers.words import words, words_of_name

OUTSIDE_WAIT = "it waits for something outside of all collectives"
LOOP_WAIT = "its event loop waits for a time, the network or another thread, and its stack has no line of that"
UNTOLD_STATES = ("", "current")  # of faulthandler's threads
UNTOLD = "it computes or waits; its stack does not show which"
LOADER_WAIT = "it loads data: it waits for a worker of its data loader"
WORKS = ("it computes", "it loads data", "it imports")  # how texts of what a rank does begin, if it waits for nothing
LAUNCHER_WAIT = "the launcher waits for its workers"
STOPPED_CALLS = {  # where the kernel holds a process
    STOPPED_CALL: "it is stopped by a signal (SIGSTOP), and continues when it gets SIGCONT",
    FROZEN_CALL: "its control group is frozen, as by docker pause, and it continues when that is thawed",
}
IMPORTS = "it imports modules"
IMPORTING = "_find_and_load"  # of importlib, below each module that is being imported
MODULE_FILE, FORWARD = "torch/nn/modules/module.py", "forward"  # what a program calls that calls a module
WRAPPERS = ("wrapper", "wrapped", "inner", "__call__", "_call_impl", "_wrapped_call_impl", "decorate_context")  # of calls


class Doing(Struct, frozen=True):
    """`kind` and `text`: what it does. `frame`: the innermost frame of the program. `proofs`: the lines of the stack that
    show it. `hook`: what kind of hook it does that in, empty outside of any."""

    kind: Kind
    text: str
    frame: Frame | None
    proofs: tuple[ProofPlace, ...]
    hook: str = ""

    @property
    def told(self) -> str:
        """What it does, and in which hook."""
        return f"{self.text}, in {self.hook}" if self.hook else self.text


FOR_LOCK, FOR_THREAD, FOR_FILE_LOCK = "it waits for a lock", "it waits for another thread", "it waits for the lock of a file"
FOR_INTERPRETER = "it waits for the interpreter's lock"
THREAD_WAITS = ("queue.py", "concurrent/futures/_base.py")  # files, and functions of threading, that wait for what a thread does
LOADER_FOLDER = "torch/utils/data/"
LOCK_FILES = ("threading.py", "multiprocessing/synchronize.py")  # two frames there are of a wait that is built of a lock
THREAD_CALLS = ("Event.wait", "Thread.join", "_wait_for_tstate_lock", "Barrier.wait")
WAITS: tuple[tuple[str, str], ...] = (  # by the innermost frames of a thread that does not compute
    ("lock_names", FOR_LOCK),
    ("network_names", "it waits for the network"),
    ("device_names", "it waits for its device"),
    ("sleep_names", "it sleeps"),
    ("file_names", "it waits for a file"),
)
POLLS = {"wait", "poll", "until", "await"}  # in the name of a function that looks for something again and again
POLLS_FILE = "it waits for a file, and sleeps between its looks for it"
SLEEPS = ("it sleeps", POLLS_FILE)  # of what stands in a frame of its own, as a sleep of asyncio; one of `time` has none
UNCLEAR_CALLS = ("futex",)
CALLS = {  # what a wait is, by the system call, where the stack does not tell
    **dict.fromkeys(("nanosleep", "clock_nanosleep"), "it sleeps"),
    **dict.fromkeys(("recvfrom", "recvmsg", "connect", "accept", "sendto"), "it waits for the network"),
    **dict.fromkeys(("openat", "newfstatat", "pread64", "pwrite64", "fsync"), "it waits for a file"),
    **dict.fromkeys(("fcntl", "flock"), FOR_FILE_LOCK),
    **dict.fromkeys(("wait4", "waitid"), "it waits for another process"),
    "futex": "it waits for a lock or another thread",
}
NATIVE_NAMES = {"recv": "recvfrom", "send": "sendto", "accept4": "accept", "open": "openat", "waitpid": "wait4"}  # of libc
UNNAMED_CODE = "0x"  # of native code without a name
LOCK_WAITS = (FOR_LOCK, FOR_FILE_LOCK, CALLS["futex"])
EACH_OTHER = ", and its thread {} waits{}, where none of another rank does: as for each other's lock"


def doing(case: RankCase, rank: int) -> Doing | None:
    """What the rank does; None where there is no stack of it, or where it waits in a collective call."""
    if not (found := case.at_work(rank)):
        return None
    thread, stacks = found
    at = _doing_in(case, stacks, thread)
    if at and not thread.state.endswith("gil") and stacks is case.stacks[rank] and (keeper := lock_keeper(case, rank)):
        return keeper
    at = _keeping_lock(case, _with_other_thread(case, at, stacks, thread), stacks, thread) if at else at
    return replace(at, text=f"{at.text}, in worker {stacks.pid} of its data loader") if at and loads_for_another(thread) else at


def lock_keeper(case: RankCase, rank: int) -> Doing | None:
    """What a thread of a rank does beside the one at work, if it held the interpreter's lock in each look at it, while that one
    waited: so long a lock keeps the others of its threads from going on, too."""
    pid, work = case.stacks[rank].pid, case.threads[rank]
    looks = sorted((one for one in case.all_stacks if one.pid == pid is not None), key=lambda one: (one.taken or 0.0, one.look))
    beside = [(t, one.source) for one in looks for t in one.threads if t.name != work.name]
    name = next((t.name for t, _ in reversed(beside) if t.state.endswith("gil")), None)
    held = [(t, source) for t, source in beside if t.name == name]
    own = {case.own_frame(t.frames) for t, _ in held}
    waited = any(not t.state.endswith("gil") for one in looks for t in one.threads if t.name == work.name)
    if len(held) < MIN_LOOKS or not waited or not all(t.state.endswith("gil") for t, _ in held) or len(own) > 1:
        return None
    if not (frame := own.pop()):
        return None
    last, source = held[-1]
    text = f"its thread {last.name} holds the interpreter's lock for long"
    return Doing("lock", text, frame, line_proofs(last, source, frame))


def _keeping_lock(case: RankCase, at: Doing, stacks: ProcessStacks, thread: ThreadStack) -> Doing:
    """What a thread does that holds the interpreter's lock while another thread of its process cannot go on at a line at which
    that of another rank sleeps or waits."""
    idle = {
        case.own_frame(t.frames) for one in case.stacks.values() if one is not stacks for t in one.threads if t.state == "idle"
    }
    kept = (t for t in stacks.threads if t.state == "active" and (own := case.own_frame(t.frames)) and own in idle)
    other = next(kept, None) if thread.state.endswith("gil") else None
    if at.kind != "computes" or other is None:
        return at
    return replace(
        at, kind="lock", text=f"{at.text}, for which its thread {other.name} waits{at_frame(case.own_frame(other.frames))}"
    )


def _with_other_thread(case: RankCase, at: Doing, stacks: ProcessStacks, thread: ThreadStack) -> Doing:
    """What a thread does that waits for a lock, with the one other thread that runs code of the program, if it is one. Where
    nothing tells for what it waits, and the other one waits too, where none of another rank does, they wait for each other."""
    beside = (t for t in stacks.threads if t is not thread and t.name != LISTENER)
    others = [(t, f) for t in beside if (f := case.own_frame(t.frames))]
    if len(others) > 1:  # threads that all ranks have stand where they stand there
        others = [(t, f) for t, f in others if _stands_apart(case, stacks, t, f)]
    if len(others) != 1:
        return at
    other, frame = others[0]
    if at.kind == "lock" and not at.text.startswith(FOR_FILE_LOCK):
        text = f"{at.text} (its thread {other.name} is{at_frame(frame)})"
    elif _may_be_lock(at, stacks, thread) and _stands_apart(case, stacks, other, frame):
        text = OUTSIDE_WAIT + EACH_OTHER.format(other.name, at_frame(frame))
    else:
        return at
    return replace(at, kind="lock", text=text, proofs=(*at.proofs, *line_proofs(other, stacks.source, frame)))


def _may_be_lock(at: Doing, stacks: ProcessStacks, thread: ThreadStack) -> bool:
    """Does a thread wait in native code at a line of the program, for what only the names there tell, as far as known?"""
    return stacks.kernel in ("", *UNCLEAR_CALLS) and at.frame is thread.frames[thread.innermost]


def _stands_apart(case: RankCase, stacks: ProcessStacks, thread: ThreadStack, frame: Frame) -> bool:
    """Does a thread wait in native code at a line of the program at which no thread of another rank stands?"""
    theirs = {case.own_frame(t.frames) for one in case.stacks.values() if one is not stacks for t in one.threads}
    return thread.state == "idle" and frame is thread.frames[thread.innermost] and len(theirs) > 1 and frame not in theirs


def doing_since(case: RankCase, rank: int, begin_ns: int) -> Doing | None:
    """What the rank of a run that goes on does, by the last of its stacks since then that stands outside of collective calls."""
    pid = case.process(rank).pid
    own = [one for one in case.all_stacks if rank == one.rank or (one.rank is None and one.pid is not None and one.pid == pid)]
    own = [one for one in own if one.taken is not None and one.taken * 1e9 > begin_ns]
    for one in sorted(own, key=lambda one: one.taken or 0, reverse=True):
        thread = at_work(one)
        done = _doing_in(case, one, thread) if thread else None
        if done:
            return done
    return None


def _doing_in(case: RankCase, stacks: ProcessStacks, thread: ThreadStack) -> Doing | None:
    """What a thread does, also by the source of the program, and in which hook."""
    frames = case.own_frames(thread.frames)
    own = next(iter(frames), None)
    at = doing_of(thread, stacks.source, own, stacks.kernel if thread is stacks.main else "")
    if at is None:
        return None
    looks = stacks.looks.get(f"{own.file}:{own.line}") if own and not thread.state.startswith("active") else None
    is_lock = at.kind == "lock" and stacks.kernel in UNCLEAR_CALLS and thread is stacks.main  # who looks for a file sleeps
    if (
        looks and not is_lock and (at.text.startswith((*SLEEPS, FOR_LOCK, FOR_THREAD)) or own is thread.frames[thread.innermost])
    ):  # Event.wait(1)
        at = replace(at, kind="outside", text=f"{POLLS_FILE} ({looks})")
    hook = hook_of(thread.frames, frames)
    return replace(at, kind="hook", hook=hook) if hook and not (hook == BY_NAME and at.kind == "lock") else at


def doing_of(thread: ThreadStack, source: str, own: Frame | None, kernel: str = "") -> Doing | None:
    """What a thread does; None where it waits in a collective call. `own`: its innermost frame of the program. `kernel`: the
    system call in which it waits, and its file."""
    is_stopped = kernel in STOPPED_CALLS
    if waits_in_call(thread) and not is_stopped:
        return None
    frame = own or next((f for f in thread.frames if f.line), None)
    proofs = line_proofs(thread, source, frame)
    if is_stopped:
        return Doing("outside", STOPPED_CALLS[kernel], frame, proofs)
    if is_launcher(thread):
        return Doing("outside", LAUNCHER_WAIT, frame, proofs)
    if any(f.function == IMPORTING for f in _inside(thread, own)):
        return Doing("computes", IMPORTS, frame, proofs)
    if not thread.state.startswith("active") and in_event_loop(thread):
        return Doing("outside", LOOP_WAIT, frame, proofs)
    if not thread.state.startswith("active") and waits_for_loader(thread):
        return Doing("computes", LOADER_WAIT, frame, proofs)
    waits = _wait_in(thread, own)
    if thread.state.startswith("active") or (thread.state in UNTOLD_STATES and waits == OUTSIDE_WAIT):
        return Doing("computes", _work_in(thread), frame, proofs)
    call, _, file = (kernel or _native_call(thread)).partition(" of ")
    named = words_of_name(own.function) if own else set()
    if CALLS.get(call) == CALLS["nanosleep"] and named & POLLS and named & words("file_names"):
        return Doing("outside", POLLS_FILE, frame, proofs)
    text = wait_text(call, waits)
    if text in (CALLS["nanosleep"], OUTSIDE_WAIT) and not named & POLLS and _loads(thread, text == OUTSIDE_WAIT):
        return Doing("computes", f"{text}, while it loads data", frame, proofs)
    is_lock = text in (*LOCK_WAITS, FOR_INTERPRETER)
    return Doing("lock" if is_lock else "outside", text + (f" ({kernel})" if file else ""), frame, proofs)


def _native_call(thread: ThreadStack) -> str:
    """The system call in which a thread waits, by the first name of its native code, if these frames were taken: `fcntl64`."""
    names = (f.function.removesuffix("64") for f in thread.frames[: thread.innermost])
    return next((NATIVE_NAMES.get(name, name) for name in names if not name.startswith(UNNAMED_CODE)), "")


def _wait_in(thread: ThreadStack, own: Frame | None) -> str:
    """For what a thread waits that does not compute, by what its program called, and by names."""
    if takes_interpreter(thread):
        return FOR_INTERPRETER
    called = _inside(thread, own)
    of_threads = [f for f in called if f.file.endswith(LOCK_FILES)] if own else []
    if own and waits_for_helper(thread.frames, own):
        return CALLS["wait4"]
    if len(of_threads) > 1 or any(f.file.endswith(THREAD_WAITS) or f.function.endswith(THREAD_CALLS) for f in called):
        return FOR_THREAD
    names = {word for f in shown_frames(thread) for word in words_of_name(f.function)}
    return FOR_LOCK if of_threads else next((text for list_name, text in WAITS if names & words(list_name)), OUTSIDE_WAIT)


def _loads(thread: ThreadStack, is_called: bool = False) -> bool:
    """Does a thread load data, by the names of its innermost functions? `is_called`: because a data loader calls it."""
    names = {word for f in shown_frames(thread) for word in words_of_name(f.function)}
    return any(LOADER_FOLDER in f.file for f in thread.frames) if is_called else bool(names & words("loading_names"))


def _work_in(thread: ThreadStack) -> str:
    """What a thread does that computes, or of which its stack does not tell whether it does."""
    told = "it loads data" if _loads(thread) else UNTOLD if thread.state in UNTOLD_STATES else "it computes"
    return told + (", and holds the interpreter's lock" if thread.state.endswith("gil") else "")


def wait_text(call: str, said: str) -> str:
    """For what a process waits: the kernel knows it, but for a lock, which may be part of another wait. `said`: what
    its stack shows."""
    return CALLS.get(call, said) if said == OUTSIDE_WAIT or (call not in UNCLEAR_CALLS and said != LAUNCHER_WAIT) else said


def line_proofs(thread: ThreadStack, source: str, frame: Frame | None) -> tuple[ProofPlace, ...]:
    """The line of a frame in the stack, and the head of the thread."""
    line = next((n for f, n in zip(thread.frames, thread.lines, strict=True) if f is frame), None)
    return tuple(ProofPlace(source, n.number, n.text) for n in (line, thread.head) if n)


def called_at(thread: ThreadStack, own: Frame | None) -> str:
    """The function that the program called at `own`: the outermost one inside of it that is no wrapper."""
    inside = _inside(thread, own) if own else ()
    if any(f.function == IMPORTING for f in inside):
        return "import"
    called = (f for f in reversed(inside) if not any(part in f.file for part in WRAPPER_FILES))
    name = next((f.function for f in called if f.function.rpartition(".")[2] not in WRAPPERS), "")
    if "::" in name and in_collective(thread):
        return UNNAMED_CALL
    is_of_module = bool(inside) and inside[-1].file.endswith(MODULE_FILE)
    return FORWARD if is_of_module and name.rpartition(".")[2] != FORWARD else name  # a hook of it, as FSDP has


def _inside(thread: ThreadStack, own: Frame | None) -> tuple[Frame, ...]:
    """The frames inside of `own`; all without it."""
    return thread.frames[: next((n for n, f in enumerate(thread.frames) if f is own), len(thread.frames))]


CANNOT_GO_ON = "it cannot go on: each of its {} threads waits for another one of them, without a time limit"
IN_COLLECTIVE = "it waits in a collective call"
PROCESS_STATES = {
    "R": "it computes",
    "S": "it waits",
    "D": "it waits for a device or a file, uninterruptibly",
    "T": "it is stopped",
}


def standings(hosts: Iterable[LiveHost]) -> tuple[Standing, ...]:
    """Where all processes stand, the ranks first, then those that a rank started, then all others; of each the most first."""
    found: dict[tuple[str, ...], list[tuple[LiveHost, LiveProcess, Standing]]] = {}
    for host in hosts:
        at_all = {one.pid: _standing(one) for one in host.processes}
        ranks = {one.pid: one.rank for one in host.processes if at_all[one.pid].doing != LAUNCHER_WAIT}
        for one in host.processes:
            at, rank = at_all[one.pid], ranks.get(one.pid)
            role = "" if rank is None else "helper" if ranks.get(one.ppid) == rank else "rank"
            place = f"{at.place.file}:{at.place.line}" if at.place else ""
            found.setdefault((role, at.doing, at.called, place, at.kernel), []).append((host, one, at))
    order = sorted(found.items(), key=lambda item: (("rank", "helper", "").index(item[0][0]), -len(item[1])))
    return tuple(_folded(key[0], members) for key, members in order)


def _folded(role: str, members: Sequence[tuple[LiveHost, LiveProcess, Standing]]) -> Standing:
    first = members[0][2]
    ranks = tuple(sorted({one.rank for _, one, _ in members if one.rank is not None}))
    pids = tuple(one.pid for _, one, _ in members)
    told = f"rank{'s' * (len(ranks) != 1)} {numbers(ranks)}"
    names = ", ".join(dict.fromkeys(one.comm for _, one, _ in members))
    helpers = f"{len(pids)} process{'es' * (len(pids) != 1)} of {told}"
    who = {"rank": told, "helper": helpers}.get(role, f"pid {numbers(pids)} ({names})")
    hosts = tuple(dict.fromkeys(host.host for host, _, _ in members))
    return replace(first, who=who, ranks=ranks, pids=pids, hosts=hosts)


def _standing(one: LiveProcess) -> Standing:
    kernel = f"{one.call or one.wchan}{' of ' + one.file if one.file else ''}"
    stacks = read_stacks([Line(n, text) for n, text in enumerate(one.text.splitlines(), 1)], str(one.pid)) if one.text else ()
    thread = at_work(stacks[0]) if stacks else None
    if thread is None:
        waits = CALLS.get(one.call, PROCESS_STATES["S"]) if one.state == "S" else PROCESS_STATES.get(one.state, one.state)
        return Standing("", (), (), (), waits, kernel=kernel)
    own = next(iter(program_frames(thread.frames)), None)
    done = doing_of(thread, "", own)
    place = own or (done.frame if done else thread.frames[0])
    doing = IN_COLLECTIVE if done is None else done.text if done.kind == "computes" else wait_text(one.call, done.text)
    doing = CANNOT_GO_ON.format(one.stuck) if one.stuck else doing
    beside = (t for t in stacks[0].threads if t is not thread and t.name != LISTENER and program_frames(t.frames))
    others = tuple((t.name, tuple(_shown(t))) for t in beside)
    frames = tuple(_shown(thread))
    return Standing("", (), (), (), doing, called_at(thread, own), place, kernel, frames, thread.name, others)


def _shown(thread: ThreadStack) -> Iterator[str]:
    """The frames, innermost first: those of the program, then what it called in libraries; all where it has none."""
    own = program_frames(thread.frames)
    yield from (f"{f.function} ({f.file}:{f.line})" for f in (*own, *_inside(thread, next(iter(own), None))))
