"""True things that ended nothing, a few of them for people: what belongs to others, and what is worth knowing.

also on this host
  dmesg.log:3  INFO: task python:8055 blocked for more than 120 seconds.
               somebody else's: 135.6 s after the job had ended
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.model import Notice, Report

MAX_GROUP_NOTICES = 3  # shown of each group; all are in the JSON
OTHERS_TITLE = "Also on this host"
OWN_TITLE = "Worth knowing"


class Notices(Struct, frozen=True):
    """Some of the notices of one group, in their order, each with its reason or nothing where the next one's is the same.

    `more`: how many are not shown.
    """

    head: str
    shown: tuple[tuple[Notice, str], ...]
    more: int


def groups(report: Report) -> list[Notices]:
    """What belongs to others, then the rest; without a group that is empty."""
    others = [n for n in report.notices if n.owner == "others"]
    rest = [n for n in report.notices if n.owner != "others"]
    return [_group(head, found) for head, found in ((OTHERS_TITLE, others), (OWN_TITLE, rest)) if found]


def _group(head: str, found: Sequence[Notice]) -> Notices:
    """One of each cause before a second one of any."""
    seen: set[str | None] = set()
    again: list[bool] = []
    for notice in found:
        again.append(notice.cause in seen)
        seen.add(notice.cause)
    chosen = sorted(sorted(range(len(found)), key=lambda i: (again[i], i))[:MAX_GROUP_NOTICES])
    shown = [found[i] for i in chosen]
    following = [*(n.why for n in shown[1:]), ""]
    told = tuple((n, "" if n.why == after else n.why) for n, after in zip(shown, following, strict=True))
    return Notices(head, told, len(found) - len(shown))
