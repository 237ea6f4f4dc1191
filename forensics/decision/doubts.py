"""What makes an answer less sure: lines in no order of time, an end that was not read, nothing of what the user asks about."""

from collections.abc import Set

from msgspec import Struct
from msgspec.structs import replace

from forensics.decision.decide import ENDED_BADLY
from forensics.decision.ledger import moved
from forensics.model import Finding, OpenQuestion, Verdict

DISORDERED_MAX = 0.75  # of what only lines in no order tell
DISORDERED_RULE = "rule: the stamps of its lines go back and forth"
UNREAD_RULE = "rule: the end of its log was not read"
NOTHING_READ_RULE = "rule: nothing could be read"
NOTHING_READ = "Nothing could be read"
UNMATCHED_RULE = "rule: nothing in the logs matches what was asked about"
DISORDERED = OpenQuestion(
    what="what came first",
    why="the stamps of these lines go back and forth, so what followed, and what was overcome, cannot be told from their order",
    command="sort --stable --key=1,2 train.log > sorted.log",
)


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
