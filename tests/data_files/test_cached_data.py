"""Data that code reads: parsed once, taken from the cache as long as the files are the same, and every fault told at its line."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from forensics.core.errors import DatabaseError
from forensics.data_files import cached_data
from forensics.data_files.form import BadFormError


class Word(Struct, frozen=True):
    text: str


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cached_data, "builtin_folder", lambda: tmp_path / "signatures")
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "signatures" / "words"
    folder.mkdir(parents=True)
    (folder / "a.yaml").write_text("words: [one, two]\n")
    return folder


class Reader:
    """Reads words, and counts how often it is asked."""

    asked = 0

    def __call__(self, data: Any, path: Path) -> list[Word]:
        self.asked += 1
        if not isinstance(data["words"], list):
            raise BadFormError(1, "words must be a list")
        return [Word(w) for w in data["words"]]


def test_files_are_parsed_once_and_anew_when_one_changed(place: Path) -> None:
    read = Reader()
    assert cached_data.load_data("words", Word, read) == cached_data.load_data("words", Word, read) == [Word("one"), Word("two")]
    assert read.asked == 1
    (place / "b.yaml").write_text("words: [three]\n")
    assert cached_data.load_data("words", Word, read)[-1] == Word("three")
    assert read.asked == 3


def test_what_was_made_is_kept_as_long_as_the_state_is_the_same(place: Path) -> None:
    made = iter("abc")
    assert [cached_data.kept(state, str, lambda: next(made)) for state in (1, 1, 2, 1)] == ["a", "a", "b", "a"]


def test_a_damaged_cache_is_read_anew(place: Path) -> None:
    read = Reader()
    cached_data.load_data("words", Word, read)
    for path in (place.parents[1] / "cache").rglob("*.json"):
        path.write_bytes(b'[{"text": 7')
    assert cached_data.load_data("words", Word, read) == [Word("one"), Word("two")]


def test_a_fault_says_file_and_line_and_a_missing_file_what_to_do(place: Path) -> None:
    (place / "a.yaml").write_text("words: one\n")
    with pytest.raises(DatabaseError, match=r"a\.yaml:1: words must be a list"):
        cached_data.load_data("words", Word, Reader())
    (place / "a.yaml").write_text("words: [\n")
    with pytest.raises(DatabaseError, match=r"a\.yaml:\d"):
        cached_data.load_data("words", Word, Reader())
    with pytest.raises(DatabaseError, match="reinstall the package"):
        cached_data.load_data("numbers", Word, Reader())
