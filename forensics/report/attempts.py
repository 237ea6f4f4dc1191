"""Attempts before the last one in words: what each ended by, and what changed until the last one.

Change("batch size", "64", "32", ...), Change("reached", "epoch 2", "epoch 5", ...)
-> "it reached epoch 2, the last one epoch 5; batch size 64 -> 32"
"""

from forensics.core.text import counted
from forensics.model import EarlierAttempt, Report

SHOWN = 5  # of the attempts, the last ones
CHANGES = 6  # told of one attempt; all of them are in the JSON document
VALUE_CHARS = 60


def head(report: Report) -> str:
    """What the list is called."""
    return "Earlier cells that failed" if _cells(report) else "Earlier attempts"


def lead(report: Report) -> str:
    """Where they stand, and what is told of them."""
    if _cells(report):
        return "in the same notebook"
    changed = any(a.changes for a in report.earlier_attempts)
    return "in the same log, and what changed until the last one" if changed else "in the same log"


def shown(report: Report) -> tuple[EarlierAttempt, ...]:
    """Those that are told, in order."""
    return report.earlier_attempts[-SHOWN:]


def left_out(report: Report) -> str:
    """How many more there are; empty for none."""
    more = len(report.earlier_attempts) - SHOWN
    noun = "more cell" if _cells(report) else "more attempt"
    return f"and {counted(more, noun)} before them, all in --format json" if more > 0 else ""


def remark(attempt: EarlierAttempt) -> str:
    """Beside its title."""
    return "as the last one" if attempt.same_cause else ""


def changes(attempt: EarlierAttempt) -> str:
    """What the last attempt says otherwise, a clause; empty where the log names nothing that both of them say."""
    told = [
        f"it reached {c.then}, the last one {c.last}" if c.what == "reached" else f"{c.what} {_cut(c.then)} -> {_cut(c.last)}"
        for c in attempt.changes[:CHANGES]
    ]
    more = len(attempt.changes) - CHANGES
    told += [f"and {counted(more, 'more change')}"] if more > 0 else []
    if told:
        return "; ".join(told)
    return f"nothing of this changed: {', '.join(map(_cut, attempt.unchanged[:CHANGES]))}" if attempt.unchanged else ""


def _cut(value: str) -> str:
    return value if len(value) <= VALUE_CHARS else value[: VALUE_CHARS - 1] + "…"


def _cells(report: Report) -> bool:
    notebooks = {s.name for s in report.sources if s.format == "notebook"}
    return any(a.source in notebooks for a in report.earlier_attempts)
