"""Read signatures/records.yaml: which cause each outcome of a record proves. It is read when the database is compiled.

kernel_oom: {outcomes: {memory_limit: host_memory.oom_cgroup}, decides: own}
    -> {"kernel_oom": {"memory_limit": ProvenCause("host_memory.oom_cgroup", ("host_memory.oom_cgroup",))}}

A record with signals has an outcome `signal_<number>` for each signal that it lists, with the cause in the column `alone` of
tables/exit_code.csv.

Read signatures/precedence.yaml: which cause ranks before which, and why. It is read when the database is compiled.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensics.data_files.form import LINE_KEY, BadFormError, Fault, brief, keys, one_line, parse, text, texts
from forensics.database.entries import ProvenCause, signal_outcome
from forensics.database.files import PRECEDENCE, RECORDS
from forensics.database.tables import read_rows

RECORD_KEYS = {"outcomes", "signals", "decides"}
OUTCOME_KEYS = {"cause", "decides", "beside"}
OWN_CAUSE = "own"  # under `decides`: the outcome's own cause


def read_records(folder: Path) -> tuple[dict[str, dict[str, ProvenCause]], list[Fault]]:
    """Record -> outcome -> what it proves, of `folder`'s file, and the faults of its form."""
    path = folder / RECORDS
    try:
        data = parse(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise BadFormError(1, f"expected records by name, found {brief(data)}")
        alone = {int(r["code"]): r["alone"] for r in read_rows("exit_code", folder) if r["kind"] == "signal" and r["alone"]}
        return {record: _outcomes(data, record, alone) for record in data if record != LINE_KEY}, []
    except BadFormError as bad:
        return {}, [Fault(str(path), bad.line, bad.what)]
    except (OSError, UnicodeDecodeError) as error:
        return {}, [Fault(str(path), 1, f"cannot be read: {error}")]


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
