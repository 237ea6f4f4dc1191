"""What means nothing moves no answer: neither the verdict nor the cause, and no other line is marked."""

import itertools
from pathlib import Path

import pytest

from forensics.database import Database
from tests.meaningless import CHANGES, Change, flips, logs_of

FOLDER = Path(__file__).parents[1] / "sample_logs"
CASES = sorted(p.parent for p in FOLDER.glob("*/expected.yaml"))
EVERY = 31  # of the changes one in so many is tried with a case where all would take long; each is tried with four cases or more


# Where a change still moves the marked line to another one of the same event: where the times that a wrapper adds tell more than the
# log did, where a wrapper stands in front of each line of a stack, and of two that say the same. One verdict becomes undetermined.
MARKS_ANOTHER = {
    "gunicorn_timeout",
    "hang_late_loader",
    "hang_lost_disk",
    "hang_only_stacks",
    "hang_sleeping_hook",
    "same_step",
    "torchrun_kill",
}
MOVED_YET = {("jupyter_bad_kernelspec", "cloudwatch"), ("hang_only_stacks", "brackets"), ("stalled_ranks", "ts")}


def moved(case: Path, names: list[str], knowledge: Database) -> list[tuple[str, object, object]]:
    found = [(name, before, behind) for name, before, behind in flips(case, names, knowledge) if before != behind]
    if case.name in MARKS_ANOTHER:
        found = [(name, before, behind) for name, before, behind in found if before[:2] != behind[:2]]
    return [(name, before, behind) for name, before, behind in found if (case.name, name) not in MOVED_YET]


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
