"""The plain formula by which causes are ranked, until a trained classifier weighs them.

For each cause c of an incident, with one weight w for every distinct signature that speaks for it:

    strength(c)  = 1 - product of (1 - W[w])                     W: proof 0.97, strong 0.80, hint 0.40; at most 0.985
                   * UNRELATED where it is another process's (see relevance)
                   * SURVIVED where each log that speaks for c tells further down that the run ended well, and none ends ill
    explained(c) = greatest strength(r) * ORDER * SURE of the causes r that explain c (by `explains:`, or because c is a fallback
                   and r is not). ORDER is less than 1 when r is first seen after c on the same clock: LATE_FALLBACK where c is
                   a fallback (an ending is often printed before its reason), else LATE. SURE is UNSURE where r has only hints
    score(c)     = strength(c) * (1 - EXPLAINED * explained(c)) * LATER for each unexplained cause seen before it, and
                   * HINTS_YIELD where only hints speak for c and more than hints for another
    rest         = HEALTHY_PRIOR * product of (1 - score(c)), none.healthy's share (more where a run told that it ended well)
    probability  = score / (sum of scores + rest)

Of two causes that explain each other, the one with the surer evidence does, then the one seen first, then the stronger.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import PurePath

from msgspec import Struct, field

from forensics import lazy
from forensics.database import HEALTHY, Database
from forensics.diagnose.facts import APART_S, ENDINGS
from forensics.diagnose.pids import pid_of
from forensics.diagnose.relevance import EXCEPTION, UNRELATED, Jobs, concerning, missed, raised
from forensics.diagnose.ties import ended_otherwise, tied
from forensics.model import Observation, Incident

W = {"proof": 0.97, "strong": 0.80, "hint": 0.40}
RANKS = {"proof": 0, "strong": 1, "hint": 2}
MOST = 0.985
EXPLAINED = 0.95
LATE = 0.6
LATE_FALLBACK = 0.95
UNSURE = 0.3
LATER = 0.8
HINTS_YIELD = 0.3
HEALTHY_PRIOR = 0.3
SURVIVED = 0.2
LASTING = "series/nan"
NOT_A_NUMBER = "numerics.nan"
MISSING = "data.missing"
STOPPED = "stopped."
STATUS = "none.healthy/exit_zero"
SHUT_DOWN = "none.healthy/server_shut_down"
STARTED = ("none.healthy/server_started", "none.healthy/gradio_started")
BARE_STATUS = lazy.regex(r"(?i)\W{0,9}(?:exit(?:ed)?|return|rc|status)\b|.{0,80}\bwith status\b")
COMPLAINT = lazy.regex(r"\bline \d+: .*(?:command not found|cannot execute|No such file or directory|Permission denied)")
CLOSE = 4  # lines: some programs print a note behind their traceback, JAX a rule and a note
FAR = 20  # lines: a program that fails tells little more before its status
NOBODY = Jobs({})
SHOWN = 8  # causes in a report; more are noise


class Standing(Struct):
    """Where a cause stands in an incident."""

    cause: str
    events: tuple[Observation, ...]
    strength: float
    explained: float = 0.0
    explained_by: str | None = None
    score: float = 0.0
    probability: float = 0.0
    order: tuple[int, ...] = field(default=())
    tied: bool = True  # is it shown to concern the job, see `ties`?


def standings(incident: Incident | None, database: Database, jobs: Jobs = NOBODY) -> list[Standing]:
    """Every cause of the incident and none.healthy where it has a share, most probable first; never empty."""
    by_cause: dict[str, list[Observation]] = defaultdict(list)
    events, jobs = (incident.events, jobs.knowing(incident.links)) if incident else ((), jobs)
    for event in events:
        if event.cause in database.causes:
            by_cause[event.cause or ""].append(event)
    ended_well = [w for w in by_cause.pop(HEALTHY, []) if not _is_outdated(w, events)]
    found: list[Standing] = []
    ill = _ended_ill(events, ended_well)
    for cause, told in by_cause.items():
        ours, concerns = concerning(told, events, jobs, database)
        survived = SURVIVED if _survived(ours, ended_well) and not ill and not _felt_later(ours, events, database) else 1.0
        shown = concerns == 1.0 and tied(ours, events, jobs, database)
        if concerns == 1.0 and not shown and ended_otherwise(ours, events, jobs, database):
            concerns = UNRELATED
        found.append(Standing(cause, ours, strength(ours) * concerns * survived, tied=shown))
    own = [e for e in events if jobs.is_job(e)]
    beside = [s for s in found if _is_beside(s, found, jobs, own)]
    for standing in beside:
        standing.strength *= UNRELATED
    for standing in found:
        _explain(standing, found, database)
    _score(found)
    rest = HEALTHY_PRIOR * prod(1 - s.score for s in found)
    healthy = Standing(HEALTHY, tuple(ended_well), strength(ended_well), score=rest)
    if any(e.weight != "hint" for e in ended_well) and not ill:
        healthy.score = max(rest, prod(1 - s.score for s in found) * healthy.strength)
    total = sum(s.score for s in found) + healthy.score
    for standing in (*found, healthy):
        standing.probability = round(standing.score / total, 4)
    if not found:
        healthy.probability = 0.97 if any(e.weight == "proof" for e in ended_well) else 0.9
    ranked = sorted([*found, healthy], key=lambda s: (-s.score, s.cause))
    return [s for i, s in enumerate(ranked) if i == 0 or s.cause != HEALTHY][:SHOWN]


def _is_outdated(told: Observation, events: Iterable[Observation]) -> bool:
    """Does `told` say that a server started, and does its log tell of trouble behind that?"""
    later = (e for e in events if e.source == told.source and e.line > told.last_line)
    return told.kind in STARTED and any(e.cause not in (None, HEALTHY) for e in later)


def _is_beside(standing: Standing, found: Sequence[Standing], jobs: Jobs, own: Sequence[Observation]) -> bool:
    """Is it a death that nothing ties to the job, where the same logs tell of another process's death that is the job's? So it is
    where the job's log misses, by its pid, only the other. `own`: the events of the job's logs."""
    hosts = [e for e in standing.events if e.weight != "hint" and not jobs.is_job(e)]
    if not standing.cause.startswith(ENDINGS) or not hosts or any(missed(e, own, jobs) for e in hosts):
        return False
    others = [s for s in found if s is not standing and s.tied and s.cause.startswith(ENDINGS)]
    deaths = [e for s in others if s.strength > standing.strength * UNRELATED for e in s.events]
    deaths = [e for e in deaths if e.weight != "hint" and not jobs.is_job(e) and (not standing.tied or missed(e, own, jobs))]
    ours = {pid_of(e) for e in deaths} - {0}
    return bool(ours) and not ours & {pid_of(e) for e in standing.events} and (not standing.tied or all(map(pid_of, hosts)))


def strength(events: Iterable[Observation]) -> float:
    """How strongly `events` speak for their cause: each signature counts once, however often it hit."""
    best: dict[str, float] = {}
    for event in events:
        best[event.kind] = max(best.get(event.kind, 0.0), W[event.weight])
    return min(MOST, 1 - prod(1 - w for w in best.values()))


def _survived(events: Iterable[Observation], ended_well: list[Observation]) -> bool:
    """Does every source of `events` tell behind the last of them, and no less surely, that the run ended well?

    A status of 0 is as sure as a proof where the program told a good deal between the two: a restart did what was wanted.
    A loss that stayed NaN, or is so in the last line, is not healed by an end without an error, nor is an exception right in
    front of a shell's status: that is the status of `train.py | tee log`. Nor is what a script's shell could not run, or
    a kernel's death by the end of its server.
    """
    ends = [w for w in ended_well if w.weight != "hint" and w.kind != SHUT_DOWN]
    if any(e.kind == LASTING and e.weight != "hint" for e in events):
        return False
    return all(
        any(
            w.source == e.source
            and w.last_line > e.last_line
            and (RANKS[w.weight] <= RANKS[e.weight] or (w.kind == STATUS and w.last_line - e.last_line > FAR))
            and not (_is_shells(w) and w.line - e.last_line <= _reach(e))
            for w in ends
        )
        for e in events
    )


def _ended_ill(events: Iterable[Observation], ended_well: Sequence[Observation]) -> bool:
    """Does a log that never tells of a good end tell of a bad one, by an exception or a status, while others end well?"""
    good = {e.source for e in ended_well}
    return any(e.cause == EXCEPTION and e.source not in good for e in events)


def _reach(event: Observation) -> int:
    """For how many lines behind `event` a shell's status is still that of another program, or of the script's last line."""
    if any(COMPLAINT.search(p.text) for p in event.proofs):
        return FAR
    return CLOSE if raised(event) or event.cause == NOT_A_NUMBER else -1


def _is_shells(end: Observation) -> bool:
    """Is it a status that a shell printed, not one in a sentence of the program's own?"""
    return end.kind == STATUS and all(BARE_STATUS.match(p.text) for p in end.proofs[:1])


