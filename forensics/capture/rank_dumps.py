"""Have the ranks of a job dump what they called last, while they hang: a line written to a pipe asks each of them for it.

fr/pipe_3.pipe   NCCL's own: PyTorch makes it where TORCH_NCCL_DEBUG_INFO_PIPE_FILE says so, and listens to it
fr/guard_3.pipe  that of guard(), for any other backend: a thread of the program waits at it, and asks PyTorch for the dump
                 (guard_p4711.pipe, where only PyTorch knows the rank of the process)
                 -> fr/rank_3, also when the program ends by an exception: over gloo, that of a rank that waited;
                    stacks/rank_3.txt, its own stacks at that moment, without py-spy
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
import time

from forensics.capture import proc
from forensics.capture.options import BUNDLE_VARIABLE
from forensics.capture.own_files import OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
    from types import FrameType
    from typing import Any

DUMPS_FOLDER, STACKS_FOLDER = "fr", "stacks"
ATTEMPT_VARIABLE = "TORCHELASTIC_RESTART_COUNT"  # how often torchrun started the ranks anew
DUMP_VARIABLES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")  # the second is the older name
RECORDED_CALLS = "2000"  # as in PyTorch's documentation; some megabytes of memory
RECORDERS = ("_dump_fr_trace", "_dump_nccl_trace")  # of any backend; in older versions of PyTorch of NCCL alone
ASK, END = b"1\n", b"0\n"
LISTENER = "forensics dumps"  # the name of the threads that wait to be asked, and write
TASK_PREFIX = "asyncio task "  # before the name of a task that stands beside the threads
MAX_TASKS, MAX_TASK_FRAMES = 200, 100  # of one event loop: a server may have thousands, of which many stand at one line
MAX_WAIT_S = 1.0  # by which a program ends later at most, whatever PyTorch or the file system do


def ask_for_dumps(bundle: str) -> int:
    """Ask every rank that listens for a dump; how many were asked. The ranks write them themselves, in their own time."""
    folder, asked = os.path.join(bundle, DUMPS_FOLDER), 0
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder)):
            if name.endswith(".pipe"):
                asked += _write(os.path.join(folder, name), ASK)
    return asked


def remove_pipes(bundle: str) -> None:
    """Remove what ranks that were killed could not remove: nobody may wait at a pipe of a bundle."""
    folder = os.path.join(bundle, DUMPS_FOLDER)
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(".pipe"):
                os.unlink(os.path.join(folder, name))


def _write(path: str, line: bytes) -> bool:
    """Write a line to the pipe at `path`; False where nobody listens."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.write(fd, line) > 0
        finally:
            os.close(fd)
    return False


