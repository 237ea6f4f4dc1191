"""Lines that differ only in digits are parsed alike, if their times exist."""

import random
from datetime import datetime

import pytest

from forensics import line_formats
from forensics.line_formats import all_formats
from forensics.line_formats.recipes import recipe

SAMPLES = [sample for form in all_formats() for sample in form.samples if len(sample) <= line_formats.MAX_CACHED_CHARS]
ALONE = line_formats._parse  # as it parses a line of which it knows nothing


def _possible(text: str) -> tuple[line_formats.LineFormat, ...]:
    return line_formats._possible(text)[0]


def _with_other_digits(text: str, share: float, rng: random.Random) -> str:
    return "".join(rng.choice("0123456789") if c.isdigit() and rng.random() < share else c for c in text)


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_a_line_is_parsed_as_if_no_other_had_been_seen(share: float) -> None:
    rng, recipes = random.Random(7), line_formats._Recipes()
    for sample in SAMPLES * 4:
        recipes.parse(sample)
        line = _with_other_digits(sample, share, rng)
        assert recipes.parse(line) == ALONE(line), line
    assert sum(known is not None for known in recipes.values()) > 50


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-21 00:06:18,812 INFO trainer: step 378",
        "Nov 21 00:06:21 node-5 systemd[1]: Started session 381 of user user8.",
        "[rank32]: step 380 | loss: 0.4865",
        "[ 3010.693327] Memory cgroup out of memory: Killed process 24488 (python)",
    ],
)
def test_common_lines_have_a_recipe(line: str) -> None:
    made = recipe(line, ALONE(line), _possible)
    assert made and made.read(line) == ALONE(line)


def test_a_recipe_does_not_hold_for_a_time_that_does_not_exist() -> None:
    line = "2026-11-21 00:06:18,812 INFO trainer: step 378"
    made = recipe(line, ALONE(line), _possible)
    assert made
    later = made.read(line.replace("18,812", "19,004").replace("378", "379"))
    assert later and later.message == "trainer: step 379"
    assert later.stamp and later.stamp.wall == datetime(2026, 11, 21, 0, 6, 19, 4000)
    for wrong in ("3026-11-21", "2026-13-21", "2026-02-30"):
        assert made.read(line.replace("2026-11-21", wrong)) is None


def test_a_field_that_two_prefixes_have_is_not_told_by_its_place() -> None:
    line = "[rank3]: [rank3]: step 1"
    assert recipe(line, ALONE(line), _possible) is None
