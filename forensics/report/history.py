"""Say in one sentence what the history has about earlier incidents.

seen 7 times since 3 Oct 2026, on 2 nodes; 5 of them on gpu-0412; after --mem 64G it did not return
"""

from datetime import datetime

from forensics.model import History, Report
from forensics.report.phrases import shows_no_crash

MIN_NODE_SHARE = 0.5  # of the incidents on one node: then its name is shown


def seen_before(report: Report) -> str:
    """The sentence; empty if no history is used, and for a run that ended well."""
    history = report.history
    if history is None or shows_no_crash(report):
        return ""
    note = f" Noted: {history.note}" if history.note else ""
    if not history.seen:
        return f"The history has nothing like it.{note}"
    like = "Seen" if history.level == "exact" else "Something like it was seen"
    parts = [f"{like} {_times(history.seen)} {_since(history)}{_where(history)}", _most(history), history.outcome]
    return "; ".join(filter(None, parts)) + f".{note}"


def _times(count: int) -> str:
    return "once before," if count == 1 else f"{count:,} times since"


def _since(history: History) -> str:
    return f"on {_day(history.last)}" if history.seen == 1 else _day(history.first)


def _day(time: datetime | None) -> str:
    return f"{time.day} {time:%b %Y}" if time else "an unknown day"


def _where(history: History) -> str:
    if history.node_count > 1:
        return f", on {history.node_count:,} nodes"
    return f", on {history.nodes[0].name}" if history.nodes else ""


def _most(history: History) -> str:
    """`5 of them on gpu-0412`, if one of several nodes has most of them."""
    if history.node_count < 2 or history.nodes[0].seen < 2 or history.nodes[0].seen < MIN_NODE_SHARE * history.seen:
        return ""
    return f"{history.nodes[0].seen:,} of them on {history.nodes[0].name}"
