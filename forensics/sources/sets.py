"""Files that are parts of one log are put in the order in which they were written. Lines that two of them share are read once.

    kern.log, kern.log.1, kern.log.2.gz     -> kern.log.2.gz, kern.log.1, kern.log   (rotated)
    dmesg-erst-1, dmesg-erst-2              -> Part2, Part1                          (pstore: the highest part is the oldest)

The order is that of the times in their first lines. If these cannot be compared, it is that of the numbers in their names.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from forensics.core import lazy
from forensics.model import Source
from forensics.sources.overlap import without_overlap
from forensics.sources.turning import Moment, line_time

PACKED_SUFFIX_PATTERN = lazy.regex(r"\.(?:gz|xz|bz2|zst|Z)$")
ROTATION_SUFFIX_PATTERN = lazy.regex(r"(?:\.(\d{1,4})|[.-](\d{8}(?:[-_T]?\d{2,6})?|\d{4}-\d\d-\d\d))$")
LAST_OF_MEMBERS = frozenset("0123456789z2tZ")  # one of these ends each name that the two patterns above find something in
LOG_END_PATTERN = lazy.regex(r"(?:log|messages|dmesg|secure|out|err)$")
PSTORE_MARK = "dmesg-"
PSTORE_NAME_PATTERN = lazy.regex(r"(^|[/!])dmesg-[\w-]+-\d+[^/]*$")
PSTORE_FILE_PATTERN = lazy.regex(r"\A(\w{1,64})#(\d{1,18}) Part(\d{1,18})$")
PROBED_LINES = 200  # chosen by hand: how many first lines of a log are searched for a time; a banner is seldom longer
STAMP_CHARS = 100  # the time is searched in so much of a line; a host, a program and a level may come before it
YEAR_S = 366 * 86400.0


def order_rotated(found: Iterable[Source]) -> list[Source]:
    """`found`, with the members of each set together, in order of writing, at the place of the first of them."""
    found = list(found)
    groups: dict[str, list[Source]] = defaultdict(list)
    for source in found:
        groups[base_of_set(source.name)].append(source)
    done: list[Source] = []
    for source in found:
        base = base_of_set(source.name)
        group = groups.pop(base, [])
        done += _ordered(group) if len(group) > 1 and _is_set(base, group) else group
    return done


def base_of_set(name: str) -> str:
    """The name that all members of a set share; the name itself if it is not that of a member."""
    if PSTORE_MARK in name and PSTORE_NAME_PATTERN.search(name):
        return re.sub(r"-\d+[^/]*$", "", name)
    if name[-1:] not in LAST_OF_MEMBERS:
        return name
    return ROTATION_SUFFIX_PATTERN.sub("", PACKED_SUFFIX_PATTERN.sub("", name))


def _is_set(base: str, group: list[Source]) -> bool:
    """Are these files one log? `stderr.0` and `stderr.1` are two ranks: rotation counts from 1, or there is a file `stderr`."""
    names = [PACKED_SUFFIX_PATTERN.sub("", s.name) for s in group]
    if base in names or PSTORE_NAME_PATTERN.search(names[0]):
        return True
    return bool(LOG_END_PATTERN.search(base)) and not any(name.endswith(".0") for name in names)


def _ordered(group: list[Source]) -> list[Source]:
    heads = [_head(source) for source in group]
    parts = [PSTORE_FILE_PATTERN.match(lines[0].strip()) if lines else None for lines in heads]
    if all(parts):
        keys = [(int(p[2]), -int(p[3])) for p in parts if p]
        return [s for _, s in sorted(zip(keys, group, strict=True), key=lambda pair: pair[0])]
    moments = [next((m for line in lines if (m := line_time(line[:STAMP_CHARS]))), None) for lines in heads]
    times = _comparable(moments)
    ages = times or [-_number(source.name) for source in group]
    ordered = [s for _, s in sorted(zip(ages, group, strict=True), key=lambda pair: pair[0])]
    return without_overlap(ordered)


def _comparable(moments: list[Moment | None]) -> list[float] | None:
    """The times as numbers; None unless all are of one clock. Without a year, the widest gap is taken for the new year."""
    known = [m for m in moments if m]
    if len(known) < len(moments) or len({m[0] for m in known}) > 1 or known[0][0] == "uptime":
        return None  # uptime starts at 0 at each boot, so uptimes of two files cannot be compared
    times = [m[1] for m in known]
    if known[0][0] != "syslog":
        return times
    rising = sorted(times)
    gaps = [b - a for a, b in zip(rising, [*rising[1:], rising[0] + YEAR_S], strict=True)]
    first = rising[(gaps.index(max(gaps)) + 1) % len(rising)]
    return [t if t >= first else t + YEAR_S for t in times]


def _number(name: str) -> float:
    """The age of a file by its name: `kern.log` 0, `kern.log.2.gz` 2. With dates, a later date gives a smaller number."""
    found = ROTATION_SUFFIX_PATTERN.search(PACKED_SUFFIX_PATTERN.sub("", name))
    if not found:
        return 0.0
    digits = re.sub(r"\D", "", found[1] or found[2])
    return float(digits) if found[1] else 1e15 - float(digits.ljust(14, "0"))


def _head(source: Source) -> list[str]:
    """The first lines of a source."""
    blocks = source.blocks(lambda _warning: None)
    first = next(blocks, b"")
    return first[: STAMP_CHARS * PROBED_LINES * 4].decode("utf-8", "replace").split("\n")[:PROBED_LINES]
