"""Apply the rows of signatures/precedence.yaml, which are the only absolute rules of the ranking.

    - before: host_memory.leak              if the first has strong evidence, it is ranked before the second
      after: host_memory.oom_cgroup
      why: a limit that steady growth reached is reached again, however high it is set

Everything else is learned.
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.database import Database
from forensics.decision.ledger import moved
from forensics.model.verdicts import Candidate
from forensics.outcome.tiers import ENDING_STRONG, evidence_tier


class Row(Struct, frozen=True):
    """`before` is ranked before `after` if it has strong evidence of an end."""

    before: str
    after: str
    why: str


class Precedence(Struct, frozen=True):
    """The rows, in order."""

    rows: tuple[Row, ...]

    def applied(self, ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
        """`ranked`; if a row forbids the order of two candidates, their probabilities are exchanged.

        Where the first explains the second, both tell one story, which the first begins: it gets the probability of both.
        """
        found = {c.cause: c for c in ranked}
        for row in self.rows:
            before, after = found.get(row.before), found.get(row.after)
            if not before or not after or not _strong(before, database):
                continue
            more, less = max(before.probability, after.probability), min(before.probability, after.probability)
            if after.explained_by == before.cause:
                more, less = more + less, 0.0
            rule = f"rule: {row.before} before {row.after}, as {row.why}"
            found |= {row.before: moved(before, more, rule), row.after: moved(after, less, rule)}
        return list(found.values())


def _strong(candidate: Candidate, database: Database) -> bool:
    return any(o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG for o in candidate.owned)


def precedence_of(database: Database) -> Precedence:
    """The rows that come with `database`."""
    return Precedence(tuple(Row(*row) for row in database.precedence))
