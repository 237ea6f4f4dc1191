"""The subject of the report, and the attempts before its last one.

Diagnosis, Asked -> SubjectSummary("job", "4711", attempts 2, ...), EarlierAttempt(1, "train.log", lines 1 to 812, ...)
"""

from collections.abc import Collection, Sequence

from forensics import advice
from forensics.core import lazy
from forensics.correlation.asked_subject import Subject
from forensics.model import EarlierAttempt, Finding, Observation, SubjectSummary, Value
from forensics.model.verdicts import Attempt, Diagnosis, Entity

JOB_PATTERN = lazy.regex(r"job (?P<number>\d+)")
MAX_EARLIER_ATTEMPTS = 20  # the last of them


def subject_summary(decided: Diagnosis, asked: Subject, first: Finding) -> SubjectSummary:
    """The subject of the verdict, and how it ended. `first`: the finding of the first cause, which may name the job."""
    entity, lane = asked.entity, asked.own_lanes.largest
    if lane and entity.name == lane.source:
        job = (
            JOB_PATTERN.fullmatch(advice.affected(first.facts))
            if entity.kind == "job" and decided.verdict != "no_crash"
            else None
        )
        own = _own_source(decided, asked) or entity.name
        lane = asked.own_lanes.in_sources(frozenset({own})).largest or lane
        entity = Entity(entity.kind, job["number"] if job else own)
    attempts = len(asked.earlier) + (len(lane.attempts) if lane and not asked.machine else 1)
    shown = tuple(f"{source}:{line}: {text}" for source, line, text in decided.outcome.lines)
    ended = decided.outcome
    return SubjectSummary(
        entity.kind,
        entity.name,
        attempts,
        attempts,
        ended.state,
        ended.why,
        shown,
        ended.ended_badly,
        ended.ledger,
        decided.none_of_these,
        ended.status,
        captured=bool(asked.captured),
    )


def _own_source(decided: Diagnosis, asked: Subject) -> str:
    """If the subject has several logs, the one with evidence of the first cause or of a cause that it explains, or, without a
    crash, the one that shows how it ended; else empty.

    A log that goes on behind its evidence is that of a watcher, if another one ends with its own.
    """
    first, lane = decided.candidates[0], asked.own_lanes.largest
    if decided.verdict == "no_crash":
        shown = [source for source, _, _ in reversed(decided.outcome.lines) if source in asked.own]
        return "" if lane is None or lane.source in shown else next(iter(shown), "")
    explained = [c for c in decided.candidates if c.explained_by == first.cause]
    owned = [o for c in (first, *explained) for o in c.owned if o.owner == "mine" and o.observation.source in asked.own]
    over = [o for o in owned if not (o.aftermath.repeated or o.aftermath.progress)]
    sources = [o.observation.source for o in over or owned if asked.lanes.get(o.observation.source)]  # stacks are no log
    return "" if lane is None or lane.source in sources else next(iter(sources), "")


def earlier_attempts(
    decided: Diagnosis,
    asked: Subject,
    causes: tuple[Finding, ...],
    runs: Sequence[tuple[Diagnosis, str]],
    notebooks: Collection[str],
) -> tuple[EarlierAttempt, ...]:
    """The earlier runs and attempts that ended badly: runs with logs of their own, then attempts in the log of the last run.

    `runs`: (diagnosis, title of its first cause) of each earlier run. `notebooks`: the sources that are notebooks, whose cells
    are attempts. A notebook server restarts kernels and goes on: its log is one attempt.
    """
    first = len(asked.earlier) - len(runs)
    decisions = enumerate(zip(asked.earlier[first:], runs, strict=True), first + 1)
    before = [_earlier_run(number, run, *found) for number, (run, found) in decisions]
    found = [*(a for a in before if a), *_attempts_of_last_run(decided, asked, causes, notebooks)]
    return tuple(found[-MAX_EARLIER_ATTEMPTS:])


def _earlier_run(number: int, run: Subject, decided: Diagnosis, title: str) -> EarlierAttempt | None:
    """An earlier run with its first cause; None if nothing shows that it ended badly."""
    first, lane = decided.candidates[0], run.own_lanes.largest
    if decided.verdict == "no_crash" or lane is None or not decided.outcome.lines:
        return None
    best = next((o.observation for o in first.owned if o.observation.source in run.own and o.observation.proofs), None)
    if best:
        place, fields = (best.source, best.proofs[0].line, best.proofs[0].text), best.fields
    else:
        place, fields = decided.outcome.lines[-1], {}
    source, line, text = place
    last = max((x.attempts[-1].last_line for x in run.lanes.get(source, ()) if x.attempts), default=line)
    return EarlierAttempt(number, source, 1, max(last, line), first.cause, title, line, text, fields)


def _attempts_of_last_run(
    decided: Diagnosis, asked: Subject, causes: tuple[Finding, ...], notebooks: Collection[str]
) -> list[EarlierAttempt]:
    """The attempts before the last one in the subject's main lane whose end a line stronger than a hint shows, in order."""
    lane = asked.own_lanes.largest
    if lane is None or asked.machine or (lane.kind == "notebook" and lane.source not in notebooks):
        return []
    titles = {f.id: f.title for f in causes if not f.id.startswith("none.")}  # attempts that ended well are not listed
    overcome, quoted = decided.verdict == "no_crash", {p.line for p in causes[0].evidence if p.source == lane.source}
    ends = {
        proof.line: (o.observation, proof)
        for c in decided.candidates
        if c.cause in titles and c.explained_by is None
        for o in c.every
        if o.owner == "mine" and o.observation.source == lane.source and o.observation.weight != "hint"
        if o.observation.ends not in ("nothing", "machine") and not o.aftermath.handled
        for proof in o.observation.proofs
        if proof.line in o.observation.shown_on and not (overcome and proof.line in quoted)
    }
    found: list[EarlierAttempt] = []
    pid = causes[0].facts.get("pid")
    shown = max((p.line for p in causes[0].evidence if p.source == lane.source), default=lane.attempts[-1].last_line)
    for attempt in (a for a in lane.attempts[:-1] if a.last_line < shown):  # later attempts are no earlier ones
        lines = [n for n in ends if attempt.first_line <= n <= attempt.last_line]
        if lines and _is_told(attempt, ends[max(lines)][0], pid, lane.source in notebooks):
            end, proof = ends[max(lines)]
            cause = str(end.cause)
            place = (len(asked.earlier) + attempt.number, lane.source, attempt.first_line, attempt.last_line)
            found.append(EarlierAttempt(*place, cause, titles[cause], proof.line, proof.text, end.fields_at(proof.line)))
    return found


def _is_told(attempt: Attempt, end: Observation, pid: Value | None, notebook: bool) -> bool:
    """Is it a start of its own, or a cell of a notebook? `pid`: of the cause; what the same process printed is no other start."""
    if pid is not None and end.fields.get("pid") == pid:
        return False
    return notebook or attempt.is_another_start(end)
