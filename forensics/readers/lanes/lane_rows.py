"""Assign the sampled lines of one source to lanes: the prefix of a line says which program, rank or job wrote it.

    Aug 22 03:00:07 node-7 sshd[771]: error: ...        -> unit sshd        (kind service)
    [11686.888109] Out of memory: Killed process 4242   -> kernel           (kind kernel)
    [rank3]: RuntimeError: ...                          -> rank 3           (kind job)
    Epoch 3/10 loss 0.41                                -> the source's own program

In the log of a host, two lines of one file are not related by that: a line of one program proves nothing about another.
"""

import functools
import re
from collections.abc import Iterator
from itertools import count

from msgspec import Struct

from forensics.core import lazy
from forensics.core.text import DIGITS_TO_ZEROS, decode_line
from forensics.line_formats import peeled, unlabelled
from forensics.model import Scan
from forensics.model.verdicts import Entity, LaneKind
from forensics.readers.lanes.line_parts import counted_step, step_place
from forensics.readers.lanes.supervisors import SUPERVISORS, supervised_entity

LaneKey = tuple[str, str]  # kind of entity or supervisor of its records, name
SYSLOG_PREFIX = lazy.regex(
    rb"(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d+)?"
    rb"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)"
    rb" +(?!(?:INFO|DEBUG|WARN|WARNING|ERROR|CRITICAL|FATAL|TRACE)\b)[\w.:-]{1,80} +"
    rb"(?P<program>[\w./@+-]{1,60}?)(?:\([^)\s]{1,30}\))?(?:\[(?P<pid>\d+)\])?: ?"
)
KERNEL_PREFIX = lazy.regex(
    rb"(?:<\d{1,3}>|\w{1,9} *:\w{1,9} *: )?\[ {0,6}\d{1,9}\.\d{6}\](?:\[ *[TC]\d+\])? ?|\d,\d{1,9},\d{1,15},[-c];|"
    rb"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\] "
)
RANK_PREFIX = lazy.regex(
    rb"\[(?:rank|default|trainer|worker)[ _]?(?P<a>\d{1,5})\](?::|\s)|\[\d+,(?P<b>\d{1,5})\]<std(?:out|err)>"
)
SRUN_PREFIX = lazy.regex(rb" {0,4}(\d{1,5}): (?=\D)")
RAY_ACTOR_PATTERN = lazy.regex(rb"(?:\x1b\[\d{1,2}m)*\((?P<name>[A-Za-z][\w.:<>-]{0,60}) (?:rank=\d+, ?)?pid=(?P<pid>\d+)")
MAIN_PROGRAM: LaneKey = ("job", "")
KERNEL_LANE: LaneKey = ("kernel", "")
SCHEDULERS = lazy.regex(r"slurm\w*|pbs\w*|sge\w*|lsf\w*|kube-scheduler|kube-controller\S*", re.IGNORECASE)
RUNTIMES = lazy.regex(r"systemd\S*|dockerd?|containerd\S*|kubelet|crio|podman|supervisord|k3s|runc|conmon", re.IGNORECASE)
KERNEL_FORMATS = ("dmesg", "kmsg", "pstore", "vmcore", "kernel", "talos")
HOST_FORMATS = ("dmesg", "syslog", "journal", "kmsg", "pstore", "vmcore", "kernel", "talos")
SLURM_DAEMON_LOG = lazy.regex(r"(?:^|[/!])(?:slurmd|slurmctld|slurmdbd|slurmstepd)\b[^/]*$")
SLURM_DAEMON_LINE = lazy.regex(  # what only slurmd and slurmctld log: a log on standard input has no name
    r"\[\d{4}-[^\]]{5,30}\] (?:slurm(?:d|ctld|dbd) version \d|_slurm_rpc_\w|_job_complete: JobId=|sched: Allocate JobId="
    r"|Launching batch job \d|launch task StepId=|\[\d+\.\w+\] (?:done with job|task/cgroup: ))"
)
MIN_RANK_LINE_SHARE = 0.3  # of the lines: `3: text` is a rank of srun only where many lines are written so
CARRIAGE_RETURN = 0x0D  # as a number: to look for one byte as bytes takes ten times as long
ESCAPE = 0x1B  # as a number, too
UNKNOWN_PLACE = slice(0, 0)  # no number stands there
KERNEL_OR_RANK_STARTS = frozenset((b"[", b"<", b"k"))  # `kern  :warn  : [` is how dmesg -x begins
INDENT_BYTES = frozenset((b" ", b"\t"))
MAX_LABELLED_BYTES = 300  # of a line, in which its prefixes stand
MAX_ROW_TEXT_BYTES = 2000  # of a line: as much as a report quotes
MAX_SHAPE_BYTES = 300  # of a line; a longer one hardly ever has the shape of another one


