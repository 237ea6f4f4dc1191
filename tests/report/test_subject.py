"""How the subject ended, in one line: for each outcome, for jobs, notebooks and machines, surely and not."""

import json
from typing import get_args

import pytest
from msgspec.structs import replace

from forensics.database import Database
from forensics.decision.decide import WHY
from forensics.model import Report, SourceSummary, SubjectSummary
from forensics.model.verdicts import OutcomeState
from forensics.report import render
from forensics.report.subjects import ending_sentence, split_outcome_line
from tests.report import made
from tests.report.samples import CASES, rendered, sample

WORDS = {
    "failed": "a.log ended with a failure: why",
    "stalled": "a.log hung: why",
    "spoiled": "a.log went wrong: why",
    "stopped": "a.log was stopped: why",
    "ended_well": "a.log ended well: why",
    "going_on": "a.log was still running: why",
    "cut_off": "a.log breaks off: why",
    "unknown": "a.log: why",
}
OF_MACHINE = {
    "failed": "on this machine something went wrong",
    "stalled": "on this machine something hung: why",
    "spoiled": "on this machine something went wrong: why",
    "stopped": "on this machine something was stopped: why",
    "ended_well": "nothing on this machine ended badly",
    "going_on": "this machine was still running: why",
    "cut_off": "this machine breaks off: why",
    "unknown": "this machine: why",
}
BAD = ("failed", "stalled", "spoiled", "stopped")


def about(
    kind: str, name: str, outcome: str, verdict: str = "crash", sources: tuple[str, ...] = ("logs/a.log", "logs/b.log")
) -> Report:
    read = tuple(SourceSummary(n, "plain", None, 1, 1, 1, None, None, "none") for n in sources)
    subject = SubjectSummary(kind, name, 1, 1, outcome, "why")
    return replace(made.report("words"), verdict=verdict, subject=subject, sources=read)


def said(report: Report) -> str:
    told = ending_sentence(report)
    assert told is not None
    return str(told)


def test_unrelated_incidents_of_a_machine_are_each_proven() -> None:
    """None of them is likely to be the one that is asked about, so that all of them together made the report "not proven"."""
    first, second, *_ = about("machine", "", "failed", "undetermined").causes
    causes = (replace(first, probability=0.49), replace(second, role="contributing", probability=0.45))
    machine = replace(about("machine", "", "failed", "undetermined"), causes=causes)
    for form in ("text", "markdown", "html"):
        told = " ".join(render(machine, form).split())
        assert "These logs show 2 unrelated incidents, each on a line of its own" in told, form
        assert "Not proven" not in told and "Also possible" not in told, form
    job = replace(about("job", "logs/a.log", "failed", "undetermined"), causes=causes)
    assert "Not proven" in render(job, "text")  # of a job one of them is the reason, and it is not known which
    hints = tuple(replace(f, evidence=tuple(replace(p, weight="hint") for p in f.evidence)) for f in causes)
    assert "Not proven" in render(replace(machine, causes=hints), "text")


def test_every_outcome_has_its_words() -> None:
    assert set(WORDS) == set(OF_MACHINE) == set(get_args(OutcomeState)) == set(WHY)


@pytest.mark.parametrize("outcome", WORDS)
def test_an_outcome_is_told_of_a_job_and_of_a_machine(outcome: str) -> None:
    verdict = "crash" if outcome in BAD else "no_crash"
    assert said(about("job", "logs/a.log", outcome, verdict)) == WORDS[outcome]
    assert said(about("machine", "", outcome, verdict)) == OF_MACHINE[outcome]


@pytest.mark.parametrize("outcome", BAD)
def test_where_nothing_is_proven_a_bad_end_is_probable(outcome: str) -> None:
    assert "probably" in said(about("job", "logs/a.log", outcome, "undetermined"))
    assert "probably" not in said(about("job", "logs/a.log", outcome, "crash"))


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("job", "4711", "job 4711 ended with a failure: why"),
        ("container", "6895a3e1", "container 6895a3e1 ended with a failure: why"),
        ("notebook", "logs/a.log", "in a.log something went wrong"),
        ("job", "", "the job ended with a failure: why"),
        ("job", "x" * 500, f"job …{'x' * 59} ended with a failure: why"),
    ],
)
def test_the_subject_is_named(kind: str, name: str, words: str) -> None:
    assert said(about(kind, name, "failed")) == words


