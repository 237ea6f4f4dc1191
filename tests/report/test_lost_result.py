"""A training that says that it is complete, and whose numbers say that its result is worthless: the report says both."""

import re
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.report import Style, render

CAPTURED = Path(__file__).parent / "captured" / "diverged"  # train.py 40 0.7 0, 6 1 0, 12 0.05 9, 40 0.05 0; walk.py


def first_screen(name: str, knowledge: Database) -> str:
    report = pipeline.analyze_paths([CAPTURED / name], "", knowledge)
    return re.sub(r"\s+", " ", "\n".join(render(report, "text", Style(width=100)).splitlines()[:12]))


@pytest.mark.parametrize(
    ("name", "ended", "said"),
    [
        (
            "grows.log",
            "went wrong: it ran to the end, but its result is useless",
            "The loss diverged from step 3 on: it was 33.67 at its best, and 4.233e+41",
        ),
        ("few.log", "went wrong: it ran to the end, but its result is useless", "The loss diverged from step 3 on"),
        ("shuffled.log", "ended well", "The loss diverged from step 9 on: it was 0.001279 at its best, and 27.02 at the end"),
    ],
)
def test_an_end_and_a_loss_that_diverged_are_both_told(name: str, ended: str, said: str, knowledge: Database) -> None:
    screen = first_screen(name, knowledge)
    assert f"{name} {ended}" in screen
    assert said in screen
    assert "do first Lower the learning rate" in screen


@pytest.mark.parametrize("name", ["well.log", "rewards.log"])
def test_a_loss_that_falls_and_one_of_rewards_are_no_divergence(name: str, knowledge: Database) -> None:
    screen = first_screen(name, knowledge)
    assert "99 %" in screen
    assert "diverged" not in screen
