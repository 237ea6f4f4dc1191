"""Remedies and open questions of a cause, in the words that fit this case and the place where it ran.

    sbatch --mem=SIZE job.sh        a command of Slurm: left out where a pod ran, first where a Slurm job did

A remedy is left out where a fact that it needs is not known, where the environment excludes it, or where every command and
sentence of it names a tool that is not there. Those that fit keep the rank of their file.
"""

from collections.abc import Sequence

from forensics.advice.wording import fields_of, fill, fill_command
from forensics.database import Cause, Remedy
from forensics.database.conditions import Environment, fit_of, holds, is_confirmed
from forensics.model import Advice, Fields, Unknown

NO_ENVIRONMENT: Environment = {}
MAX_COMMANDS = 4


def advice(cause: Cause, facts: Fields, environment: Environment = NO_ENVIRONMENT) -> tuple[Advice, ...]:
    """The remedies that fit `facts` and `environment`, ranked from 1."""
    told: list[Advice] = []
    for remedy in cause.remedies:
        action = fill(remedy.do, facts) if _fits(remedy, facts, environment) else None
        if action is None or fit_of(remedy.do, environment) is False:
            continue
        commands = commands_for(remedy.commands, environment)
        if remedy.commands and not commands and _needs_tool(remedy, environment):
            continue
        told.append(
            Advice(
                rank=len(told) + 1,
                who=remedy.who,
                action=action,
                why=_why(remedy.why, facts, environment),
                commands=tuple(fill_command(c, facts) for c in commands),
                reference=remedy.source or None,
            )
        )
    return tuple(told)


def commands_for(commands: Sequence[str], environment: Environment) -> tuple[str, ...]:
    """Those of `commands` whose tools exist where the job ran; tools that nothing tells of only where nothing else is left."""
    fits = [(c, fit_of(c, environment)) for c in commands]
    sure = [c for c, fit in fits if fit]
    confirmed = [c for c in sure if is_confirmed(c, environment)]
    chosen = sure or [c for c, fit in fits if fit is None]
    return tuple(sorted(chosen, key=lambda c: c not in confirmed)[:MAX_COMMANDS])


def _fits(remedy: Remedy, facts: Fields, environment: Environment) -> bool:
    """Do its conditions hold? One that nothing in the logs tells of holds neither for `when` nor for `unless`."""
    needed = all(holds(c, facts, environment) for c in remedy.when)
    return needed and not any(holds(c, facts, environment) for c in remedy.unless)


def _needs_tool(remedy: Remedy, environment: Environment) -> bool:
    """Is every command of it one of a tool that is excluded?"""
    return all(fit_of(c, environment) is False for c in remedy.commands)


def _why(text: str, facts: Fields, environment: Environment) -> str:
    """The reason, without the sentences that need a field that is not known or name a tool that is not there."""
    sentences = text.split(". ")
    kept = [s for s in sentences if not any(n not in facts for n in fields_of(s)) and fit_of(s, environment) is not False]
    told = fill(". ".join(kept), facts) or ""
    return told if not told or told.endswith((".", ")", ":")) or kept[-1:] == sentences[-1:] else f"{told}."


def missing(cause: Cause, facts: Fields, environment: Environment = NO_ENVIRONMENT) -> tuple[Unknown, ...]:
    """What the logs did not say about this cause."""
    return tuple(
        Unknown(m.what, m.why, fill_command(m.command, facts))
        for m in cause.missing
        if not any(name in facts for name in m.unless) and fit_of(m.command, environment) is not False
    )
