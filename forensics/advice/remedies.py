"""Choose the remedies and open questions of a cause that fit this case and the environment where it ran.

    sbatch --mem=SIZE job.sh        a command of Slurm: left out where a pod ran, first where a Slurm job did

A remedy comes first only if the case confirms all its conditions. Behind the first ones stand what else fits, up to MAX_REMEDIES:
see `alternatives`. A remedy is left out if all its commands and sentences name tools that do not exist there, and a clause of it
if the case contradicts its words; if every remedy lacks its tools, the first one is shown without commands. A command for a
setting that nothing shows and nothing excludes is told with that setting beside it. A remedy without conditions is general;
behind MAX_GENERAL others it stands after all that have conditions. One that changes data, or stops something before it has
looked, is never first where another one fits.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from forensics.advice.alternatives import (
    MAX_REMEDIES,
    Told,
    behind,
    if_so,
    looks,
    only_looks,
    said_once,
    unlike,
    with_usual,
    without_repeats,
)
from forensics.advice.case import AROUND_FACT, EVIDENCE_FACT, EVIDENCE_PLACE, INSTALLED, REASON_PLACE
from forensics.advice.contradicted import CAUSE_FACT, fitting_part, is_set_already
from forensics.advice.growth import GREW
from forensics.advice.places import PLACE_NAMES
from forensics.advice.wording import CODE_PLACE, FILE_FACTS, fields_of, fill_command, fill_template, first_known
from forensics.core import lazy
from forensics.database import Cause, Missing, Remedy
from forensics.database.conditions import (
    EARLIER_REMEDY,
    Environment,
    condition_groups,
    condition_holds,
    is_confirmed,
    open_setting,
    tools_available,
)
from forensics.database.effects import WRITES, begins_with_harm, effects_of, with_comment, with_effects, with_warning
from forensics.database.known_fixes import MAX_KNOWN_FIXES, first_steps, known_fixes_in, known_fixes_near, other_ways
from forensics.database.release_needs import release_remedies
from forensics.model import Advice, Fields, OpenQuestion
from forensics.readers.python.failing_code import LIBRARY_FACTS, PACKAGE_FACTS, STATEMENT_FACTS
from forensics.readers.python.frames import cell_number
from forensics.readers.python.own_words import ALLOWED, ASKED_FOR, FURTHER_LOG
from forensics.readers.python.said import MEANT, WHOLE_MESSAGE
from forensics.readers.settings.packages import packages_said, says_release

NO_ENVIRONMENT: Environment = {}
READ_FIRST = "Read {} and the lines around it before you try a remedy"
READ_AND_DO = "Read {} and the lines around it. {}"
WHY_READ_FIRST = "The cause is uncertain; those lines may point to another one."
CODE_THERE = ("The line there is `{code_line}`, and {caller_place} leads to it.", "The line there is `{code_line}`.")
OTHER_PLACES = {*PLACE_NAMES, EVIDENCE_PLACE, REASON_PLACE}
MESSAGE_CONDITIONS = ("exc_message~", WHOLE_MESSAGE, MEANT, ASKED_FOR, ALLOWED, FURTHER_LOG)
EVIDENCE_CONDITIONS = ("evidence~", "around~", *MESSAGE_CONDITIONS)
RUN_SCRIPT_PATTERN = lazy.regex(
    r"\b(?:python3?|torchrun|accelerate launch)\b(?:(?!\bpython)[^|;#])*\b(?:YOUR_SCRIPT|TRAIN|train)\.py\b"
)
GENERAL_FACTS = {
    EVIDENCE_PLACE,
    REASON_PLACE,
    ASKED_FOR,
    "argument",
    *PLACE_NAMES,
    *STATEMENT_FACTS,
    *LIBRARY_FACTS,
}  # of any line
RELEASE_ERRORS = ("ImportError", "ModuleNotFoundError", "AttributeError", "TypeError")  # what another release of a package raises
MAX_COMMANDS = 4  # chosen by hand: of one remedy; a person types them one after the other
MIN_OWN = 2  # of the cause itself, in front of those of other explanations
MAX_GENERAL = 2  # in 40 drawn reports, every second remedy behind the second one did not apply


def fitting_remedies(
    cause: Cause,
    facts: Fields,
    environment: Environment = NO_ENVIRONMENT,
    first_line: str = "",
    others: Sequence[tuple[Cause, Fields]] = (),
) -> tuple[Advice, ...]:
    """The remedies that fit `facts` and `environment`, ranked from 1: all that the case confirms, and others up to MAX_REMEDIES.

    `first_line`: of a cause that is not sure, the place of the line that led to it. It is to be read first, no other place is,
    and only what the case confirms follows. If words of the evidence itself ask for a remedy, that one is enough.
    `others`: the next likeliest explanations of the same lines, with their facts; the first remedy of each is told last.
    """
    first, more = _composed(cause, facts, environment, first_line)
    alone = facts.get(AROUND_FACT) == facts.get(EVIDENCE_FACT)  # nothing stands around the line
    asked = [e for e in ((*first, *more) if alone else first) if _told_by_case(e[0]) and (alone or not _is_guess(e))]
    reads_first = bool(first_line) and not asked
    chosen = [*first, *islice(unlike(more, first), max(0, MAX_REMEDIES - len(first)))]
    made = [_advice(entry, environment) for entry in chosen]
    told_already = {a.action for a in made}
    also = ((other, fitting_remedies(other, known, environment)) for other, known in others)
    instead = [a for other, found in also for a in if_so("If instead", other, [f for f in found if f.action not in told_already])]
    own = made
    if reads_first and (first or not made):
        own = _read_and_do(first_line, cause, made or fitting_remedies(cause, facts, environment))
    elif reads_first:  # what only other ways give is no more than a second thought
        own = [*_read_and_do(first_line, cause, ()), *made]
    kept = max(len(first), MIN_OWN, MAX_REMEDIES - len(instead))
    told = [*own[:kept], *instead[: max(0, MAX_REMEDIES - kept)]]
    code, place = first_known(CODE_THERE, facts) or "", fill_template(CODE_PLACE, facts) or ""
    return tuple(replace(a, rank=rank) for rank, a in enumerate(without_repeats(told, code, place), 1))


def _read_and_do(first_line: str, cause: Cause, own: Sequence[Advice]) -> list[Advice]:
    """The remedies of a cause that is not sure: the first one says which line to read, and for which case it is.

    `Read job.log:3 and the lines around it. If the disk is full: ...`
    """
    if not own:
        return [Advice(1, "user", READ_FIRST.format(first_line), WHY_READ_FIRST, (), None)]
    [first] = if_so("If", cause, own)
    return [replace(first, action=READ_AND_DO.format(first_line, first.action)), *own[1:]]


def _advice(entry: Told, environment: Environment) -> Advice:
    remedy, action, told = entry
    commands = _told_commands(remedy, told, environment)
    return Advice(
        rank=1,
        who=remedy.who,
        action=with_warning(action, commands, environment),
        why=" ".join(filter(None, (_why(remedy.why, told, environment), *_further(remedy, told)))),
        commands=commands,
        reference=remedy.source if remedy.source and tools_available(remedy.source, environment) is not False else None,
        confirmed=remedy.confirmed if _told_by_case(remedy) else 0,  # of other messages it tells nothing here
    )


def _composed(cause: Cause, facts: Fields, environment: Environment, first_line: str) -> tuple[list[Told], list[Told]]:
    """The remedies that were made for the case; and what stands behind them: what the cause keeps back for want of better, and
    other ways to solve such a failure.

    A last resort that only looks, whatever the message is, stands behind other ways that people confirmed for such a message.
    """
    unsure = bool(first_line)
    known = (*_release_remedies(facts), *_known_fixes(facts, environment))
    of_cause = {**facts, CAUSE_FACT: cause.id}
    made, held = _sorted_out((*known, *cause.remedies), of_cause, environment, first_line)
    if all(_is_general(e) or (unsure and not _told_by_case(e[0])) for e in made):
        said = (*_fixes_near(facts, environment), *_steps_said(facts, environment))
        own = cause.remedies if "file" in facts else map(_without_place, cause.remedies)
        made, held = _sorted_out((*said, *own), of_cause, environment, first_line)
    if GREW in facts:
        made.sort(key=lambda entry: _place_by_growth(entry[0]))
    first = list(said_once(_chosen(_harmless_first(made, environment), unsure)))
    offered = (way.remedy for way in other_ways() if way.is_for(cause.id))
    ways = [entry for remedy in offered if (entry := _told(remedy, facts, environment, first_line))]
    if unsure:
        ways, held = [e for e in ways if _told_by_case(e[0])], []
    else:
        held += [e for e in made if e not in first]
    held = [e for e in held if not (first and _only_says_to_read_on(e[0]))]
    if first and all(only_looks(e) and EARLIER_REMEDY in e[0].unless for e in first) and any(_is_told_by_people(e) for e in ways):
        first, held = [e for e in ways if _is_told_by_people(e)], [*held, *first]
    return first, [e for e in behind(held, ways) if not is_set_already(e[1], facts)]


def _is_general(entry: Told) -> bool:
    """Is a remedy a last resort that is made for no message and no fact but the place and the code of a line?"""
    conditions = {c.partition("~")[0] for c in entry[0].when}
    return EARLIER_REMEDY in entry[0].unless and conditions <= GENERAL_FACTS


def _place_by_growth(remedy: Remedy) -> int:
    """Of memory that grew: what names the kept thing comes first, then to look for it; a smaller batch only delays the end."""
    return 0 if "{kept_" in remedy.do or "{growing_" in remedy.do else 1 if GREW in remedy.when else 2


def _only_says_to_read_on(remedy: Remedy) -> bool:
    """Is it a last resort without a command that names nothing but the line that is shown anyway?"""
    bare = EARLIER_REMEDY in remedy.unless and not remedy.commands and {*remedy.when} <= {EVIDENCE_PLACE, "exc_message"}
    return bare and (looks(remedy.do) or bool(remedy.when))


def _is_told_by_people(entry: Told) -> bool:
    return entry[0].confirmed > 0 and _told_by_case(entry[0])


def _sorted_out(
    remedies: Iterable[Remedy], facts: Fields, environment: Environment, first_line: str
) -> tuple[list[Told], list[Told]]:
    """Of the remedies that fit, those of which the case shows all that they need; and those that another one above them, or a
    setting that nothing shows, keeps back. If all lack their tools, the first of those is there without commands."""
    made: list[Told] = []
    held: list[Told] = []
    without_tools: list[Told] = []
    for remedy in remedies:
        entry = _told(remedy, facts, environment, first_line, bool(made))
        if entry is None:
            continue
        last_resort = EARLIER_REMEDY in remedy.unless and (made or (first_line and not _told_by_case(remedy)))
        sure = all(condition_holds(c, {EARLIER_REMEDY: "", **entry[2]}, environment) for c in entry[0].when)
        lacks_tools = remedy.commands and not commands_for(remedy.commands, environment) and _needs_tool(remedy, environment)
        (held if last_resort or not sure else without_tools if lacks_tools else made).append(entry)
    return made or without_tools[:1], held


def _told(remedy: Remedy, facts: Fields, environment: Environment, first_line: str, earlier: bool = False) -> Told | None:
    """A remedy that fits, perhaps in a setting that is usual and not shown, or as a last resort; None if it does not fit."""
    unsure_of = bool(first_line) and not _told_by_case(remedy)
    known = {n: v for n, v in facts.items() if n not in OTHER_PLACES} if unsure_of else facts
    asked = {**known, EARLIER_REMEDY: "yes"} if earlier or unsure_of else known
    usual = with_usual(environment)
    if not all(condition_holds(c, asked, usual) for c in remedy.when):
        return None
    if any(condition_holds(c, asked, environment) for c in remedy.unless if c != EARLIER_REMEDY):
        return None
    told = {**known, **condition_groups(remedy.when, known)}
    action = fill_template(fitting_part(remedy.do, told, environment), told)
    if not action or (first_line and first_line in action):
        return None
    return remedy, action, told


@functools.cache
def _without_place(remedy: Remedy) -> Remedy:
    """The remedy for a case that names no line of a program: without the place, where its sentence only adds it."""
    do = remedy.do.replace(f" at {CODE_PLACE}", "")
    when = tuple(c for c in remedy.when if c.partition("~")[0] not in ("file", "line_no"))
    told = any(c.startswith(EVIDENCE_CONDITIONS) for c in when)
    return replace(remedy, do=do, when=when) if told and do != remedy.do and "{file}" not in do else remedy


def has_own_fix(facts: Fields, environment: Environment) -> bool:
    """Is a known fix there that only words of the message ask for?"""
    return any(all(c.startswith(EVIDENCE_CONDITIONS) for c in r.when) for r in _known_fixes(facts, environment))


def _known_fixes(facts: Fields, environment: Environment) -> tuple[Remedy, ...]:
    """The fixes that people confirmed for the very message of the line that decided, and of no other line of its event: of a
    status it tells what it means, and not what the exception in front of it asks for."""
    first, *more = str(facts.get(EVIDENCE_FACT, "")).split("\n")
    continued = str(facts.get(WHOLE_MESSAGE, "")).partition(first)[2] if first else ""
    below = (x for x in more if x in continued or x.startswith("\t"))  # what torch lists below its message has a tab in front
    found = known_fixes_in("\n".join((first, *below)))
    return tuple(r for r in found if applies(r, facts, environment))[:MAX_KNOWN_FIXES]


def _release_remedies(facts: Fields) -> tuple[Remedy, ...]:
    """The remedy for two packages whose releases do not go together, if the failure is about one of them."""
    if INSTALLED not in facts:
        return ()
    told = str(facts.get("exc_type", "")).rpartition(".")[2]
    if told not in RELEASE_ERRORS and not says_release(str(facts.get(EVIDENCE_FACT, ""))):
        return ()
    installed = dict(line.split(" ", 1) for line in str(facts[INSTALLED]).split("\n"))
    named = {str(facts[n]).lower().replace("_", "-") for n in PACKAGE_FACTS if n in facts}
    return release_remedies(installed, named | packages_said(str(facts.get(EVIDENCE_FACT, ""))))


def _fixes_near(facts: Fields, environment: Environment) -> tuple[Remedy, ...]:
    """The fixes of a message near evidence that has no exception."""
    found = known_fixes_near(str(facts.get(AROUND_FACT, ""))) if "exc_message" not in facts else ()
    return tuple(r for r in found if applies(r, facts, environment))[:1]


def _steps_said(facts: Fields, environment: Environment) -> tuple[Remedy, ...]:
    """What follows from the words of the message, whatever program says them."""
    return tuple(islice((s.remedy for s in first_steps() if applies(s.remedy, facts, environment)), MAX_KNOWN_FIXES))


def _harmless_first(shown: Sequence[Told], environment: Environment) -> list[Told]:
    """The remedies in their order; if the first one does harm before anything is looked at, the first one that does not is
    before it."""
    harmless = next((entry for entry in shown if not _harms_at_once(*entry, environment)), None)
    return [*([harmless] if harmless else []), *(entry for entry in shown if entry is not harmless)]


def _harms_at_once(remedy: Remedy, action: str, told: Fields, environment: Environment) -> bool:
    """Does a remedy overwrite or delete something, or stop something with the words or the command that it begins with?"""
    if begins_with_harm(action) and not looks(action):
        return True
    if not remedy.effects:
        return False
    found = [effects_of(command) for command in _told_commands(remedy, told, environment)]
    return any(effect.kind == WRITES for effects in found for effect in effects) or bool(found and found[0])


def _chosen(shown: Sequence[Told], unsure: bool) -> Iterator[Told]:
    """All remedies with conditions, and those of the others that stand among the first MAX_GENERAL."""
    most = 0 if unsure else MAX_GENERAL
    return (entry for i, entry in enumerate(shown) if entry[0].when or i < most)


def _told_by_case(remedy: Remedy) -> bool:
    """Do words of the case's own evidence ask for this remedy? It then fits whether or not its cause is the root."""
    return any(condition.startswith(EVIDENCE_CONDITIONS) for condition in remedy.when)


