"""What makes an answer less sure: lines in no order of time, an end that was not read, nothing of what the user asks about, and
the last counters of a log in which nothing shows a bad end.

Epoch 3/5, then 50/103 [=====>   ] - ETA     -> undetermined: it breaks off in epoch 3 of 5, at 50 of 103
step:3250/3250 val_loss:3.27543              -> its last step was made
{'loss': 2.98, 'epoch': 0.08}                -> undetermined: its Trainer always ends with the time of the run
LAMMPS (22 Jul 2025), then 12000  0.9999     -> undetermined: LAMMPS always ends with the total wall time
Epoch 8/10, then "early stopping, done"      -> an end is told, and no counter speaks against it

A log that stops short of what its run counts to is what a kill, a power loss and a lost node leave, and what a run that goes on
looks like. Nothing in it decides between them.
"""

from collections.abc import Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from forensics.decision.candidates import OWN_KINDS
from forensics.decision.decide import ENDED_BADLY
from forensics.decision.ledger import moved
from forensics.model import Finding, Line, OpenQuestion, Proof, Report, Verdict
from forensics.model.answers import OUTCOME_LINE
from forensics.readers.progress.counters import OF_EPOCH, Progress

DISORDERED_MAX = 0.75  # of what only lines in no order tell
DISORDERED_RULE = "rule: the timestamps of its lines go back and forth"
UNREAD_RULE = "rule: the end of its log was not read"
NOTHING_READ_RULE = "rule: nothing could be read"
NOTHING_READ = "Nothing could be read"
UNMATCHED_RULE = "rule: nothing in the logs matches what was asked about"
DISORDERED = OpenQuestion(
    what="what came first",
    why="the timestamps of these lines go back and forth, so their order does not show what came later or was recovered",
    command="sort --stable --key=1,2 train.log > sorted.log",
)
SECOND_LOOK = OpenQuestion(
    what="whether it makes progress",
    why="Stacks from one moment show where a run is. If each process is in the same place half a minute later, it hangs.",
    command="forensics stacks   # on the machine where it runs, twice",
)
LOOKED_RULE = "rule: only stacks were given, which show where it was"


class Answer(Struct, frozen=True):
    """The verdict, the causes and the open questions of a report."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    missing: tuple[OpenQuestion, ...]


def less_sure_if_disordered(answer: Answer, disordered: Set[str], own: Set[str]) -> Answer:
    """The answer with lower probabilities of causes that only disordered sources show: their order of events is unknown.

    `own`: the sources of the subject.
    """
    lost = bool(own) and disordered >= own
    doubt = [lost or (bool(f.evidence) and all(p.source in disordered for p in f.evidence)) for f in answer.findings]
    if not any(doubt):
        return answer
    both = zip(answer.findings, doubt, strict=True)
    found = (moved(f, min(f.probability, DISORDERED_MAX), DISORDERED_RULE) if less else f for f, less in both)
    return Answer(answer.verdict, tuple(found), (DISORDERED, *answer.missing))


def undetermined_if_unread(answer: Answer, why: str | None) -> Answer:
    """The answer that nothing can be said, if no crash is shown and the end of the subject's log was not read, and `why` not."""
    if why is None or answer.verdict != "no_crash":
        return answer
    found = tuple(moved(f, min(f.probability, ENDED_BADLY), UNREAD_RULE) for f in answer.findings)
    asked = OpenQuestion("how it ended", f"the end of its log was not read ({why})", "tail --bytes=10M train.log > end.log")
    return Answer("undetermined", found, (asked, *answer.missing))


def undetermined_if_nothing_read(answer: Answer, why: str | None) -> Answer:
    """The answer that nothing can be said, if no source at all could be read, and `why` not: nothing is no sign of a good end."""
    if why is None:
        return answer
    found = (
        replace(
            moved(f, min(f.probability, ENDED_BADLY), NOTHING_READ_RULE), title=NOTHING_READ, summary=f"{NOTHING_READ}: {why}."
        )
        for f in answer.findings
    )
    asked = OpenQuestion(
        "how it ended", f"nothing that was given could be read ({why})", "ls -l FOLDER   # which file, whose, a link to where"
    )
    return Answer("undetermined", tuple(found), (asked,))


def undetermined_if_unmatched(answer: Answer, open_question: OpenQuestion | None) -> Answer:
    """The answer that nothing can be said, if what the user asks about is not in the logs."""
    if open_question is None:
        return answer
    found = tuple(moved(f, min(f.probability, ENDED_BADLY), UNMATCHED_RULE) for f in answer.findings)
    return Answer("undetermined", found, (open_question,))


def undetermined_if_only_looked(answer: Answer, looked: Sequence[bool], has_moved: bool) -> Answer:
    """The answer with the question for a second look, if stacks were given, and no end is shown. `looked`: of each source,
    whether it is one of stacks. `has_moved`: between two looks. If neither that nor a log tells that it goes on, nobody knows."""
    if answer.verdict != "no_crash" or not (all(looked) if not answer.missing else any(looked)) or not looked:
        return answer
    if has_moved and not all(looked):
        return answer
    found = tuple(moved(f, min(f.probability, BROKEN_OFF_MAX), LOOKED_RULE) for f in answer.findings)
    return Answer("undetermined", found, (SECOND_LOOK, *answer.missing))


