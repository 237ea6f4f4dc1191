"""What a person would look at when weighing one candidate cause, as numbers with names.

All are shared by all causes: the model learns how much evidence is worth, not which cause is frequent. `text` is what the words of the
error region alone say for the candidate.
"""

from collections.abc import Mapping, Sequence
from math import log

from forensics.database import HEALTHY, Database
from forensics.diagnose.score import Standing

NAMES = (
    "evidence",  # log odds of the plain formula's probability
    "first",  # 1 when the plain formula puts it first
    "proof",
    "strong",
    "hint",
    "messages",  # distinct messages that speak for it, at most 5
    "explained",  # 0 to 1: how much of it another cause explains
    "fallback",  # 1 for the name of an ending
    "rivals",  # strength of the strongest other cause that does not explain it
    "text",  # log of the share that the words give it
    "text first",
    "text agrees",  # 1 when words and formula put the same cause first
    "silent",  # 1 when no event speaks for any cause
    "healthy",  # 1 for none.healthy
    "alarms",  # log of one more than the number of alarming lines; for none.healthy only
)
FLOOR = 1e-4


def features(standings: Sequence[Standing], text: Mapping[str, float], alarms: int, database: Database) -> dict[str, list[float]]:
    """Candidate -> its features in the order of NAMES. Candidates: every cause with evidence, none.healthy, and the three that
    the words put first."""
    by_cause = {s.cause: s for s in standings}
    likely = sorted(text, key=lambda c: (-text[c], c))
    candidates = dict.fromkeys([*by_cause, HEALTHY, *likely[:3]])
    first = standings[0].cause if standings else HEALTHY
    silent = float(all(s.cause == HEALTHY for s in standings))
    found: dict[str, list[float]] = {}
    for cause in candidates:
        standing = by_cause.get(cause)
        weights = {e.weight for e in standing.events} if standing else set()
        share = min(max(standing.probability if standing else FLOOR, FLOOR), 1 - FLOOR)
        rivals = [s.strength for s in standings if s.cause not in (cause, HEALTHY) and s.explained < 0.5]
        found[cause] = [
            log(share / (1 - share)),
            float(cause == first),
            float("proof" in weights),
            float("strong" in weights),
            float("hint" in weights),
            float(min(5, len({e.kind for e in standing.events}))) if standing else 0.0,
            standing.explained if standing else 0.0,
            float(cause in database.causes and database.causes[cause].fallback),
            max(rivals, default=0.0),
            log(max(text.get(cause, 0.0), FLOOR)),
            float(bool(likely) and likely[0] == cause),
            float(bool(likely) and likely[0] == first),
            silent,
            float(cause == HEALTHY),
            log(1 + alarms) if cause == HEALTHY else 0.0,
        ]
    return found