class Row(Struct):
    """One line of a lane: its number, its template (its first eight words, without numbers and signs), and its bytes.

    `step_at`: where in `raw` the number of a counted step stands; None for a line without one, UNKNOWN_PLACE if it was not looked
    for.
    """

    number: int
    template: bytes
    raw: bytes
    step_at: slice | None = UNKNOWN_PLACE
    decoded: str | None = None  # the result of text(), kept

    def text(self) -> str:
        """The text of the line: its last frame, without terminal escapes."""
        if self.decoded is None:
            raw = self.raw
            if CARRIAGE_RETURN in raw:
                raw = raw.rstrip(b"\r").rpartition(b"\r")[2]
            self.decoded = decode_line(raw[:MAX_ROW_TEXT_BYTES])
        return self.decoded

    def said(self) -> str:
        """The text of the line as the program wrote it, without the label of a launcher or a collector."""
        return unlabelled(self.text())

    def counted_step(self) -> int | None:
        """The step, epoch, iteration or round that the line counts; None if it counts none."""
        if self.step_at is UNKNOWN_PLACE:
            return counted_step(self.said())
        return int(self.raw[self.step_at]) if self.step_at else None


def is_host_log(scan: Scan, layout: str) -> bool:
    """Is it the log of a machine with many programs, and not that of one program?"""
    return (scan.source.format or layout).startswith(HOST_FORMATS) or layout.startswith(HOST_FORMATS)


def is_kernel_log(scan: Scan, layout: str) -> bool:
    """Is it the log of a kernel alone?"""
    return (scan.source.format or layout).startswith(KERNEL_FORMATS) or layout.startswith(KERNEL_FORMATS)


def is_scheduler_log(scan: Scan) -> bool:
    """Is it the log of a daemon of Slurm, by its name or by its lines?"""
    return bool(SLURM_DAEMON_LOG.search(scan.source.name)) or any(
        SLURM_DAEMON_LINE.match(line.text) for line in (*scan.head, *scan.tail)
    )


def lane_key(raw: bytes, ranks: bool = False) -> LaneKey | None:
    """The lane of a line, by its prefix; None if it has no prefix. `ranks`: `3: text` names a rank.

    What stands behind the label of a launcher or a collector names the lane, if it is the kernel or a unit of a host.
    """
    key = _key_of(raw, ranks)
    if key is not None and key[0] != "rank":
        return key
    for said in peeled(decode_line(raw[:MAX_LABELLED_BYTES])):
        inner = _key_of(said.encode("utf-8", "replace"), False)
        if inner is not None and not (key and inner[0] == "rank"):
            return inner
    return key


def _key_of(raw: bytes, ranks: bool) -> LaneKey | None:
    first = raw[:1]
    if first in KERNEL_OR_RANK_STARTS or first.isdigit():
        if KERNEL_PREFIX.match(raw):
            return KERNEL_LANE
        if found := RANK_PREFIX.match(raw):
            return ("rank", (found["a"] or found["b"]).decode())
    if found := SYSLOG_PREFIX.match(raw):
        program = found["program"].decode().rpartition("/")[2]
        return KERNEL_LANE if program == "kernel" else supervised_entity(raw[found.end() :]) or ("unit", program)
    if about := supervised_entity(raw):
        return about
    if b" pid=" in raw[:120] and (found := RAY_ACTOR_PATTERN.match(raw)):
        return ("process", f"{found['name'].decode()} {found['pid'].decode()}")
    if ranks and (found := SRUN_PREFIX.match(raw)):
        return ("rank", found[1].decode())
    return None


