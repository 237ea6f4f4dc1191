"""What the logs of other programs tell of the time at which a rank stands still: a service, a daemon, the kernel.

rank 2 waits for the network since 04:44:00; featstore.log, which tells of no rank: TypeError in one of its threads at 04:44:00
    -> that line, beside the rank: it may be the reason
rank 0 waits for something; backup.log, which tells of no rank: holding exclusive lock /data/INDEX.lock
    -> rank 0 most likely waits for a lock, and that line
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.line_formats import parse_prefix
from forensics.model import Observation
from forensics.model.logs import Stamp
from forensics.model.ranks import OddRank, ProofPlace
from forensics.ranks.doing import LOADER_WAIT, LOCK_WAITS, OUTSIDE_WAIT
from forensics.ranks.ended import LAUNCHER_ROW, STOPPED_BY_ANOTHER, WAITS_FOR_PEER
from forensics.ranks.launchers import CLOSES_WORKER, STOPPED_SIGNAL
from forensics.readers.identity.entity_ids import entity_ids
from forensics.readers.stamps.clock_samples import SMALLEST_ZONE_STEP_S

MAX_APART_S = 120.0  # chosen by hand: between the last call of a rank and the trouble of another program that is its reason
MAX_SHOWN_CHARS = 120  # of a line that stands inside a sentence
MAX_SHOWN_BESIDE = 2  # of other programs, beside one rank


class Trouble(Struct, frozen=True):
    """The last trouble that a log tells of which no line is that of a rank, and the timestamp of its line."""

    place: ProofPlace
    stamp: Stamp | None


class Beside(Struct, frozen=True):
    """What logs of other programs tell. `troubles`: the last one of each; `locks`: the lines in which they tell that they hold
    one; `errors`: those that they call errors."""

    troubles: tuple[Trouble, ...] = ()
    locks: tuple[ProofPlace, ...] = ()
    errors: tuple[Trouble, ...] = ()


def logs_of_job(events: Iterable[Observation], knowledge: Database) -> set[str]:
    """The sources of which an event is one of a rank or of its launcher."""
    return {event.source for event in events if _is_of_job(event, knowledge)}


def beside_ranks(
    events: Iterable[Observation],
    own: Collection[str],
    locks: Sequence[ProofPlace],
    errors: Sequence[ProofPlace],
    knowledge: Database,
) -> Beside:
    """What logs tell that are none of `own`."""
    found: dict[str, Trouble] = {}
    for event in sorted(events, key=lambda e: e.line):
        told = event.cause not in (None, HEALTHY) and event.weight != "hint" and event.proofs
        if told and event.source not in own and not event.kind.startswith("series/"):
            first = event.proofs[0]
            found[event.source] = Trouble(ProofPlace(first.source, first.line, first.text), event.stamp)
    called = (Trouble(one, parse_prefix(one.text).stamp) for one in errors if one.source not in own and one.source not in found)
    return Beside(tuple(found.values()), tuple(lock for lock in locks if lock.source not in own), tuple(called))


def _is_of_job(event: Observation, knowledge: Database) -> bool:
    """Does an event tell of a rank, of its launcher, or of a wait for others?"""
    by_ids = entity_ids(event).rank >= 0 or "local_rank" in event.fields
    by_launcher = event.kind == LAUNCHER_ROW or event.kind.endswith((f"/{STOPPED_SIGNAL}", f"/{CLOSES_WORKER}"))
    cause = event.cause or ""
    return by_ids or by_launcher or any(knowledge.has_trait(cause, trait) for trait in (WAITS_FOR_PEER, STOPPED_BY_ANOTHER))


def with_beside(odd: OddRank, beside: Beside) -> OddRank:
    """A rank that waits for something that no stack names, or ended and nothing tells why, with the lines of other programs that
    may tell the reason."""
    ended = odd.kind in ("left", "no_dump", "elsewhere") and not odd.cause
    if not (ended or odd.kind in ("outside", "lock", "computes")) or odd.is_held or odd.helper is not None:
        return odd
    if beside.locks and odd.doing in (OUTSIDE_WAIT, *LOCK_WAITS):
        lock = beside.locks[-1]
        odd = replace(odd, kind="lock", doing=f"{odd.doing}, and by another log a program holds a lock ({_said(lock)})")
        return replace(odd, proofs=(*odd.proofs, lock))
    shown = {place.source for place in odd.proofs}
    near = [one.place for one in beside.troubles if _is_near(one.stamp, odd) and one.place.source not in shown][
        -MAX_SHOWN_BESIDE:
    ]
    errors = (one.place for one in beside.errors if _is_near(one.stamp, odd) and one.place.source not in shown)
    near = near or list(islice(errors, 1))
    if not near or (odd.kind == "computes" and not odd.doing.startswith(LOADER_WAIT)):
        return odd
    text = f"{odd.doing}, and another log tells of trouble, which may be the reason ({_said(near[-1])})"
    return replace(odd, doing=text, proofs=(*odd.proofs, *near))


def _said(place: ProofPlace) -> str:
    return f"{place.source.rpartition('/')[2]}: {place.text.strip()[:MAX_SHOWN_CHARS]}"


def _shown_at(odd: OddRank) -> float | None:
    """The moment of the first line that shows how the rank ended."""
    stamps = (parse_prefix(place.text).stamp for place in odd.proofs)
    walls = (stamp.wall for stamp in stamps if stamp and stamp.wall)
    return next((_seconds(wall) for wall in walls), None)


def _seconds(wall: datetime) -> float:
    return (wall if wall.tzinfo else wall.replace(tzinfo=UTC)).timestamp()


def _is_near(stamp: Stamp | None, odd: OddRank) -> bool:
    """May the moment of a line be that of the rank's wait, in whichever zone? Yes where one of them is not known."""
    since = odd.last_ns / 1e9 or odd.silent_since or _shown_at(odd)
    if not since or stamp is None or stamp.wall is None:
        return True
    apart = (_seconds(stamp.wall) - since) % SMALLEST_ZONE_STEP_S
    return min(apart, SMALLEST_ZONE_STEP_S - apart) <= MAX_APART_S
