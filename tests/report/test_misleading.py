"""Sentences that once misled readers of reports, each with a test that none of its kind can be written any more."""

import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics import pipeline
from forensics.core.errors import SourceError
from forensics.core.text import format_size, with_noun
from forensics.database import Database
from forensics.report import Style, formats, overview, render
from forensics.report.course import consequences, course_steps, unconfirmed_consequences
from forensics.report.curves import relevant_curves, value_text
from forensics.report.overview import location
from forensics.report.phrases import also_possible, headline, symptoms
from forensics.sources import open_paths
from tests.conftest import text_source
from tests.report import made, never_said
from tests.report.samples import CASES, ROOT, rendered, sample

COUNTED_ONE = re.compile(
    r"(?<![\d.,:/-])1 (?:more |other )?(?:lines|sources|faults|incidents|ranks|attempts|stretches|processes)\b"
)
SIZE = re.compile(r"\b[\d.,]+ ?(?:[kKMGT]B|bytes|[KMGT]iB)\b")


def prose_of(text: str) -> str:
    """A Markdown report without what it quotes."""
    return re.sub(r"```.*?```|`[^`]*`", " ", text, flags=re.DOTALL)


@pytest.mark.parametrize("case", CASES)
def test_nothing_follows_from_nothing(case: str, knowledge: Database) -> None:
    """`Nothing here crashed`, and `Another rank or node died first` as its consequence."""
    report = sample(case, knowledge)
    if report.verdict == "no_crash":
        assert (course_steps(report), symptoms(report), overview.location(report)) == ([], [], "")
    elif report.verdict == "crash":
        assert not [f for f in also_possible(report) if f.id.startswith("none.")]


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_one_of_a_thing_is_no_plural(case: str, knowledge: Database) -> None:
    """`1 sources`, `1 faults`."""
    for form in ("text", "markdown"):
        said = prose_of(rendered(case, form, knowledge))
        assert not COUNTED_ONE.search(said)


@pytest.mark.parametrize("case", CASES)
def test_sizes_have_one_unit_convention(case: str, knowledge: Database) -> None:
    """`1.02` beside `1.1 GiB`; GB and GiB in one report."""
    report = sample(case, knowledge)
    ours = [w for w in (report.causes[0].summary, overview.do_first(report)) if w]
    logged = " ".join(str(v) for v in report.causes[0].facts.values())
    for told in (found for text in ours for found in SIZE.findall(text) if found not in logged):
        assert re.fullmatch(r"\d+(?:\.\d+)? (?:bytes|[KMGT]iB)", told), told


def test_a_number_of_bytes_is_the_same_in_curves_tables_and_sentences() -> None:
    for count in (0, 1, 1023, 1024, (1 << 20) - 1, 444796 << 10, 5 << 30, int(1.02 * 2**30), 3 << 42):
        assert value_text(float(count), "B") == format_size(count)
    assert (with_noun(1, "line"), with_noun(2, "line"), with_noun(1200, "stretch", "stretches")) == (
        "1 line",
        "2 lines",
        "1,200 stretches",
    )


@pytest.mark.parametrize("case", CASES)
def test_evidence_is_found_with_grep(case: str, knowledge: Database) -> None:
    """Quoted evidence that stands nowhere in the file."""
    report = sample(case, knowledge)
    for proof in report.causes[0].evidence:
        path = ROOT / proof.source
        if path.is_file() and path.suffix not in (".ipynb", ".json", ".gz"):
            data = path.read_bytes()
            if data.startswith(b"\x80"):  # a pickle: its calls are read as lines
                continue
            line = data.split(b"\n")[proof.line - 1].decode("utf-8", "replace")
            whole = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)
            assert proof.text.rstrip("…") in whole.split("\r")[-1] or proof.text.rstrip("…") in whole


def test_rows_of_evidence_are_pieces_of_the_line() -> None:
    line = (
        "\tkernel:  Memory cgroup\tout of memory:   Killed process 4711 (python3) total-vm:1229208kB, anon-rss:326484kB "
        + "x" * 90
    )
    report = made.report(line)
    for width in (60, 80, 100):
        rows = render(report, "text", Style(width=width)).split("evidence")[1].split("\n\n")[0].splitlines()[1:]
        pieces = [re.sub(r"^(?:[> ] \S+:\d+ ? ?| {3,}\d+  | {10,})", "", row).removesuffix(" …").strip() for row in rows]
        assert all(piece in line for piece in pieces if piece), pieces
        assert any(piece.startswith("kernel:  Memory cgroup\t") for piece in pieces)


