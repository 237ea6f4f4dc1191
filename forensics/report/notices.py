"""Choose the notices to show: observations that ended nothing, of others or worth knowing; a few of each group.

also in these logs
  dmesg.log:3  INFO: task python:8055 blocked for more than 120 seconds.
               held for another's: 135.6 s behind the last line of the job's log
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.model import Notice, Report
from forensics.report.phrases import shows_no_crash, symptoms

MAX_GROUP_NOTICES = 3  # shown of each group; all are in the JSON
OTHERS_TITLE = "Also in these logs"
OWN_TITLE = "Worth knowing"


class NoticeGroup(Struct, frozen=True):
    """Some of the notices of one group, in their order, each with its reason; the reason is empty if the next one has the same.

    `more`: how many are not shown.
    """

    head: str
    shown: tuple[tuple[Notice, str], ...]
    more: int


def notice_groups(report: Report) -> list[NoticeGroup]:
    """The notices of others, then the rest; a group without notices is left out."""
    others = [n for n in report.notices if n.owner == "others"]
    shown = () if shows_no_crash(report) else (report.causes[0], *symptoms(report))  # there the notice says why it is none
    quoted = {(p.source, p.line) for f in shown for p in f.evidence}
    rest = [n for n in report.notices if n.owner != "others"]
    rest = [
        n for n in rest if n.cause is None or (n.source, n.line) not in quoted
    ]  # one without a cause tells of more than its line
    return [_group(head, found) for head, found in ((OTHERS_TITLE, others), (OWN_TITLE, rest)) if found]


def _group(head: str, found: Sequence[Notice]) -> NoticeGroup:
    """A group with one notice of each cause before a second one of any."""
    seen: set[str | None] = set()
    again: list[bool] = []
    for notice in found:
        again.append(notice.cause in seen)
        seen.add(notice.cause)
    chosen = sorted(sorted(range(len(found)), key=lambda i: (again[i], i))[:MAX_GROUP_NOTICES])
    shown = [found[i] for i in chosen]
    following = [*(n.why for n in shown[1:]), ""]
    with_reasons = tuple((n, "" if n.why == after else n.why) for n, after in zip(shown, following, strict=True))
    return NoticeGroup(head, with_reasons, len(found) - len(shown))
