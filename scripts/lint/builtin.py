"""Faults of the built-in database that a folder of somebody's own cannot have: of its records, tables, formats and rates.

kernel_oom: the outcome memory_limit is missing          records.yaml has no row for what a reader can tell
code.shape/x: it fired in 9 healthy logs and 1 failed    and it still counts as an end
code.shape/y: neither used nor verified                  no labelled log, source or published log shows it
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import comb
from pathlib import Path

from forensics.advice.case import case_fields
from forensics.data_files.form import Fault
from forensics.database import HEALTHY, Cause, Signature, builtin_folder, read_folders
from forensics.database.conditions import condition_fault, condition_holds, group_names_of
from forensics.database.entries import TEMPLATE_FIELD_PATTERN, ProvenCause
from forensics.database.files import RECORDS, is_within
from forensics.database.known_fixes import KnownFix, Row, first_steps, known_fixes, other_ways
from forensics.database.records import read_records
from forensics.signature_lint.lint import record_outcomes
from scripts.lint.data import data_faults
from scripts.lint.hostile_lines import costly_pattern_faults
from scripts.lint.unreachable import never_fires
from scripts.train.rates import read_fired

VERIFIED_FILE = "verified.csv"  # `python -m scripts.wordings` writes it
BY_CHANCE_MAX = 0.1  # largest p value of a sign test at which a signature counts as one of healthy logs
OWN_PLACE = ("file", "line_no")  # facts of the evidence that any row of a table may ask for: the program's own line
KEY_PATTERN = r"( {0,4})(\w+):"  # a record stands at the margin, an outcome within four blanks


def builtin_faults() -> list[Fault]:
    """All of them, in order of place."""
    causes, _ = read_folders([builtin_folder()])
    signatures = [s for c in causes for s in c.signatures]
    faults = [
        Fault(s.place.path, s.place.line, f"{s.id}: {what}")
        for s in signatures
        for find in (costly_pattern_faults, never_fires)
        for what in find(s)
    ]
    faults += [*frequent_in_healthy_logs(causes, read_fired(builtin_folder())), *never_seen(signatures), *known_fix_faults()]
    faults += record_faults(builtin_folder(), record_outcomes(), {c.id for c in causes})
    return sorted({*faults, *data_faults()})


def frequent_in_healthy_logs(causes: Iterable[Cause], fired: Mapping[str, tuple[float, float, float]]) -> Iterator[Fault]:
    """Signatures that fired in significantly more healthy logs than failed ones, and still count as an end."""
    for cause in causes:
        for s in cause.signatures if cause.id != HEALTHY else ():
            healthy, own, other = fired.get(s.id, (0.0, 0.0, 0.0))
            if s.ends != "nothing" and _by_chance(round(healthy), round(own + other)) <= BY_CHANCE_MAX:
                counts = f"it fired in {healthy:g} healthy logs and {own + other:g} failed ones"
                yield Fault(s.place.path, s.place.line, f"{s.id}: {counts}: narrow it, or set `ends: nothing`")


def _by_chance(healthy: int, failed: int) -> float:
    """The p value of a one-sided sign test: the probability of `healthy` or more healthy logs if both kinds are equally
    likely."""
    both = healthy + failed
    return float(sum(comb(both, k) for k in range(healthy, both + 1)) / 2**both)


def never_seen(signatures: Iterable[Signature]) -> Iterator[Fault]:
    """Signatures that no labelled log, no source of a program and no published log has shown."""
    seen = {*read_fired(builtin_folder()), *read_verified(builtin_folder())}
    for s in signatures:
        if s.id not in seen and is_within(s.place.path, builtin_folder()):
            note = f"{s.id}: neither used nor verified: no labelled log, source or published log shows it"
            yield Fault(s.place.path, s.place.line, note)


def read_verified(folder: Path) -> Mapping[str, str]:
    """Signature -> the program in whose sources it was found; empty where the folder has no such table."""
    path = folder / VERIFIED_FILE
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["signature"]: row["program"] for row in csv.DictReader(file)}


def known_fix_faults() -> list[Fault]:
    """Faults of the tables of remedies that belong to a message."""
    given = {*case_fields(), *OWN_PLACE}
    rows: list[Row] = [*known_fixes(), *first_steps(), *other_ways()]
    return [Fault(f.place.path, f.place.line, what) for f in rows for what in _faults_of_fix(f, given)]


def _faults_of_fix(fix: Row, given: Collection[str]) -> Iterator[str]:
    remedy = fix.remedy
    yield from (fault for c in (*remedy.when, *remedy.unless) if (fault := condition_fault(c)))
    message = fix.example.partition(": ")[2] or fix.example  # of an exception, behind its class
    quoted = {"evidence": fix.example, "around": fix.example, "whole_message": fix.example, "exc_message": message}
    tried = [c for c in remedy.when if c.partition("~")[0] in quoted]
    if missed := [c for c in tried if not condition_holds(c, quoted, {})]:
        yield f"its example {fix.example!r} does not hold {missed[0]}"
    known = {*given, *group_names_of(remedy.when)}
    texts = (remedy.do, remedy.why, *remedy.commands)
    yield from (f"nothing gives {{{n}}}" for text in texts for n in TEMPLATE_FIELD_PATTERN.findall(text) if n not in known)
    if not remedy.source and isinstance(fix, KnownFix):
        yield "it has no source"


def record_faults(folder: Path, record_outcomes: Mapping[str, Collection[str]], causes: Collection[str]) -> list[Fault]:
    """Every fault of `folder`'s records, in order of lines. `record_outcomes`: all records with their possible outcomes; one that
    only the file or only the code has is a fault. `causes`: the ids of all causes."""
    found, faults = read_records(folder)
    if faults:
        return faults
    lines = _lines((folder / RECORDS).read_text(encoding="utf-8"))
    wrong = [
        (_line(lines, record, outcome), f"{record}: {outcome}: {name} is no cause")
        for record, outcomes in found.items()
        for outcome, proven in outcomes.items()
        for name in _unknown(proven, causes)
    ]
    for record in found.keys() | record_outcomes.keys():
        if record not in record_outcomes:
            wrong.append((_line(lines, record), f"{record}: there is no such record"))
            continue
        known, own = found.get(record, {}).keys(), set(record_outcomes[record])
        wrong += [(_line(lines, record, o), f"{record}: its detector tells no outcome {o}") for o in known - own]
        wrong += [(_line(lines, record), f"{record}: the outcome {o} is missing") for o in own - known]
    return [Fault(str(folder / RECORDS), line, what) for line, what in sorted(wrong)]


def _lines(content: str) -> dict[str, int]:
    """The line of each record and outcome."""
    found: dict[str, int] = {}
    record = ""
    for number, line in enumerate(content.splitlines(), 1):
        if key := re.match(KEY_PATTERN, line):
            record = record if key[1] else key[2]
            found.setdefault(f"{record} {key[2] if key[1] else ''}", number)
    return found


def _line(lines: Mapping[str, int], record: str, outcome: str = "") -> int:
    return lines.get(f"{record} {outcome}", lines.get(f"{record} ", 1))


def _unknown(proven: ProvenCause, causes: Collection[str]) -> Iterable[str]:
    families = {f"{c.split('.')[0]}.*" for c in causes}
    named = (*([proven.cause] if proven.cause else ()), *proven.decides, *proven.beside)
    return dict.fromkeys(name for name in named if name not in causes and name not in families)