def test_the_first_screen_names_the_rank_its_host_and_how_many_waited() -> None:
    """64 ranks: neither headline nor summary said rank 37 on node04, nor that 63 others timed out."""
    report = made.report()
    facts = {"culprit_rank": 37, "node": "node04", "timeout_s": 600.0}
    first = replace(report.causes[0], facts=facts, where="rank 37 on node04", ranks=tuple(range(64)))
    screen = "\n".join(render(replace(report, causes=(first,)), "text", Style(width=80)).splitlines()[:24])
    assert "where     rank 37 on node04; 63 other ranks waited or failed with it" in screen


def test_the_rank_that_died_is_not_among_those_that_waited() -> None:
    """`2 ranks waited or failed with it`, of a run of two ranks of which one was killed."""
    report = made.report()
    killed, symptom = (replace(f, facts={"pid": 15372}, where="python (pid 15372)", ranks=()) for f in report.causes)
    named = replace(symptom, facts={"pid": 15372, "rank": 1}, ranks=(1,))
    other = replace(symptom, id="distributed.peer_lost", facts={"pid": 15371, "rank": 0}, ranks=(0,))
    assert location(replace(report, causes=(killed, named, other))) == "python (pid 15372); 1 other rank waited or failed with it"
    unknown = replace(named, facts={"rank": 1})
    assert location(replace(report, causes=(killed, unknown, other))) == "python (pid 15372); lines of 2 ranks mention it"


def test_two_hundred_kills_are_a_list_and_not_one_story() -> None:
    """200 kills of 200 Slurm jobs, seven minutes apart, were told as `job 4199`."""
    screen = "\n".join(render(made.many(200), "text", Style(width=80)).splitlines()[:24])
    assert "200 in these logs, number 1 is shown here" in " ".join(screen.split())
    assert "199 times: A memory limit was hit, jobs 4001 to 4199, about every 7 min" in " ".join(
        screen.replace(" 93 %", "").split()
    )


def test_what_happened_to_another_before_is_not_when_it_began() -> None:
    """The kill of another job in the same kernel log, told as the start of this one's."""
    report = made.report()
    root = report.causes[0]
    stranger = replace(report.timeline[0], time=made.START - timedelta(seconds=15), line=1)
    course = course_steps(
        replace(report, timeline=(stranger, *report.timeline), incidents=(replace(report.incidents[0], events=4),))
    )
    assert course[0].time == root.evidence[0].time


def test_what_comes_days_later_did_not_follow() -> None:
    """A network card that flapped, and a lockup two days later as its consequence."""
    report = made.report()
    root, symptom = report.causes
    late = replace(symptom, evidence=(replace(symptom.evidence[0], time=made.START + timedelta(days=2)),))
    assert consequences(report) == [symptom]
    moved = replace(report, causes=(root, late))
    assert (consequences(moved), unconfirmed_consequences(moved), course_steps(moved)) == ([], [], [])


def test_what_is_not_proven_says_so_before_its_cause() -> None:
    report = replace(made.report(), verdict="undetermined")
    first = report.causes[0]
    likely = replace(report, causes=(replace(first, probability=0.98), *report.causes[1:]))
    unlikely = replace(report, causes=(replace(first, probability=0.35), *report.causes[1:]))
    assert headline(likely) == "Probably: A memory limit was hit"
    assert headline(unlikely) == "Not proven: A memory limit was hit"
    for told, said in ((likely, "Probably: "), (unlikely, "Not proven: ")):
        assert render(told, "text").startswith(said)
        assert render(told, "markdown").startswith(f"## {said}")
    assert "No cause is certain" not in render(likely, "text")  # it stands beside 98 %
    assert "No cause is certain" in render(unlikely, "text")


def test_a_curve_that_shows_nothing_is_not_drawn() -> None:
    report = made.report()
    flat = replace(report.curves[0], points=tuple((i, 1e9) for i in range(40)))
    grown = replace(report.curves[0], points=tuple((i, i * 1e8) for i in range(1, 40)))
    assert relevant_curves(replace(report, curves=(flat,))) == []
    assert len(relevant_curves(replace(report, curves=(grown, replace(grown, rank=1), replace(grown, rank=2))))) == 1


