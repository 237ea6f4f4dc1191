"""Read signatures/precedence.yaml: which cause ranks before which, and why. It is read when the database is compiled."""

from pathlib import Path

from forensics.data_files.form import LINE_KEY, BadFormError, Fault, brief, keys, one_line, parse
from forensics.database.files import PRECEDENCE

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
