"""A signature that takes another cause's message is told; between causes that know each other it is decided."""

from pathlib import Path

import pytest

from forensics.database import builtin_folder, read_folders
from forensics.signature_lint.ambiguity import cross_matches
from tests.database.test_causefiles import GOOD


def crossing(tmp_path: Path, *changes: tuple[str, str]) -> list[str]:
    other = GOOD.replace("family.thing", "other.thing")
    for old, new in changes:
        other = other.replace(old, new)
    for name, text in (("family", GOOD), ("other", other)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thing.yaml").write_text(text)
    causes, faults = read_folders([tmp_path])
    assert faults == []
    return [f"{c.signature.cause} on {c.owner.cause}: {c.related}" for c in cross_matches(causes)]


def test_two_causes_that_take_one_message_are_told_both_ways(tmp_path: Path) -> None:
    assert crossing(tmp_path) == ["other.thing on family.thing: ", "family.thing on other.thing: "]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("means:", "explains: [family.thing]\nmeans:", "one explains the other"),
        ("means:", "explains: [family.*]\nmeans:", "one explains the other"),
        ("means:", "fallback: true\nmeans:", "one of the causes is a fallback"),
    ],
)
def test_causes_that_know_each_other_are_decided(tmp_path: Path, old: str, new: str, why: str) -> None:
    found = crossing(tmp_path, (old, new))
    assert len(found) == 2
    assert all(line.endswith(why) for line in found)


def test_a_hint_crosses_too(tmp_path: Path) -> None:
    assert len(crossing(tmp_path, ("weight: proof", "weight: hint"))) == 2


def test_a_signature_that_yields_crosses_nothing(tmp_path: Path) -> None:
    given = ("weight: proof", "weight: hint\n    yields_to: [family.thing/one]")
    assert crossing(tmp_path, given) == ["family.thing on other.thing: "]


def test_a_signature_yields_to_one_that_there_is(tmp_path: Path) -> None:
    (tmp_path / "family").mkdir()
    (tmp_path / "family" / "thing.yaml").write_text(
        GOOD.replace("weight: proof", "weight: proof\n    yields_to: [family.other/gone]")
    )
    _, faults = read_folders([tmp_path])
    assert [f.what for f in faults] == ["yields_to family.other/gone, and there is no other signature with this id"]


def test_a_pattern_that_keeps_to_its_own_message_crosses_nothing(tmp_path: Path) -> None:
    assert crossing(tmp_path, ("the thing broke", "the other broke")) == []


@pytest.mark.slow  # each example of the database against all signatures: twenty seconds
def test_no_pair_of_built_in_causes_crosses() -> None:
    causes, _ = read_folders([builtin_folder()])
    found = [c for c in cross_matches(causes) if not c.related]
    assert [str(c) for c in found] == []