BROKEN_OFF_MAX = 0.5  # the probability of no crash: as likely as not
# The same where the log of a program tells neither of an end nor of a plan. Measured on 123 such whole logs: 109 had ended well,
# 4 badly, and of 10 nobody can say.
OPEN_END_MAX = 0.96
FINISHED = "it completed its last step: {}"
TOLD_END = "{} reports its end"
STOPS = "the log stops {}, and nothing shows an end or a reason"
BROKEN_OFF = "rule: the log stops short of what its run counts to"
OPEN_END = "rule: no line shows an end"
OPEN_ENDS = ("cut_off", "ended_well", "unknown")


LAST_RECORD_RULE = "rule: its last line is an error record, and no line shows whether that error ended it"
LAST_RECORD = "its last line is an error, and nothing shows whether that error ended it"


def undetermined_if_last_is_error(report: Report, error: Line | None, missing: Sequence[OpenQuestion]) -> Report:
    """`report`, or, if it shows no crash and the log of its subject ends with the record `error`, that nobody can know."""
    subject = report.subject
    if report.verdict != "no_crash" or error is None or subject is None or subject.kind not in OWN_KINDS:
        return report
    quoted = Proof(subject.name, error.number, error.text, OUTCOME_LINE, "hint")
    first = moved(report.causes[0], min(report.causes[0].probability, BROKEN_OFF_MAX), LAST_RECORD_RULE)
    first = replace(first, evidence=(quoted, *first.evidence))
    told = replace(subject, outcome="unknown", why=LAST_RECORD)
    return replace(
        report, verdict="undetermined", subject=told, causes=(first, *report.causes[1:]), missing=report.missing or tuple(missing)
    )


def undetermined_if_cut_off(
    report: Report, progress: Progress, closing: Line | None, title: str, missing: Sequence[OpenQuestion]
) -> Report:
    """`report`, or, if it shows no crash, what the last counters of its subject's log justify.

    `closing`: the line with which the program says that it is over. `title`: of its first cause where the log breaks off;
    `missing`: what would tell how it ended.
    """
    return _open_ended(_judged(report, progress, closing, title, missing), title)


def _open_ended(report: Report, title: str) -> Report:
    """`report`; where its ending is told to be open, its first cause is less sure, and says in its title if a log breaks off."""
    first, subject = report.causes[0], report.subject
    if report.verdict != "no_crash" or subject is None or subject.outcome not in ("cut_off", "unknown"):
        return report
    if subject.kind in OWN_KINDS:
        first = moved(first, min(first.probability, OPEN_END_MAX), OPEN_END)
    first = replace(first, title=title) if title and subject.outcome == "cut_off" else first
    return replace(report, causes=(first, *report.causes[1:]))


def _judged(report: Report, progress: Progress, closing: Line | None, title: str, missing: Sequence[OpenQuestion]) -> Report:
    subject, counters = report.subject, progress.counters
    if report.verdict != "no_crash" or not (counters or progress.before_end or progress.ended or progress.torn):
        return report
    if subject is None or subject.kind not in OWN_KINDS or subject.outcome not in OPEN_ENDS:
        return report
    if progress.ended and not progress.torn:
        return replace(report, subject=replace(subject, outcome="ended_well", why=TOLD_END.format(progress.ended)))
    full = bool(counters) and all(c.is_complete for c in counters)
    if full and subject.outcome != "ended_well" and counters[0].unit not in ("", OF_EPOCH) and not progress.torn:
        return replace(report, subject=replace(subject, outcome="ended_well", why=FINISHED.format(counters[0])))
    if (closing and closing.number >= progress.line) or _is_end_known(report.causes[0], subject.name, progress.line):
        return report
    if not progress.torn and (any(c.is_complete for c in counters[:1]) or progress.may_be_last):
        return report
    first = report.causes[0]
    first = moved(replace(first, title=title or first.title), min(first.probability, BROKEN_OFF_MAX), BROKEN_OFF)
    stopped = replace(subject, outcome="cut_off", why=STOPS.format(_place(progress)))
    asked = report.missing or tuple(missing)
    return replace(report, verdict="undetermined", subject=stopped, causes=(first, *report.causes[1:]), missing=asked)


def _is_end_known(first: Finding, source: str, last: int) -> bool:
    """Do known messages of a good end stand in the log of the subject, all of them behind its last counter, in line `last`?"""
    told = [p.line for p in first.evidence if p.source == source and p.weight != "hint"]
    return min(told, default=-1) >= last


def _place(progress: Progress) -> str:
    """`after step 200 of 2515`, `in epoch 3 of 5, at 50 of 103`, `at batch 500, where each round before counted to 1000`."""
    if not progress.counters or progress.torn:
        return "within a line" if progress.torn else progress.before_end
    outer, inner = progress.counters[0], progress.counters[-1] if len(progress.counters) > 1 else None
    if progress.in_round:
        return f"at {outer.unit} {outer.now}".replace("  ", " ") + f", where each round before counted to {outer.total}"
    if inner is None:
        return f"{'after' if outer.unit else 'at'} {outer}"
    return f"after {outer}" if inner.is_complete else f"in {outer}, at {inner}"
