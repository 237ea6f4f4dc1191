"""A boot in a system's journal or syslog with no shutdown in front of it: the machine was reset, or lost its power.

    Mar 07 07:27:43 n7 sshd[1020343]: Accepted publickey for mara from 10.1.2.3 port 52914 ssh2
    -- Reboot --
    Mar 08 18:35:20 n7 kernel: Linux version 5.13.0-51-generic (buildd@example) ...

An orderly shutdown leaves lines: units stop, daemons exit on signal 15, the journal is closed. If programs wrote until the boot
and there is no such line, nobody asked for the boot. This is only a hint, because a hang, a panic and a reset button look
alike. A kernel log alone never shows a shutdown, so it proves nothing. `journalctl -r` prints the newest line first; the
timestamps show this order.

A syslog may have nothing of the kernel's. Then the service that loads the first modules shows the boot, if time had passed
since the line before, and its pid is lower than those before: both start anew with the machine.

    Mar 07 07:25:01 n7 CRON[41822]: (root) CMD (run-parts)
    Mar 07 07:27:43 n7 systemd-modules-load[512]: Inserted module 'lp'
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Line, Prefix, Region, Trigger
from forensics.readers.base import ParsedLine, Record, parse_lines

# Chosen by hand. The last lines before a boot show whether the machine was shut down; the first ones show clock and firmware.
BOOT_CONTEXT_LINES = 40
TRIGGER = Trigger("boot", of="boot", before=BOOT_CONTEXT_LINES, after=BOOT_CONTEXT_LINES)
PATTERNS = patterns_of("boot")
EARLY_PROGRAM = "systemd-modules-load"  # runs once, at boot
MIN_DOWN_S = 10.0  # chosen by hand: firmware and loader take longer; lines of one boot follow each other faster
MAX_LINES_BEFORE_BOOT = 5  # lines in front of the boot, one of which a program must have written
NO_PROGRAMS = {"kernel", None}
NO_SHUTDOWN = "no_shutdown"
OUTCOMES = (NO_SHUTDOWN,)


def read(region: Region) -> Record | None:
    """A reset, if the lines before a boot show no shutdown; None if they show one, or if no program wrote them."""
    own, above = region.line, region.lines_before()
    anew = _down_s(parse_prefix(own.text), above)
    if PATTERNS.boot_header.search(region.text):
        before, after = parse_lines(above), parse_lines(region.lines_after())
        earlier = iter(after if _newest_first(before, after) else before[::-1])
    elif (
        PATTERNS.linux_version.search(region.text)
        and not any(PATTERNS.boot_header.search(line.text) for line in above[-MAX_LINES_BEFORE_BOOT:])
    ) or anew:
        earlier = (ParsedLine(line, parse_prefix(line.text)) for line in reversed(above))
    else:
        return None
    stamped = _of_one_boot(earlier)
    near = [*islice(stamped, MAX_LINES_BEFORE_BOOT)]
    if all(p.prefix.program in NO_PROGRAMS for p in near):  # of most logs of a kernel, the other lines need not be parsed
        return None
    if any(PATTERNS.shutdown.search(p.line.text) for p in (*near, *stamped)):
        return None
    if anew:
        return Record("boot/anew", own.number, own.number, NO_SHUTDOWN, "strong", (own, near[0].line), {"down_s": anew})
    return Record("boot", own.number, own.number, NO_SHUTDOWN, "hint", (own, near[0].line))


def _down_s(own: Prefix, above: Sequence[Line]) -> float:
    """The seconds between the first program of a boot, whose pid is below those of the lines before, and the last of these; 0 if
    it is none, or if less than MIN_DOWN_S passed."""
    if own.program != EARLY_PROGRAM or own.stamp is None or own.stamp.wall is None or own.pid is None:
        return 0.0
    before = [parse_prefix(line.text) for line in above]
    stamps = [p.stamp.wall for p in before if p.stamp and p.stamp.wall]
    pids = [p.pid for p in before if p.pid is not None]
    if not stamps or not pids:
        return 0.0
    down_s = (own.stamp.wall.replace(tzinfo=None) - stamps[-1].replace(tzinfo=None)).total_seconds()
    return down_s if down_s >= MIN_DOWN_S and own.pid < max(pids) else 0.0


def _of_one_boot(earlier: Iterable[ParsedLine]) -> Iterator[ParsedLine]:
    """The lines of the previous boot that have a timestamp. `earlier`: the lines before a boot, nearest first."""
    for one in earlier:
        if PATTERNS.boot_header.search(one.line.text):
            return
        if one.prefix.stamp:
            yield one


def _newest_first(above: Sequence[ParsedLine], below: Sequence[ParsedLine]) -> bool:
    """Are the timestamps above a boot header later than those below it?"""
    upper = next((p.prefix.stamp.wall for p in reversed(above) if p.prefix.stamp and p.prefix.stamp.wall), None)
    lower = next((p.prefix.stamp.wall for p in below if p.prefix.stamp and p.prefix.stamp.wall), None)
    if upper is None or lower is None:
        return False
    return upper.replace(tzinfo=None) > lower.replace(tzinfo=None)
