"""A saved report is the report: it reads back to the same document and looks the same in every format."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forensics.core.errors import UsageError
from forensics.database import Database
from forensics.report import formats, render
from forensics.report.document import document, read_report
from tests.report import made
from tests.report.samples import CASES, rendered, third

DOCUMENT = json.loads(json.dumps(document(made.report())))


@pytest.mark.seconds
@pytest.mark.parametrize("case", third(CASES, 0))
def test_a_case_reads_back(case: str, knowledge: Database) -> None:
    saved = json.loads(rendered(case, "json", knowledge))
    again = read_report(saved, "saved.json")
    assert document(again) == saved
    for form in formats():
        assert render(again, form) == rendered(case, form, knowledge)


def test_a_document_without_the_later_fields_reads() -> None:
    later = ("environment", "curves", "processes", "subject", "notices")
    old = {k: v for k, v in DOCUMENT.items() if k not in later}
    old["causes"] = [{k: v for k, v in cause.items() if k != "ledger"} for cause in old["causes"]]
    report = read_report(old, "old.json")
    assert (report.curves, report.subject, report.notices, report.causes[0].ledger) == ((), None, (), ())
    for form in formats():
        assert render(report, form).endswith("\n")


def test_subject_notices_and_ledger_read_back() -> None:
    given, again = made.report("words"), read_report(json.loads(render(made.report("words"), "json")), "x.json")
    assert (again.subject, again.notices) == (given.subject, given.notices)
    assert [f.ledger for f in again.causes] == [f.ledger for f in given.causes]
    assert given.subject and given.notices and given.causes[0].ledger


def test_fields_of_later_versions_are_ignored() -> None:
    assert read_report({**DOCUMENT, "novelty": [1]}, "new.json") == read_report(DOCUMENT, "x.json")


@pytest.mark.parametrize(
    "wrong", [None, 5, [], {}, {"schema": "other/1"}, {**DOCUMENT, "causes": []}, {**DOCUMENT, "timeline": {}}]
)
def test_what_is_no_report_is_said_to_be_none(wrong: object) -> None:
    with pytest.raises(UsageError, match="not a report"):
        read_report(wrong, "x.json")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for k, v in inside for p in _paths(v, (*path, k)))]


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=True), st.text(max_size=9), st.just([]), st.just({})
)


@pytest.mark.seconds
@given(st.sampled_from(_paths(DOCUMENT)[1:]), JUNK)
@example(("causes", 0, "evidence", 0, "time_uncertainty_s"), float("inf"))
def test_a_damaged_document_is_refused_or_shown_but_never_breaks(path: tuple[Any, ...], junk: object) -> None:
    damaged = json.loads(json.dumps(DOCUMENT))
    at = damaged
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = junk
    try:
        report = read_report(damaged, "x.json")
    except UsageError:
        return
    for form in ("text", "markdown", "json", "html"):
        assert render(report, form).endswith("\n")
