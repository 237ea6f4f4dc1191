"""The detectors on made logs whose truth is known; docs/series.md has the same for 200 of each (tests/series/measure.py)."""

import random
from collections import Counter

import pytest

from forensics.database import Database
from tests.series.families import FAMILIES, made
from tests.series.measure import MARKS, PAGE, WANTED, measure, table

pytestmark = pytest.mark.seconds
COUNT = 10


@pytest.fixture(scope="module")
def found(knowledge: Database) -> dict[str, Counter[str]]:
    return measure(knowledge, COUNT)


@pytest.mark.parametrize("family", sorted(WANTED))
def test_most_faults_of_each_made_family_are_found(family: str, found: dict[str, Counter[str]]) -> None:
    assert sum(found[family][kind] for kind in WANTED[family]) >= 0.95 * COUNT


def test_hardly_anything_else_is_told_of_made_logs(found: dict[str, Counter[str]]) -> None:
    false = {f: {k: c for k, c in kinds.items() if k not in WANTED.get(f, set())} for f, kinds in found.items()}
    assert sum(c for kinds in false.values() for c in kinds.values()) <= 0.01 * COUNT * len(FAMILIES), false


def test_a_made_log_is_always_the_same() -> None:
    random.seed(1)
    first = made("leak", 7)
    random.seed(2)
    assert made("leak", 7) == first != made("leak", 8)


def test_the_documented_table_has_every_family_and_its_form(found: dict[str, Counter[str]]) -> None:
    written = PAGE.read_text(encoding="utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert [row.split("|")[1] for row in written.splitlines()] == [row.split("|")[1] for row in table(found, COUNT).splitlines()]
