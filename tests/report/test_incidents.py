"""Incidents of a report: alike ones in one group, any of them told as the first."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from forensics.advice import affected, location_text
from forensics.core.errors import UsageError
from forensics.model import Fields
from forensics.report import render
from forensics.report.index import index_html, index_markdown, index_row
from forensics.report.subjects import focus_on, incident_groups, subjects_text
from tests.report import made


def test_the_first_stands_alone_and_those_alike_behind_it_are_one_group() -> None:
    report = made.many(200)
    first, rest = incident_groups(report)
    assert (first.ids, first.subject) == ((1,), "job 4000")
    assert (len(rest.ids), rest.subject, rest.every_s) == (199, "jobs 4001 to 4199", 420.0)
    assert rest.end and rest.start and rest.end - rest.start == timedelta(minutes=7 * 198)


def test_two_alike_are_not_folded_and_other_causes_not_mixed() -> None:
    report = made.report()
    root, symptom = report.causes
    told = [made.incident(1, root, "job 1"), made.incident(2, root, "job 2", 5), made.incident(3, symptom, "job 3", 9)]
    assert [g.ids for g in incident_groups(replace(report, incidents=(*told, made.incident(4, root, "job 4", 12))))] == [
        (1,),
        (2,),
        (3,),
        (4,),
    ]
    five = [made.incident(i, root, f"job {i}", i) for i in range(4, 7)]
    assert [g.ids for g in incident_groups(replace(report, incidents=(*told, *five)))] == [(1,), (2, 4, 5, 6), (3,)]


def test_irregular_gaps_are_not_told_as_a_rhythm() -> None:
    report = made.many(2)
    at = [0, 1, 2, 90, 91, 400]
    told = tuple(made.incident(n + 1, report.causes[0], f"job {n}", minutes) for n, minutes in enumerate(at))
    assert incident_groups(replace(report, incidents=told))[1].every_s is None


def test_every_incident_is_in_one_group() -> None:
    report = made.many(50)
    ended_nothing = tuple(replace(i, verdict="no_crash", findings=()) if i.id % 5 == 0 else i for i in report.incidents)
    found = incident_groups(replace(report, incidents=ended_nothing))
    assert sorted(n for g in found for n in g.ids) == list(range(1, 51))
    assert [g.verdict for g in found] == ["crash", "crash", "no_crash"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["job 1"], "job 1"),
        (["job 1", "", "job 1"], "job 1"),
        (["job 7", "job 3"], "job 7 and job 3"),
        (["job 7", "job 3", "job 5"], "jobs 3 to 7"),
        (["python (pid 1)", "python (pid 2)", "python (pid 3)"], "python, 3 processes"),
        (["python (pid 1)", "java (pid 2)", "perl (pid 3)"], "python (pid 1), java (pid 2) and 1 more"),
        (["unit a.service", "unit b.service", "unit c.service", "unit d.service"], "unit a.service, unit b.service and 2 more"),
        (["container f00d1", "container f00d2", "container f00d3"], "container f00d1, container f00d2 and 1 more"),
        ([], ""),
    ],
)
def test_subjects_in_a_few_words(names: list[str], said: str) -> None:
    assert subjects_text(names) == said


def test_another_incident_is_told_as_the_first() -> None:
    report = replace(made.many(5), earlier_attempts=made.report().earlier_attempts[:1])
    third = focus_on(report, 3)
    assert report.earlier_attempts and not third.earlier_attempts  # they are of the first one's subject
    assert third.incidents[0].id == 3 and third.incidents[0].findings == ()
    assert third.causes == report.incidents[2].findings
    assert third.timeline[0] == report.timeline[2]
    assert sorted(i.id for i in third.incidents) == [1, 2, 3, 4, 5]
    back = focus_on(third, 1)
    assert back.causes[0].evidence == report.causes[0].evidence
    assert back.timeline[0] == report.timeline[0]
    for form in ("text", "markdown", "html", "json"):
        assert render(third, form)


def test_the_first_one_is_the_report_and_one_that_is_not_there_a_usage_error() -> None:
    report = made.many(5)
    assert focus_on(report, 1) is report
    with pytest.raises(UsageError, match="no incident 9"):
        focus_on(report, 9)
    with pytest.raises(UsageError, match="no incident 1"):
        focus_on(replace(report, incidents=()), 1)


@pytest.mark.parametrize(
    ("facts", "whom", "place"),
    [
        ({"culprit_rank": 37, "node": "node04", "gpu": 3, "job": "4711"}, "job 4711", "rank 37 on node04, GPU 3, job 4711"),
        ({"task": "python", "pid": 91, "owner": "Slurm step 4001.0"}, "job 4001", "python (pid 91), job 4001"),
        ({"task": "python", "pid": 9, "owner": "the session of user id 1000"}, "python (pid 9)", None),
        ({"file": "train.py", "line_no": 37, "exc_type": "KeyError"}, "", "train.py:37"),
        ({"rank": 0, "host": "localhost"}, "rank 0", "rank 0"),
        ({"pci": "0000:9b:00", "host": "gpu7"}, "host gpu7", "host gpu7, PCI device 0000:9b:00"),
        ({"file": "<frozen importlib._bootstrap>", "line_no": 984}, "", ""),
        ({"file": "/opt/venv/lib/python3.11/site-packages/torch/_utils.py", "line_no": 7, "pid": 9}, "pid 9", "pid 9"),
        ({"file": "/opt/venv/lib/python3.11/site-packages/torch/_utils.py", "line_no": 7}, "", "torch/_utils.py:7, in a library"),
        ({"file": "/usr/lib64/python3.9/json/decoder.py", "line_no": 7}, "", "json/decoder.py:7, in a library"),
        ({"file": "Cell In[19]", "line_no": 61}, "", "cell 19, line 61"),
        ({"file": "train.py", "line_no": 37, "path": "data.csv", "step_no": 10}, "", "train.py:37, step 10"),
        ({"path": "../data/data.csv", "port": 29500}, "", "path ../data/data.csv"),
        ({"module": "apex"}, "", "module apex"),
        ({"device": "loop0", "last_step": 142}, "", "device loop0, step 142"),
        ({"file": "C:\\Users\\u\\anaconda3\\lib\\json.py", "line_no": 7}, "", "json.py:7, in a library"),
        ({"server": "10.10.44.74", "kernel_function": "nfs4_file_flush"}, "", "server 10.10.44.74"),
        ({"kernel_id": "292f0398-4459"}, "notebook kernel 292f0398-4459", "notebook kernel 292f0398-4459"),
        ({"cell": "12"}, "", "cell 12"),
        ({}, "", ""),
    ],
)
def test_who_was_hit_and_where(facts: Fields, whom: str, place: str | None) -> None:
    assert affected(facts) == whom
    if place is not None:
        assert location_text(facts) == place


@pytest.mark.parametrize(("known", "columns"), [(True, ["#", "time", "who", "cause", "sure"]), (False, ["#", "cause", "sure"])])
def test_a_column_that_says_nothing_is_left_out(known: bool, columns: list[str]) -> None:
    report = made.many(6)
    if not known:
        report = replace(
            report, incidents=tuple(replace(i, time=None, start=None, end=None, subject="", hosts=()) for i in report.incidents)
        )
    page, text = render(report, "html"), render(report, "markdown")
    head = page.partition('<table data-rows="incidents">')[2].partition("</tr>")[0]
    assert re.findall(r"<th>(.*?)</th>", head) == columns
    rows = [line for line in text.splitlines() if line.startswith("| number |")]
    assert rows == [f"| number |{' time |' if known else ''} what | probability |"]


def test_the_index_leaves_out_a_column_that_says_nothing() -> None:
    bare = index_row(made.report(), "a.html")
    bare = replace(bare, time=None, where="", subject="")
    full = replace(bare, time=datetime(2026, 11, 21, tzinfo=UTC), where="rank 3")
    for rows, timed in (([bare], False), ([bare, full], True)):
        assert ("| when |" in index_markdown(rows, "cases")) == timed
        assert ('class="column-when"' in index_html(rows, "cases")) == timed
        assert ('class="column-who"' in index_html(rows, "cases")) == timed
        assert ('name="from"' in index_html(rows, "cases")) == timed


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_an_incident_without_an_end_of_its_own_is_not_listed(form: str) -> None:
    """`initctl: not found` of a boot script, listed beside a lockup; the end of the log, told as two incidents."""
    report = made.report()
    sure = made.incident(2, report.causes[0], "job 4712", 5)
    told = {v: replace(sure, verdict=v, subject=f"job of {v}") for v in ("crash", "undetermined")}
    both = replace(report, incidents=(report.incidents[0], told["crash"], replace(told["undetermined"], id=3)))
    said = render(both, form).split('<script type="application/json"')[0]
    assert ("job of crash" in said, "job of undetermined" in said) == (True, False)
    assert "nothing visibly ended badly" in " ".join(said.split())
