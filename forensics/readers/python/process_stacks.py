"""Reads the stacks of whole processes: dumps of py-spy, with --native and --locals, of faulthandler, and files that hold many.

Process 26914: python -u train.py                     Thread 0x00007f3e2b7fe640 (most recent call first):
Python v3.11.7 (/usr/bin/python3.11)                    File "/run/train.py", line 71 in decode
Thread 26914 (active+gil): "MainThread"                 File "/run/train.py", line 61 in load
    Shards.decode (train.py:71)                       -> a thread; faulthandler's last one is the main thread

=== Rank 3: node-1:25999 ===  (torch.distributed.debug: stacks_*.txt, pyspy_*.txt)    -> rank and host of what follows
forensics run: stacks of pid 4711 (python), rank 3 on node-1; in the kernel: futex    -> pid, rank and host of what follows
forensics run: at /run/train.py:37: in loops of lines 30-41                           -> what its source tells of a place
    recv (torch/distributed/distributed_c10d.py:2799), below it `src: 3` (--locals)   -> its peer
Thread 1 (Thread 0x7f3e2b7fe640 (LWP 4711) "python"):   #0  0x00007f3e in poll () from /lib64/libc.so.6    (gdb, cuda-gdb)

Where each thread of a process stood in the program's own code when the stacks of the process were taken.

Thread 9361 (idle): "MainThread"             -> ThreadPlace(pid 9361, thread "MainThread", train.py:6 in save_checkpoint)
    save_checkpoint (/run/train.py:6)
Thread 9370 (idle): "prefetch"               -> ThreadPlace(pid 9361, thread "prefetch", train.py:10 in prefetch)
    prefetch (/run/train.py:10)
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from zlib import crc32

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Line, Scan, Trigger
from forensics.model.dumps import Frame
from forensics.model.stacks import ProcessStacks, ThreadPlace, ThreadStack
from forensics.readers.identity.entity_ids import normalise_host, rank_of_file_name
from forensics.readers.python.frames import dump_frame
from forensics.readers.python.library_files import is_others_code

TRIGGER = Trigger(
    "process_stacks", ("python v3.", "(most recent call first)", "=== rank ", "stacks of pid ", " (lwp "), before=3, after=400
)
PATTERNS = patterns_of("process stacks")
DUMP_PATTERNS = patterns_of("faulthandler")
SOURCE_PREFIX = "forensics run: at "
CALLS_FILE = "torch/distributed/distributed_c10d.py"  # of PyTorch's calls between ranks
MAX_THREADS = 2_000  # of one source
VALUE_INDENT = " " * 12  # of what py-spy --locals writes below a frame


class _Open(Struct):
    """A process that is being read."""

    tool: str = ""
    pid: int | None = None
    rank: int | None = None
    host: str = ""
    kernel: str = ""
    child: tuple[int, int] | None = None
    taken: float | None = None
    command: str = ""
    loops: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    looks: dict[str, str] = field(default_factory=dict)
    same_calls: dict[str, tuple[int, ...]] = field(default_factory=dict)
    peers: dict[str, int] = field(default_factory=dict)
    threads: list[ThreadStack] = field(default_factory=list)
    silent_since: float | None = None


def process_stacks(scan: Scan) -> tuple[ProcessStacks, ...]:
    """The stacks of all processes in a source, in order."""
    lines = {line.number: line for region in scan.regions.get(TRIGGER.kind, ()) for line in region.lines()}
    found = read_stacks([lines[number] for number in sorted(lines)], scan.source.name) if lines else ()
    if not found or any(one.rank is not None or one.pid is not None for one in found):
        return found
    named = rank_of_file_name(scan.source.name)  # faulthandler writes neither pid nor rank
    return found if named is None else tuple(replace(one, rank=named) for one in found)


def failed_looks(scans: Iterable[Scan]) -> tuple[ProcessStacks, ...]:
    """The processes of which py-spy wrote no more than the head, as it could not look at them; without threads."""
    found = []
    for scan in scans:
        regions = scan.regions.get(TRIGGER.kind, ())
        lines = {line.number: line for region in regions for line in region.lines()}
        heads = [begun for line in lines.values() if (begun := _process(_told(line.text))) and begun.tool == TOOL]
        if len(heads) == 1 and not any(_thread(line.text, line) for line in lines.values()):
            found.append(_closed(heads[0], scan.source.name))
    return tuple(found)


def read_stacks(lines: Sequence[Line], source: str) -> tuple[ProcessStacks, ...]:
    """The stacks of the processes in `lines`; those without a frame are left out."""
    done: list[_Open] = []
    current, head, frames, variables = _Open(), None, list[tuple[Frame, Line]](), 0

    def end_thread() -> None:
        nonlocal head, frames, variables
        if head is not None and frames and len(current.threads) < MAX_THREADS:
            seen = tuple(f for f, _ in frames), head[2], tuple(n for _, n in frames)
            current.threads.append(ThreadStack(*head[:2], *seen, variables))
        head, frames, variables = None, [], 0

    for line in lines:
        text = _told(line.text)
        if begun := _process(text):
            end_thread()
            if current.threads or (begun.rank is not None and current.rank is not None):
                done.append(current)
                current = begun
            else:
                current = _joined(current, begun)
        elif thread := _thread(text, line):
            end_thread()
            current.tool, head = thread[0], thread[1:]
            if native := PATTERNS.gdb_thread.match(text):
                current.pid = int(native["pid"])  # that of the last one, the first thread of the process
        elif head is not None and (frame := _frame(text)):
            frames.append((frame, line))
        elif text.startswith(SOURCE_PREFIX):
            _add_source(current, text)
        elif frames and text.startswith(VALUE_INDENT):
            variables = crc32(text.encode(errors="replace"), variables)
            if frames[-1][0].file.endswith(CALLS_FILE) and (peer := PATTERNS.peer_variable.match(text)):
                current.peers[f"{frames[-1][0].file}:{frames[-1][0].line}"] = int(peer["peer"])
    end_thread()
    return tuple(_closed(one, source) for one in [*done, current] if one.threads)


def _add_source(current: _Open, text: str) -> None:
    """Add what a line tells of the source of the process."""
    if found := PATTERNS.in_loops.match(text):
        spans = (span.split("-") for span in found["spans"].split(", "))
        current.loops[found["place"]] = tuple((int(first), int(last)) for first, last in spans)
    elif found := PATTERNS.same_calls.match(text):
        current.same_calls[found["place"]] = tuple(map(int, found["lines"].split(", ")))
    elif found := PATTERNS.looks_for.match(text):
        current.looks[found["place"]] = found["path"] or found["variable"]
    elif found := PATTERNS.peer_of_place.match(text):
        current.peers[found["place"]] = int(found["peer"])


def _told(text: str) -> str:
    """The text of a line without the time that a collector wrote in front of it."""
    prefix = parse_prefix(text)
    return prefix.message if prefix.stamp else text


def _process(text: str) -> _Open | None:
    """The process that a line begins."""
    if found := PATTERNS.rank_head.match(text):
        return _Open(rank=int(found["rank"]), host=normalise_host(found["host"] or ""))
    if found := PATTERNS.captured.search(text):
        rank = int(found["rank"]) if found["rank"] else None
        host = normalise_host(found["host"] or "")
        child = (int(found["child"]), int(found["parent"])) if found["child"] else None
        taken, silent = (datetime.fromisoformat(at).timestamp() if at else None for at in (found["taken"], found["silent"]))
        kernel = found["kernel"] or ""
        return _Open(pid=int(found["pid"]), rank=rank, host=host, kernel=kernel, child=child, taken=taken, silent_since=silent)
    if found := PATTERNS.process.match(text):
        return _Open("py-spy", int(found["pid"]), command=found["command"])
    return _Open() if DUMP_PATTERNS.dump_head.match(text) else None


def _joined(first: _Open, second: _Open) -> _Open:
    """One process that two lines in a row begin."""
    pid = second.pid if second.pid is not None else first.pid
    rank = second.rank if second.rank is not None else first.rank
    kernel, child, taken = second.kernel or first.kernel, second.child or first.child, second.taken or first.taken
    source = (
        first.loops | second.loops,
        first.looks | second.looks,
        first.same_calls | second.same_calls,
        first.peers | second.peers,
    )
    given = kernel, child, taken, second.command, *source
    since = second.silent_since or first.silent_since
    return _Open(second.tool or first.tool, pid, rank, second.host or first.host, *given, silent_since=since)


def _thread(text: str, line: Line) -> tuple[str, str, str, Line] | None:
    """Tool, name, state and line of the thread that a line begins whose text is `text`."""
    if found := PATTERNS.thread.match(text):
        return "py-spy", found["name"] or "", found["state"], line
    if found := PATTERNS.gdb_thread.match(text):
        return "gdb", found["name"] or "", "idle", line  # it was stopped to be looked at
    if found := DUMP_PATTERNS.dump_thread.search(text):
        return "faulthandler", "", "current" if found["current"].startswith("C") else "", line
    return None


def _frame(text: str) -> Frame | None:
    if found := PATTERNS.spy_frame.match(text):
        return Frame(found["file"], int(found["line"] or 0), found["function"])
    if found := PATTERNS.gdb_frame.match(text):
        return Frame(found["file"] or found["library"] or "", int(found["line"] or 0), found["function"])
    dumped = dump_frame(text)
    return Frame(dumped.file, dumped.line or 0, dumped.function) if dumped else None


def _closed(one: _Open, source: str) -> ProcessStacks:
    given = one.host, one.kernel, one.child, one.taken, one.command, one.loops, one.looks, one.same_calls, one.peers
    return ProcessStacks(source, one.tool, one.pid, one.rank, tuple(one.threads), *given, silent_since=one.silent_since)


TOOL = "py-spy"  # a dump of faulthandler stands in the log of what printed it, and is read there


def thread_places(scans: Iterable[Scan]) -> tuple[ThreadPlace, ...]:
    """The places of all threads that run code of the program, the main thread of each process first; of ranks none, which are
    compared with each other. Of a process that was looked at again, as at its stall and at its end, the last look counts."""
    taken = [one for scan in scans for one in process_stacks(scan) if one.tool == TOOL and one.pid is not None]
    if any(one.rank is not None for one in taken):
        return ()
    last = {one.pid: one for one in taken if one.threads}
    ordered = ((one, thread) for one in last.values() for thread in sorted(one.threads, key=lambda t: t is not one.main))
    return tuple(place for one, thread in ordered if (place := _place(one, thread)))


def _place(one: ProcessStacks, thread: ThreadStack) -> ThreadPlace | None:
    both = zip(thread.frames, thread.lines, strict=True)
    found = next(((f, n) for f, n in both if f.line and not is_others_code(f.file)), None)
    if found is None or one.pid is None:
        return None
    frame, line = found
    return ThreadPlace(one.source, line.number, line.text.strip(), one.pid, thread.name, frame)
