"""Compiled patterns on disk do what those that are compiled here do, and damage is made good without a word."""

import re
from pathlib import Path

import pytest

from forensics.core import lazy
from forensics.data_files import kept_patterns

PATTERNS = [
    (r"(?P<word>[a-zé]+) (?:of )?(?P<number>\d{1,3})(?!\d)", re.IGNORECASE),
    (r"(?m)^step (?=\d)|(?<=x)\bloss\b", 0),
    (rb"[\x80-\xff]{2}|(a)(b)?", 0),
]
TEXT = "Rank 7 of 12\nstep 3 xloss É 5 ab"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path))
    monkeypatch.setattr(lazy, "known", {})
    monkeypatch.setattr(lazy, "unknown", [])
    return tmp_path


def found(pattern: str | bytes, flags: int) -> list[object]:
    text = TEXT if isinstance(pattern, str) else TEXT.encode()
    return [(m.span(), m.groups(), m.groupdict()) for m in lazy.compiled(pattern, flags).finditer(text)]


def test_a_kept_pattern_finds_what_the_compiled_one_finds() -> None:
    compiled = [found(*one) for one in PATTERNS]
    assert all(compiled)
    kept_patterns.keep_patterns()
    lazy.unknown.clear()
    kept_patterns.read_patterns()
    assert [found(*one) for one in PATTERNS] == compiled
    assert not lazy.unknown, "none was compiled again"
    again = lazy.compiled(*PATTERNS[0])
    assert (again.flags, dict(again.groupindex)) == (re.compile(*PATTERNS[0]).flags, {"word": 1, "number": 2})


def test_a_kept_pattern_with_a_timeout_is_not_compiled_again() -> None:
    pattern, text = r"(?P<word>[a-z]+) (?:of )?(?P<number>\d{1,3}+)(?<!x)", "rank 7 of 12"
    first = lazy.compiled_with_timeout(pattern)
    kept_patterns.keep_patterns()
    lazy.unknown.clear()
    kept_patterns.read_patterns()
    again = lazy.compiled_with_timeout(pattern)
    assert not lazy.unknown
    one, other = next(first.finditer(text, timeout=1)), next(again.finditer(text, timeout=1))
    assert (one.span(), one.groupdict()) == (other.span(), other.groupdict())


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:9] + b"?" + data[10:], lambda _: b""])
def test_a_damaged_file_is_made_again(damage: object, folder: Path) -> None:
    found(*PATTERNS[0])
    kept_patterns.keep_patterns()
    (path,) = (folder / "patterns").iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))  # type: ignore[operator]
    kept_patterns.read_patterns()
    assert lazy.known == {}
    kept_patterns.keep_patterns()
    assert path.read_bytes() == whole


def test_a_program_that_the_interpreter_refuses_is_compiled() -> None:
    lazy.known[PATTERNS[0]] = (0, [1, 2, 3], 0, {}, ())
    assert found(*PATTERNS[0])[0] == ((0, 6), ("Rank", "7"), {"word": "Rank", "number": "7"})
    assert lazy.unknown


def test_where_nothing_can_be_written_nothing_happens(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("FORENSICS_CACHE", str(folder / "file"))
    found(*PATTERNS[0])
    kept_patterns.keep_patterns()
    kept_patterns.read_patterns()
    assert lazy.known == {}


def test_a_wrong_pattern_is_not_kept() -> None:
    with pytest.raises(re.error):
        lazy.compiled("job (", 0)
    found(*PATTERNS[0])
    kept_patterns.keep_patterns()
    kept_patterns.read_patterns()
    assert isinstance(lazy.known, kept_patterns.KeptPrograms)
    assert len(lazy.known.places) == 1
    assert lazy.known.get(PATTERNS[0])


def test_patterns_of_one_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_patterns, "_number", lambda _: 1)
    compiled = [found(*one) for one in PATTERNS]
    kept_patterns.keep_patterns()
    kept_patterns.read_patterns()
    assert [found(*one) for one in PATTERNS] == compiled


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_patterns, "MAX_KEPT_PATTERNS", 2)
    for pattern in PATTERNS:
        lazy.unknown.clear()
        found(*pattern)
        kept_patterns.keep_patterns()
        kept_patterns.read_patterns()
    assert [lazy.known.get(pattern) is not None for pattern in PATTERNS] == [False, False, True]
