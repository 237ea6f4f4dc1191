"""`--incident`, `--all`, the formats for machines and `help` on the command line."""

import csv
from pathlib import Path

import pytest
from junitparser import JUnitXml

from forensics.report import render
from tests.commandline import in_text
from tests.report import made


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("saved") / "report.json"
    path.write_text(render(made.many(12), "json"), encoding="utf-8")
    return str(path)


def test_incidents_are_listed_and_folded(saved: str) -> None:
    screen = in_text("report", saved).stdout
    assert "incidents 12 in these logs, number 1 is shown here" in screen
    assert "11 times: A memory limit was hit, jobs 4001 to 4011, about every 7 min" in screen


def test_one_incident_is_told_in_full(saved: str) -> None:
    done = in_text("report", saved, "--incident", "5")
    assert done.returncode == 0
    assert "number 5 is shown here" in done.stdout
    assert "\n  1 to 4, 6 to 12 " in done.stdout


def test_an_incident_that_is_not_there_is_wrong_usage(saved: str) -> None:
    done = in_text("report", saved, "--incident", "13")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "forensics: big: no incident 13; there are 12, 1 to 12".replace("big", "the limit")


@pytest.mark.parametrize(("form", "heads"), [("text", "incident 7 of 12"), ("markdown", "Incident 7 of 12")])
def test_all_tells_every_incident(saved: str, form: str, heads: str) -> None:
    assert heads in in_text("report", saved, "--all", "-f", form).stdout
    assert heads not in in_text("report", saved, "-f", form).stdout


def test_a_workflow_gets_annotations_and_a_summary_of_the_step(saved: str, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = in_text("report", saved, "-f", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert done.stdout.startswith("::error file=")
    assert summary.read_text() == "before\n" + in_text("report", saved, "-f", "markdown").stdout


@pytest.mark.parametrize("form", ["sarif", "junit", "csv", "github"])
def test_machines_get_their_formats_by_name(saved: str, form: str) -> None:
    assert in_text("report", saved, "-f", form).stdout == render(made.many(12), form)


def test_a_batch_is_one_document_where_the_format_is_one(tmp_path: Path) -> None:
    for name in ("run1", "run2"):
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "train.log").write_text("Traceback (most recent call last):\nKeyError: 'label'\n")
    read = list(csv.DictReader(in_text("batch", tmp_path / "cases", "-f", "csv").stdout.splitlines()))
    assert [row["case"] for row in read] == ["run1", "run2"]
    suites = JUnitXml.fromstring(in_text("batch", tmp_path / "cases", "-f", "junit").stdout.encode())
    assert [suite.name for suite in suites] == ["run1", "run2"]


def test_help_is_a_command() -> None:
    assert in_text("help", "analyze").stdout.split() == in_text("analyze", "--help").stdout.split()
    assert "Usage: forensics signatures list" in in_text("help", "signatures", "list").stdout
    assert "Commands:" in in_text("help").stdout
    done = in_text("help", "analyse")
    assert (done.returncode, done.stderr) == (2, "forensics: no command 'analyse'; did you mean analyze?\n")
