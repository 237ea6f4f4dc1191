"""A Diagnosis to what a report says of each cause: role, summary, evidence lines, facts, remedies, open questions."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePath

from msgspec.structs import replace

from forensics.advice.case import REASON_PLACE, SAID_FACT, UNEXPLAINED, case_facts
from forensics.advice.evidence import facts_of, proofs_of
from forensics.advice.remedies import fitting_remedies, missing_facts
from forensics.advice.whereabouts import HOSTS, location_text
from forensics.advice.wording import summary
from forensics.core.text import numbers_in
from forensics.database import HEALTHY, Cause, Database
from forensics.model import Advice, Fields, Finding, JobContext, Observation, OpenQuestion, Proof, Role, Value
from forensics.model.answers import OUTCOME_LINE, REASON_LINE
from forensics.model.verdicts import Candidate, Diagnosis

NO_SURROUNDINGS = JobContext()
MIN_SURE = 0.6  # probability of a first cause whose remedies are told as they are; below it, nearly every second one is wrong
MAX_RECOVERY_LINES = 4  # chosen by hand: the last lines that show that it went on; more show the same
MAX_RANK_DIGITS = 8  # a longer number is no rank
UNPROVEN = (
    OpenQuestion(
        what="a line that proves a cause",
        why="These logs hold no message of a known cause; the causes listed are those whose logs use the most similar words.",
        command="journalctl -k --since '1 hour ago' > kernel.log",
    ),
    OpenQuestion(
        what="the whole output of the job, from its start to its last line",
        why="The first error is often far above the last one.",
        command="python train.py > job.log 2>&1",
    ),
)
UNTIED = OpenQuestion(
    what="whether the process that died was the job's",
    why="The job's log has neither its pid nor a consequence at that moment.",
    command='python train.py > job.log 2>&1 & echo "pid $!"; wait $!; echo "exit status $?"',
)


def findings(
    diagnosis: Diagnosis, database: Database, around: JobContext = NO_SURROUNDINGS, reasons: Sequence[Proof] = ()
) -> tuple[Finding, ...]:
    """What is said of each candidate, in order; remedies, which fit what is `around` the job, for the first one only.

    `reasons`: lines that most likely say why it ended, where no line proves a cause. They lead the first one's evidence.
    """
    return tuple(_finding(c, i == 0, diagnosis, database, around, reasons) for i, c in enumerate(diagnosis.candidates))


def open_questions(
    diagnosis: Diagnosis, found: Sequence[Finding], database: Database, around: JobContext = NO_SURROUNDINGS
) -> tuple[OpenQuestion, ...]:
    """What the logs did not say, most important first; nothing where nothing ended badly."""
    first = diagnosis.candidates[0]
    if diagnosis.verdict == "no_crash" or first.cause not in database.causes:
        return ()
    facts = dict(found[0].facts) | _reason_place(found[0].facts, found[0].evidence)
    asked = missing_facts(database.causes[first.cause], case_facts(facts, around), around.environment)
    if first.owned and all(o.owner == "unknown" for o in first.owned):
        asked = (UNTIED, *asked)
    return asked if first.owned else (*UNPROVEN, *asked)


def _finding(
    candidate: Candidate, first: bool, diagnosis: Diagnosis, database: Database, around: JobContext, reasons: Sequence[Proof]
) -> Finding:
    cause = database.causes[candidate.cause]
    deaths = "process_death" in cause.traits
    observations = _observations_shown(candidate, "machine_fault" in cause.traits)
    earlier = _in_earlier_attempts(candidate)
    facts = facts_of(observations, deaths, earlier)
    proofs = proofs_of(observations, deaths, earlier)
    if not proofs and first:  # the ending itself is what can be shown
        proofs = tuple(Proof(source, line, text, OUTCOME_LINE, "hint") for source, line, text in diagnosis.outcome.lines)
    said = facts | _silence(first)
    if first and diagnosis.verdict == "no_crash":
        proofs = (*proofs, *_overcome(diagnosis))
    elif reasons and first:
        proofs = _with_reasons(proofs, reasons)
        said |= _reason_place(facts, proofs)
    return Finding(
        id=cause.id,
        title=cause.title,
        role=_role(candidate, first),
        probability=candidate.probability,
        summary=summary(cause, said),
        evidence=proofs,
        facts=facts,
        remediations=_advice(cause, said | quoted_evidence(proofs), around, _line_to_read(candidate, proofs))
        if first and cause.id != HEALTHY
        else (),
        ledger=candidate.ledger,
        where=location_text(facts | _host_of_rank(facts, diagnosis)),
        ranks=_ranks(observations),
    )


def _with_reasons(proofs: tuple[Proof, ...], reasons: Sequence[Proof]) -> tuple[Proof, ...]:
    """Evidence led by `reasons`, or followed where a line of it is more than a hint. No line stands twice."""
    own = {(p.source, p.line): p for p in proofs}
    both = [own.get((r.source, r.line), r) for r in reasons]
    if proofs and proofs[0].weight != "hint":
        both = [*proofs, *both]
    return tuple(dict.fromkeys([*both, *proofs]))


def _reason_place(facts: Fields, proofs: Sequence[Proof]) -> dict[str, Value]:
    """Where no exception is known: the place of the line that most likely says why it ended."""
    first = next((p for p in proofs if p.signature == REASON_LINE), None)
    return {REASON_PLACE: f"{PurePath(first.source).name}:{first.line}"} if first and "exc_type" not in facts else {}


def _line_to_read(candidate: Candidate, proofs: Sequence[Proof]) -> str:
    """Of a cause that is not sure, the place of its first line of evidence: `build.log:12`."""
    unsure = candidate.probability < MIN_SURE and proofs
    return f"{PurePath(proofs[0].source).name}:{proofs[0].line}" if unsure else ""


def _in_earlier_attempts(candidate: Candidate) -> set[tuple[str, int]]:
    """Lines that show it to have ended attempts of a job before the last one of the same source that it ended."""
    attempts: dict[str, dict[int, int]] = defaultdict(dict)  # by source: line -> number of its attempt
    for o in (o for o in candidate.owned if o.observation.ends != "nothing"):
        starts = [a.first_line for a in o.lane.attempts] if o.lane and o.lane.kind in ("job", "notebook") else []
        for line in o.observation.shown_on:
            attempts[o.observation.source][line] = bisect_right(starts, line)
    return {(s, n) for s, lines in attempts.items() for n, attempt in lines.items() if attempt < max(lines.values())}


def quoted_evidence(proofs: Sequence[Proof]) -> dict[str, Value]:
    """The text of the evidence lines, which only conditions of remedies use; it is not shown."""
    return {SAID_FACT: "\n".join(p.text for p in proofs)}


def _advice(cause: Cause, facts: Fields, around: JobContext, first_line: str) -> tuple[Advice, ...]:
    """The remedies of a cause with what this case, its programs and its numbers tell. `first_line`: see `fitting_remedies`."""
    return fitting_remedies(cause, case_facts(facts, around), around.environment, first_line)


def _ranks(observations: Sequence[Observation]) -> tuple[int, ...]:
    ranks = {str(o.fields["rank"]) for o in observations if "rank" in o.fields}
    own = {int(rank) for rank in ranks if rank.isdecimal() and len(rank) < MAX_RANK_DIGITS}
    return tuple(sorted(own.union(*(numbers_in(str(o.fields.get("reporting_ranks", ""))) for o in observations))))


def _host_of_rank(facts: Fields, diagnosis: Diagnosis) -> dict[str, Value]:
    """The host of the rank that `facts` name, where a line of another cause tells it, as a launcher's table of failures does."""
    rank = facts.get("culprit_rank", facts.get("rank"))
    if rank is None or any(name in facts for name in HOSTS):
        return {}
    told = (o.observation.fields for c in diagnosis.candidates for o in c.owned if o.owner == "mine")
    hosts = {str(f["host"]) for f in told if "host" in f and f.get("rank") == rank}
    return {"host": hosts.pop()} if len(hosts) == 1 else {}


def _overcome(diagnosis: Diagnosis) -> tuple[Proof, ...]:
    """The lines that look like an end and were none: who reads that nothing crashed wants to see that they were read."""
    found = (
        o.observation for c in diagnosis.candidates[1:] for o in c.owned if o.owner == "mine" and o.observation.ends != "nothing"
    )
    proofs = [replace(o.proofs[0], weight="hint") for o in found if o.proofs]
    return tuple({(p.source, p.line): p for p in proofs}.values())[-MAX_RECOVERY_LINES:]


def _observations_shown(candidate: Candidate, of_the_machine: bool) -> list[Observation]:
    """Its observations; those of the subject only, where some are, unless it is a fault `of_the_machine`, which all feel."""
    mine = [o.observation for o in candidate.owned if o.owner == "mine" or of_the_machine]
    return mine or [o.observation for o in candidate.owned]


def _silence(first: bool) -> dict[str, Value]:
    """That nothing given explains the first cause: a sentence that says so names this fact, and is left out for consequences."""
    return {UNEXPLAINED: "nothing given says why"} if first else {}


def _role(candidate: Candidate, first: bool) -> Role:
    if first:
        return "root"
    return "symptom" if candidate.explained_by else "contributing"
