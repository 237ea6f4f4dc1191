"""What stands in front of every line of a log and can be taken away once: a launcher's label, or the prefix of the one program.

A label that a launcher or a collector wrote:

    trainer-1  | Traceback (most recent call last):      ->  the label `trainer-1  | `
    trainer-1  | KeyError: 'lr'

A log of several containers or ranks has several labels: there each tells whose the line is, and stays.

The one process whose output a journal or a syslog file holds: `journalctl -u train` is a log of the job, not of its host.

Aug 22 03:00:07 node-7 train.sh[4711]: step 3 loss 0.41      ->  the label `Aug 22 03:00:07 node-7 train.sh[4711]: `
Aug 22 03:00:08 node-7 systemd[1]: train.service: Failed     (what starts and ends it may write between)
KeyError: 'lr'                                               (what the interpreter printed itself has no label)
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct

from forensics.core import lazy
from forensics.line_formats import first_format, label_formats, labels_of, parse_prefix
from forensics.line_formats.base import MAX_PREFIX_CHARS, LineFormat
from forensics.model import Prefix

MIN_LABELLED_LINES = 3  # a number with a colon in front of fewer lines may be text
MIN_LABELLED_SHARE = 0.9  # of the lines; chosen by hand: a launcher writes some lines of its own without a label
MAX_TRIED_LINES = 50  # chosen by hand: that share of them has the label, also where some lines begin with a number
MIN_LINES_OF_POD = 5  # chosen by hand: that so many begin with the same two words, the first with a dash, is no chance
POD_AND_CONTAINER = lazy.regex(r"[a-z][a-z0-9.]*-[a-z0-9.-]+ [a-z][a-z0-9-]* ")
TELLS_WHOSE = ("host", "program", "rank", "pid")  # what tells whose a line is
OF_THE_PROGRAM = "rank"  # the format that also the program itself writes, in front of some of its lines
# What the kernel alone writes: its log may have a level in front of each line, and stays what it is.
KERNEL_TEXT = lazy.regex(
    r"Linux version \d|\bCPU: \d{1,4} (?:UID: \d{1,9} )?PID: \d{1,9} Comm: |\bCall Trace:|invoked oom-killer"
    r"|\b[Kk]illed process \d|\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]: "
    r"|\b(?:usb|ata|EXT4-fs|XFS|audit|ACPI|NVRM|systemd\[1\])\b.{0,20}: "
)


class CommonLabel(Struct, frozen=True):
    """`text`: the label of most lines. `pattern`: what is removed at the start of a line, in the bytes of a log."""

    text: str
    pattern: re.Pattern[bytes]


def common_label(lines: Sequence[str]) -> CommonLabel | None:
    """The label of nearly all of `lines`, which are not blank; None where they have none, or several."""
    tried = lines[:MAX_TRIED_LINES]
    if pod := _pod_and_container(lines):
        return pod
    if not _may_be_common(lines):
        return None
    found = (_label(line, forms) for line, forms in zip(tried, labels_of(tried), strict=True) if forms)
    labels = Counter(filter(None, found))
    for (form, label, is_someones), _ in labels.most_common(1):
        if is_someones and sum(line.startswith(label.rstrip()) for line in lines) < MIN_LABELLED_SHARE * len(lines):
            return None  # as for most logs: no pattern is compiled for them
        removal = _removal(form, label, is_someones)
        if sum(removal.match(line.encode("utf-8", "replace")) is not None for line in lines) < MIN_LABELLED_SHARE * len(lines):
            return None
        enough = len(lines) >= MIN_LABELLED_LINES if is_someones else not any(KERNEL_TEXT.search(line) for line in lines)
        return CommonLabel(label, removal) if enough else None
    return None


def _pod_and_container(lines: Sequence[str]) -> CommonLabel | None:
    """What stern writes in front of each line: two words, which tell of a pod only where all lines begin with the same ones."""
    found = POD_AND_CONTAINER.match(lines[0]) if len(lines) >= MIN_LINES_OF_POD else None
    if not found or any(not line.startswith(found[0].rstrip()) for line in lines):
        return None
    return CommonLabel(found[0], re.compile(rf"^{re.escape(found[0].rstrip())}(?: |(?=\r?$))".encode(), re.MULTILINE))


def _may_be_common(lines: Sequence[str]) -> bool:
    """Do nearly all lines begin alike, as with one label, or may nearly all have a label? Most logs of several programs tell by
    their first lines that they do not."""
    others = int(len(lines) - MIN_LABELLED_SHARE * len(lines)) + 1  # so many without a label are too many
    begins = [line[:1] for line in lines]
    unlabelled = (line for line in lines if not label_formats(line))
    frequent = max(map(begins.count, set(begins)), default=0)
    return frequent >= MIN_LABELLED_SHARE * len(lines) or len([*islice(unlabelled, others)]) < others


def label_prefix(label: str) -> Prefix:
    """What the label of a source tells of each of its lines."""
    return parse_prefix(f"{label}x") if label else Prefix("")


def _label(line: str, forms: Iterable[LineFormat]) -> tuple[LineFormat, str, bool] | None:
    """Of `forms`, the labels that a line may have, the one that it has, its text, and whether it tells whose the line is; None
    for a line without one."""
    for form in forms:
        # `12: 2026-05-01 ...` is a line of `grep -n` as well: that all have one number decides. A level may stand before a time.
        if form.name == OF_THE_PROGRAM or form.clock != "none":
            continue
        if found := form.compiled.match(line, 0, MAX_PREFIX_CHARS):
            is_someones = any(map(found.groupdict().get, TELLS_WHOSE))
            if is_someones or form is first_format(line):
                return form, found[0], is_someones
    return None


def _removal(form: LineFormat, label: str, is_someones: bool) -> re.Pattern[bytes]:
    """Of a label with a name or a number this one alone; of others, as a level, any."""
    bare = label.rstrip()
    own = re.escape(bare) + (r"(?: |(?=\r?$))" if len(bare) < len(label) else "") if is_someones else form.pattern
    return re.compile(f"^(?:{own})".encode(), re.MULTILINE)


WRITTEN_BY_HOSTS = ("syslog", "journal")
# Whose journal is a job's: scripts, and what runs them. Of a daemon, whose log has no end, nothing of a job is asked.
RUNS_JOBS = lazy.regex(
    r"\S+\.(?:py|sh)|i?python[\d.]*|(?:ba|da|z)?sh|torchrun|accelerate|deepspeed|papermill|jupyter\S*|horovodrun|srun|mpirun|mpiexec"
    r"|train\S*"
)
STARTER = "systemd"
STAMP = r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))"
BEHIND_STAMP = b" | "  # as the format `own journal` has it


def sole_program(lines: Iterable[str]) -> CommonLabel | None:
    """What stands in front of each of `lines` that the init system did not write; None where several processes wrote them.

    Its pattern has the stamp as its first group, which stays.
    """
    whose: set[tuple[str, str, int | None]] = set()
    count, first = 0, ""
    for text in lines:
        form = first_format(text)
        if form is None and first:
            continue  # it goes on with the message above it: a traceback that the interpreter printed
        prefix = form.parse(text) if form and form.name.startswith(WRITTEN_BY_HOSTS) else None
        if prefix is None or prefix.program is None:
            return None
        if prefix.program == STARTER:
            continue
        if prefix.host is None or not RUNS_JOBS.fullmatch(prefix.program):
            return None
        whose.add((prefix.host, prefix.program, prefix.pid))
        count, first = count + 1, first or text
        if len(whose) > 1:
            return None
    if count < MIN_LABELLED_LINES:
        return None
    (host, program, pid) = whose.pop()
    writer = re.escape(program if pid is None else f"{program}[{pid}]")
    own = re.compile(rf"^(?:<\d{{1,3}}>)?({STAMP}) {re.escape(host)} {writer}: ?".encode(), re.MULTILINE)
    found = own.match(first.encode())
    return CommonLabel(found[0].decode(), own) if found else None
