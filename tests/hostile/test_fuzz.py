"""What the fuzzer starts from and what it found once; both go through the whole pipeline again."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database
from tests.hostile.fuzz import Keeper, seeds, words
from tests.hostile.whole import SEPARATOR, WrongError, check

FOUND = sorted((Path(__file__).parent / "found").glob("*.bin"))
SEEDS = list(itertools.islice(seeds(), 0, None, 6))


@pytest.mark.parametrize("path", FOUND, ids=[p.stem for p in FOUND])
def test_inputs_that_broke_it_once_break_nothing(path: Path, knowledge: Database) -> None:
    check(path.read_bytes(), knowledge)


@pytest.mark.seconds
def test_the_seeds_of_the_fuzzer_break_nothing(knowledge: Database) -> None:
    for seed in SEEDS:
        check(seed, knowledge)


@pytest.mark.seconds
@given(data=st.data())
def test_pieces_of_seeds_put_together(knowledge: Database, data: st.DataObject) -> None:
    """Where no coverage-guided fuzzer is installed, this is what remains of it."""
    parts = []
    for _ in range(data.draw(st.integers(1, 4))):
        seed = data.draw(st.sampled_from(SEEDS))
        at = data.draw(st.integers(0, len(seed)))
        parts.append(seed[at : at + data.draw(st.integers(0, 2000))] + data.draw(st.binary(max_size=8)))
    check(data.draw(st.sampled_from([b"", b"\n", SEPARATOR])).join(parts), knowledge)


def test_one_input_of_each_kind_is_kept(tmp_path: Path) -> None:
    def fails(data: bytes) -> None:
        if b"x" in data:
            raise WrongError("made by this test")

    keeper = Keeper(fails, tmp_path / "kept")
    for data in (b"a", b"x", b"xx"):
        keeper(data)
    assert keeper.runs == 3 and len(keeper.kinds) == 1
    (kept,) = (tmp_path / "kept").glob("*.bin")
    assert kept.read_bytes() == b"x" and "made by this test" in kept.with_suffix(".txt").read_text()


def test_a_word_of_the_dictionary_is_plain_or_escaped() -> None:
    assert list(words({'a"b', "é", "ok 1"})) == ['"a\\x22b"', '"ok\\x201"', '"\\xc3\\xa9"']
