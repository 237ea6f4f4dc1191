"""Apply the rows of signatures/precedence.yaml, which are the only absolute rules of the ranking.

    - before: host_memory.leak              if the first has strong evidence, it is ranked before the second
      after: host_memory.oom_cgroup
      why: a limit that steady growth reached is reached again, however high it is set

Everything else is learned. A row names causes, families (`gpu_hardware.*`) or traits (`trait:fallback`).
It says nothing of two causes that only different attempts show.
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.database import Database
from forensics.decision.last_word import is_of_earlier_attempt
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
        found = list(ranked)
        for row in self.rows:
            for i, before in enumerate(found):
                for j, after in enumerate(found):
                    if not _is(before, row.before, database) or not _is(after, row.after, database):
                        continue
                    if is_of_earlier_attempt(before.owned, after.owned):
                        continue
                    if not _strong(before, database):
                        continue
                    rule = f"rule: {row.before} before {row.after}, as {row.why}"
                    more, less = before.probability, after.probability
                    if after.explained_by == before.cause:
                        more, less = more + less, 0.0
                    found[i] = before = moved(before, max(more, less), rule)
                    found[j] = moved(after, min(more, less), rule)
        return found


def _is(candidate: Candidate, named: str, database: Database) -> bool:
    if named.startswith("trait:"):
        return database.has_trait(candidate.cause, named.removeprefix("trait:"))
    return candidate.cause == named or (named.endswith(".*") and candidate.cause.startswith(named[:-1]))


def _strong(candidate: Candidate, database: Database) -> bool:
    return any(o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG for o in candidate.owned)


def precedence_of(database: Database) -> Precedence:
    """The rows that come with `database`."""
    return Precedence(tuple(Row(*row) for row in database.precedence))
