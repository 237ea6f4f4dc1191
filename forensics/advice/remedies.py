"""Choose the remedies and open questions of a cause that fit this case and the environment where it ran.

    sbatch --mem=SIZE job.sh        a command of Slurm: left out where a pod ran, first where a Slurm job did

A remedy is left out if a fact that it needs is not known, if the environment excludes it, or if all its commands and sentences
name tools that do not exist there. If a condition of a remedy is unknown, the remedy is shown after the others, with the
condition as its first words. If every remedy lacks its tools, the first one is shown without commands. Remedies whose conditions
the case confirms are always shown; remedies without conditions are added up to MAX_GENERAL.
"""

from collections.abc import Iterator, Sequence

from forensics.advice.wording import fields_of, fill_command, fill_template
from forensics.database import Cause, Remedy
from forensics.database.conditions import Environment, condition_holds, condition_text, is_confirmed, tools_available
from forensics.model import Advice, Fields, OpenQuestion

NO_ENVIRONMENT: Environment = {}
READ_FIRST = "Read {} and the lines around it before you try a remedy"
WHY_READ_FIRST = "It is what speaks most for this cause, but the cause is not sure; what is written there may say something else."
MAX_COMMANDS = 4  # chosen by hand: of one remedy; a person types them one after the other
# Of remedies: in drawn reports, most of those that did not apply were the fourth, and the last of a file fit the least.
MAX_GENERAL = 3
MAX_UNSURE = 1  # chosen by hand: remedies without conditions, if the cause is not sure
MAX_CONDITIONAL = 2  # chosen by hand: remedies that are shown with a condition, each with another one
MIN_GENERAL = 2  # chosen by hand: remedies without conditions that are shown after any number of confirmed ones


def fitting_remedies(
    cause: Cause, facts: Fields, environment: Environment = NO_ENVIRONMENT, first_line: str = ""
) -> tuple[Advice, ...]:
    """The remedies that fit `facts` and `environment`, ranked from 1.

    `first_line`: of a cause that is not sure, the place of the line that led to it. It is to be read first, and only what the
    case confirms, and MAX_UNSURE of the rest, follow.
    """
    shown: list[tuple[Remedy, str, bool]] = []  # remedy, its text, and whether it has conditions (the case confirms them)
    conditional: dict[str, tuple[Remedy, str]] = {}  # condition to the first remedy that has it, and its text
    without_tools: list[tuple[Remedy, str, bool]] = []  # as `shown`; no command of theirs exists there
    for remedy in cause.remedies:
        condition = condition_of(remedy, facts, environment)
        action = fill_template(remedy.do, facts) if condition is not None else None
        if action is None or (first_line and first_line in action) or tools_available(remedy.do, environment) is False:
            continue
        if remedy.commands and not commands_for(remedy.commands, environment) and _needs_tool(remedy, environment):
            without_tools += [] if condition else [(remedy, action, bool(remedy.when))]
        elif condition:
            conditional.setdefault(condition, (remedy, f"{condition}: {action[:1].lower()}{action[1:]}"))
        else:
            shown.append((remedy, action, bool(remedy.when)))
    unsure = (Advice(1, "user", READ_FIRST.format(first_line), WHY_READ_FIRST, (), None),) if first_line else ()
    chosen = _chosen(shown or without_tools[:1], list(conditional.values())[:MAX_CONDITIONAL], bool(first_line))
    return unsure + tuple(
        Advice(
            rank=rank,
            who=remedy.who,
            action=action,
            why=_why(remedy.why, facts, environment),
            commands=tuple(fill_command(c, facts) for c in commands_for(_runnable(remedy.commands, facts), environment)),
            reference=remedy.source or None,
        )
        for rank, (remedy, action) in enumerate(chosen, 1 + len(unsure))
    )


def _chosen(
    shown: Sequence[tuple[Remedy, str, bool]], conditional: Sequence[tuple[Remedy, str]], unsure: bool
) -> Iterator[tuple[Remedy, str]]:
    """All remedies whose conditions the case confirms, and the first of the others, up to MAX_GENERAL in all."""
    confirmed = sum(needed for _, _, needed in shown)
    room = max(0, MAX_UNSURE - confirmed) if unsure else max(MIN_GENERAL, MAX_GENERAL - confirmed)
    for remedy, action, needed in shown:
        if needed or room > 0:
            yield remedy, action
        room -= not needed
    yield from conditional[: max(0, room)]


def condition_of(remedy: Remedy, facts: Fields, environment: Environment) -> str | None:
    """The condition to show with a remedy: "" if the case confirms all its conditions, None if it is not to be shown."""
    if any(condition_holds(c, facts, environment) for c in remedy.unless):
        return None
    open_ones = [c for c in remedy.when if not condition_holds(c, facts, environment)]
    if any(condition_holds(c, facts, environment) is False for c in open_ones):
        return None
    texts = [condition_text(c) for c in open_ones]
    return None if None in texts or len(texts) > 1 else (texts[0] if texts else "")


def commands_for(commands: Sequence[str], environment: Environment) -> tuple[str, ...]:
    """The commands whose tools exist where the job ran; if there are none, those of which it is unknown."""
    fits = [(c, tools_available(c, environment)) for c in commands]
    sure = [c for c, fit in fits if fit]
    confirmed = [c for c in sure if is_confirmed(c, environment)]
    chosen = sure or [c for c, fit in fits if fit is None]
    return tuple(sorted(chosen, key=lambda c: c not in confirmed)[:MAX_COMMANDS])


def _runnable(commands: Sequence[str], facts: Fields) -> tuple[str, ...]:
    """`commands` without Python's debugger for a file that is none of Python's."""
    file = str(facts.get("file", ""))
    other = "." in file.rpartition("/")[2] and not file.endswith((".py", ".pyw"))
    return tuple(c for c in commands if not (other and "-m pdb" in c and "{file}" in c))


def _needs_tool(remedy: Remedy, environment: Environment) -> bool:
    """Does every command of the remedy need a tool that does not exist where the job ran?"""
    return all(tools_available(c, environment) is False for c in remedy.commands)


def _why(text: str, facts: Fields, environment: Environment) -> str:
    """The reason, without sentences that need an unknown field or name a tool that does not exist where the job ran."""
    sentences = text.split(". ")
    kept = [
        s for s in sentences if not any(n not in facts for n in fields_of(s)) and tools_available(s, environment) is not False
    ]
    filled = fill_template(". ".join(kept), facts) or ""
    return filled if not filled or filled.endswith((".", ")", ":")) or kept[-1:] == sentences[-1:] else f"{filled}."


def missing_facts(cause: Cause, facts: Fields, environment: Environment = NO_ENVIRONMENT) -> tuple[OpenQuestion, ...]:
    """The questions about this cause that the logs leave open."""
    return tuple(
        OpenQuestion(m.what, m.why, fill_command(m.command, facts))
        for m in cause.missing
        if not any(name in facts for name in m.unless) and tools_available(m.command, environment) is not False
    )
