"""Fields in the templates of a cause that nothing gives, and tools that remedies name without a condition.

summary: 'The kernel killed {task} ({pdi})'   ->   {pdi}: no signature of this cause and no record gives it
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from forensics.data_files.form import Fault
from forensics.database.conditions import (
    EARLIER_REMEDY,
    LINES_WITHOUT_SIGNATURE,
    SIGNATURE_FACT,
    condition_fault,
    condition_field,
    group_names_of,
    needs_of,
)
from forensics.database.effects import effect_faults, effects_of
from forensics.database.entries import TEMPLATE_FIELD_PATTERN, Cause, Missing, Place, Remedy

GROUP_NAME = re.compile(r"(?<!\\)\(\?P?<(\w+)>")  # read off the text: to compile a thousand patterns takes seconds


def unfilled_fields(
    cause: Cause, given: Collection[str], facts: Callable[[Iterable[str]], set[str]], records: Collection[str] = ()
) -> list[Fault]:
    """The fields in texts of `cause` that nothing gives, once for each place.

    `given`: names of the facts that detectors and line prefixes give to any cause. `facts`: converts the names of groups to those
    of facts (`limit_kb` -> `limit_bytes`). `records`: the names of all records, which conditions may name like signatures.
    """
    known = {*given, SIGNATURE_FACT, EARLIER_REMEDY, *facts(n for s in cause.signatures for n in GROUP_NAME.findall(s.pattern))}
    captured = defaultdict(set, {r.place: group_names_of(r.when) for r in cause.remedies})
    found = {
        (place, f"{{{name}}}: no signature of {cause.id} and no record gives it")
        for place, text in template_texts(cause)
        for name in TEMPLATE_FIELD_PATTERN.findall(text)
        if name not in known | captured[place]
    }
    found |= {
        (place, f"{name} under when or unless: {condition_fault(name) or f'no signature of {cause.id} and no record gives it'}")
        for place, name in _conditions(cause)
        if condition_fault(name) or ((field := condition_field(name)) is not None and field not in known)
    }
    own = {*records, *LINES_WITHOUT_SIGNATURE, *(s.id.rpartition("/")[2] for s in cause.signatures)}
    found |= {
        (place, f"{name} under when or unless: {cause.id} has no signature {strange}")
        for place, name in _conditions(cause)
        if name.startswith(f"{SIGNATURE_FACT}=")
        for strange in sorted(set(name.partition("=")[2].split("|")) - own)
    }
    return sorted(Fault(p.path, p.line, what) for p, what in found)


def unshown(cause: Cause) -> list[Fault]:
    """Remedies that name a tool or a part of a job (a data loader, ranks, a pod) without a `when` for it.

    A sentence that begins with `If` needs none.
    """
    return [
        Fault(r.place.path, r.place.line, f"{r.do!r} names {', '.join(needed)}: it needs a `when` that shows it")
        for r in cause.remedies
        if not r.when and not r.do.startswith("If ") and (needed := needs_of(r.do, cause.id))
    ]


def unmarked(cause: Cause) -> list[Fault]:
    """Commands that change existing data, or stop jobs or machines, where nothing names the effect; a question has none."""
    asking = (
        Fault(m.place.path, m.place.line, f"{command!r} {effect.says}: a question changes nothing")
        for m in cause.missing
        for command in m.commands
        for effect in effects_of(command)
    )
    return [*(Fault(r.place.path, r.place.line, what) for r in cause.remedies for what in effect_faults(r)), *asking]


def template_texts(cause: Cause) -> Iterator[tuple[Place, str]]:
    """(place, text) of every text of `cause` that may have fields."""
    for alternatives in cause.summary:
        yield from ((cause.place, text) for text in alternatives)
    for remedy in cause.remedies:
        yield from ((remedy.place, text) for text in (remedy.do, remedy.why, remedy.check, remedy.cost, *remedy.commands))
    for missing in cause.missing:
        yield from ((missing.place, text) for text in missing.commands)


def _conditions(cause: Cause) -> Iterator[tuple[Place, str]]:
    entries: tuple[Remedy | Missing, ...] = (*cause.remedies, *cause.missing)
    for entry in entries:
        yield from ((entry.place, name) for name in (*entry.when, *entry.unless))
