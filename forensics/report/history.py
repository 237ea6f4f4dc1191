"""What is remembered of earlier incidents, in one sentence.

seen 7 times since 3 Oct 2026, on 2 nodes; 5 of them on gpu-0412; after --mem 64G it did not return
"""

from datetime import datetime

from forensics.model import History, Report

MIN_NODE_SHARE = 0.5  # of the incidents on one node: worth naming it


def seen_before(report: Report) -> str:
    """The sentence; empty where no history was asked, and for a run that ended well."""
    told = report.history
    if told is None or report.verdict == "no_crash":
        return ""
    note = f" Noted: {told.note}" if told.note else ""
    if not told.seen:
        return f"The history has nothing like it.{note}"
    like = "Seen" if told.level == "exact" else "Something like it was seen"
    parts = [f"{like} {_times(told.seen)} {_since(told)}{_where(told)}", _most(told), told.outcome]
    return "; ".join(filter(None, parts)) + f".{note}"


def _times(count: int) -> str:
    return "once before," if count == 1 else f"{count:,} times since"


def _since(told: History) -> str:
    return f"on {_day(told.last)}" if told.seen == 1 else _day(told.first)


def _day(time: datetime | None) -> str:
    return f"{time.day} {time:%b %Y}" if time else "an unknown day"


def _where(told: History) -> str:
    if told.node_count > 1:
        return f", on {told.node_count:,} nodes"
    return f", on {told.nodes[0].name}" if told.nodes else ""


def _most(told: History) -> str:
    """`5 of them on gpu-0412`, where one of several nodes has most of them."""
    if told.node_count < 2 or told.nodes[0].seen < 2 or told.nodes[0].seen < MIN_NODE_SHARE * told.seen:
        return ""
    return f"{told.nodes[0].seen:,} of them on {told.nodes[0].name}"
