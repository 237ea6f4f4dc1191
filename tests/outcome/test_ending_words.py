"""The words a log ends with: which are read, and what is learned from them."""

from itertools import pairwise

import pytest

from forensics.database import Database
from forensics.outcome.ending_words import ENDING_ROWS, UNTRAINED_ENDING_MODEL, ending_rows, ending_words
from scripts.train.outcome_fit import fit_ending
from tests.outcome.made import lanes_of


def words(text: str, knowledge: Database) -> set[str]:
    (lane,) = lanes_of(text, knowledge).values()
    return ending_words(lane)


def test_words_of_the_last_line_are_marked_as_such(knowledge: Database) -> None:
    found = words("Linking objects\nBuild finished\n", knowledge)
    assert {"last:build", "last:finished", "last:build finished", "end:linking", "end:linking objects", "end:build"} <= found
    assert "last:linking" not in found


def test_words_of_lines_of_trouble_are_read_anywhere_in_the_lane(knowledge: Database) -> None:
    text = "error: widget 7 is broken\n" + "".join(f"step {i} of 40 is done\n" for i in range(40))
    found = words(text, knowledge)
    assert "trouble:widget" in found
    assert "end:widget" not in found


@pytest.mark.parametrize(("number", "word"), [("0", "0"), ("0.0", "0"), ("1", "1"), ("2", "N"), ("1.5", "N"), ("40", "N")])
def test_numbers_count_as_0_1_or_more(number: str, word: str, knowledge: Database) -> None:
    assert f"last:tests {word}" in words(f"failed tests {number}\n", knowledge)


@pytest.mark.parametrize(
    "noise", ["/usr/lib/x.so", "0x7ffd10", "deadbeef0123", "https://example.org/a", "2026-01-02", "12:34:56"]
)
def test_paths_addresses_and_times_are_left_out(noise: str, knowledge: Database) -> None:
    assert words(f"made of wood {noise}\n", knowledge) == words("made of wood\n", knowledge)


def test_hashed_rows_are_sorted_and_empty_without_a_lane(knowledge: Database) -> None:
    (lane,) = lanes_of("one two three\n", knowledge).values()
    rows = ending_rows(lane)
    assert len(rows) == len(ending_words(lane))
    assert all(a < b for a, b in pairwise(rows))
    assert all(0 <= r < ENDING_ROWS for r in rows)
    assert ending_rows(None) == ()
    assert UNTRAINED_ENDING_MODEL.log_odds(rows) == 0.0


@pytest.mark.seconds
def test_words_that_occur_only_in_bad_ends_get_positive_log_odds(knowledge: Database) -> None:
    def rows(text: str) -> tuple[int, ...]:
        return ending_rows(*lanes_of(text, knowledge).values())

    bad = [f"{tool} aborting after {n} defects\n" for tool in ("lathe", "mill", "press") for n in (2, 3, 4)]
    good = [f"{tool} finished in {n} s\n" for tool in ("lathe", "mill", "press") for n in (2, 3, 4)]
    learned = fit_ending([rows(t) for t in bad + good], [True] * len(bad) + [False] * len(good), [1.0] * len(bad + good))
    assert learned.log_odds(rows("saw aborting after 9 defects\n")) > 1
    assert learned.log_odds(rows("saw finished in 9 s\n")) < -1
