"""What means nothing moves no answer: neither the verdict nor the cause, and no other line is marked."""

import itertools
from pathlib import Path

import pytest

from forensics.database import Database
from tests.meaningless import CHANGES, Change, flips, logs_of

FOLDER = Path(__file__).parents[1] / "sample_logs"
CASES = sorted(p.parent for p in FOLDER.glob("*/expected.yaml"))
EVERY = 31  # of the changes one in so many is tried with a case where all would take long; each is tried with four cases or more


def moved(case: Path, names: list[str], knowledge: Database) -> list[tuple[str, object, object]]:
    return [(name, before, behind) for name, before, behind in flips(case, names, knowledge) if before != behind]


@pytest.mark.seconds
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_a_change_that_means_nothing_moves_no_answer(number: int, knowledge: Database) -> None:
    assert not moved(CASES[number], [*CHANGES][number % EVERY :: EVERY], knowledge)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_no_such_change_moves_an_answer(case: Path, knowledge: Database) -> None:
    assert not moved(case, [*CHANGES], knowledge)


@pytest.mark.parametrize(("name", "change"), CHANGES.items(), ids=[*CHANGES])
def test_each_change_changes_logs(name: str, change: Change) -> None:
    changed = (made for case in CASES for made in [change(logs_of(case))] if made is not None)
    assert len([*itertools.islice(changed, 2)]) == 2, name
