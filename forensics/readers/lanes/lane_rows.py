"""The lanes of one source: the prefix of a line, or the record of a supervisor, says which program, rank or job it is of.

A record of a supervising program (Slurm, supervisord, Jupyter, containerd) is of the job or process that it names:

    [2026-05-01T10:00:07.123] _job_complete: JobId=4711 WEXITSTATUS 1                -> job 4711        (slurmctld)
    [2026-05-01T10:00:07.123] [4711.batch] done with job                             -> job 4711        (slurmd, slurmstepd)
    2026-05-01 10:43:11,764 WARN exited: worker (exit status 1; not expected)        -> unit worker     (supervisord)
    [I 2026-05-01 13:03:00.911 ServerApp] Kernel started: 5b2d5693-c320-4f13-...     -> notebook 5b2d5693-...
    time="2026-05-01T10:00:07Z" level=info msg="shim disconnected" id=4c01db0b339c   -> container 4c01db0b339c
    6m1s   Warning   Failed   pod/fit-0   Error: ErrImagePull                        -> container pod/fit-0  (kubectl get events)

Each of these has a lane of its own: that job 4712 continued says nothing about job 4711.

The prefix of another line says which program, rank or job wrote it:

    Aug 22 03:00:07 node-7 sshd[771]: error: ...        -> unit sshd        (kind service)
    [11686.888109] Out of memory: Killed process 4242   -> kernel           (kind kernel)
    [rank3]: RuntimeError: ...                          -> rank 3           (kind job)
    Epoch 3/10 loss 0.41                                -> the source's own program

In the log of a host, two lines of one file are not related by that: a line of one program proves nothing about another.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from forensics.core import lazy
from forensics.core.shapes import zeroed
from forensics.core.text import decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import HOST_FORMATS, parse_prefix, peeled
from forensics.model import Line, Scan
from forensics.model.verdicts import Entity, EntityKind, LaneKind
from forensics.readers.base import sampled_blocks
from forensics.readers.lanes.rows import LaneKey, Rows, Shape


class Supervisor(Struct, frozen=True):
    """A program that writes records about other programs.

    `record`: matches the beginning of such a record; its first group that matched is the name of the job or process. `mark`:
    bytes that occur in each record, for a quick test. Neither depends on which digits a record has (see lanes.py). `about`:
    what the name denotes. `lane`: the kind of lane in a host's log.
    """

    record: re.Pattern[bytes]
    mark: bytes
    about: EntityKind
    lane: LaneKind


SLURM_STAMP = rb"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\] "
UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# By name. Wordings: Slurm 20.11 to 24.05 (src/slurmctld, src/slurmd/slurmstepd),
# supervisor 4 (process.py), jupyter_server 1 and 2 (services/kernels/kernelmanager.py), containerd 1.2 to 1.7 (runtime/v2).
SUPERVISORS: Mapping[str, Supervisor] = {
    "slurm": Supervisor(
        lazy.regex(SLURM_STAMP + rb"(?:\[(\d{1,10})\.(?:\d{1,5}|batch|extern|interactive)\]|.{0,120}?\bJobId=(\d{1,10}))"),
        b"] ",
        "job",
        "scheduler",
    ),
    "supervisord": Supervisor(
        lazy.regex(
            rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:INFO|WARN|CRIT|DEBG) "
            rb"(?:spawned: '([^']{1,60})'|(?:success|exited|gave up|stopped|spawnerr): ([\w.:-]{1,60})|"
            rb"(?:killing|waiting for) '?([\w.:-]{1,60}))"
        ),
        b": ",
        "unit",
        "runtime",
    ),
    "jupyter": Supervisor(
        lazy.regex(rb"\[[IWEDC] [\d:. -]{8,24}(?:\w{1,30}App|\w{1,30})\] .{0,60}?\b[Kk]ernel.{0,40}?(" + UUID + rb")"),
        b"ernel",
        "notebook",
        "notebook",
    ),
    "containerd": Supervisor(
        lazy.regex(rb"time=\"[^\"]{10,40}\" level=\w{4,7} msg=.{1,400}?(?:\bid=|[cC]ontainer\W{1,4})\"?([0-9a-f]{12,64})\b"),
        b"level=",
        "container",
        "runtime",
    ),
    "kubectl": Supervisor(
        lazy.regex(
            rb"(?:[a-z0-9-]{1,63} +)?(?:\d[\dsmhd]{0,9}|<unknown>)(?: \(x\d+ over [\dsmhd]{1,9}\))? +(?:Normal|Warning) +"
            rb"[A-Z]\w{1,60} +((?:[a-z]{2,40}/)[a-z0-9][\w.-]{0,252})"
        ),
        b"  ",
        "container",
        "runtime",
    ),
}
FIRST_BYTES = frozenset(bytes([c]) for c in b"[t0123456789")  # each of these records begins with one of them,
EVENT_TYPES = (b" Normal ", b" Warning ")  # or has one of them, behind the name of a namespace


def supervised_entity(raw: bytes) -> tuple[str, str] | None:
    """(the supervisor's name, the name of the job or process in its record); None for any other line."""
    if raw[:1] not in FIRST_BYTES and not any(kind in raw for kind in EVENT_TYPES):
        return None
    for name, supervisor in SUPERVISORS.items():
        if supervisor.mark in raw and (found := supervisor.record.match(raw)):
            return name, found[found.lastindex or 1].decode("ascii", "replace")
    return None


SYSLOG_PREFIX = lazy.regex(
    rb"(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d+)?"
    rb"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)"
    rb" +(?!(?:INFO|DEBUG|WARN|WARNING|ERROR|CRITICAL|FATAL|TRACE)\b|\d\d[OE]\+? |\d{4}-\d\d-\d\d )[\w.:-]{0,79}[\w.-] +"
    rb"(?![\w.]{1,60}(?:Error|Exception|Warning): |\d{1,4}[-:])"
    rb"(?P<program>[\w./@+-]{1,60}?)(?:\([^)\s]{1,30}\))?(?:\[(?P<pid>\d+)\])?: ?"
)
KERNEL_PREFIX = lazy.regex(
    rb"(?:<\d{1,3}>|\w{1,9} *:\w{1,9} *: )?\[ {0,6}\d{1,9}\.\d{6}\](?:\[ *[TC]\d+\])? ?|\d,\d{1,9},\d{1,15},[-c];|"
    rb"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\] "
)
RANK_PREFIX = lazy.regex(
    rb"\[(?:rank|default|trainer|worker)[ _]?(?P<a>\d{1,5})\](?::|\s)|\[\d+,(?P<b>\d{1,5})\]<std(?:out|err)>"
)
TIME_IN_FRONT = lazy.regex(
    rb"[\[(<]?(?:[A-Z][a-z]{2} [ \d]\d )?[\d:.,/ T+-]{8,40}(?:Z|UTC)?[\])>]?(?: std(?:out|err) [FP])?[ \t|:-]{0,4}"
)
SRUN_PREFIX = lazy.regex(rb" {0,4}(\d{1,5}): (?![\w<]+(?:::|>))(?=\D)")  # ` 3: core::panicking::panic` is a frame of Rust's
RAY_ACTOR_PATTERN = lazy.regex(rb"(?:\x1b\[\d{1,2}m)*\((?P<name>[A-Za-z][\w.:<>-]{0,60}) (?:rank=\d+, ?)?pid=(?P<pid>\d+)")
MAIN_PROGRAM: LaneKey = ("job", "")
KERNEL_LANE: LaneKey = ("kernel", "")
SCHEDULERS = lazy.regex(r"slurm\w*|pbs\w*|sge\w*|lsf\w*|kube-scheduler|kube-controller\S*", re.IGNORECASE)
RUNTIMES = lazy.regex(r"systemd\S*|dockerd?|containerd\S*|kubelet|crio|podman|supervisord|k3s|runc|conmon", re.IGNORECASE)
KERNEL_FORMATS = ("dmesg", "kmsg", "pstore", "vmcore", "kernel", "talos")
PATTERNS = patterns_of("lane rows")
MIN_RANK_LINE_SHARE = 0.3  # of the lines: `3: text` is a rank of srun only where many lines are written so
KERNEL_OR_RANK_STARTS = frozenset((b"[", b"<", b"k"))  # `kern  :warn  : [` is how dmesg -x begins
INDENT_BYTES = frozenset((b" ", b"\t"))
MAX_LABELLED_BYTES = 300  # of a line, in which its prefixes stand
MAX_SHAPE_BYTES = 300  # of a line; a longer one hardly ever has the shape of another one
MAX_SHAPES = 4096  # that are remembered: a log has some dozen shapes of lines


def is_host_log(scan: Scan, layout: str) -> bool:
    """Is it the log of a machine with many programs, and not that of one program?"""
    return (scan.source.format or layout).startswith(HOST_FORMATS) or layout.startswith(HOST_FORMATS)


def is_kernel_log(scan: Scan, layout: str) -> bool:
    """Is it the log of a kernel alone?"""
    return (scan.source.format or layout).startswith(KERNEL_FORMATS) or layout.startswith(KERNEL_FORMATS)


def is_scheduler_log_name(name: str) -> bool:
    """Is it the name of a log of a daemon of Slurm?"""
    return PATTERNS.slurm_daemon_log.search(name) is not None


def kept_ends(scan: Scan) -> Sequence[Line]:
    """Its first and last lines; those of a short source are the same ones."""
    return scan.head if scan.lines <= len(scan.head) else (*scan.head, *scan.tail)


def lane_key(raw: bytes, ranks: bool = False) -> LaneKey | None:
    """The lane of a line, by its prefix; None if it has no prefix. `ranks`: `3: text` names a rank. What stands behind the label
    of a launcher or a collector names the lane, if it is the kernel or a unit of a host."""
    key = _key_of(raw, ranks)
    if key is not None and key[0] != "rank":
        return key
    for said in peeled(decode_line(raw[:MAX_LABELLED_BYTES])):
        inner = _key_of(said.encode("utf-8", "replace"), False)
        if inner is not None and not (key and inner[0] == "rank"):
            return inner
    return key or _rank_behind_prefixes(raw[:MAX_LABELLED_BYTES]) or _supervised_behind_time(raw[:MAX_LABELLED_BYTES])


def _supervised_behind_time(raw: bytes) -> LaneKey | None:
    """What a supervisor's record is about that stands behind a time: `10:11:12 [I 2026-01-05 10:11:12.004 ServerApp] `."""
    found = TIME_IN_FRONT.match(raw)
    return supervised_entity(raw[found.end() :]) if found else None


def _rank_behind_prefixes(raw: bytes) -> LaneKey | None:
    """The rank that stands behind the time or the label of a collector: `2026-01-05T10:11:12Z [rank1]: KeyError`.

    Any digits are a time: a lane is found by the shape of a line, in which each is 0.
    """
    found = RANK_PREFIX.search(raw)
    if found is None:
        return None
    if TIME_IN_FRONT.fullmatch(raw, 0, found.start()):
        return ("rank", raw[slice(*found.span(found.lastindex or 0))].decode())
    rank = parse_prefix(decode_line(raw)).rank
    return None if rank is None else ("rank", str(rank))


def _key_of(raw: bytes, ranks: bool) -> LaneKey | None:
    first = raw[:1]
    if first in KERNEL_OR_RANK_STARTS or first.isdigit():
        if KERNEL_PREFIX.match(raw):
            return KERNEL_LANE
        if at := _rank_at(raw, False):
            return ("rank", raw[at].decode())
    if found := SYSLOG_PREFIX.match(raw):
        program = found["program"].decode().rpartition("/")[2]
        return KERNEL_LANE if program == "kernel" else supervised_entity(raw[found.end() :]) or ("unit", program)
    if about := supervised_entity(raw):
        return about
    if b" pid=" in raw[:120] and (found := RAY_ACTOR_PATTERN.match(raw)):
        return ("process", f"{found['name'].decode()} {found['pid'].decode()}")
    if ranks and (at := _rank_at(raw, ranks)):
        return ("rank", raw[at].decode())
    return None


def _rank_at(raw: bytes, ranks: bool) -> slice | None:
    """Where the number of a rank stands at the beginning of a line, whatever its digits are; None if no rank is named there."""
    found = RANK_PREFIX.match(raw)
    if found is None and ranks:
        found = SRUN_PREFIX.match(raw)
    return slice(*found.span(found.lastindex or 0)) if found else None


def lane_kind(key: LaneKey, scan: Scan, layout: str) -> LaneKind:
    """The kind of the lane. A signature counts in the lane only if its `scope` names this kind."""
    kind = key[0]
    if kind in SUPERVISORS:  # in the supervisor's own log all lanes are of the log's kind; in a host's log they are of its own
        return SUPERVISORS[kind].lane if is_host_log(scan, layout) else lane_kind(MAIN_PROGRAM, scan, layout)
    if key != MAIN_PROGRAM:
        return _kind_of(key)
    if scan.source.format == "notebook" or layout.startswith("jupyter"):
        return "notebook"
    if is_scheduler_log_name(scan.source.name) or any(
        line.text.startswith("[") and line.text[1:2].isdigit() and PATTERNS.slurm_daemon_line.match(line.text)
        for line in kept_ends(scan)
    ):
        return "scheduler"
    if is_host_log(scan, layout):
        return "kernel" if is_kernel_log(scan, layout) else "service"
    return "job"


@functools.lru_cache(maxsize=MAX_SHAPES)
def _kind_of(key: LaneKey) -> LaneKind:
    """The kind of a lane whose lines have a prefix that tells it."""
    kind, name = key
    if kind == "unit":
        return "scheduler" if SCHEDULERS.fullmatch(name) else "runtime" if RUNTIMES.fullmatch(name) else "service"
    return "kernel" if kind == "kernel" else "job"


def entity_of(key: LaneKey, source: str) -> Entity:
    """The entity that writes the lane."""
    return Entity("job", source) if key == MAIN_PROGRAM else _entity(key)


@functools.lru_cache(maxsize=1024)
def _entity(key: LaneKey) -> Entity:
    kind, name = key
    if kind in SUPERVISORS:
        return Entity(SUPERVISORS[kind].about, name)
    return Entity("kernel", "") if kind == "kernel" else Entity(kind, name)  # type: ignore[arg-type]


def rows_by_lane(scan: Scan, layout: str, skipped: Collection[int] = ()) -> dict[LaneKey, Rows]:
    """Every line of the sample that is not blank, in order, by its lane. `skipped`: the numbers of lines that are left out."""
    host = is_host_log(scan, layout)
    blocks, kept = sampled_blocks(scan), kept_ends(scan)
    ends = scan.head if _is_decoded_as_it_stands(scan, kept) else None
    of_ends = zeroed("\n".join([line.text for line in kept])).split(b"\n") if ends is None else blocks[0].shapes
    of_prefix = [*map(_shapes(True, False).__getitem__, of_ends)]
    ranks = sum(map(attrgetter("is_of_srun"), of_prefix)) > MIN_RANK_LINE_SHARE * max(1, len(kept))
    several = host or ranks or any(shape.key for shape in of_prefix) or _has_several_programs(scan)
    shape_of = _shapes(several, ranks).__getitem__
    lanes: dict[LaneKey, Rows] = defaultdict(lambda: Rows(ends))
    for block in blocks:
        first, raws, shapes = block.first, block.rows, [*map(shape_of, block.shapes)]
        distinct = {*map(shape_of, block.distinct)}
        keys = {shape.key for shape in distinct if not shape.is_blank}
        only = next(iter(keys)) if len(keys) == 1 else None
        if only is None or "0" in only[1] or any(first <= n < first + len(raws) for n in skipped):
            for key, places in _divided(first, raws, shapes, host, ranks, skipped).items():
                lanes[key].take(first, raws, shapes, places)
            continue
        end = next((i for i in range(len(shapes), 0, -1) if not shapes[i - 1].is_blank), 0)  # behind the last line end is nothing
        raws, shapes = raws[:end], shapes[:end]
        blank = any(shape.is_blank for shape in set(shapes))
        lanes[only].extend(first, raws, shapes, [not shape.is_blank for shape in shapes] if blank else None)
    return lanes


def _is_decoded_as_it_stands(scan: Scan, kept: Sequence[Line]) -> bool:
    """Are the texts of `kept`, the first and last lines, all lines of the source without a change?"""
    if kept is not scan.head or len(scan.sample) != 1:
        return False
    data = scan.sample[0][1]
    return data.isascii() and b"\x1b" not in data and max(map(len, sampled_blocks(scan)[0].distinct)) <= MAX_SHAPE_BYTES


def _divided(
    first: int, raws: Sequence[bytes], shapes: Sequence[Shape], host: bool, ranks: bool, skipped: Collection[int]
) -> dict[LaneKey, list[int]]:
    """The indices of the lines of a block in each lane, line by line, without blank and `skipped` lines."""
    found: dict[LaneKey, list[int]] = defaultdict(list)
    last: LaneKey = MAIN_PROGRAM
    for i, shape in enumerate(shapes):
        if shape.is_blank:
            continue
        key = shape.key
        if key and shape.name_at:
            key = key[0], raws[i][shape.name_at].decode()
        elif key and "0" in key[1]:  # the name has digits, of which the shape tells zeros only
            key = lane_key(raws[i], ranks)
        if key is None:  # in a host's log, a line without a prefix continues the record before it
            key = last if host or raws[i][:1] in INDENT_BYTES else MAIN_PROGRAM
        last = key
        if not skipped or first + i not in skipped:
            found[key].append(i)
    return found


class _Shapes(dict[bytes, Shape]):
    """The shapes of lines, by the line with zeros for its digits. No prefix depends on which digits it has."""

    def __init__(self, several: bool, ranks: bool) -> None:
        super().__init__()
        self.several, self.ranks = several, ranks

    def __missing__(self, line: bytes) -> Shape:
        is_short = len(line) <= MAX_SHAPE_BYTES
        key = lane_key(line, self.ranks) if self.several else MAIN_PROGRAM
        at = _rank_at(line, self.ranks) if key and key[0] == "rank" else None
        made = Shape(line, key, is_short, at, SRUN_PREFIX.match(line) is not None)
        if is_short:
            if len(self) >= MAX_SHAPES:
                self.clear()
            self[line] = made
        return made


@functools.cache
def _shapes(several: bool, ranks: bool) -> _Shapes:
    return _Shapes(several, ranks)


def _has_several_programs(scan: Scan) -> bool:
    """Do the sampled blocks after the first have lines of several programs?"""
    return any(lane_key(raw) for _, block in scan.sample[1:] for raw in block[:2000].split(b"\n"))
