"""A faulty cause file is told with path and line, all faults in one run, and never half-loads."""

from pathlib import Path

import pytest

from forensics.database import cache, load
from forensics.database.causefiles import read_causes
from forensics.database.check import check
from forensics.errors import DatabaseError

GOOD = """\
cause: family.thing
title: A thing
means: It happened.
signatures:
  - id: one
    weight: proof
    anchor: the thing broke
    pattern: 'the thing broke (?P<task>\\w+)'
    source: a test
    examples:
      match:
        - {text: 'so the thing broke badly', fields: {task: badly}}
      no_match:
        - {text: 'the thing works', why: nothing broke}
remedies:
  - {do: Mend it, who: user, why: It is broken.}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "family" / "thing.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_good_file_has_no_faults(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    causes, faults = read_causes(tmp_path)
    assert faults == []
    assert check(causes, {"family.thing": "x"}) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("weight: proof", "weight: maybe", "weight 'maybe'"),
        ("title: A thing\n", "", "missing key title"),
        ("title:", "titel: x\ntitle:", "unknown key titel"),
        ("cause: family.thing", "cause: family.other", "the file's place says 'family.thing'"),
        ("who: user", "who: nobody", "neither user nor admin"),
        ("means: It happened.", "means: 3", "means must be a text"),
        ("title: A thing", "title: A thing\ntitle: Again", "written twice"),
        ("cause: family.thing", "cause: [", "did not find expected"),
        ("cause: family.thing", "cause: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
    ],
)
def test_a_fault_of_form_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = write(tmp_path, GOOD.replace(old, new))
    causes, faults = read_causes(tmp_path)
    assert causes == []
    assert str(faults[0]).startswith(f"{path}:")
    assert told in str(faults[0])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("anchor: the thing broke", "anchor: never there", "no anchor occurs in it"),
        ("anchor: the thing broke", "anchor: th", "too short"),
        ("pattern: 'the", "pattern: '(the", "does not compile"),
        ("pattern: 'the thing broke", "pattern: '(a+)+ broke", "nests unbounded repeats"),
        ("task: badly", "task: well", "expected {'task': 'well'}"),
        ("text: 'the thing works'", "text: 'the thing broke down'", "matches its negative example"),
        ("means: It happened.", "means: It happened.\nexplains: [family.nothing]", "explains family.nothing"),
    ],
)
def test_a_fault_of_meaning_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    write(tmp_path, GOOD.replace(old, new))
    causes, faults = read_causes(tmp_path)
    assert faults == []
    assert told in " ".join(str(f) for f in check(causes, {"family.thing": "x"}))


def test_a_faulty_database_is_one_clear_error(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("weight: proof", "weight: maybe"))
    with pytest.raises(DatabaseError, match=r"thing\.yaml:\d+: weight 'maybe'"):
        load(tmp_path)


def test_the_cache_gives_the_same_database(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    built, cached = load(tmp_path), load(tmp_path)
    assert cached.hash == built.hash
    assert cached.anchors == built.anchors
    assert cached.causes["family.thing"].remedies == built.causes["family.thing"].remedies


def test_a_damaged_or_foreign_cache_is_rebuilt_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    write(tmp_path, GOOD)
    load(tmp_path)
    (kept,) = (tmp_path / "cache").iterdir()
    good = kept.read_bytes()
    for bad in (b"", good[:50], good[:-1], good[:-9] + b"123456789", b"something else"):
        kept.write_bytes(bad)
        assert load(tmp_path).causes.keys() == {"family.thing"}
        assert kept.read_bytes() == good
    cache.write(kept.stem, b"[]", b"not a pattern database")  # well formed, but no Hyperscan of ours
    assert load(tmp_path).causes.keys() == {"family.thing"}


def test_a_cache_that_cannot_be_written_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "file" / "cache"))
    write(tmp_path, GOOD)
    assert load(tmp_path).causes


def test_a_changed_signature_is_seen(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    before = load(tmp_path).hash
    write(tmp_path, GOOD.replace("It happened.", "It happened again."))
    assert load(tmp_path).hash != before
