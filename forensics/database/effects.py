"""What a command does to existing data, jobs and machines: tables/effects.csv.

    rm -f FILE         writes: deletes files
    scancel JOB        stops: ends the job
    systemctl reboot   reboots: restarts the machine

A remedy with such a command names the effect (`effects: [stops]`), so that somebody has thought of it: a command that has one
which its remedy does not name is a fault. The report tells the effect beside the command. A remedy that ends or deletes more
than the reader's own says so in its sentence, with how to check first: tables/warnings.csv.
"""

import functools
import re
from collections.abc import Sequence

from msgspec import Struct

from forensics.core import lazy
from forensics.database.conditions import Environment, WordRule, condition_holds, rule_words, tools_available
from forensics.database.entries import Remedy
from forensics.database.tables import read_rows

WRITES = "writes"
COMMENT_PATTERN = lazy.regex(r"(?:^|\s)#\s.*")
CLAUSE_PATTERN = lazy.regex(r"[,;:] | - | or ")


class Effect(Struct, frozen=True):
    """One effect: its kind, the commands that have it, and how it is told."""

    kind: str
    pattern: re.Pattern[str]
    says: str


class Harm(WordRule, frozen=True):
    """What a remedy with such words may do to others: settings in which nobody else is there, and the warning."""

    unless: tuple[str, ...]
    warns: str


@functools.cache
def known_harms() -> tuple[Harm, ...]:
    """The rows of tables/warnings.csv, the gravest first."""
    return tuple(Harm(*rule_words(row), tuple(row["unless"].split()), row["warns"]) for row in read_rows("warnings"))


def begins_with_harm(action: str) -> bool:
    """Does an action begin with what may end, restart or delete something, before it looks or tries anything milder?"""
    first = CLAUSE_PATTERN.split(action, maxsplit=1)[0]
    return any(harm.is_about(first, action) for harm in known_harms())


def with_warning(action: str, commands: Sequence[str], environment: Environment) -> str:
    """The action, with a sentence for the gravest harm that it or one of its commands may do to others."""
    texts = [action, *(COMMENT_PATTERN.sub("", command) for command in commands)]
    for harm in known_harms():
        if any(condition_holds(c, {}, environment) for c in harm.unless):
            continue
        if any(harm.is_about(text, action) for text in texts):
            what, _, how = harm.warns.partition(": ")
            return f"{action}. {what if tools_available(how, environment) is False else harm.warns}"
    return action


@functools.cache
def known_effects() -> tuple[Effect, ...]:
    """The rows of tables/effects.csv."""
    return tuple(Effect(row["effect"], lazy.regex(row["pattern"]), row["says"]) for row in read_rows("effects"))


@functools.lru_cache(maxsize=1024)  # chosen by hand: the commands of all questions, and of the remedies of some causes
def effects_of(command: str) -> tuple[Effect, ...]:
    """The effects of a command, in the order of the table; its comments are not read."""
    bare = COMMENT_PATTERN.sub("", command)
    return tuple(effect for effect in known_effects() if effect.pattern.search(bare))


def effect_faults(remedy: Remedy) -> list[str]:
    """What is wrong with the effects that a remedy names: an unknown one, or one of a command that it does not name."""
    known = {effect.kind for effect in known_effects()}
    strange = [f"effect {name} is none of {', '.join(sorted(known))}" for name in remedy.effects if name not in known]
    return strange + [
        f"{command!r} {effect.says}: add `effects: [{effect.kind}]`, or a command that does not"
        for command in remedy.commands
        for effect in effects_of(command)
        if effect.kind not in remedy.effects
    ]


def with_effects(command: str) -> str:
    """The command with a comment that tells its effects; unchanged if it has none."""
    return with_comment(command, ", ".join(dict.fromkeys(effect.says for effect in effects_of(command))))


def with_comment(command: str, comment: str) -> str:
    """The command with `comment` behind it, and behind a comment that it has; unchanged for an empty one."""
    return f"{command}{'; ' if COMMENT_PATTERN.search(command) else '   # '}{comment}" if comment else command
