"""Earlier attempts in words: how each ended, and what changed between it and the last one.

Change("batch size", "64", "32", ...), Change("reached", "epoch 2", "epoch 5", ...)
-> "it reached epoch 2, the last one epoch 5; batch size 64 -> 32"
"""

from forensics.core.text import with_noun
from forensics.model import EarlierAttempt, Report

MAX_SHOWN_ATTEMPTS = 5  # chosen by hand: the last ones
MAX_SHOWN_CHANGES = 6  # chosen by hand: of one attempt; all of them are in the JSON document
MAX_VALUE_CHARS = 60  # of a row of 100 columns, next to the name and the numbers of the attempts


def heading(report: Report) -> str:
    """The heading of the list."""
    return "Earlier cells that failed" if _cells(report) else "Earlier attempts"


def introduction(report: Report) -> str:
    """The words after the heading: what is shown of the attempts."""
    if _cells(report):
        return "in the same notebook"
    changed = any(a.changes for a in report.earlier_attempts)
    return "how each ended, and what changed until the last one" if changed else "how each ended"


def attempts_shown(report: Report) -> tuple[EarlierAttempt, ...]:
    """The attempts to show, in order."""
    return report.earlier_attempts[-MAX_SHOWN_ATTEMPTS:]


def left_out_note(report: Report) -> str:
    """How many further attempts there are; empty if there are none."""
    more = len(report.earlier_attempts) - MAX_SHOWN_ATTEMPTS
    noun = "more cell" if _cells(report) else "more attempt"
    return f"and {with_noun(more, noun)} before them, all in --format json" if more > 0 else ""


def title_remark(attempt: EarlierAttempt) -> str:
    """The remark after an attempt's title."""
    return "as the last one" if attempt.same_cause else ""


def changes_clause(attempt: EarlierAttempt) -> str:
    """What changed until the last attempt, as a clause; empty if the log does not give values for both of them."""
    clauses = [
        f"it reached {c.then}, the last one {c.last}" if c.what == "reached" else f"{c.what} {_cut(c.then)} -> {_cut(c.last)}"
        for c in attempt.changes[:MAX_SHOWN_CHANGES]
    ]
    more = len(attempt.changes) - MAX_SHOWN_CHANGES
    clauses += [f"and {with_noun(more, 'more change')}"] if more > 0 else []
    if clauses:
        return "; ".join(clauses)
    return f"nothing of this changed: {', '.join(map(_cut, attempt.unchanged[:MAX_SHOWN_CHANGES]))}" if attempt.unchanged else ""


def _cut(value: str) -> str:
    return value if len(value) <= MAX_VALUE_CHARS else value[: MAX_VALUE_CHARS - 1] + "…"


def _cells(report: Report) -> bool:
    notebooks = {s.name for s in report.sources if s.format == "notebook"}
    return any(a.source in notebooks for a in report.earlier_attempts)