class Listener:
    """A thread that waits for the request of a dump, at a pipe in each of `bundles`. `rank`: that of this process, empty where
    only PyTorch knows it. `attempt`: what stands before the name of a dump.

    Raises OSError where no pipe can be made, or no thread started.
    """

    def __init__(self, bundles: Iterable[str], rank: str, attempt: str) -> None:
        self._rank, self._attempt, self._answered = rank, attempt, False
        self._pipes: dict[OwnFile, str] = {}
        for bundle in bundles:
            folder = os.path.join(bundle, DUMPS_FOLDER)
            pipe = os.path.join(folder, f"guard_{rank or f'p{os.getpid()}'}.pipe")
            with contextlib.suppress(OSError):  # where one bundle cannot be written to, the others are
                os.makedirs(folder, exist_ok=True)
                os.mkfifo(pipe, 0o600)
                # Also for writing: so waiting for a line goes on when the one who asked is gone.
                self._pipes[OwnFile(os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))] = pipe
        if not self._pipes:
            raise OSError("no pipe could be made")
        self._thread = threading.Thread(target=self._listen, name=LISTENER, daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # the limit of processes is reached
            self._remove()
            raise OSError(str(error)) from error

    def _listen(self) -> None:
        while END not in self._asked():
            started = bool(_told_rank())  # before, there is no call to dump, and the next answer, or the end, tells more
            self._answered = self._answered or started
            self._write(write_stacks, with_dump=started)
        for pipe in self._pipes:
            pipe.close()

    def _asked(self) -> bytes:
        """Wait for a line; END where the program closed the pipes. All are emptied: one dump answers all who ask at one time."""
        waiting, own = select.poll(), {pipe.fd: pipe for pipe in self._pipes if pipe.is_own}
        for fd in own:
            waiting.register(fd, select.POLLIN)
        ready = [fd for fd, _ in waiting.poll()] if own else []
        return b"".join(os.read(fd, 4096) for fd in ready if own[fd].is_own) or END

    def _write(self, *first: Callable[[Sequence[str], str, str], None], with_dump: bool = True) -> None:
        with contextlib.suppress(Exception):  # whatever PyTorch does: the program goes on
            if rank := self._rank or _told_rank():
                folders = list(map(os.path.dirname, self._pipes.values()))
                for write in first:
                    write(list(map(os.path.dirname, folders)), rank, f"{self._attempt}rank_{rank}")
                if with_dump:
                    write_dump(folders, f"{self._attempt}rank_{rank}")

    def close(self, failed: bool = False) -> None:
        """End the thread and remove the pipes. `failed`: the program ends by an exception, and dumps what it called before."""
        self._end_thread()
        self._thread.join(MAX_WAIT_S)
        if failed and not self._answered:  # what was asked for is of the moment in which ranks waited, and stays
            last = threading.Thread(target=self._write, name=LISTENER, daemon=True)
            last.start()
            last.join(MAX_WAIT_S)
        self._remove()

    def _end_thread(self) -> None:
        """Ask it to end; by a path where the program has closed the pipes, at which it waits nevertheless."""
        with contextlib.suppress(OSError):
            own = next((pipe for pipe in self._pipes if pipe.is_own), None)
            if own:
                os.write(own.fd, END)
            else:
                _write(next(iter(self._pipes.values())), END)

    def _remove(self) -> None:
        for pipe in self._pipes.values():
            with contextlib.suppress(OSError):
                os.unlink(pipe)


def listen(bundle: str, environment: MutableMapping[str, str]) -> Listener | None:
    """A Listener for a process that is a rank of a distributed job, or may be one: multiprocessing started it, it has loaded
    PyTorch's collective calls, or is part of a captured job. PyTorch is told to record its calls. None for any other process.

    It listens in `bundle`, and in that of the `forensics run` that the process is a part of.
    """
    rank = environment.get("RANK", "")
    may_be = rank.isdigit() or _is_child() or "torch.distributed" in sys.modules or BUNDLE_VARIABLE in environment
    if not bundle or not may_be or not hasattr(os, "mkfifo"):
        return None
    if not any(name in environment for name in DUMP_VARIABLES):
        environment[DUMP_VARIABLES[0]] = RECORDED_CALLS
    with contextlib.suppress(OSError):
        bundles = dict.fromkeys(filter(None, (bundle, environment.get(BUNDLE_VARIABLE))))
        return Listener(bundles, rank if rank.isdigit() else "", _attempt(environment))
    return None


def _is_child() -> bool:
    """Did multiprocessing start this process for a function of the program?"""
    library: Any = sys.modules.get("multiprocessing.process")
    return library is not None and library.parent_process() is not None


def _told_rank() -> str:
    """The rank of this process, as PyTorch knows it; empty where it is in no group yet, or in none any more."""
    library: Any = sys.modules.get("torch.distributed")
    return str(library.get_rank()) if library is not None and library.is_initialized() else ""


def _attempt(environment: Mapping[str, str]) -> str:
    """What stands before the name of a dump of a later attempt, so that it replaces no dump of the attempt before."""
    number = environment.get(ATTEMPT_VARIABLE, "")
    return f"attempt_{number}_" if number.isdigit() and int(number) else ""


def write_stacks(bundles: Sequence[str], rank: str, name: str) -> None:
    """Write the stacks of this process to each bundle as py-spy prints them, the main thread first, without this thread. What the
    coroutines of an event loop wait for stands beside them, as of threads."""
    from forensics.capture.live_stacks import system_call  # most programs are never asked
    from forensics.capture.source_lines import CALLS_FILE, Sources, peer_line, source_lines
    from forensics.capture.stacks import rank_or_child, stacks_head

    head = stacks_head(os.getpid(), "python", rank_or_child(rank, None, socket.gethostname()), "", system_call(os.getpid()))
    frames = {one: _outwards(frame) for one, frame in sys._current_frames().items()}  # at once: the threads go on
    del frames[threading.get_ident()]
    lines: list[str] = []
    known: dict[tuple[str, int], FrameType] = {}
    for thread in sorted(threading.enumerate(), key=lambda one: one is not threading.main_thread()):
        if (stack := frames.get(thread.ident or 0)) is None:
            continue
        state = "active" if _runs(thread.native_id) else "idle"
        stacks = [(thread.name, state, stack), *((f"{TASK_PREFIX}{name}", "idle", found) for name, found in tasks_of(stack))]
        for title, state, shown in stacks:
            lines += ["", f'Thread {thread.native_id} ({state}): "{title}"', *map(_line, shown)]
            known |= {(one.f_code.co_filename, one.f_lineno): one for one in shown}
    told = source_lines(Sources(), known, lambda place, variable: path_in(known[place], variable))
    calls = ((place, _peer(frame)) for place, frame in known.items() if place[0].endswith(CALLS_FILE))
    told = [*(peer_line(*place, peer) for place, peer in calls if peer is not None), *told]
    for bundle in bundles:
        os.makedirs(os.path.join(bundle, STACKS_FOLDER), exist_ok=True)
        with open(os.path.join(bundle, STACKS_FOLDER, f"{name}.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join([head, *told, *lines]) + "\n")


def _outwards(frame: FrameType | None) -> list[FrameType]:
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def _line(frame: FrameType) -> str:
    code = frame.f_code
    return f"    {getattr(code, 'co_qualname', code.co_name)} ({code.co_filename}:{frame.f_lineno})"


def tasks_of(stack: Sequence[FrameType]) -> list[tuple[str, list[FrameType]]]:
    """The tasks of the event loop that runs in a stack, each by its name, with the frames of its coroutines, the innermost
    first."""
    loop = next((f.f_locals.get("self") for f in stack if f.f_code.co_name == "run_forever"), None)
    library: Any = sys.modules.get("asyncio")
    if library is None or not isinstance(loop, library.AbstractEventLoop):
        return []
    found = []
    for task in sorted(library.all_tasks(loop), key=lambda one: one.get_name())[:MAX_TASKS]:
        frames: list[FrameType] = []
        inner = task.get_coro()
        while inner is not None and len(frames) < MAX_TASK_FRAMES:
            kind = next((k for k in ("cr", "gi", "ag") if hasattr(inner, f"{k}_frame")), "")
            if kind and (frame := getattr(inner, f"{kind}_frame")) is not None:
                frames.insert(0, frame)
            inner = getattr(inner, f"{kind}_{'yieldfrom' if kind == 'gi' else 'await'}", None) if kind else None
        found.append((task.get_name(), frames))
    return [(name, frames) for name, frames in found if frames]


def path_in(frame: FrameType, variable: str) -> str:
    """The path that a variable of a frame holds, `path` or `self.marker`; empty where it holds none. No code of the program
    runs."""
    first, *rest = variable.split(".")
    value = frame.f_locals.get(first)
    for name in rest:
        value = getattr(value, "__dict__", {}).get(name)
    return str(value) if type(value) is str or type(value).__module__.startswith("pathlib") else ""


def _peer(frame: FrameType) -> int | None:
    """The rank with which a call of PyTorch exchanges something, as its frame holds it."""
    found = (frame.f_locals.get(name) for name in ("src", "dst"))
    return next((one for one in found if type(one) is int), None)


def _runs(thread: int | None) -> bool:
    """Does a thread of this process use a processor, or wait for one?"""
    return proc.read(f"/proc/self/task/{thread}/stat").rpartition(")")[2].split()[:1] == ["R"]


def write_dump(folders: Sequence[str], name: str) -> None:
    """Write the dump of this process to each folder, at once without the lines of code, which take seconds, then with them."""
    library: Any = sys.modules.get("torch._C._distributed_c10d")
    dump = next((found for name in RECORDERS if (found := getattr(library, name, None))), None)
    if dump is None:
        return
    for with_lines in (False, True):
        moment = time.time()
        data = dump(includeCollectives=True, includeStackTraces=with_lines, onlyActive=False)
        for folder in folders:
            path = os.path.join(folder, name)
            with open(f"{path}.part", "wb") as file:
                file.write(data)
            os.utime(f"{path}.part", (moment, moment))  # of the state that it shows
            os.replace(f"{path}.part", path)
