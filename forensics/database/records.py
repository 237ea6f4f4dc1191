"""Read signatures/records.yaml: which cause each outcome of a record proves. It is read when the database is compiled.

kernel_oom: {outcomes: {memory_limit: host_memory.oom_cgroup}, decides: own}
    -> {"kernel_oom": {"memory_limit": ProvenCause("host_memory.oom_cgroup", ("host_memory.oom_cgroup",))}}

A record with signals has an outcome `signal_<number>` for each signal that it lists, with the cause in the column `alone` of
tables/exit_code.csv.

Read signatures/precedence.yaml: which cause ranks before which, and why. It is read when the database is compiled.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from forensics.data_files.form import LINE_KEY, BadFormError, Fault, brief, keys, one_line, parse, text, texts
from forensics.database.entries import ProvenCause, signal_outcome
from forensics.database.files import PRECEDENCE, RECORDS, read_rows

RECORD_KEYS = {"outcomes", "signals", "decides"}
OUTCOME_KEYS = {"cause", "decides", "beside"}
OWN_CAUSE = "own"  # under `decides`: the outcome's own cause
KEY_PATTERN = r"( {0,4})(\w+):"  # a record stands at the margin, an outcome within four blanks


def read_records(folder: Path) -> tuple[dict[str, dict[str, ProvenCause]], list[Fault]]:
    """Record -> outcome -> what it proves, of `folder`'s file, and the faults of its form."""
    found, _, faults = _read(folder)
    return found, faults


def record_faults(folder: Path, record_outcomes: Mapping[str, Collection[str]], causes: Collection[str]) -> list[Fault]:
    """Every fault of `folder`'s file, in order of its lines.

    `record_outcomes`: all records with their possible outcomes; one that only the file or only the code has is a fault. `causes`:
    the ids of all causes.
    """
    found, lines, faults = _read(folder)
    if faults:
        return faults
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


def _line(lines: Mapping[str, int], record: str, outcome: str = "") -> int:
    return lines.get(f"{record} {outcome}", lines.get(f"{record} ", 1))


def _read(folder: Path) -> tuple[dict[str, dict[str, ProvenCause]], dict[str, int], list[Fault]]:
    """The result of `read_records`, and the line of each record and outcome, see `_line`."""
    path = folder / RECORDS
    try:
        content = path.read_text(encoding="utf-8")
        data = parse(content)
        if not isinstance(data, dict):
            raise BadFormError(1, f"expected records by name, found {brief(data)}")
        alone = {int(r["code"]): r["alone"] for r in read_rows("exit_code", folder) if r["kind"] == "signal" and r["alone"]}
        made = {record: _outcomes(data, record, alone) for record in data if record != LINE_KEY}
        return made, _lines(content), []
    except BadFormError as bad:
        return {}, {}, [Fault(str(path), bad.line, bad.what)]
    except (OSError, UnicodeDecodeError) as error:
        return {}, {}, [Fault(str(path), 1, f"cannot be read: {error}")]


def _lines(content: str) -> dict[str, int]:
    found: dict[str, int] = {}
    record = ""
    for number, line in enumerate(content.splitlines(), 1):
        if key := re.match(KEY_PATTERN, line):
            record = record if key[1] else key[2]
            found.setdefault(f"{record} {key[2] if key[1] else ''}", number)
    return found


def _outcomes(data: dict[str, Any], record: str, alone: Mapping[int, str]) -> dict[str, ProvenCause]:
    about = data[record]
    keys(about, RECORD_KEYS, {"outcomes"}, data[LINE_KEY])
    if not isinstance(about["outcomes"], dict):
        raise BadFormError(about[LINE_KEY], f"outcomes must name a cause for each word, found {brief(about['outcomes'])}")
    decides = texts(about, "decides")
    made = {word: _proven(about["outcomes"], word, decides) for word in about["outcomes"] if word != LINE_KEY}
    for number in about.get("signals") or []:
        if number not in alone:
            raise BadFormError(about[LINE_KEY], f"signal {brief(number)} has no cause under `alone` in tables/exit_code.csv")
        made[signal_outcome(number)] = ProvenCause(alone[number], _own(decides, alone[number]))
    return made


def _proven(outcomes: dict[str, Any], word: str, decides: tuple[str, ...]) -> ProvenCause:
    about = outcomes[word]
    if not isinstance(about, dict):
        cause = text(outcomes, word)
        return ProvenCause(cause, _own(decides, cause))
    keys(about, OUTCOME_KEYS, set())
    named = text(about, "cause") if "cause" in about else None
    return ProvenCause(named, _own(texts(about, "decides") if "decides" in about else decides, named), texts(about, "beside"))


def _own(decides: tuple[str, ...], cause: str | None) -> tuple[str, ...]:
    if decides == (OWN_CAUSE,):
        return (cause,) if cause else ()
    return decides


def _unknown(proven: ProvenCause, causes: Collection[str]) -> Iterable[str]:
    families = {f"{c.split('.')[0]}.*" for c in causes}
    named = (*([proven.cause] if proven.cause else ()), *proven.decides, *proven.beside)
    return dict.fromkeys(name for name in named if name not in causes and name not in families)


KEYS = {"before", "after", "why"}
Row = tuple[str, str, str]


def read_precedence(folder: Path) -> tuple[tuple[Row, ...], list[Fault]]:
    """(before, after, why) of each row of `folder`'s file, and the faults of its form; both empty if there is no such file."""
    path = folder / PRECEDENCE
    if not path.is_file():
        return (), []
    try:
        rows = parse(path.read_text(encoding="utf-8")) or []
        if not isinstance(rows, list):
            raise BadFormError(1, f"expected a list of rows, found {brief(rows)}")
        for row in rows:
            keys(row, KEYS, KEYS, row.get(LINE_KEY, 1) if isinstance(row, dict) else 1)
        return tuple((one_line(r, "before"), one_line(r, "after"), one_line(r, "why")) for r in rows), []
    except BadFormError as bad:
        return (), [Fault(str(path), bad.line, bad.what)]
