"""Tables of coded errors and other facts, signatures/tables/*.csv.

xid.csv    79,ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS,gpu_hardware.fallen_off_bus,root,...
"""

import csv
from pathlib import Path

from forensics.core.errors import DatabaseError
from forensics.database.files import builtin_folder


def read_rows(name: str, folder: Path | None = None) -> list[dict[str, str]]:
    """All rows of signatures/tables/<name>.csv, in order."""
    path = (folder or builtin_folder()) / "tables" / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise DatabaseError(f"table cannot be read: {error.strerror}", str(path)) from error


def read_table(name: str) -> dict[str, dict[str, str]]:
    """The rows of signatures/tables/<name>.csv by their first column."""
    return {next(iter(row.values())): row for row in read_rows(name)}
