"""What the last counters of a log say about its end, where nothing in it shows a bad one.

Epoch 3/5, then 50/103 [=====>   ] - ETA     -> undetermined: it breaks off in epoch 3 of 5, at 50 of 103
step:3250/3250 val_loss:3.27543              -> its last step was made
{'loss': 2.98, 'epoch': 0.08}                -> undetermined: its Trainer always ends with the time of the run
Epoch 8/10, then "early stopping, done"      -> an end is told, and no counter speaks against it

A log that stops short of what its run counts to is what a kill, a power loss and a lost node leave, and what a run that goes on
looks like. Nothing in it decides between them.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from forensics.decision.candidates import OWN_KINDS
from forensics.decision.ledger import moved
from forensics.model import OpenQuestion, Report, SubjectSummary
from forensics.readers.progress.counters import OF_EPOCH, Counter, Progress

BROKEN_OFF_MAX = 0.5  # the probability of no crash: as likely as not
FINISHED = "its last step was made: {}"
STOPS = "the log stops {}, and nothing tells of an end or of a reason"
BROKEN_OFF = "rule: the log stops short of what its run counts to"
OPEN_ENDS = ("cut_off", "ended_well", "unknown")


def undetermined_if_cut_off(report: Report, progress: Progress, title: str, missing: Sequence[OpenQuestion]) -> Report:
    """`report`, or, if it shows no crash, what the last counters of its subject's log justify.

    `title`: of its first cause where the log breaks off; `missing`: what would tell how it ended.
    """
    return _titled_if_cut_off(_judged(report, progress, title, missing), title)


def _titled_if_cut_off(report: Report, title: str) -> Report:
    """`report`; its first cause says in its title, too, that the log breaks off, where its ending is told so."""
    first, subject = report.causes[0], report.subject
    if report.verdict != "no_crash" or not title or subject is None or subject.outcome != "cut_off":
        return report
    return replace(report, causes=(replace(first, title=title), *report.causes[1:]))


def _judged(report: Report, progress: Progress, title: str, missing: Sequence[OpenQuestion]) -> Report:
    subject, counters = report.subject, progress.counters
    if report.verdict != "no_crash" or not (counters or progress.before_end):
        return report
    if subject is None or subject.kind not in OWN_KINDS or subject.outcome not in OPEN_ENDS:
        return report
    full = bool(counters) and all(c.is_complete for c in counters)
    if full and subject.outcome != "ended_well" and counters[0].unit not in ("", OF_EPOCH):
        return replace(report, subject=replace(subject, outcome="ended_well", why=FINISHED.format(counters[0])))
    if _is_end_told(subject, progress.line) or any(c.is_complete for c in counters[:1]) or progress.may_be_last:
        return report
    first = report.causes[0]
    first = moved(replace(first, title=title or first.title), min(first.probability, BROKEN_OFF_MAX), BROKEN_OFF)
    stopped = replace(subject, outcome="cut_off", why=STOPS.format(_place(counters) if counters else f"at {progress.before_end}"))
    asked = report.missing or tuple(missing)
    return replace(report, verdict="undetermined", subject=stopped, causes=(first, *report.causes[1:]), missing=asked)


def _is_end_told(subject: SubjectSummary, last: int) -> bool:
    """Does a line behind the last counter, which is in line `last`, tell of a good end?

    Counters of a notebook are of the cell that was running when it was saved.
    """
    if subject.kind == "notebook":
        return False
    told = [int(n) for line in subject.outcome_lines if (n := line.removeprefix(f"{subject.name}:").partition(":")[0]).isdigit()]
    return subject.outcome == "ended_well" and max(told, default=last) >= last


def _place(counters: Sequence[Counter]) -> str:
    """`after step 200 of 2515`, `in epoch 3 of 5, at 50 of 103`, `after epoch 1 of 10`."""
    outer, inner = counters[0], counters[-1] if len(counters) > 1 else None
    if inner is None:
        return f"{'after' if outer.unit else 'at'} {outer}"
    return f"after {outer}" if inner.is_complete else f"in {outer}, at {inner}"