def lane_kind(key: LaneKey, scan: Scan, layout: str) -> LaneKind:
    """The kind of the lane. A signature counts in the lane only if its `scope` names this kind."""
    kind, name = key
    if kind in SUPERVISORS:  # in the supervisor's own log all lanes are of the log's kind; in a host's log they are of its own
        return SUPERVISORS[kind].lane if is_host_log(scan, layout) else lane_kind(MAIN_PROGRAM, scan, layout)
    if kind == "kernel":
        return "kernel"
    if kind == "unit":
        return "scheduler" if SCHEDULERS.fullmatch(name) else "runtime" if RUNTIMES.fullmatch(name) else "service"
    if key == MAIN_PROGRAM and (scan.source.format == "notebook" or layout.startswith("jupyter")):
        return "notebook"
    if key == MAIN_PROGRAM and is_scheduler_log(scan):
        return "scheduler"
    if key == MAIN_PROGRAM and is_host_log(scan, layout):
        return "kernel" if is_kernel_log(scan, layout) else "service"
    return "job"


@functools.lru_cache(maxsize=1024)
def entity_of(key: LaneKey, source: str) -> Entity:
    """The entity that writes the lane."""
    kind, name = key
    if kind in SUPERVISORS:
        return Entity(SUPERVISORS[kind].about, name)
    if key == MAIN_PROGRAM:
        return Entity("job", source)
    return Entity("kernel", "") if kind == "kernel" else Entity(kind, name)  # type: ignore[arg-type]


def lane_rows(scan: Scan, layout: str) -> Iterator[tuple[LaneKey, Row]]:
    """Every line of the sample that is not blank, in order, with its lane."""
    host = is_host_log(scan, layout)
    kept = scan.head if scan.lines <= len(scan.head) else (*scan.head, *scan.tail)  # of a short source both are the same lines
    ends = [line.text.encode("utf-8", "replace") for line in kept]
    ranks = sum(1 for raw in ends if SRUN_PREFIX.match(raw)) > MIN_RANK_LINE_SHARE * max(1, len(ends))
    several = host or ranks or any(lane_key(raw) for raw in ends) or _has_several_programs(scan)
    for first, block in scan.sample:
        last: LaneKey = MAIN_PROGRAM
        lines, shapes = block.split(b"\n"), block.translate(DIGITS_TO_ZEROS).split(b"\n")
        for number, raw, shape in zip(count(first), lines, shapes, strict=False):
            if len(shape) <= MAX_SHAPE_BYTES:
                template, key, step_at = _of_shape(shape, several, ranks)
            else:
                (template, key), step_at = _template_and_lane(raw, several, ranks), UNKNOWN_PLACE
            if not template and not raw.strip():
                continue
            if key and "0" in key[1]:  # the name has digits, of which the shape tells zeros only
                key = lane_key(raw, ranks)
            if key is None:  # in a host's log, a line without a prefix continues the record before it
                key = last if host or raw[:1] in INDENT_BYTES else MAIN_PROGRAM
            last = key
            yield key, Row(number, template, raw, step_at)


def _template_and_lane(raw: bytes, several: bool, ranks: bool) -> tuple[bytes, LaneKey | None]:
    """The template of a line (its first words, of a redrawn progress bar those of the last frame), and its lane."""
    frame = raw.rstrip(b"\r").rpartition(b"\r")[2] if CARRIAGE_RETURN in raw else raw
    template = b" ".join([w for w in frame.translate(WORDS_ONLY).split() if len(w) > 2][:8])
    return template, lane_key(raw, ranks) if several else MAIN_PROGRAM


@functools.lru_cache(maxsize=4096)
def _of_shape(shape: bytes, several: bool, ranks: bool) -> tuple[bytes, LaneKey | None, slice | None]:
    """_template_and_lane() of a line of this shape, in which each digit is a 0: no prefix depends on which digits it has.

    Also the `step_at` of its Row: in a line of several frames, or whose text is not its bytes, it is not looked for.
    """
    is_plain = shape.isascii() and CARRIAGE_RETURN not in shape and ESCAPE not in shape
    step_at = _step_place(shape.decode("ascii")) if is_plain else UNKNOWN_PLACE
    return (*_template_and_lane(shape, several, ranks), step_at)


def _step_place(text: str) -> slice | None:
    """Where in `text` the number of a counted step stands, behind the labels that are no part of what the program wrote."""
    said = unlabelled(text)
    place, label = step_place(said), len(text) - len(said)
    return slice(place.start + label, place.stop + label) if place else None


def _has_several_programs(scan: Scan) -> bool:
    """Do the sampled blocks after the first have lines of several programs?"""
    return any(lane_key(raw) for _, block in scan.sample[1:] for raw in block[:2000].split(b"\n"))


WORDS_ONLY = bytes(i if i == 10 or 65 <= i <= 90 or 97 <= i <= 122 or i >= 128 else 32 for i in range(256))