def _felt_later(told: Sequence[Observation], events: Iterable[Observation], database: Database) -> bool:
    """Does another log tell, for more than as a hint, a cause with a name of its own that follows from `told`, of one cause?"""
    cause, sources = str(told[0].cause), {e.source for e in told}
    return any(
        e.weight != "hint"
        and e.source not in sources
        and (other := str(e.cause)) in database.causes
        and not database.causes[other].fallback
        and database.explains(cause, other)
        for e in events
    )


def _explain(standing: Standing, others: list[Standing], database: Database) -> None:
    for root in others:
        if root.cause == standing.cause or not _can_explain(root, standing, database) or _strangers(standing, root):
            continue
        if root.cause.startswith(STOPPED) and _was_missed_before(standing, root, others):
            continue
        share = root.strength * (1.0 if _sureness(root) < RANKS["hint"] else UNSURE)
        if _before(standing, root):
            share *= LATE_FALLBACK if database.causes[standing.cause].fallback else LATE
        if share > standing.explained:
            standing.explained, standing.explained_by = share, root.cause


def _was_missed_before(crash: Standing, stop: Standing, others: Sequence[Standing]) -> bool:
    """Does a log miss the process of `crash`, by its pid, in front of `stop`? Then it was no crash while being stopped."""
    pids = {pid_of(e) for e in crash.events} - {0}
    told = [e for s in others for e in s.events if pid_of(e) in pids]
    return any(e.source == s.source and e.line < s.line for e in told for s in stop.events)


