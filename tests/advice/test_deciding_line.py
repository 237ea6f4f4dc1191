"""The lines around the one that decided: five on each side, and its whole traceback with the frames of libraries known."""

import pytest

from forensics.database import Database
from forensics.model import Report
from tests.report.samples import sample


def shown(report: Report) -> list[tuple[int, bool]]:
    return [(x.line, x.library) for x in report.around]


@pytest.mark.seconds
def test_five_lines_on_each_side_as_far_as_the_log_has_them(knowledge: Database) -> None:
    report = sample("nan_loss", knowledge)
    decided = report.causes[0].evidence[0]
    assert (decided.line, decided.text) in [(x.line, x.text) for x in report.around]
    assert shown(report) == [(n, False) for n in range(decided.line - 5, decided.line + 6)]


@pytest.mark.seconds
def test_a_traceback_is_whole_and_its_library_frames_are_known(knowledge: Database) -> None:
    report = sample("dtype_mismatch", knowledge)
    assert report.around[-1].line == report.causes[0].evidence[0].line == 14
    assert [line for line, library in shown(report) if library] == [*range(5, 14)]
    assert "Traceback" in report.around[1].text or "Traceback" in report.around[0].text


@pytest.mark.seconds
def test_code_of_the_own_program_is_not_folded_in_a_notebooks_form(knowledge: Database) -> None:
    report = sample("papermill_exception", knowledge)
    assert not any(x.library for x in report.around)
    assert any("Cell In[3]" in x.text for x in report.around)
