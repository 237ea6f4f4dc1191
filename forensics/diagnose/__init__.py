"""Decide: which cause is the root, which are its consequences, how sure that is, what to do, and what is missing."""

from collections.abc import Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.diagnose.advice import advice, missing
from forensics.diagnose.facts import facts_of, proofs_of
from forensics.diagnose.linked import linked
from forensics.diagnose.model import chosen
from forensics.diagnose.region import alarming
from forensics.diagnose.relevance import Jobs, foreign, silent
from forensics.diagnose.score import NOBODY, Standing, standings
from forensics.diagnose.weighing import Question, Spoken, weighed
from forensics.diagnose.words import summary
from forensics.model import Finding, Incident, Role, Unknown, Verdict

__all__ = [
    "Diagnosis",
    "Jobs",
    "Question",
    "Spoken",
    "alarming",
    "chosen",
    "diagnose",
    "doubted",
    "foreign",
    "linked",
    "silent",
    "unsettled",
]

CRASH_PROBABILITY = 0.5
CONTRIBUTING = 0.1
UNPROVEN = (
    Unknown(
        what="a line that proves a cause",
        why="no known message stands in these logs; the causes are those whose logs use the most alike words",
        command="journalctl -k --since '1 hour ago' > kernel.log",
    ),
    Unknown(
        what="the whole output of the job, from its start to its last line",
        why="the first error is often far above the last one",
        command="python train.py > job.log 2>&1",
    ),
)

DISORDERED_MOST = 0.75
DISORDERED = Unknown(
    what="what came first",
    why="the stamps of these lines go back and forth, so what followed, and what was overcome, cannot be told from their order",
    command="sort --stable --key=1,2 train.log > sorted.log",
)
UNTIED = Unknown(
    what="whether the process that died was the job's",
    why="the job's log has neither its pid nor a consequence at that moment, and does not break off then",
    command='python train.py > job.log 2>&1 & echo "pid $!"; wait $!; echo "exit status $?"',
)


class Diagnosis(Struct, frozen=True):
    """The decision about one incident: findings most probable first, never empty."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    missing: tuple[Unknown, ...]


def diagnose(incident: Incident | None, database: Database, jobs: Jobs = NOBODY, spoken: Spoken | None = None) -> Diagnosis:
    """The decision about `incident`; None stands for logs in which nothing that we know was found.

    `jobs`: the logs among them that are the job's own. `spoken`: the trained model and what it reads; without it the plain
    formula decides.
    """
    ranked = standings(incident, database, jobs)
    if spoken:
        ranked = weighed(ranked, incident, spoken, database)
    findings = tuple(_finding(s, i == 0, database) for i, s in enumerate(ranked))
    top = ranked[0]
    if top.cause == HEALTHY and (not spoken or not spoken.alarms or top.probability >= CRASH_PROBABILITY):
        return Diagnosis("no_crash", findings, ())
    unknown = missing(database.causes[top.cause], findings[0].facts) if top.cause in database.causes else ()
    unknown = unknown if top.tied else (UNTIED, *unknown)
    if top.probability >= CRASH_PROBABILITY and any(e.weight != "hint" for e in top.events):
        return Diagnosis("crash", findings, unknown)
    return Diagnosis("undetermined", findings, unknown if top.events else (*UNPROVEN, *unknown))


def unsettled(decided: Diagnosis, open_question: Unknown | None) -> Diagnosis:
    """`decided`, or where what was asked about is not in the logs, that nothing can be said of it."""
    if open_question is None:
        return decided
    findings = tuple(replace(f, probability=min(f.probability, CRASH_PROBABILITY)) for f in decided.findings)
    return Diagnosis("undetermined", findings, (open_question,))


def doubted(decided: Diagnosis, disordered: Set[str], jobs: Jobs = NOBODY) -> Diagnosis:
    """`decided`, less sure of what only the sources `disordered` tell, and of everything where these are all that the job wrote:
    nobody knows what came first there."""
    lost = bool(jobs.ends) and disordered >= set(jobs.ends)
    told = [lost or (bool(f.proofs) and all(p.source in disordered for p in f.proofs)) for f in decided.findings]
    if not any(told):
        return decided
    findings = (
        replace(f, probability=min(f.probability, DISORDERED_MOST)) if doubt else f
        for f, doubt in zip(decided.findings, told, strict=True)
    )
    return replace(decided, findings=tuple(findings), missing=(DISORDERED, *decided.missing))


def _finding(standing: Standing, first: bool, database: Database) -> Finding:
    cause = database.causes[standing.cause]
    facts = facts_of(standing.events)
    return Finding(
        id=cause.id,
        title=cause.title,
        role=_role(standing, first),
        probability=standing.probability,
        summary=summary(cause, facts),
        proofs=proofs_of(standing.events),
        facts=facts,
        advice=advice(cause, facts) if first else (),
    )


def _role(standing: Standing, first: bool) -> Role:
    if first:
        return "root"
    return "symptom" if standing.explained_by else "contributing"


def roles(findings: Sequence[Finding]) -> dict[str, Role]:
    """The role of each cause, by id."""
    return {f.id: f.role for f in findings}
