"""The words of the lines of trouble: what is read, and what says nothing."""

import random

from hypothesis import given
from hypothesis import strategies as st

from forensics.decision.text import MAX_WORD_LINES, trouble_text, trouble_words
from tests.decision.made import lane, seen


@given(st.lists(st.text(max_size=80), max_size=20), st.randoms())
def test_the_order_of_lines_changes_no_word(lines: list[str], chance: random.Random) -> None:
    mixed = lines.copy()
    chance.shuffle(mixed)
    assert trouble_words(mixed) == trouble_words(lines)


def test_numbers_addresses_and_paths_are_no_words() -> None:
    assert trouble_words(["Error at 0xdeadbeef in /home/someone/train.py line 12"]) == {"error", "line", "error line"}


def test_pairs_do_not_cross_lines() -> None:
    assert trouble_words(["shapes cannot", "be multiplied"]) == {"shapes", "cannot", "shapes cannot", "multiplied"}


def test_only_the_last_lines_are_read() -> None:
    assert "first" not in trouble_words(["first words", *["later words"] * MAX_WORD_LINES])


def test_trouble_and_evidence_are_read_once_and_somebody_elses_is_not() -> None:
    mine, others = seen("code.shape", 9), seen("storage.full", 20, owner="others")
    told = trouble_text([mine, others, seen("none.healthy", 30)], [lane(trouble=("error: one", "error: one"))])
    assert told == ["error: one", "what line 9 says of shape"]