def _is_guess(entry: Told) -> bool:
    """Does a remedy change something by words of the evidence that are no message, and name nothing of it?"""
    by_message = any(condition.startswith(MESSAGE_CONDITIONS) for condition in entry[0].when)
    return not by_message and not looks(entry[1]) and not fields_of(entry[0].do)


def applies(entry: Remedy | Missing, facts: Fields, environment: Environment) -> bool:
    """Does the case confirm all conditions of a remedy or question, and none that excludes it?"""
    return all(condition_holds(c, facts, environment) for c in entry.when) and not any(
        condition_holds(c, facts, environment) for c in entry.unless
    )


def commands_for(commands: Sequence[str], environment: Environment) -> tuple[str, ...]:
    """The commands whose tools exist where the job ran, as far as is known: those that only look first, then those confirmed."""
    chosen = [c for c in commands if tools_available(c, environment)]
    return tuple(sorted(chosen, key=lambda c: (bool(effects_of(c)), not is_confirmed(c, environment)))[:MAX_COMMANDS])


def _told_commands(remedy: Remedy, told: Fields, environment: Environment) -> tuple[str, ...]:
    """The commands of a remedy in the order of their use, with what they do to data and jobs beside them.

    If no setting is confirmed (a container, Kubernetes, Slurm), the forms for each that is not excluded stand side by side.
    """
    runnable = _runnable(remedy.commands, told, environment)
    chosen = commands_for(runnable, environment)
    places = {c: open_setting(c, environment) for c in runnable}
    if any(places.values()) and not any(is_confirmed(c, environment) for c in chosen):
        chosen = tuple(c for c in runnable if c in chosen or places[c])[:MAX_COMMANDS]
    filled = {c: fill_command(c, told) for c in chosen}
    bare = {c for c in chosen if c.startswith("print(") and any(n.upper() in filled[c] for n in fields_of(c))}  # prints a word
    return tuple(with_effects(with_comment(filled[c], places[c])) for c in chosen if c not in bare)


