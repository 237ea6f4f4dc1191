"""Many cases: an index, pages with names that any file system takes, a table of Markdown in which nothing acts."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics.database import Database
from forensics.model import TimelineEntry
from forensics.pipeline import analyze_paths
from forensics.report import index
from forensics.report.index import MAX_BARS, over_time
from forensics.report.page.parts import charts, kinds, rows
from forensics.report.page.timeline import drawings
from tests.commandline import forensics
from tests.report import made
from tests.report.test_html import Elements

SHAPE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    for name, text in (("a", SHAPE), ("b b", "all is well\n"), ("c#1", SHAPE)):
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "x.log").write_text(text)
    return tmp_path / "cases"


def test_batch_writes_an_index_and_a_page_for_each_case(cases: Path, tmp_path: Path) -> None:
    done = forensics("batch", str(cases), "-f", "html", "-o", str(tmp_path / "out"), "--exit-code")
    assert (done.returncode, done.stdout) == (1, b"")
    page = (tmp_path / "out" / "index.html").read_text()
    links = [a["href"] or "" for tag, a in Elements(page).found if tag == "a" and (a.get("href") or "").startswith("cases/")]
    assert len(links) == 3
    for link in links:
        assert (tmp_path / "out" / link).read_text().startswith("<!DOCTYPE html>")
    assert page.count("Tensor shapes do not fit") > 2


def test_html_of_many_cases_needs_a_folder(cases: Path) -> None:
    done = forensics("batch", str(cases), "-f", "html")
    assert done.returncode == 2 and b"-o FOLDER" in done.stderr and done.stdout == b""


def test_markdown_is_one_table_with_links(cases: Path, tmp_path: Path) -> None:
    table = forensics("batch", str(cases), "-f", "markdown", "-o", str(tmp_path / "all.md"))
    text = (tmp_path / "all.md").read_text()
    assert table.returncode == 0 and text.count("\n| [") == 3
    assert "[`b b`](cases/b%20b)" in text and "2 × Tensor shapes do not fit" in text
    forensics("batch", str(cases), "-f", "markdown", "-o", str(tmp_path / "md"))
    assert "](cases/a.md)" in (tmp_path / "md" / "index.md").read_text() and (tmp_path / "md" / "cases" / "a.md").exists()


def test_redacted_cases_have_a_page_each(cases: Path, tmp_path: Path) -> None:
    done = forensics("batch", str(cases), "-f", "html", "-o", str(tmp_path / "out"), "--redact")
    assert done.returncode == 0
    assert len(list((tmp_path / "out" / "cases").iterdir())) == 3
    assert str(tmp_path) not in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize("text", ["</td><script>x</script>", "a|b `c` @you fixes #1", '" onclick="x'])
def test_nothing_that_a_case_says_acts_in_an_index(text: str) -> None:
    row, plain = (index.index_row(made.report(t, case=t), "cases/x.html") for t in (text, "words"))
    shown, wanted = (Elements(index.index_html([r], r.case)).found for r in (row, plain))
    assert [tag for tag, _ in shown] == [tag for tag, _ in wanted]
    assert not [name for _, attrs in shown for name in attrs if name.startswith("on")]
    line = next(line for line in index.index_markdown([row], "x").splitlines() if line.startswith("| ["))
    assert line.replace("¦", "").count("|") == 6


def test_names_of_pages_fit_any_file_system() -> None:
    taken: set[str] = set()
    names = [index.file_name(n, ".html", taken) for n in ("run7", "Run7", "a/b", "a b", "..", "ü", "x" * 300, "con")]
    assert len({n.lower() for n in names}) == len(names)
    assert all(len(n) < 100 and "/" not in n and not n.startswith(".") for n in names)
    assert names[0] == "run7.html"


def of_cause(cause: str, number: int, kind: str = "", verdict: str = "crash") -> list[index.Row]:
    row = index.index_row(made.report(), "x", kind)
    return [
        replace(row, case=f"{cause}-{i}", cause=cause, title=cause.upper(), verdict=verdict, jobs=(str(i),))
        for i in range(number)
    ]


def test_a_log_that_breaks_off_is_neither_a_failure_nor_a_good_end() -> None:
    report = made.report()
    assert report.subject
    first = replace(report.causes[0], id="none.healthy")
    cut = replace(report, causes=(first,), subject=replace(report.subject, outcome="cut_off"))
    rows = [index.index_row(replace(cut, verdict=v), "x") for v in ("undetermined", "no_crash")] + of_cause("a", 1)
    assert [r.verdict for r in index.failures_first(rows)] == ["crash", "open", "open"]
    found = index.overview_of(rows)
    assert (found.crashed, found.open, [c.cause for c in found.counts]) == (1, 2, ["a"])
    assert 'data-kind="open"' in index.index_html(
        rows, "cases"
    ) and "in 2 cases, nothing shows how it ended" in index.index_markdown(rows, "cases")
    assert "<b>2</b>" in index.index_html(rows[:2], "cases")


def test_counts_are_shares_of_the_failures_the_commonest_first() -> None:
    rows = [*of_cause("none.healthy", 96, verdict="no_crash"), *of_cause("b", 1), *of_cause("a", 3)]
    assert [(c.cause, c.cases, c.share) for c in index.cause_counts(rows)] == [("a", 3, 75.0), ("b", 1, 25.0)]
    assert index.cause_counts(rows[:96]) == []


def test_causes_of_one_case_are_folded_where_there_are_many() -> None:
    several, single = of_cause("a", 2), [r for n in range(9) for r in of_cause(f"c{n}", 1)]
    assert [c.cause for c in index.overview_of([*several, *single]).main_counts] == ["a"]
    assert len(index.overview_of([*several, *single[:2]]).main_counts) == 3

    page, text = index.index_html([*several, *single], "cases"), index.index_markdown([*several, *single], "cases")
    folded = page.partition("<details><summary>9 more causes with one case each</summary>")[2].partition("</details>")[0]
    assert folded.count("<li>") == 9 and "- 9 cases of 9 other causes" in text
    assert "<details open><summary>9 causes with one case each" in index.index_html(single, "cases")  # else nothing stands there


def test_a_run_of_which_nothing_tells_its_end_is_listed_with_its_last_line(knowledge: Database, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("".join(f"epoch {n} train_loss {1 / n:.4f} lr 0.01\n" for n in range(1, 5)))
    row = index.index_row(analyze_paths([log], "run", knowledge), "run.html")
    assert (row.verdict, row.last) == (index.OPEN, "epoch 4 train_loss 0.2500 lr 0.01")
    assert "last line: <code>epoch 4" in index.index_html([row], "runs") and row.last in index.index_markdown([row], "runs")


def test_failures_come_first_and_otherwise_the_order_stays() -> None:
    rows = [*of_cause("none.healthy", 1, verdict="no_crash"), *of_cause("u", 1, verdict="undetermined"), *of_cause("a", 2)]
    assert [r.case for r in index.failures_first(rows)] == ["a-0", "a-1", "u-0", "none.healthy-0"]
    wanted = [r.case for r in index.failures_first(rows)]
    assert re.findall(r'<a href="x">(.*?)</a>', index.index_html(rows, "cases")) == wanted
    assert re.findall(r"^\| \[`(.*?)`\]", index.index_markdown(rows, "cases"), re.MULTILINE) == wanted


def test_the_parts_of_the_bar_of_kinds_are_all_failures() -> None:
    rows = [*of_cause("a", 1, "data"), *of_cause("b", 2, "memory"), *of_cause("c", 1), *of_cause("d", 4, verdict="no_crash")]
    assert index.overview_of(rows).kinds == [("memory", 2, 50.0, 0.0), ("data", 1, 25.0, 50.0), ("other", 1, 25.0, 75.0)]
    assert index.index_row(replace(made.report(), verdict="no_crash"), "x", "memory").kind == ""


def test_failures_over_time_are_bars_of_all_of_them() -> None:
    failures = [(made.START + timedelta(days=n // 3), "data" if n % 3 else "memory") for n in range(30)]
    drawn = over_time(failures, ("memory", "data"))
    assert drawn and sum(b.count for b in drawn.bars) == 30
    assert (drawn.most, drawn.bars[0].place, drawn.bars[-1].place) == (3, 0, MAX_BARS - 1)
    assert [(b.kind, b.below, b.count) for b in drawn.bars[:2]] == [("memory", 0, 1), ("data", 1, 2)]
    assert over_time(failures[:3], ("memory", "data")) is None  # all of one time


def test_a_long_list_of_names_is_a_field_to_type_in() -> None:
    few, many = (index.index_html(of_cause("a", n), "cases") for n in (3, index.MAX_CHOICES + 1))
    assert '<select name="job">' in few and '<input name="job"' in many


def test_a_number_that_is_the_same_in_every_row_is_no_column() -> None:
    rows = of_cause("a", 2)
    assert "column-sure" not in index.index_html(rows, "cases").partition("<table")[2]
    assert "column-sure" in index.index_html([rows[0], replace(rows[1], odds="61 %")], "cases").partition("<table")[2]


def test_sixty_four_ranks_that_tell_the_same_are_one_lane() -> None:
    report = made.report()
    waited = tuple(
        TimelineEntry(
            made.START + timedelta(seconds=2 + i / 100), "wall", f"rank{i}.log", 5, "t/t", "distributed.timeout", "symptom"
        )
        for i in range(63)
    )
    drawing = drawings(
        replace(report, timeline=(report.timeline[0], *waited), incidents=(replace(report.incidents[0], events=64),))
    )[0]
    assert [(lane.name, lane.more) for lane in drawing.lanes] == [("logs/run/train.log", 0), ("rank0.log", 62)]
    assert sum(m.count for m in drawing.marks) == 64


def test_curves_are_those_that_bear_on_the_cause_alike_ones_once() -> None:
    report = made.report()
    ranks = tuple(replace(report.curves[0], rank=i) for i in range(12))
    loss = replace(report.curves[0], name="loss", kind="loss", unit="")
    found = charts(replace(report, curves=(loss, *ranks)))
    assert [c.curve.name for c in found] == ["rss"]


def test_every_incident_is_a_row_with_the_line_that_shows_it() -> None:
    listed = rows(made.report())
    assert [(r.id, r.cause) for r in listed] == [(1, "host_memory.oom_cgroup"), (2, "notebook.kernel_died")]
    assert listed[0].first is not None and listed[0].odds == "93 %"
    assert kinds(listed)[0][2] == 1
