"""What the logs of other programs tell of the time at which a rank stands still: a service, a daemon, the kernel.

rank 2 waits for the network since 04:44:00; featstore.log, which tells of no rank: TypeError in one of its threads at 04:44:00
    -> that line, beside the rank: it may be the reason
rank 0 waits for something; backup.log, which tells of no rank: holding exclusive lock /data/INDEX.lock
    -> rank 0 most likely waits for a lock, and that line
rank 4 waits in write of /srv/disk/part-3.bin; snapshot.log: /srv/disk is frozen
    -> that line: it names the folder of the file
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.line_formats import parse_prefix
from forensics.model import Observation, Scan
from forensics.model.logs import Stamp
from forensics.model.ranks import OddRank, ProofPlace
from forensics.ranks.doing import LOADER_WAIT, LOCK_WAITS, OUTSIDE_WAIT, UNTOLD, WORKS
from forensics.ranks.ended import LAUNCHER_ROW, STOPPED_BY_ANOTHER, WAITS_FOR_PEER
from forensics.ranks.launchers import CLOSES_WORKER, STOPPED_SIGNAL
from forensics.ranks.observation import RANKS_RECORD
from forensics.readers.identity.entity_ids import entity_ids
from forensics.readers.stamps.clock_samples import SMALLEST_ZONE_STEP_S
from forensics.readers.tools.own_words import told_holds

MAX_APART_S = 120.0  # chosen by hand: between the last call of a rank and the trouble of another program that is its reason
MAX_BEFORE_LOOK_S = 900.0  # chosen by hand: the same, where nothing but a look at the rank tells a time
MAX_SHOWN_CHARS = 120  # of a line that stands inside a sentence
MAX_SHOWN_BESIDE = 2  # of other programs, beside one rank
MAX_LOGS = 64  # of other programs, whose lines are read one by one
KNOWN_TROUBLE, CALLED_ERROR, TOLD_HOLD = (
    3,
    2,
    1,
)  # what a line shows
NAMES_IT, NAMES_FOLDER = 2, 1  # it names the file for which a rank waits, or its process; or a folder of that file
MIN_NAME_CHARS = 6  # chosen by hand: of a file's name without its folder
MIN_FOLDERS = 2  # a folder of the root is that of very much
SAME_CLOCK, OTHER_ZONE, UNTIMED, OTHER_TIME = range(4)  # when a line was written, as seen from the moment of a rank
MAX_SOONER_S = 5.0  # by which a rank may seem to stand still before the reason of it: its last call is not its last deed
ORDER_SHARED = 2  # parts of the order of lines: what one names, and when it was written
ENDS_WITHOUT_REASON = ("left", "no_dump", "elsewhere")
BY_ANOTHER = "SIGKILL"  # in how a rank ended: somebody else sends it
WAIT_KINDS = ("outside", "lock", "computes", "hook")


class Told(Struct, frozen=True):
    """A line of a log of which no line is that of a rank. `strength`: how much it shows; `cause`: of a known trouble."""

    place: ProofPlace
    stamp: Stamp | None
    strength: int = KNOWN_TROUBLE
    cause: str = ""


class Beside(Struct, frozen=True):
    """What logs of other programs tell: known troubles and what they call errors, and the lines in which they tell that they hold
    a lock. `logs`: they themselves. `last_step`: when a log of the job last told a step, s since 1970; 0 where none does."""

    told: tuple[Told, ...] = ()
    locks: tuple[ProofPlace, ...] = ()
    logs: tuple[Scan, ...] = ()
    last_step: float = 0.0


class _Rank(Struct, frozen=True):
    """What ties a line to a rank: the files for which it waits, its pid, since when it stands still, and when it was looked at
    (s since 1970, 0 where that is not known)."""

    paths: tuple[str, ...]
    pid: str
    since: float
    looked: float


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
    told = [e for e in events if e.cause not in (None, HEALTHY) and e.weight != "hint" and e.proofs and e.source not in own]
    known = [
        Told(ProofPlace(first.source, first.line, first.text), e.stamp, KNOWN_TROUBLE, e.cause or "")
        for e in sorted(told, key=lambda e: e.line)
        if not e.kind.startswith("series/") and (first := e.proofs[0])
    ]
    called = (Told(one, parse_prefix(one.text).stamp, CALLED_ERROR) for one in errors if one.source not in own)
    return Beside((*known, *called), tuple(lock for lock in locks if lock.source not in own))


def _is_of_job(event: Observation, knowledge: Database) -> bool:
    """Does an event tell of a rank, of its launcher, or of a wait that only ranks have?"""
    by_ids = entity_ids(event).rank >= 0 or "local_rank" in event.fields
    by_launcher = event.kind == LAUNCHER_ROW or event.kind.endswith((f"/{STOPPED_SIGNAL}", f"/{CLOSES_WORKER}"))
    cause, of_ranks = event.cause or "", knowledge.records[RANKS_RECORD].values()
    waits = knowledge.has_trait(cause, WAITS_FOR_PEER) and any(cause == one.cause or one.is_beside(cause) for one in of_ranks)
    return by_ids or by_launcher or waits or knowledge.has_trait(cause, STOPPED_BY_ANOTHER)


def with_beside(odd: OddRank, beside: Beside, looked: float = 0.0) -> OddRank:
    """A rank that waits for something that no stack names, or ended and nothing tells why, with the lines of other programs that
    may tell the reason. `looked`: when its stack was taken, s since 1970; 0 where that is not known."""
    if odd.is_held or odd.helper is not None:
        return odd
    since = odd.last_ns / 1e9 or odd.silent_since or _shown_at(odd) or beside.last_step
    rank = _Rank(tuple(_paths(odd.doing)), str(odd.pid or ""), since, looked)
    if lock := _lock_for(odd, beside, rank):
        odd = replace(odd, kind="lock", doing=f"{odd.doing}, and by another log a program holds a lock ({_said(lock)})")
        return replace(odd, proofs=(*odd.proofs, lock))
    if not (found := _reasons(odd, beside, rank)):
        return odd
    text = f"{odd.doing}, and another log tells of trouble, which may be the reason ({_said(found[0])})"
    known = {one.place for one in beside.told if one.strength == KNOWN_TROUBLE}
    return replace(odd, doing=text, proofs=(*odd.proofs, *found), beside=tuple(place for place in found if place in known))


def _lock_for(odd: OddRank, beside: Beside, rank: _Rank) -> ProofPlace | None:
    """The line of the lock for which a rank most likely waits: the last one that names its file, or names none."""
    if odd.kind not in WAIT_KINDS or not (odd.doing == OUTSIDE_WAIT or odd.doing.startswith(LOCK_WAITS)):
        return None
    named = [one for one in beside.locks if _tie(one.text, rank)]
    others = beside.locks if not rank.paths else [one for one in beside.locks if not any(_paths(one.text))]
    return next(reversed(named or others), None)


def _reasons(odd: OddRank, beside: Beside, rank: _Rank) -> list[ProofPlace]:
    """The lines that may tell why a rank waits or ended, the likeliest first, one of each log."""
    told: list[Told] = []
    if odd.kind == "raised":  # a reason of the same kind, or a line that names its file
        told = [one for one in _all_told(beside) if (one.cause and one.cause == odd.cause) or _tie(one.place.text, rank)]
    elif _may_have_reason(odd):
        told = list(_all_told(beside))
    shown = {place.source for place in odd.proofs}
    others = (one for one in told if one.place.source not in shown)
    keyed = sorted(((key, one.place) for one in others if (key := _key(one, rank))), key=itemgetter(0))
    best: dict[str, ProofPlace] = {}
    for key, place in keyed:
        if key[:ORDER_SHARED] == keyed[0][0][:ORDER_SHARED]:  # none that names less, or of another time
            best.setdefault(place.source, place)
    return list(best.values())[:MAX_SHOWN_BESIDE]


def _may_have_reason(odd: OddRank) -> bool:
    """Does a rank wait for something, or did it end, without a known reason?"""
    if odd.kind in ENDS_WITHOUT_REASON:
        return not odd.cause or BY_ANOTHER in odd.doing
    return odd.kind in WAIT_KINDS and (not odd.doing.startswith(WORKS) or odd.doing.startswith((LOADER_WAIT, UNTOLD)))


def _all_told(beside: Beside) -> Iterator[Told]:
    yield from beside.told
    known = {(one.place.source, one.place.line) for one in beside.told}
    for place in (place for scan in beside.logs[:MAX_LOGS] for place in told_holds(scan)):
        if (place.source, place.line) not in known:
            yield Told(place, parse_prefix(place.text).stamp, TOLD_HOLD)


def _key(one: Told, rank: _Rank) -> tuple[float, ...] | None:
    """By which lines are ordered, the likeliest first: what it names, when it was written, how much it shows, and how near it is
    to the moment of the rank, best before it. None for one that is no reason: of another time, or mere words of no known time."""
    tie, (when, apart) = _tie(one.place.text, rank), _when(one.stamp, rank)
    is_far = when == OTHER_TIME and bool(rank.since)
    if not tie and (is_far or (one.strength == TOLD_HOLD and when != SAME_CLOCK)):
        return None
    return (-tie, when, -one.strength, apart > MAX_SOONER_S, abs(apart))


def _when(stamp: Stamp | None, rank: _Rank) -> tuple[int, float]:
    """When a line was written, and how many seconds after the moment of the rank."""
    moment = rank.since or rank.looked
    if stamp is None or stamp.wall is None or not moment:
        return UNTIMED, 0.0
    apart = _seconds(stamp.wall) - moment
    before, after = (MAX_APART_S, MAX_APART_S) if rank.since else (MAX_BEFORE_LOOK_S, MAX_SOONER_S)
    if not stamp.lacks and -before <= apart <= after:
        return SAME_CLOCK, apart
    of_zone = (apart + SMALLEST_ZONE_STEP_S / 2) % SMALLEST_ZONE_STEP_S - SMALLEST_ZONE_STEP_S / 2
    near = SAME_CLOCK if stamp.lacks else OTHER_ZONE  # a line without a year tells no clock
    return (near if abs(of_zone) <= MAX_APART_S else OTHER_TIME), of_zone


def _tie(text: str, rank: _Rank) -> int:
    """What a line names of a rank: its process or the file for which it waits, a folder of that, or nothing."""
    if rank.pid and rank.pid in "".join(c if c.isdigit() else " " for c in text).split():
        return NAMES_IT
    return max((_names(text, path) for path in rank.paths), default=0)


def _names(text: str, path: str) -> int:
    *folders, name = path.split("/")
    if _has(text, path) or (len(name) >= MIN_NAME_CHARS and _has(text, name)):
        return NAMES_IT
    above = ("/".join(folders[:count]) for count in range(len(folders), MIN_FOLDERS, -1))
    return NAMES_FOLDER if any(_has(text, folder) for folder in above) else 0


def _has(text: str, name: str) -> bool:
    """Does `name` stand in a line, and is not only the beginning of a longer path or word?"""
    _, found, behind = text.partition(name)
    behind = behind.removeprefix("/")
    goes_on = behind[:1].isalnum() or behind[:1] in ("_", "-") or (behind[:1] == "." and behind[1:2].isalnum())
    return bool(found) and not goes_on


def _paths(text: str) -> Iterator[str]:
    """The paths of files in a text."""
    for word in text.translate({ord(c): " " for c in "()[]{}'\"`,;:=<>"}).split():
        path = word.rstrip(".")
        if path.startswith("/") and path.count("/") >= MIN_FOLDERS:
            yield path


def _said(place: ProofPlace) -> str:
    return f"{place.source.rpartition('/')[2]}: {place.text.strip()[:MAX_SHOWN_CHARS]}"


def _shown_at(odd: OddRank) -> float:
    """The moment of the first line that shows how the rank ended; 0 where none tells it."""
    stamps = (parse_prefix(place.text).stamp for place in odd.proofs)
    walls = (stamp.wall for stamp in stamps if stamp and stamp.wall)
    return next((_seconds(wall) for wall in walls), 0.0)


def _seconds(wall: datetime) -> float:
    return (wall if wall.tzinfo else wall.replace(tzinfo=UTC)).timestamp()
