"""Reads when the command of a captured run started and in which memory groups its processes were, from the end of its log.

... forensics run: memory group /job counted no kill; no limit
... forensics run: the command, pid 4711, was still running when this was written, 4 min 5 s after its start
-> CapturedRun(started=2026-08-22 02:56, groups={"/job"})
"""

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from forensics.core import lazy
from forensics.model import Scan
from forensics.readers.capture.captured_account import CAPTURE_PREFIX
from forensics.readers.capture.captured_end import TRIGGER, account_of

LIFETIME_PATTERN = lazy.regex(
    r"(?:(?P<h>\d+) h )?(?:(?P<min>\d+) min)?(?: ?(?P<s>[\d.]+) s)? after its start$"
    r"|[ ]after (?:(?P<h2>\d+) h )?(?:(?P<min2>\d+) min)?(?: ?(?P<s2>[\d.]+) s)?$"
)
ROUNDING_S = 60.0  # a lifetime of hours is written without its seconds


class CapturedRun(Struct, frozen=True):
    """`started`: when its command started, or a little before; None if unknown. `groups`: those of its own processes."""

    started: datetime | None = None
    groups: frozenset[str] = frozenset()

    def is_elsewhere(self, group: str) -> bool:
        """Is `group`, as the kernel names it, none in which a process of the run was?

        In a container the run's own paths are the ends of those that the kernel names, and `/` may be any.
        """
        named = group.rstrip("/") + "/"
        return bool(group and self.groups) and not any(own.rstrip("/") + "/" in named for own in self.groups)


def captured_run(scan: Scan) -> CapturedRun | None:
    """What the last account in a log says of its run; None if it has no account."""
    regions = scan.regions.get(TRIGGER.kind, ())
    account = account_of(regions[-1]) if regions else None
    if account is None or not account.command:
        return None
    groups = frozenset(g.fields["cgroup"] for g in account.groups if "outer" not in g.fields)
    return CapturedRun(_started(account.end.line.text, account.end.moment), groups)


def _started(text: str, moment: float) -> datetime | None:
    found = LIFETIME_PATTERN.search(text.partition(CAPTURE_PREFIX)[2])
    if not found or not moment:
        return None
    hours, minutes, seconds = (float(found[n] or found[f"{n}2"] or 0) for n in ("h", "min", "s"))
    lived = hours * 3600 + minutes * 60 + seconds + (ROUNDING_S if hours else 0.0)
    return datetime.fromtimestamp(moment, UTC) - timedelta(seconds=lived)