def _runnable(commands: Sequence[str], facts: Fields, environment: Environment) -> tuple[str, ...]:
    """`commands` without Python's debugger for a file that is none of Python's, and without those that start a script where cells
    of a notebook ran, or that open a cell as a file."""
    file = str(facts.get("file", ""))
    other = "." in file.rpartition("/")[2] and not file.endswith((".py", ".pyw"))
    cells = "notebook" in environment
    of_cell = [f"{{{name}}}" for name in FILE_FACTS if cell_number(str(facts.get(name, "")))]
    return tuple(
        c
        for c in commands
        if not (other and "-m pdb" in c and "{file}" in c)
        and not (cells and RUN_SCRIPT_PATTERN.search(c))
        and not any(map(c.__contains__, of_cell))
    )


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


def _further(remedy: Remedy, facts: Fields) -> Iterator[str]:
    """Behind the reason: the line of code at the place that a remedy names, with its caller, where its action does not quote
    them; how to see that it worked, and what it costs."""
    if CODE_PLACE in remedy.do and "_line}" not in remedy.do:
        yield first_known(CODE_THERE, facts) or ""
    yield (remedy.check and fill_template(f"It worked when {remedy.check}.", facts)) or ""
    yield (remedy.cost and fill_template(f"It costs {remedy.cost}.", facts)) or ""


def fitting_questions(asked: Sequence[Missing], facts: Fields, environment: Environment) -> tuple[OpenQuestion, ...]:
    """Those of the questions that this case leaves open, and that a command could answer where the job ran."""
    fitting = (
        (m, commands_for(_runnable(m.commands, facts, environment), environment)) for m in asked if applies(m, facts, environment)
    )
    return tuple(OpenQuestion(m.what, m.why, fill_command(commands[0], facts)) for m, commands in fitting if commands)