def _can_explain(root: Standing, other: Standing, database: Database) -> bool:
    if _left_undone(other, root):
        return False
    named = database.explains(root.cause, other.cause)
    back = database.explains(other.cause, root.cause)
    if named and back:
        return (_sureness(root), _before(other, root), *_size(root)) < (_sureness(other), _before(root, other), *_size(other))
    fallback = database.causes[other.cause].fallback and not database.causes[root.cause].fallback
    return named or (fallback and not back) or _left_undone(root, other)


def _size(standing: Standing) -> tuple[float, str]:
    """What decides where neither evidence nor order does, as between two files without times: else both were consequences."""
    return -standing.strength, standing.cause


def _left_undone(root: Standing, other: Standing) -> bool:
    """Did one program of a pipeline end by `root`, and does the next miss what that was to make?"""
    if other.cause != MISSING or not root.cause.startswith("code."):
        return False
    pairs = [(a, b) for a in root.events for b in other.events]
    if not any(a.line < b.line if a.source == b.source else a.time and b.time and a.time <= b.time for a, b in pairs):
        return False
    ended, wanted = ({PurePath(str(e.fields["file"])).name for e in s.events if "file" in e.fields} for s in (root, other))
    return bool(ended and wanted) and not ended & wanted


def _strangers(a: Standing, root: Standing) -> bool:
    """Does one log tell of both, of other processes and always more than APART_S apart, and is `root` over in a moment?"""
    events = (*a.events, *root.events)
    if not root.cause.startswith(ENDINGS) or len({e.source for e in events}) > 1 or any(e.moment is None for e in events):
        return False
    own = {e.fields.get("pid") for e in a.events}
    if None in own or own & {e.fields.get("pid") for e in root.events}:
        return False
    return min(abs((x.moment or 0.0) - (y.moment or 0.0)) for x in a.events for y in root.events) > APART_S


def _sureness(standing: Standing) -> int:
    """The rank of the surest evidence: 0 for a proof."""
    return min(RANKS[e.weight] for e in standing.events)


def _before(a: Standing, b: Standing) -> bool:
    """Is `a` known to have been seen before `b`? Known only on one clock or in one source."""
    first, second = _first(a), _first(b)
    if first.source == second.source:
        return first.line < second.line
    if first.time is None or second.time is None:
        return False
    apart = (second.time - first.time).total_seconds()
    return apart > (first.uncertainty_s or 0) + (second.uncertainty_s or 0)


def _first(standing: Standing) -> Observation:
    return min(
        standing.events,
        key=lambda e: (e.weight == "hint", e.time is None, e.time.timestamp() if e.time else 0.0, e.source, e.line),
    )


def _score(found: list[Standing]) -> None:
    for standing in found:
        earlier = sum(
            1
            for other in found
            if other is not standing
            and other.explained < 0.5
            and _before(other, standing)
            and _sureness(other) <= _sureness(standing)
        )
        standing.score = standing.strength * (1 - EXPLAINED * standing.explained) * LATER ** min(earlier, 4)
        if _sureness(standing) == RANKS["hint"] and any(
            _sureness(other) < RANKS["hint"] and other.strength > UNRELATED for other in found
        ):
            standing.score *= HINTS_YIELD
