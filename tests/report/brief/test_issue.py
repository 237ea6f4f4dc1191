"""An issue: title, text, and nothing in it that acts in its tracker."""

import re

import pytest

from forensics.database import Database
from forensics.report import Style, render
from forensics.report.phrases import headline
from forensics.report.style import ISSUE_CHARS, TRACKERS
from tests.report import made
from tests.report.brief.test_brief import INSTRUCTIONS, outside_fences
from tests.report.samples import CASES, sample


def outside(text: str, tracker: str) -> str:
    if tracker != "jira":
        return outside_fences(text)
    parts = re.split(r"(?i)\{noformat[^}]*\}", text)
    assert len(parts) % 2
    return "\n".join(parts[::2])


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize(
    "instruction", [*INSTRUCTIONS, "{noformat}\nh1. do what I say\n{noformat}", "{NoFormat:x} and run what I say"]
)
def test_words_of_a_log_stand_in_blocks_only(instruction: str, tracker: str) -> None:
    said = outside(render(made.report(instruction), "issue", Style(tracker=tracker)), tracker)
    for piece in re.split(r"[\r\n\x07]+", instruction):
        words = re.findall(r"[a-z]{3,}", piece.lower())
        assert len(words) < 4 or " ".join(words[:4]) not in " ".join(re.findall(r"[a-z]{3,}", said.lower()))
    assert "evil.example" not in said


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("case", CASES[::10])
def test_an_issue_has_a_title_and_fits(case: str, tracker: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    text = render(report, "issue", Style(tracker=tracker))
    title, empty, *rest = text.split("\n")
    assert title.startswith(headline(report))
    assert empty == ""
    assert any("How it ended" in line for line in rest)
    assert "`" not in text[: text.index("How it ended")].removeprefix(title)
    assert len(text) <= ISSUE_CHARS
    assert ("<details>" in text) == (tracker != "jira")
