"""The stacks of the threads of whole processes."""

from msgspec import Struct

from forensics.model.dumps import Frame
from forensics.model.logs import Line


class ThreadStack(Struct, frozen=True):
    """The stack of one thread, innermost frame first. `state`: `idle`, `active`, `active+gil`, empty where the tool does not
    tell. `head`: its first line in the source; `lines`: those of its frames. `variables`: a check sum of the values of its
    variables; 0 where they were not taken."""

    name: str
    state: str
    frames: tuple[Frame, ...]
    head: Line
    lines: tuple[Line, ...]
    variables: int = 0

    @property
    def innermost(self) -> int:
        """The number of the innermost frame of Python; in front of it stand those of native code, where they were taken."""
        return next((n for n, frame in enumerate(self.frames) if frame.file.endswith(".py")), 0)


class ProcessStacks(Struct, frozen=True):
    """The stacks of one process. `pid`, `rank`, `host`: as far as the source tells them. `kernel`: the system call in which its
    main thread waited, and its file: `read of /data/x`. `child`: its number among the processes that multiprocessing started, and
    their parent's pid. `taken`: the moment, in seconds since 1970, one for all processes that were looked at together;
    `silent_since`: since when the job printed nothing then. `loops`:
    by place (`/run/train.py:37`) the lines of the loops of a function around it, as its source shows; `looks`: for which file
    such a loop looks, its path or else the variable; `same_calls`: the other lines of its function with that call; `peers`: with
    which rank a call between two exchanges something there."""

    source: str
    tool: str
    pid: int | None
    rank: int | None
    threads: tuple[ThreadStack, ...]
    host: str = ""
    kernel: str = ""
    child: tuple[int, int] | None = None
    taken: float | None = None
    command: str = ""
    loops: dict[str, tuple[tuple[int, int], ...]] = {}  # msgspec copies it
    looks: dict[str, str] = {}
    same_calls: dict[str, tuple[int, ...]] = {}
    peers: dict[str, int] = {}
    silent_since: float | None = None
    look: int = 0

    @property
    def main(self) -> ThreadStack | None:
        """The thread that runs the program."""
        named = next((t for t in self.threads if t.name == "MainThread"), None)
        return named or (self.threads[-1] if self.threads else None)


class ThreadPlace(Struct, frozen=True):
    """The innermost frame of the program's own in the stack of one thread, and its line in the source."""

    source: str
    line: int
    text: str
    pid: int
    thread: str
    frame: Frame


class LiveProcess(Struct, frozen=True):
    """A process that runs now. `state`: R, S, D, T or Z. `wchan`, `call`, `file`: where in the kernel its main thread waits,
    and for which file. `text`: what py-spy printed, empty without it. `number`: that by which processes of one program differ.
    `stuck`: how many threads it has, if each waits for another one of them without a time limit."""

    pid: int
    ppid: int
    comm: str
    command: str
    state: str
    rank: int | None = None
    wchan: str = ""
    call: str = ""
    file: str = ""
    text: str = ""
    number: int | None = None
    stuck: int = 0


class LiveHost(Struct, frozen=True):
    """The processes of a job on one host. `py_spy`: its path, empty where it is missing. `refused`: why it gave no stack, of one
    process. `left_out`: processes beyond those that are looked at."""

    host: str
    processes: tuple[LiveProcess, ...]
    py_spy: str = ""
    refused: str = ""
    left_out: int = 0


class Standing(Struct, frozen=True):
    """Processes that stand at one place. `who`: `ranks 0-62`. `called`: what the program called at `place`, the innermost frame
    of its own. `doing`: in words. `kernel`: where they wait in the kernel. `frames`: as text, the program's own first, of
    `thread`; `threads`: the same of the others that run code of the program, by name."""

    who: str
    ranks: tuple[int, ...]
    pids: tuple[int, ...]
    hosts: tuple[str, ...]
    doing: str
    called: str = ""
    place: Frame | None = None
    kernel: str = ""
    frames: tuple[str, ...] = ()
    thread: str = ""
    threads: tuple[tuple[str, tuple[str, ...]], ...] = ()
