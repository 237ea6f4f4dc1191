"""lint(): all faults of a folder of cause files, and notes on it, for authors of signatures.

mine/host_memory/oom_cgroup.yaml:14: host_memory.oom_cgroup/hub: does not match its example 'pod killed by hub'

Fields in the templates of a cause that nothing gives, and tools that remedies name without a condition.

summary: 'The kernel killed {task} ({pdi})'   ->   {pdi}: no signature of this cause and no record gives it
"""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from msgspec import Struct

from forensics import ranks, readers, series
from forensics.advice.case import case_fields
from forensics.config import config
from forensics.core import lazy
from forensics.core.errors import UsageError
from forensics.data_files.form import Fault
from forensics.data_files.named_parts import part_groups
from forensics.database import Cause, builtin_folder, read_folders
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
from forensics.database.entries import TEMPLATE_FIELD_PATTERN, Missing, Place, Remedy
from forensics.database.files import cause_files, content_hash, is_within
from forensics.database.validate import check, slow_pattern_faults
from forensics.readers.base import typed_fields
from forensics.signature_lint.ambiguity import cross_matches

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
    """Remedies that name a tool or a part of a job (a data loader, ranks, a pod) without a `when` for it. A sentence that begins
    with `If` needs none."""
    return [
        Fault(r.place.path, r.place.line, f"{r.do!r} names {', '.join(needed)}: it needs a `when` that shows it")
        for r in cause.remedies
        if not r.when and not r.do.startswith("If ") and (needed := needs_of(r.do, cause.id))
    ]


def unanswered(files: Iterable[str]) -> list[Fault]:
    """Texts that are still the `?` of a new file, which a report would show."""
    return [
        Fault(path, number, f"'{found[1]}' is still to be completed")
        for path in sorted(files)
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1)
        for found in UNANSWERED.finditer(line)
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


UNANSWERED = lazy.regex(r"""(?<=: )['"]?(\?(?: [^'"]*)?)(?:['"]|\s*\Z)""")  # the value that `signatures new` leaves to its reader
PREFIX_FIELDS = {"host", "rank"}  # of the wrappers of any line
GROUP_NAME_PATTERN = lazy.regex(r"\(\?P<(\w+)>")


class LintResult(Struct, frozen=True):
    """The result: `faults` must be corrected, `notes` are worth a look. `causes`, `signatures`: how many were examined."""

    causes: int
    signatures: int
    faults: tuple[Fault, ...]
    notes: tuple[Fault, ...]


def folders_of(own: Path | None, alone: bool = False) -> list[Path]:
    """The folders that are read to lint `own`: the built-in one and `own`, or only `own` if `alone`. For a file its folder is
    read. Without `own`, all folders that an analysis would use. Raises UsageError for a folder without cause files."""
    if own is None:
        return [builtin_folder(), *config().signatures]
    if own.is_file():
        own = own.absolute().parent.parent
    content_hash([own])
    if not cause_files(own):
        raise UsageError("no cause files, which are named <family>/<cause>.yaml", str(own))
    return [own] if alone or own.resolve() == builtin_folder() else [builtin_folder(), own]


def lint(own: Path | None = None, alone: bool = False) -> LintResult:
    """Check the cause files in `own`, a folder or a single file; without `own`, those of an analysis."""
    folders = folders_of(own, alone)
    own = own.absolute() if own is not None and own.is_file() else own
    causes, faults = read_folders(folders)
    faults += check(causes, own=own)
    ours = [c for c in causes if own is None or any(_within(p, own) for p in _places(c))]
    signatures = [s for c in ours for s in c.signatures if own is None or _within(s.place, own)]
    notes: list[Fault] = []
    faulty = {(f.path, f.line) for f in faults}  # what does not compile, or misses its examples, is not compared with others
    examined = [
        s for s in signatures if not {(p.path, p.line) for p in (s.place, *(e.place for e in (*s.match, *s.no_match)))} & faulty
    ]
    faults += [Fault(s.place.path, s.place.line, f"{s.id}: {what}") for s in examined for what in slow_pattern_faults(s)]
    for fault, harmless in _crossed(causes, own) if len(examined) == len(signatures) else ():
        (notes if harmless else faults).append(fault)
    faults += [
        f
        for c in ours
        for f in (
            *unfilled_fields(c, record_fields(), fact_names_of_groups, record_outcomes()),
            *unshown(c),
            *unmarked(c),
        )
    ]
    faults += unanswered({p.path for c in ours for p in _places(c) if own is None or _within(p, own)})
    kept = {f for f in faults if own is None or Path(f.path).is_relative_to(own)}
    return LintResult(len(ours), len(signatures), tuple(sorted(kept)), tuple(sorted(notes)))


def _crossed(causes: list[Cause], own: Path | None) -> Iterator[tuple[Fault, bool]]:
    """Signatures that match another cause's example, reported at the one in `own`, and whether it is harmless."""
    ids = None if own is None else {s.id for c in causes for s in c.signatures if _within(s.place, own)}
    for crossing in cross_matches(causes, ids):
        for place in (crossing.signature.place, crossing.owner.place):
            if own is None or _within(place, own):
                yield Fault(place.path, place.line, str(crossing)), bool(crossing.related)
                break


def try_examples(own: Path | None = None, alone: bool = False) -> Iterator[tuple[str, Place, list[Fault]]]:
    """Each signature's id, place and the faults that its examples show; faults of form come first, under an empty id."""
    from forensics.database.validate import faults_of

    causes, faults = read_folders(folders_of(own, alone))
    for fault in faults:
        yield "", Place(fault.path, fault.line), [fault]
    for cause in causes:
        for s in cause.signatures:
            if own is None or _within(s.place, own):
                yield s.id, s.place, [Fault(place.path, place.line, what) for place, what in faults_of(s)]


def record_outcomes() -> dict[str, tuple[str, ...]]:
    """The records of detectors and series, each with its possible outcomes."""
    return {**readers.outcomes(), series.RECORD: series.OUTCOMES, ranks.RANKS_RECORD: ranks.OUTCOMES}


@functools.cache
def record_fields() -> frozenset[str]:
    """The names of all facts that readers, series and the picture of ranks can give, found in their code and in its data."""
    names: set[str] = set(PREFIX_FIELDS)
    for package in (ranks, readers, series):
        for path in Path(package.__path__[0]).rglob("*.py"):
            names |= set(_written(ast.parse(path.read_text(encoding="utf-8"))))
    for row in chain.from_iterable(part_groups().values()):
        names |= {row.name, *GROUP_NAME_PATTERN.findall(row.pattern)}
    return frozenset(names | fact_names_of_groups(names) | case_fields())


def fact_names_of_groups(groups: Iterable[str]) -> set[str]:
    """The names of the facts that raw groups become: `limit_kb` -> `limit_bytes`."""
    return {fact for name in groups for fact in typed_fields({name: "1"})}


def _written(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            yield node.slice.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from GROUP_NAME_PATTERN.findall(node.value)


def _places(cause: Cause) -> Iterator[Place]:
    yield cause.place
    yield from (entry.place for entries in (cause.signatures, cause.remedies, cause.missing) for entry in entries)


def _within(place: Place, folder: Path) -> bool:
    return is_within(place.path, folder)
