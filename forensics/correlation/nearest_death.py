"""Of several deaths on a host that nothing links to the job: the one next to its end.

train.log: "Kernel died", written last at 04:38:59    dmesg: kills at 03:47, 04:38:10, a crash at 04:38:57    -> the crash
train.log: no time, copied since                      dmesg: the same                                         -> the last, a guess
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec.structs import replace

from forensics.correlation.asked_subject import Subject, are_apart, is_of_one
from forensics.correlation.incident_grouping import MAX_SAME_DEATH_GAP_S
from forensics.database import Database
from forensics.model import Observation
from forensics.model.verdicts import ONE_OF_SEVERAL, OwnedObservation

MAX_STAMP_DELAY_S = 2.0  # between an event and the time stamp of its line
MAX_PAUSE_BEFORE_END_S = 60.0  # chosen by hand: from the last line of a job that prints its steps to its end


def only_nearest(
    found: Sequence[OwnedObservation], ends: Sequence[Observation], subject: Subject, database: Database
) -> list[OwnedObservation]:
    """`found`, where of several deaths without a link to the job only the one next to its end may be its own.

    `ends`: those of the job that its own logs show. Where they have no time, the time at which its files were written last is
    that of its end; where no death stands near it, the last one is all that is left, and a guess.
    """
    deaths = [o for o in found if o.owner == "unknown" and _is_of_host(o, subject, database)]
    if not ends or not are_apart(o.observation for o in deaths):
        return [*found]
    fitting = [o for o in deaths if _may_explain(o.observation, ends, database)] or deaths
    kept = {id(o) for moment in _moments(ends, subject) for o in _next_to(moment, fitting)}
    guessed = not kept and subject.end is None
    if guessed:
        kept = {id(o) for o in _last(fitting)}
    if not kept:
        return [*found]
    asked = {id(o) for o in deaths}
    return [_left(o, id(o) in kept, guessed, subject) if id(o) in asked else o for o in found]


def _may_explain(death: Observation, ends: Sequence[Observation], database: Database) -> bool:
    cause = str(death.cause)
    return any(cause == end.cause or database.explains(cause, str(end.cause)) for end in ends)


def _left(o: OwnedObservation, kept: bool, guessed: bool, subject: Subject) -> OwnedObservation:
    if not kept:
        return replace(o, owner="others", link=ONE_OF_SEVERAL)
    link = link_to_file(o.observation, subject) if subject.end is None and not guessed else ""
    return replace(o, link=link or o.link, guessed=guessed)


def link_to_file(death: Observation, subject: Subject) -> str:
    """How far it is from the last change of the job's log; empty if that is unknown."""
    gap = seconds_to(subject.written, death) if subject.written else None
    return (
        "" if gap is None else f"time, {abs(gap):.1f} s {'before' if gap >= 0 else 'after'} the last change of the job's log file"
    )


def seconds_to(moment: datetime, death: Observation) -> float | None:
    """From `death` to the last change of a file; a time without a zone may show that of this machine."""
    if death.time is None:
        return None
    is_naive = death.stamp and death.stamp.wall and death.stamp.wall.tzinfo is None
    times = (death.time, death.time.replace(tzinfo=None).astimezone()) if is_naive else (death.time,)
    return min(((moment - time).total_seconds() for time in times), key=abs)


def _is_of_host(o: OwnedObservation, subject: Subject, database: Database) -> bool:
    return o.observation.source not in subject.own and is_of_one(o.observation, database)


def _moments(ends: Sequence[Observation], subject: Subject) -> Iterator[datetime]:
    """When it ended, by its own lines, else by its files."""
    if subject.end is None:
        yield from (subject.written,) if subject.written else ()
    else:
        yield from (e.time for e in ends if e.time and all(p.stamped for p in e.proofs))


def _next_to(moment: datetime, deaths: Sequence[OwnedObservation]) -> Iterator[OwnedObservation]:
    """The death nearest to `moment`, those that are as near as far as the clocks show, and those of the same program."""
    gaps = [(gap, o) for o in deaths if (gap := seconds_to(moment, o.observation)) is not None]
    near = [(gap, o) for gap, o in gaps if _latest(o) <= gap <= MAX_PAUSE_BEFORE_END_S]
    if not near:
        return
    least, nearest = min(near, key=lambda found: abs(found[0]))
    for gap, o in near:
        alike = o.observation.cause == nearest.observation.cause and abs(gap - least) <= MAX_SAME_DEATH_GAP_S
        if alike or abs(gap) <= abs(least) + MAX_STAMP_DELAY_S:
            yield o


def _latest(o: OwnedObservation) -> float:
    return -MAX_STAMP_DELAY_S - (o.observation.uncertainty_s or 0.0)


def _last(deaths: Sequence[OwnedObservation]) -> Iterator[OwnedObservation]:
    """The last of each log, and those of the same program."""
    last: dict[str, float] = {}
    for seen in (o.observation for o in deaths):
        last[seen.source] = max(seen.moment or 0.0, last.get(seen.source, 0.0))
    for o in deaths:
        if last[o.observation.source] - (o.observation.moment or 0.0) <= MAX_SAME_DEATH_GAP_S:
            yield o
