"""Candidates that no number and no name links to the subject: only the time does, or that they were given beside its log."""

from collections.abc import Sequence

from forensics.database import Database
from forensics.decision.ledger import moved
from forensics.model.verdicts import Candidate

UNKNOWN_OWNER_MAX_PROBABILITY = 0.89  # a cause that only time or place links to the subject never reaches 0.9
GUESSED_MAX_PROBABILITY = 0.5  # as likely as not: of several deaths on the host, not even the time ties one to the subject
OWN_END = "rule: its own log shows how it ended"
UNKNOWN_OWNER = f"rule: only time or place links it to the job, at most {UNKNOWN_OWNER_MAX_PROBABILITY}"
ALIKE = "rule: as near to its end as another death, and nothing links either to the job"
LAST_OF_SEVERAL = f"rule: the last of several deaths, and nothing links one to the job, at most {GUESSED_MAX_PROBABILITY}"


def ranked_by_links(causes: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`causes`, where those without a link stand back behind an end that the subject's own log shows, and none of them is more
    likely than another that is linked no better."""
    return _alike_if_unlinked(_own_before_unknown(causes, database), database)


def at_most(candidate: Candidate) -> Candidate:
    """`candidate` with the probability that its link allows."""
    if is_guessed(candidate):
        return moved(candidate, min(candidate.probability, GUESSED_MAX_PROBABILITY), LAST_OF_SEVERAL)
    limit = UNKNOWN_OWNER_MAX_PROBABILITY if candidate.linked_only_by else 1.0
    return moved(candidate, min(candidate.probability, limit), UNKNOWN_OWNER)


def is_guessed(candidate: Candidate) -> bool:
    """Is it the last of several deaths, with nothing else that speaks for it?"""
    return bool(candidate.linked_only_by) and any(o.guessed for o in candidate.owned)


def _own_before_unknown(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """Rank candidates that only time or place links to the subject after an end that the subject's own log shows.

    Each gets at most half the probability of the best own candidate, which gets the rest.
    """
    unknown = [c for c in ranked if c.features.get("unknown against own")]
    own = [c for c in ranked if c not in unknown and (c.features["proof"] or c.features["strong"])]
    own = [c for c in own if not database.has_trait(c.cause, "external_stop")]  # which may have cleaned up behind it
    own = [c for c in own if any(o.owner == "mine" for o in c.owned)]
    if not unknown or not own:
        return list(ranked)
    best = max(own, key=lambda c: c.probability)
    taken = {c.cause: c.probability - min(c.probability, best.probability / 2) for c in unknown}
    left = [moved(c, c.probability - taken.get(c.cause, 0.0), OWN_END) for c in ranked]
    return [moved(c, c.probability + sum(taken.values()), OWN_END) if c.cause == best.cause else c for c in left]


def _alike_if_unlinked(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """Deaths of different processes that only time or place links to the subject, and none better than another, are as likely."""
    deaths = [c for c in ranked if c.probability and _is_unlinked_death(c, database)]
    explained = [c for c in deaths if any(database.explains(a.cause, c.cause) for a in deaths)]
    alike = {c.cause: c.probability for c in deaths if c not in explained}
    share = sum(alike.values()) / max(1, len(alike))
    return [moved(c, share, ALIKE) if c.cause in alike else c for c in ranked]


def _is_unlinked_death(candidate: Candidate, database: Database) -> bool:
    sure = (candidate.features["proof"] or candidate.features["strong"]) and database.has_trait(candidate.cause, "process_death")
    return bool(sure and candidate.linked_only_by) and any("pid" in o.observation.fields for o in candidate.owned)
