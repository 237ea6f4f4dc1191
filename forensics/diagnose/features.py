"""What a person would look at when weighing one candidate cause, as numbers with names.

    host_memory.oom_cgroup -> evidence 3.2, first 1, proof 1, strong 1, messages 2, text -0.1, ...

All are shared by all causes: the model learns how much evidence is worth, not which cause is frequent. `text` is what the words
of the error region alone say for the candidate. One more candidate, UNKNOWN, stands for all that is not in the list.
"""

from collections.abc import Mapping, Sequence
from math import log

from forensics.database import HEALTHY, Database
from forensics.diagnose.score import Standing

NAMES = (
    "evidence",  # log odds of the plain formula's probability
    "first",  # 1 when the plain formula puts it first
    "proof",  # 1 when evidence of this weight speaks for it; so the next two
    "strong",
    "hint",
    "messages",  # distinct messages that speak for it, at most 5
    "unseen",  # 1 when no event speaks for it
    "explained",  # 0 to 1: how much of it another cause explains
    "fallback",  # 1 for the name of an ending
    "rivals",  # strength of the strongest other cause that nothing explains
    "text",  # log of the share that the words give it
    "text first",  # 1 when the words put it first
    "text root",  # 1 when the words alone suggest it and it explains what the plain formula puts first
    "healthy",  # 1 for none.healthy
    "healthy told",  # 1 for none.healthy when the logs tell that the run ended well
    "healthy silent",  # 1 for none.healthy when no event speaks for any cause
    "healthy alarms",  # log of one more than the number of alarming lines; for none.healthy when no event speaks for any cause
    "unknown",  # 1 for UNKNOWN
    "unknown silent",  # 1 for UNKNOWN when no event speaks for any cause
    "unknown weak",  # 1 for UNKNOWN when the formula's first has hints only, or names an ending
    "unknown text",  # for UNKNOWN: log of the share that the words give the formula's first
    "unknown vague",  # for UNKNOWN: log of the greatest share that the words give
    "unknown alarms",  # for UNKNOWN: log of one more than the number of alarming lines on which no evidence stands
    "unknown consequence",  # for UNKNOWN: log of one more than the number of causes that would explain the formula's first
    "unknown other",  # for UNKNOWN: 1 when the words put another cause first, that would explain the formula's first
)
UNKNOWN = ""
OF_UNKNOWN = sum(name.startswith("unknown") for name in NAMES)
FLOOR = 1e-4
NEAREST = 3  # causes that the words alone make candidates


def features(
    standings: Sequence[Standing], text: Mapping[str, float], alarms: int, database: Database, unexplained: int = 0
) -> dict[str, list[float]]:
    """Candidate -> its features in the order of NAMES.

    Candidates: every cause of `standings` (best first, never empty), none.healthy, the NEAREST that the words put first, and
    UNKNOWN. `text`: cause -> share, 0 to 1. `alarms`: number of alarming lines;
    `unexplained`: of those on which no evidence stands.
    """
    by_cause = {s.cause: s for s in standings}
    likely = sorted((c for c in text if c in database.causes), key=lambda c: (-text[c], c))[:NEAREST]
    silent = all(s.cause == HEALTHY for s in standings)
    found: dict[str, list[float]] = {}
    for cause in dict.fromkeys([*by_cause, HEALTHY, *likely]):
        rest = 1 - sum(s.probability for s in standings)
        share = by_cause[cause].probability if cause in by_cause else rest if cause == HEALTHY else FLOOR
        healthy = cause == HEALTHY
        found[cause] = [
            _log_odds(share),
            float(cause == standings[0].cause),
            *_evidence(by_cause.get(cause)),
            float(cause in database.causes and database.causes[cause].fallback),
            max((s.strength for s in standings if s.cause not in (cause, HEALTHY) and s.explained < 0.5), default=0.0),
            _log(text.get(cause, 0.0)),
            float(likely[:1] == [cause]),
            float(cause not in by_cause and database.explains(cause, standings[0].cause)),
            float(healthy),
            float(healthy and cause in by_cause and any(e.weight != "hint" for e in by_cause[cause].events)),
            float(healthy and silent),
            log(1 + alarms) if healthy and silent else 0.0,
            *([0.0] * OF_UNKNOWN),
        ]
    found[UNKNOWN] = _unknown(standings[0], text, silent, unexplained, likely[0] if likely else HEALTHY, database)
    return found


def _evidence(standing: Standing | None) -> list[float]:
    """`proof` to `explained`."""
    events = standing.events if standing else ()
    weights = {e.weight for e in events}
    kinds = float(min(5, len({e.kind for e in events})))
    explained = standing.explained if standing else 0.0
    return [*(float(w in weights) for w in ("proof", "strong", "hint")), kinds, float(not events), explained]


def _unknown(
    first: Standing, text: Mapping[str, float], silent: bool, unexplained: int, said: str, database: Database
) -> list[float]:
    weak = not silent and (all(e.weight == "hint" for e in first.events) or database.causes[first.cause].fallback)
    vague = _log(max(text.values(), default=0.0))
    roots = 0 if silent else sum(database.explains(c, first.cause) for c in database.causes if c != first.cause)
    own = [1.0, float(silent), float(weak), _log(text.get(first.cause, 0.0)), vague]
    own += [log(1 + unexplained), log(1 + roots), float(said != first.cause and database.explains(said, first.cause))]
    return [*([0.0] * (len(NAMES) - len(own))), *own]


def _log(share: float) -> float:
    return log(max(share, FLOOR))


def _log_odds(share: float) -> float:
    share = min(max(share, FLOOR), 1 - FLOOR)
    return log(share / (1 - share))
