"""The label that a launcher or a collector wrote in front of every line of a log, so that it can be taken away once.

    trainer-1  | Traceback (most recent call last):      ->  the label `trainer-1  | `
    trainer-1  | KeyError: 'lr'

A log of several containers or ranks has several labels: there each tells whose the line is, and stays.
"""

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from forensics.core import lazy
from forensics.line_formats import first_format, label_formats, parse_prefix
from forensics.line_formats.base import MAX_PREFIX_CHARS, LineFormat
from forensics.model import Prefix

MIN_LABELLED_LINES = 3  # a number with a colon in front of fewer lines may be text
MIN_LABELLED_SHARE = 0.9  # of the lines; chosen by hand: a launcher writes some lines of its own without a label
MAX_TRIED_LINES = 50  # chosen by hand: that share of them has the label, also where some lines begin with a number
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
    labels = Counter(filter(None, map(_label, lines[:MAX_TRIED_LINES])))
    for (form, label, is_someones), _ in labels.most_common(1):
        if is_someones and sum(line.startswith(label.rstrip()) for line in lines) < MIN_LABELLED_SHARE * len(lines):
            return None  # as for most logs: no pattern is compiled for them
        removal = _removal(form, label, is_someones)
        if sum(removal.match(line.encode("utf-8", "replace")) is not None for line in lines) < MIN_LABELLED_SHARE * len(lines):
            return None
        enough = len(lines) >= MIN_LABELLED_LINES if is_someones else not any(KERNEL_TEXT.search(line) for line in lines)
        return CommonLabel(label, removal) if enough else None
    return None


def label_prefix(label: str) -> Prefix:
    """What the label of a source tells of each of its lines."""
    return parse_prefix(f"{label}x") if label else Prefix("")


def _label(line: str) -> tuple[LineFormat, str, bool] | None:
    """The format of the label of a line, its text, and whether it tells whose the line is; None for a line without one."""
    for form in label_formats(line):
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