@pytest.mark.parametrize(
    ("outcome", "verdict", "words"),
    [
        ("failed", "crash", "in a.log something went wrong"),
        ("failed", "undetermined", "in a.log something probably went wrong"),
        ("stalled", "crash", "in a.log something hung"),
    ],
)
def test_no_end_is_claimed_that_no_line_shows(outcome: str, verdict: str, words: str) -> None:
    """`train.log ended with a failure: nothing shows that it went on`, of readings of memory without an end, and of a server's log."""
    report = about("job", "logs/a.log", outcome, verdict)
    assert report.subject is not None
    assert said(replace(report, subject=replace(report.subject, why=""))) == words
    server = tuple(replace(s, format="jupyter server") for s in report.sources)
    kernel = {"crash": "a kernel of the server in a.log died", "undetermined": "a kernel of the server in a.log probably died"}
    assert said(replace(report, sources=server)) == (kernel[verdict] if outcome == "failed" else words)  # one that it tells of


def test_a_file_whose_name_others_have_too_keeps_its_folder() -> None:
    assert said(about("job", "n1/a.log", "failed", sources=("n1/a.log", "n2/a.log"))) == "n1/a.log ended with a failure: why"


def test_what_a_later_version_calls_an_outcome_is_left_out() -> None:
    assert said(about("job", "logs/a.log", "evaporated")) == "a.log: why"


def test_nothing_is_said_where_nothing_was_read_or_known() -> None:
    assert ending_sentence(about("machine", "", "unknown", sources=())) is None
    assert ending_sentence(replace(made.report(), subject=None)) is None


@pytest.mark.seconds
@pytest.mark.parametrize("case", ["healthy_long_train", "healthy_torchrun", "stalled_ranks", "healthy_train"])
def test_a_log_that_breaks_off_is_told_so_in_every_sentence_and_nowhere_to_be_healthy_for_sure(
    case: str, knowledge: Database
) -> None:
    report = sample(case, knowledge)
    assert report.subject is not None
    cut_off = report.subject.outcome == "cut_off"
    top = {form: rendered(case, form, knowledge)[:600] for form in ("text", "markdown", "brief")}
    top["html"] = rendered(case, "html", knowledge).partition("<header")[2].partition("</header>")[0]
    for form, told in top.items():
        assert ("log breaks off" in told) == ("breaks off:" in " ".join(told.split())) == cut_off, form
        assert not (cut_off and ("ended well" in told or " %" in told)), form
    assert ("breaks off" in json.loads(rendered(case, "json", knowledge))["causes"][0]["title"]) == cut_off


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("a.log:7: Killed", ("a.log:7", "Killed")),
        ("b.tar!a b.log:12: x: 3: y", ("b.tar!a b.log:12", "x: 3: y")),
        ("no place", ("", "no place")),
    ],
)
def test_an_outcome_line_is_a_place_and_a_text(line: str, parts: tuple[str, str]) -> None:
    assert split_outcome_line(line) == parts


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_every_report_says_under_its_headline_how_it_ended(case: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    told = said(report)
    rows = rendered(case, "text", knowledge).splitlines()
    assert told in " ".join(rows[1:4])
    lines = rendered(case, "markdown", knowledge).splitlines()
    assert lines[2].replace("`", "").replace("\\", "") == told
    page = rendered(case, "html", knowledge)
    assert page.index("</h1>") < page.index('class="happened">') < page.index('class="ending">') < page.index("<h2")


def test_a_slow_run_is_not_said_to_hang() -> None:
    report = about("job", "logs/a.log", "stalled")
    cause = report.causes[0]
    proof = replace(cause.evidence[0], signature="series/starved")
    slow = replace(report, causes=(replace(cause, facts={"slower_by": 26.4}, evidence=(proof,)),))
    assert said(slow).startswith("a.log became slow: ")
    assert said(replace(slow, verdict="undetermined")).startswith("a.log probably became slow: ")


def test_a_pod_is_named_where_the_lines_tell_it() -> None:
    report = about("job", "logs/a.log", "failed")
    pod = replace(report.causes[0], where="pod web-756fc6f94c-gcs4k, node n3")
    assert said(replace(report, causes=(pod,))) == "pod web-756fc6f94c-gcs4k ended with a failure: why"


@pytest.mark.parametrize(
    ("name", "case", "captured", "expected"),
    [
        ("job.log", "20261130-132727-g.py-21666", True, "the run of g.py was stopped: why"),
        ("job.log", "mine", True, "the run in mine was stopped: why"),
        ("lab/mine/job.log", "lab", True, "the run in mine was stopped: why"),
        ("job.log", "job.log", True, "job.log was stopped: why"),
        ("job.log", "mine", False, "job.log was stopped: why"),  # a file of the user's own
    ],
)
def test_a_captured_run_is_named_by_its_folder_and_not_by_the_file_that_nobody_made(
    name: str, case: str, captured: bool, expected: str
) -> None:
    report = about("job", name, "stopped", sources=(name,))
    subject = SubjectSummary("job", name, 1, 1, "stopped", "why", captured=captured)
    assert said(replace(report, case=case, subject=subject)) == expected
