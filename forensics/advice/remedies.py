"""Remedies and open questions of a cause, in this case's own words.

Remedies keep the rank of their file; one whose fields this case does not fill is left out.
"""

from forensics.advice.wording import fields_of, fill, fill_command
from forensics.database import Cause, Remedy
from forensics.model import Advice, Fields, Unknown


def advice(cause: Cause, facts: Fields) -> tuple[Advice, ...]:
    """The remedies that fit `facts`, ranked from 1."""
    fitting = [r for r in cause.remedies if _fits(r, facts)]
    told: list[Advice] = []
    for remedy in fitting:
        action = fill(remedy.do, facts)
        if action is None:
            continue
        told.append(
            Advice(
                rank=len(told) + 1,
                who=remedy.who,
                action=action,
                why=fill(remedy.why, facts) or _without_fields(remedy.why),
                commands=tuple(fill_command(c, facts) for c in remedy.commands),
                reference=remedy.source or None,
            )
        )
    return tuple(told)


def _fits(remedy: Remedy, facts: Fields) -> bool:
    return all(name in facts for name in remedy.when) and not any(name in facts for name in remedy.unless)


def _without_fields(text: str) -> str:
    """Only the sentences that need no field."""
    return " ".join(s for s in text.split(". ") if not fields_of(s))


def missing(cause: Cause, facts: Fields) -> tuple[Unknown, ...]:
    """What the logs did not say about this cause."""
    return tuple(
        Unknown(m.what, m.why, fill_command(m.command, facts))
        for m in cause.missing
        if not any(name in facts for name in m.unless)
    )