@pytest.mark.seconds
def test_a_kill_is_listed_among_the_events_of_a_day(knowledge: Database) -> None:
    """A 22-hour incident hid the kill among 550 events."""
    start, kill = datetime(2026, 3, 1, 2, tzinfo=UTC), datetime(2026, 3, 1, 15, 7, tzinfo=UTC)
    heat = "mce: CPU3: Package temperature above threshold, cpu clock throttled (total events = {})"
    mount = "nfs: server filer3 not responding, still trying"
    lines = [(start + timedelta(seconds=144 * i), mount if i % 2 else heat.format(i + 1)) for i in range(550)]
    group = "/slurm/uid_1/job_77/step_0"
    killed = never_said.KILLED.format(at=kill.isoformat(), task="python3", kib=409600, group=group, pid=200).splitlines()
    before, behind = ([f"{t.isoformat()} node7 kernel: {m}" for t, m in lines if (t > kill) == late] for late in (False, True))
    syslog = "\n".join([*before, *killed, *behind, ""])
    report = pipeline.analyze([text_source("syslog", syslog)], "case", knowledge)
    screen = " ".join("\n".join(render(report, "text", Style(width=80)).splitlines()[:24]).split())
    assert "2026-03-01 15:07:00 job 77, A memory limit was hit" in screen


def test_of_a_notebook_the_cell_that_ran_last_is_told(tmp_path: Path, knowledge: Database) -> None:
    """The first cell on the page was run again, and failed; a cell below it had failed before."""

    def cell(count: int, code: str, name: str, value: str) -> dict[str, object]:
        trace = [f"Cell In[{count}], line 1\n----> 1 {code}", f"{name}: {value}"]
        output = {"output_type": "error", "ename": name, "evalue": value, "traceback": trace}
        return {"cell_type": "code", "execution_count": count, "metadata": {}, "source": [code], "outputs": [output]}

    cells = [
        cell(7, "a @ b", "RuntimeError", "mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)"),
        cell(2, "import apex", "ModuleNotFoundError", "No module named 'apex'"),
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    report = pipeline.analyze_paths([path], "case", knowledge)
    assert report.causes[0].id == "code.shape"


def test_an_empty_log_is_an_answer(tmp_path: Path) -> None:
    """`nothing readable`, and no advice."""
    (tmp_path / "train.log").touch()
    with pytest.raises(SourceError, match=r"it is empty; .*kernel's log.*memory and GPU.*exit status in the scheduler"):
        open_paths([tmp_path], lambda _: None)


@pytest.mark.seconds
def test_two_hundred_incidents_are_written_in_a_second_in_every_format() -> None:
    """Processor time, which other programs of the machine do not lengthen."""
    report = made.many(200)
    for form in formats():
        render(made.report(), form)  # its imports are paid for
        start = time.process_time()
        render(report, form, Style(every_incident=True))
        assert time.process_time() - start <= 1.0, form


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([(1, False), (2, False), (None, False)], "In [2]"),
        ([(1, False), (2, True), (None, False)], ""),  # an error ended it, the kernel lived on
        ([(1, False), (None, False), (7, False)], ""),  # a later cell ran
        ([(3, False), (None, False), (2, False)], "In [3]"),
        ([(1, False), (None, True)], ""),
    ],
)
def test_a_notebook_whose_kernel_lived_on_is_not_said_to_have_lost_it(
    cells: list[tuple[int | None, bool]], told: str, tmp_path: Path, knowledge: Database
) -> None:
    """`The last cell that ran to its end is In [9]; if the kernel died ...`, of the very cell that raised an error."""
    error = {"output_type": "error", "ename": "OSError", "evalue": "x", "traceback": ["OSError: x"]}
    made_cells = [
        {"cell_type": "code", "execution_count": n, "metadata": {}, "source": ["f()"], "outputs": [error] if failed else []}
        for n, failed in cells
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": made_cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    said = " ".join(w.message for w in pipeline.analyze_paths([path], "case", knowledge).warnings)
    assert ("kernel died" in said, told in said) == (bool(told), True)
