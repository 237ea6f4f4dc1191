"""The reports on the captured cases of sample_logs/, made once for all tests that look at them."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report
from forensics.report import render

ROOT = Path(__file__).parents[2]
MADE: dict[str, Report] = {}
RENDERED: dict[tuple[str, str], str] = {}
CASES = sorted(p.parent.name for p in (ROOT / "sample_logs").glob("*/expected.yaml"))


def third(cases: Sequence[str], start: int) -> list[object]:
    """`cases` to run a test on: each third from number `start` on, the others in the slow suite alone. For tests that take long
    with each case and whose start differs, so that all three parts are looked at from some side."""
    return _some(cases, start, 3)


def sixth(cases: Sequence[str], start: int) -> list[object]:
    """The same with each sixth, for what takes longest."""
    return _some(cases, start, 6)


def _some(cases: Sequence[str], start: int, step: int) -> list[object]:
    return [pytest.param(c, marks=[pytest.mark.slow] * (i % step != start)) for i, c in enumerate(cases)]


def sample(case: str, knowledge: Database) -> Report:
    """The report on one case, its sources named as from the project's folder."""
    if case in MADE:
        return MADE[case]
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        logs = sorted(p for p in Path("sample_logs", case).rglob("*") if p.is_file() and p.name != "expected.yaml")
        MADE[case] = pipeline.analyze_paths(logs, case, knowledge)
        return MADE[case]
    finally:
        os.chdir(before)


def rendered(case: str, form: str, knowledge: Database) -> str:
    """The same in a format, in its usual style."""
    if (case, form) not in RENDERED:
        RENDERED[case, form] = render(sample(case, knowledge), form)
    return RENDERED[case, form]
