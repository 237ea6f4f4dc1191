"""Standings of the plain formula -> the same causes and the nearest ones by words, with the model's probabilities and order.

formula: process.worker_died 0.71   ->   host_memory.oom_global 0.55 (words), process.worker_died 0.31
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from forensics.database import HEALTHY, Database
from forensics.diagnose.features import UNKNOWN, features
from forensics.diagnose.model import Model
from forensics.diagnose.region import region, words
from forensics.diagnose.relevance import Jobs
from forensics.diagnose.score import SHOWN, Standing
from forensics.model import Incident

PROVEN = 0.5  # a cause of this probability, with evidence: what words alone suggest is not worth telling beside it


@dataclass(frozen=True, slots=True)
class Question:
    """What is decided about: an incident (None: no event at all), the job's own logs, and the alarming lines of all logs."""

    incident: Incident | None
    jobs: Jobs
    alarms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the logs say beyond their events: `alarms`, the alarming lines at their ends, and the model that reads them."""

    model: Model
    alarms: tuple[str, ...] = ()


def candidates(
    standings: Sequence[Standing], incident: Incident | None, alarms: Iterable[str], model: Model, database: Database
) -> dict[str, list[float]]:
    """The features of every candidate, see `features`."""
    lines = list(alarms)
    text = model.text(words(region(incident, lines)))
    return features(standings, text, len(lines), database)


def weighed(standings: Sequence[Standing], incident: Incident | None, spoken: Spoken, database: Database) -> list[Standing]:
    """`standings` as the model weighs them, most probable first; never empty.

    A log without an event and without an alarming line is left as it is: there is nothing to weigh.
    """
    if not spoken.alarms and all(s.cause == HEALTHY for s in standings):
        return list(standings)
    found = spoken.model.weigh(candidates(standings, incident, spoken.alarms, spoken.model, database))
    return ordered(standings, found)


def ordered(standings: Sequence[Standing], probabilities: dict[str, float]) -> list[Standing]:
    """Standings with these probabilities, most probable first; causes without evidence only where nothing is proven."""
    by_cause = {s.cause: s for s in standings}
    ranked = sorted((c for c in probabilities if c != UNKNOWN), key=lambda c: (-probabilities[c], c))
    made = [replace(by_cause.get(c) or Standing(c, (), 0.0), probability=round(probabilities[c], 4)) for c in ranked]
    proven = made[0].probability >= PROVEN and bool(made[0].events or made[0].cause == HEALTHY)
    kept = [s for i, s in enumerate(made) if i == 0 or (s.cause != HEALTHY and (s.events or not proven))]
    return kept[:SHOWN]
