"""Standings of the plain formula -> the same causes and the nearest ones by words, with the model's probabilities and order.

formula: process.worker_died 0.71   ->   host_memory.oom_global 0.55 (words), process.worker_died 0.31
"""

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.diagnose.features import UNKNOWN, features
from forensics.diagnose.model import Model
from forensics.diagnose.region import region, unexplained, words
from forensics.diagnose.relevance import EXCEPTION, UNRELATED, Jobs
from forensics.diagnose.score import SHOWN, STOPPED, Standing
from forensics.model import Observation, Incident

HINTS_MOST = 0.75  # of hints and words nobody is confident: what would have proven it may be in a part that is missing
UNTIED_MOST = 0.7  # of another process's death, perhaps
BESIDE_EXCEPTION = 0.4  # of what words alone say where an exception is told: its frames use the words of many logs
WORDS_SHARE = 0.6  # of what words alone say: of logs that no signature knows they are less sure than they think (model card)
PROVEN = 0.5  # a cause of this probability, with evidence: what words alone suggest is not worth telling beside it


class Question(Struct, frozen=True):
    """What is decided about: an incident (None: no event at all), the job's own logs, and the alarming lines of all logs."""

    incident: Incident | None
    jobs: Jobs
    alarms: tuple[str, ...]


class Spoken(Struct, frozen=True):
    """What the logs say beyond their events: `alarms`, the alarming lines at their ends, and the model that reads them.

    `foreign`: events that are another job's, whose words do not count.
    """

    model: Model
    alarms: tuple[str, ...] = ()
    foreign: tuple[Observation, ...] = ()


def candidates(
    standings: Sequence[Standing], spoken: Spoken, incident: Incident | None, database: Database
) -> dict[str, list[float]]:
    """The features of every candidate, see `features`.

    In logs without an event and without an alarming line nothing but their silence is weighed: no word makes a cause of it.
    """
    text = spoken.model.text(words(region(incident, spoken.alarms, spoken.foreign)))
    offered = features(standings, text, len(spoken.alarms), database, unexplained(incident, spoken.alarms))
    if not spoken.alarms and all(s.cause == HEALTHY for s in standings):
        return {c: offered[c] for c in (HEALTHY, UNKNOWN)}
    return offered


def weighed(standings: Sequence[Standing], incident: Incident | None, spoken: Spoken, database: Database) -> list[Standing]:
    """`standings` as the model weighs them, most probable first; never empty."""
    endings = frozenset(c for c, cause in database.causes.items() if cause.fallback)
    return ordered(standings, spoken.model.weigh(candidates(standings, spoken, incident, database)), endings)


def ordered(standings: Sequence[Standing], probabilities: Mapping[str, float], endings: Set[str] = frozenset()) -> list[Standing]:
    """Standings with these probabilities, most probable first; causes without evidence only where nothing is proven.

    What the plain formula puts first by more than hints, or before a death that is another job's, stays first, as it knows what
    explains what: where the model gives more to another, each gets half of what the two have together, for one speaks against
    the other. Otherwise what words alone say counts WORDS_SHARE, or BESIDE_EXCEPTION, and a cause that hints speak for stays
    before it, unless that is one of `endings`, the names of what has a reason. What only hints and words speak for gets
    HINTS_MOST at most, and a death that nothing shows to be the job's UNTIED_MOST; the rest of its share stands for causes that
    nothing here tells of. That nothing is amiss is one of the candidates where nothing is proven.
    """
    by_cause = {s.cause: s for s in standings}
    first = _named(standings, endings)
    sure = any(e.weight != "hint" for e in first.events)
    given = {c: p if sure else _counted(c, probabilities, by_cause) for c, p in probabilities.items()}
    ranked = sorted((c for c in given if c != UNKNOWN), key=lambda c: (-given[c], c))
    weak = _only_words(ranked[0], first, by_cause, endings) or (first.events and _is_anothers(by_cause.get(ranked[0])))
    if ranked[0] != first.cause and (sure or weak):
        given[first.cause] = given[ranked[0]] = (given[first.cause] + given[ranked[0]]) / 2
        ranked.sort(key=lambda c: (c != first.cause, -given[c], c))
    stood = [by_cause.get(c) or Standing(c, (), 0.0) for c in ranked]
    made = [replace(s, probability=round(min(given[s.cause], _most(s)), 4)) for s in stood]
    proven = made[0].probability >= PROVEN and bool(made[0].events or made[0].cause == HEALTHY)
    kept = [s for i, s in enumerate(made) if i == 0 or not proven or (s.cause != HEALTHY and s.events)]
    return kept[:SHOWN]


def _is_anothers(standing: Standing | None) -> bool:
    """Is it a death that is taken for another job's?"""
    return standing is not None and bool(standing.events) and not standing.tied and standing.strength <= UNRELATED


def _named(standings: Sequence[Standing], endings: Set[str]) -> Standing:
    """The first of `standings`; where hints alone speak for it and it is the name of an ending, the first that is more than that,
    if one is hinted at: it may well be the reason, and words have nothing against it."""
    first = standings[0]
    if first.cause not in endings or any(e.weight != "hint" for e in first.events):
        return first
    return next((s for s in standings if s.events and s.cause not in (HEALTHY, *endings)), first)


def _only_words(said: str, first: Standing, by_cause: Mapping[str, Standing], endings: Set[str]) -> bool:
    """Do words alone say `said`, where evidence speaks for `first` and that is more than the name of an ending?"""
    if said == HEALTHY or not first.events or first.cause in (HEALTHY, *endings):
        return False
    return _is_word(said, by_cause)


def _counted(cause: str, probabilities: Mapping[str, float], by_cause: Mapping[str, Standing]) -> float:
    """What counts of the probability of `cause` where nothing is proven.

    Where an exception is told, words alone put no stop before it: they know stops by the frames of what those interrupt.
    """
    given = probabilities[cause]
    if not _is_word(cause, by_cause):
        return given
    if _is_word(EXCEPTION, by_cause):
        return given * WORDS_SHARE
    told = probabilities.get(EXCEPTION, 0.0)
    return min(given * BESIDE_EXCEPTION, told) if cause.startswith(STOPPED) else given * BESIDE_EXCEPTION


def _is_word(cause: str, by_cause: Mapping[str, Standing]) -> bool:
    """Is `cause` one that no event speaks for, so that words alone say it?"""
    return cause != HEALTHY and (cause not in by_cause or not by_cause[cause].events)


def _most(standing: Standing) -> float:
    """The greatest probability that its evidence allows."""
    sure = standing.cause == HEALTHY or any(e.weight != "hint" for e in standing.events)
    return min(1.0 if sure else HINTS_MOST, 1.0 if standing.tied else UNTIED_MOST)
