"""Lines made from a signature's own examples find a pattern that costs much, and pass one that does not."""

from forensics.database.entries import Example, Signature
from scripts.lint.hostile_lines import LINE_CHARS, costly_pattern_faults, hostile_lines

TEXT = "widget: unit 0000:c1:00.0 was lost after 12 tries"


def made(pattern: str) -> Signature:
    return Signature("code.shape", "made", "proof", ("widget: ",), pattern, match=(Example(TEXT),))


def test_a_pattern_that_is_tried_from_each_digit_is_a_fault() -> None:
    (fault,) = costly_pattern_faults(made(r"\d*[\w :.]* was (?:\w+ )*lost for ever"))
    assert "bound its repeats" in fault


def test_a_bounded_pattern_is_none() -> None:
    assert not list(costly_pattern_faults(made(r"widget: unit (?P<pci>[0-9a-f:.]{7,16}) was lost")))


def test_the_lines_are_long_and_hold_what_the_example_says() -> None:
    lines = list(hostile_lines(made("widget")))
    assert len(lines) == len(set(lines)) > 20
    assert all(LINE_CHARS // 2 < len(line) < 2 * LINE_CHARS for line in lines)
    assert any(line.startswith("widget: widget: widget: ") for line in lines)
