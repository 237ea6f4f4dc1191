"""Of a long text, what is around the anchors is searched: a message in it is found with its fields, wherever it stands."""

import itertools
import time

import pytest

from forensics.database.confirm import BEFORE_CHARS, BEHIND_CHARS, MAX_PLACES, WHOLE_CHARS, Confirmer, around, windows
from forensics.database.entries import Signature

LOST = Signature(
    "gpu.lost", "lost", "proof", ("was lost",), r"unit (?P<unit>\w{1,9}) was lost(?P<rest>.{0,2000})", unless=("drill",)
)
FILL = "0123456789" * 2000


@pytest.mark.parametrize("before", [0, WHOLE_CHARS, 7000, len(FILL)])
@pytest.mark.parametrize("behind", [0, WHOLE_CHARS, 7000, len(FILL)])
def test_a_message_is_found_anywhere_in_a_long_line(before: int, behind: int) -> None:
    found = Confirmer(LOST).search(f"{FILL[:before]} unit a7 WAS lost, unit a7 was lost{FILL[:behind]}")
    assert found is not None
    assert found.span[0] == before + len(" unit a7 WAS lost, ")
    assert found.fields["rest"] == FILL[: min(behind, 2000)]


def test_a_message_between_many_others_is_found_at_both_ends() -> None:
    others = f"was lost{FILL[: 2 * BEHIND_CHARS]}" * 50
    assert Confirmer(LOST).search(f"unit a7 was lost {others}") is not None
    assert Confirmer(LOST).search(f"{others} unit a7 was lost") is not None


def test_a_pattern_of_the_start_of_a_line_is_tried_there() -> None:
    head = Signature("gpu.lost", "lost", "proof", ("was lost",), r"^0123.{0,9000}was lost")
    assert Confirmer(head).search(f"{FILL[:8000]}was lost") is not None


def test_a_veto_holds_around_the_match_and_at_the_start() -> None:
    message = "unit a7 was lost"
    assert Confirmer(LOST).search(f"drill: {FILL} {message}") is None
    assert Confirmer(LOST).search(f"{FILL} a drill: {message} {FILL}") is None
    assert Confirmer(LOST).search(f"{FILL} a drill {FILL} {message}") is not None


def test_the_parts_are_few_apart_and_in_order() -> None:
    text = FILL.replace("0", "a")
    parts = windows(text, ("a", "a1"), "a")
    assert len(parts) <= 2 * 2 * MAX_PLACES
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(parts))
    assert sum(end - start for start, end in parts) < 3 * (BEFORE_CHARS + BEHIND_CHARS)
    assert not windows(text, ("b",), "b")


def test_what_is_around_a_short_text_is_all_of_it() -> None:
    assert around("a drill: it was lost", 9, 20) == "a drill: it was lost"


def test_a_pattern_that_costs_the_square_of_a_text_ends_soon() -> None:
    slow = Confirmer(Signature("gpu.lost", "lost", "proof", ("lost",), r"\d{1,9000}x lost"))
    begun = time.process_time()
    assert slow.search(f"{'1' * 16000} lost") is None
    assert time.process_time() - begun < 0.05
