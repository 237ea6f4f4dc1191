"""Tables are the same from the cache as from their files, and only rows that can speak are made."""

import csv
from pathlib import Path

import pytest
from msgspec import json

from forensics.core.errors import DatabaseError
from forensics.data_files import cache
from forensics.data_files.cached_data import builtin_folder
from forensics.database import tables
from forensics.database.tables import entries, read_cells, read_rows, rows_that_speak

FOLDER = builtin_folder() / "tables"
NAMES = sorted(path.stem for path in FOLDER.glob("*.csv"))
TEXT = "ImportError: cannot import name 'cached_download' from 'huggingface_hub'\nAttributeError: module 'NumPy' has no attribute"


def told(name: str) -> list[list[str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of an empty cache; nothing of another one is kept in memory."""
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path))
    for kept in (tables._table, tables._matcher, tables._kept, tables._made):
        kept.cache_clear()
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_the_cache_is_that_of_its_file(name: str) -> None:
    assert read_cells(name) == told(name)


@pytest.mark.parametrize("text", [TEXT, TEXT.upper(), "", "x" * 9000 + TEXT, TEXT + "\udcff\u212a"])
def test_the_rows_that_speak_are_those_whose_text_stands_there(text: str) -> None:
    rows = [
        (at, row)
        for at, row in enumerate(read_rows("known_fixes"))
        if any(w in text.lower() for w in entries(row["words"].lower()))
    ]
    assert list(rows_that_speak("known_fixes", text)) == rows
    assert bool(rows) is bool(text)


def test_only_rows_that_can_speak_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    decode = json.decode
    monkeypatch.setattr(tables.json, "decode", lambda part, **named: made.append(part) or decode(part, **named))
    assert 0 < len(list(rows_that_speak("known_fixes", TEXT))) <= len(made) < len(read_rows("known_fixes")) / 50


def test_tables_are_parsed_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_rows("kinds")
    monkeypatch.setattr(tables, "_parsed", None)
    for kept in (tables._table, tables._made):
        kept.cache_clear()
    assert read_rows("kinds") == first and read_rows("xid") and list(rows_that_speak("known_fixes", TEXT))
    assert [path.suffix for path in place.iterdir() if path.is_file()] == [".db"]


@pytest.mark.parametrize(
    "damage", [lambda d: d[: len(d) // 2], lambda d: d[:-9] + b"?" + d[-8:], lambda d: b"", lambda d: b"?" * 99]
)
def test_a_damaged_file_is_made_again(place: Path, damage: "object") -> None:
    first = [read_rows("known_fixes"), list(rows_that_speak("known_fixes", TEXT))]
    (path,) = place.glob("*.db")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))  # type: ignore[operator]
    for kept in (tables._table, tables._matcher, tables._made):
        kept.cache_clear()
    assert [read_rows("known_fixes"), list(rows_that_speak("known_fixes", TEXT))] == first
    assert path.read_bytes() == whole


def test_a_file_of_another_processor_is_made_again(place: Path) -> None:
    first = list(rows_that_speak("known_fixes", TEXT))
    key = tables._kept()[0]
    parts = cache.read(key)
    assert parts
    cache.write(key, [*parts[:-1], b"of another processor"])
    for kept in (tables._table, tables._matcher, tables._made):
        kept.cache_clear()
    assert list(rows_that_speak("known_fixes", TEXT)) == first


def test_where_nothing_can_be_written_tables_are_parsed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "file").write_text("")
    monkeypatch.setenv("FORENSICS_CACHE", str(place / "file"))
    assert read_cells("kinds") == told("kinds")


def test_a_table_that_is_not_there_is_an_error() -> None:
    with pytest.raises(DatabaseError, match=r"no_such_table\.csv"):
        read_rows("no_such_table")
