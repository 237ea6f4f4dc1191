"""A later folder lies over the ones before it: adds causes, adds and replaces signatures, puts its remedies in front."""

import re
from pathlib import Path

import pytest

from forensics.core.errors import UsageError
from forensics.database import Database, load

from .test_causefiles import GOOD, write

SIGNATURE = """\
  - id: {name}
    weight: hint
    pattern: '{anchor}'
    source: a test
    examples:
      match: [{{text: 'so {anchor} indeed'}}]
      no_match: [{{text: 'nothing', why: nothing happened}}]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    write(folder, GOOD + "missing:\n  - {what: the thing, why: It tells., command: ls}\n")
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def test_a_file_about_a_known_cause_needs_no_more_than_what_it_adds(base: Path, mine: Path) -> None:
    write(mine, "cause: family.thing\nsignatures:\n" + SIGNATURE.format(name="two", anchor="the thing cracked"))
    cause = load(base, more=[mine]).causes["family.thing"]
    assert [s.name for s in cause.signatures] == ["one", "two"]
    assert (cause.title, cause.means) == ("A thing", "It happened.")
    assert [r.do for r in cause.remedies] == ["Mend it"]


def test_a_signature_of_the_same_id_replaces(base: Path, mine: Path) -> None:
    write(mine, "cause: family.thing\nsignatures:\n" + SIGNATURE.format(name="one", anchor="the thing cracked"))
    database = load(base, more=[mine])
    (signature,) = database.causes["family.thing"].signatures
    assert signature.weight == "hint"
    assert [s.id for s, _ in database.matches("so the thing cracked and the thing broke badly")] == ["family.thing/one"]
    assert list(database.matches("the thing broke badly")) == []


def test_remedies_come_first_and_replace_by_what_they_say_to_do(base: Path, mine: Path) -> None:
    write(
        mine,
        "cause: family.thing\ntitle: Our thing\nremedies:\n"
        "  - {do: Call us, who: user, why: We know it.}\n  - {do: Mend it, who: admin, why: It is ours.}\n"
        "missing:\n  - {what: the thing, why: It tells., command: our-ls}\n",
    )
    cause = load(base, more=[mine]).causes["family.thing"]
    assert cause.title == "Our thing"
    assert [(r.do, r.who) for r in cause.remedies] == [("Call us", "user"), ("Mend it", "admin")]
    assert [m.commands for m in cause.missing] == [("our-ls",)]


def faults(database: Database) -> list[tuple[str, int, str]]:
    return [(Path(path).name, line, what) for path, line, what in database.faults]


def test_a_file_with_a_fault_is_left_out_and_the_others_are_used(base: Path, mine: Path) -> None:
    write(mine, "cause: family.thing\ntitle: Our thing\n")
    (mine / "family").mkdir(exist_ok=True)
    (mine / "family" / "other.yaml").write_text(GOOD.replace("family.thing", "family.other").replace("proof", "sure"))
    (mine / "precedence.yaml").write_text("before: x\n")
    for _ in ("made", "from the cache"):
        found = load(base, more=[mine])
        assert found.causes["family.thing"].title == "Our thing"
        assert "family.other" not in found.causes
        assert sorted({name for name, _, _ in faults(found)}) == ["other.yaml", "precedence.yaml"]
    assert load(base).faults == ()


def test_a_new_cause_must_be_whole(base: Path, mine: Path) -> None:
    (mine / "family").mkdir()
    (mine / "family" / "other.yaml").write_text("cause: family.other\n")
    ((_, line, what),) = faults(load(base, more=[mine]))
    assert (line, what.partition(" A new")[0]) == (1, "no cause is called 'family.other'; did you mean family.thing?")
    (mine / "family" / "other.yaml").write_text(GOOD.replace("family.thing", "family.other"))
    assert load(base, more=[mine]).causes.keys() == {"family.thing", "family.other"}


def test_the_last_of_several_folders_wins_and_the_hash_tells_their_order(base: Path, mine: Path, tmp_path: Path) -> None:
    third = tmp_path / "third"
    third.mkdir()
    write(mine, "cause: family.thing\ntitle: Second\n")
    write(third, "cause: family.thing\ntitle: Third\n")
    one, other = load(base, more=[mine, third]), load(base, more=[third, mine])
    assert (one.causes["family.thing"].title, other.causes["family.thing"].title) == ("Third", "Second")
    assert len({one.hash, other.hash, load(base).hash, load(base, more=[mine]).hash}) == 4


def test_explains_may_name_a_cause_of_another_folder_and_no_dead_one(base: Path, mine: Path) -> None:
    (mine / "family").mkdir()
    other = GOOD.replace("family.thing", "family.other").replace("means:", "explains: [family.thing]\nmeans:")
    (mine / "family" / "other.yaml").write_text(other)
    assert load(base, more=[mine]).explains("family.other", "family.thing")
    (mine / "family" / "other.yaml").write_text(other.replace("[family.thing]", "[family.gone]"))
    assert faults(load(base, more=[mine])) == [("other.yaml", 1, "explains family.gone, which is no other cause")]


@pytest.mark.seconds
def test_a_slow_pattern_of_a_stranger_is_refused(base: Path, mine: Path) -> None:
    text = "cause: family.thing\nsignatures:\n" + SIGNATURE.format(name="slow", anchor="cracked")
    write(mine, text.replace("pattern: 'cracked'", "pattern: '.*a.*b.*cracked!|cracked'"))
    ((_, line, what),) = faults(found := load(base, more=[mine]))
    assert line == 3
    assert re.match(r"family\.thing/slow: pattern .* takes", what)
    assert "slow" not in [s.name for s in found.causes["family.thing"].signatures]


def test_a_folder_that_is_not_there_is_told(base: Path) -> None:
    with pytest.raises(UsageError, match=r"gone: no such folder of signatures"):
        load(base, more=[base / "gone"])
