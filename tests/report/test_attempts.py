"""Attempts before the last one in every format: what each ended by, and what changed since."""

import json

from msgspec.structs import replace

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report
from forensics.model.answers import Change
from forensics.report import Style, render
from tests.report import made
from tests.report.never_said import CAPTURED

CHANGES = (
    Change("reached", "epoch 2", "epoch 5", 4, 90),
    Change("node", "gpu-03", "gpu-07", 2, 60),
    Change("--batch-size", "64", "32", 3, 61),
)


def report(changes: tuple[Change, ...] = CHANGES, unchanged: tuple[str, ...] = (), attempts: int = 1) -> Report:
    made_up = made.report()
    one = replace(made_up.earlier_attempts[0], changes=changes, unchanged=unchanged)
    return replace(made_up, earlier_attempts=tuple(replace(one, number=n) for n in range(1, attempts + 1)))


def of_captured(name: str, knowledge: Database) -> Report:
    logs = sorted(p for p in (CAPTURED / name).iterdir() if p.suffix != ".py")
    return pipeline.analyze_paths(logs, name, knowledge)


def told(form: str, given: Report) -> str:
    text = render(given, form, Style(width=100))
    return " ".join(text[text.lower().index("earlier attempts") :].split())


def test_what_changed_is_told_in_words() -> None:
    for form in ("text", "markdown"):
        said = told(form, report())
        assert "what changed before the last one" in said.lower()
        assert "it reached epoch 2, the last one reached epoch 5; node gpu-03 -> gpu-07; --batch-size 64 -> 32" in said
    page = render(report(), "html")
    assert '<tr><th scope="row">node</th><td>gpu-03</td><td>gpu-07</td></tr>' in page


def test_runs_in_files_of_their_own_are_attempts_and_the_last_one_is_told(knowledge: Database) -> None:
    """run1.log and run2.log of one program, captured: the second one ran with another batch size."""
    report = of_captured("several_files", knowledge)
    assert (report.verdict, report.causes[0].id) == ("crash", "code.exception")
    assert {p.source.rsplit("/", 1)[-1] for p in report.causes[0].evidence} == {"run2.log"}
    assert report.subject and (report.subject.attempt, report.subject.attempts) == (2, 2)
    said = told("text", report)
    assert "IndexError: index 400 is out of bounds" in said
    assert "it reached step 11, the last one reached step 29; batch size 32 -> 16" in said


def test_a_rotated_log_is_one_run(knowledge: Database) -> None:
    """train.log.1 and train.log of one run, captured: the full log was moved aside while it went on."""
    report = of_captured("rotated", knowledge)
    assert (report.verdict, report.causes[0].facts["exc_message"]) == ("crash", "'val_loss'")
    assert report.subject and report.subject.attempts == 1
    assert not report.earlier_attempts
    assert [s.name.rsplit("/", 1)[-1] for s in report.sources] == ["train.log.1", "train.log"]


def test_what_stayed_is_told_where_nothing_changed() -> None:
    for form in ("text", "markdown", "html"):
        assert "unchanged: batch size 64, node gpu-03" in told(form, report((), ("batch size 64", "node gpu-03")))
    assert "changed" not in told("text", report(()))[:200]


def test_the_same_cause_is_said_to_be_the_same() -> None:
    again = report()
    again = replace(again, earlier_attempts=tuple(replace(a, same_cause=True) for a in again.earlier_attempts))
    for form in ("text", "markdown", "html"):
        assert "as the last one" in told(form, again)
        assert "as the last one" not in told(form, report())


def test_of_many_the_last_ones_are_shown_and_all_are_in_the_document() -> None:
    many = report(attempts=9)
    for form in ("text", "markdown"):
        assert "and 4 more attempts before them, all in --format json" in told(form, many)
    document = json.loads(render(many, "json"))["earlier_attempts"]
    assert len(document) == 9
    assert document[0]["changes"][1] == {"what": "node", "then": "gpu-03", "last": "gpu-07", "line": 2, "last_line": 60}


def test_of_many_changes_some_are_told_and_the_others_counted() -> None:
    many = tuple(Change(f"--option-{n}", "a" * 200, "b", 1, 2) for n in range(20))
    said = told("text", report(many))
    assert "and 14 more changes" in said
    assert "a" * 61 not in said


def test_cells_of_a_notebook_are_no_attempts() -> None:
    given = report(())
    source = replace(given.sources[0], name=given.earlier_attempts[0].source, format="notebook")
    for form in ("text", "markdown", "html"):
        assert "earlier cells that failed" in render(replace(given, sources=(source,)), form).lower()
