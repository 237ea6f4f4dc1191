"""A pod that is started again and again: what its program raised is told, and the state before the present one is no attempt."""

import json
from pathlib import Path

import pytest

from forensics import analyze
from forensics.database import Database
from forensics.model import Report
from tests.adapters.kubernetes.test_k8s import RECORDED


@pytest.fixture
def report(tmp_path: Path, knowledge: Database) -> Report:
    """Of the description of a pod in CrashLoopBackOff, and of the log of its container, which raises a KeyError."""
    answers = json.loads(RECORDED.read_text())
    described = next(said for asked, (_, said, _) in answers.items() if asked.endswith("describe pod oom-0"))
    waiting = described.replace("State:          Running", "State:          Waiting\n      Reason:       CrashLoopBackOff")
    (tmp_path / "describe.txt").write_text(waiting.replace("OOMKilled", "Error").replace("137", "1"))
    printed = next(said for asked, (_, said, _) in answers.items() if "logs exception-0" in asked)
    (tmp_path / "train.log").write_text(printed)
    return analyze(tmp_path, workers=1)


def test_the_exception_decides_and_not_the_status_that_followed_from_it(report: Report) -> None:
    first = report.causes[0]
    assert first.evidence[0].text.endswith("KeyError: 'learning_rate'")
    assert "KeyError at /app/train.py:7" in first.summary and "learning_rate" in first.remediations[0].action
    assert "not said here" not in first.summary


def test_the_state_before_the_present_one_is_no_earlier_attempt(report: Report) -> None:
    assert report.earlier_attempts == ()
