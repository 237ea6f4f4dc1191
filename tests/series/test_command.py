"""The command `forensics series`: its table, its files, its pictures, and what it says when it cannot."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import in_text

LEAK = Path(__file__).parents[2] / "sample_logs" / "oom_leak" / "train.log"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return in_text("series", *arguments)


def test_the_series_are_listed_with_what_they_tell() -> None:
    done = run(LEAK)
    assert done.returncode == 0
    assert done.stderr == ""
    row = next(line for line in done.stdout.splitlines() if line.startswith("rss"))
    assert row.split()[1:6] == ["38", "665", "MiB", "1.09", "GiB"]
    assert "growth (host_memory.leak, strong): lines 1 to 38" in done.stdout


@pytest.mark.seconds
def test_every_reading_is_exported(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    assert run(LEAK, "--export", tmp_path / "n.csv").returncode == 0
    assert run(LEAK, "--export", tmp_path / "n.jsonl").returncode == 0
    table = pandas.read_csv(tmp_path / "n.csv")
    rss = table[table.series == "rss"]
    assert (rss.value.iloc[0], rss.value.iloc[-1], len(rss)) == (665 << 20, 1116 << 20, 38)
    assert (rss.step.iloc[1], rss.time.iloc[1], rss.unit.iloc[1]) == (5, "2026-11-21T08:45:35", "bytes")
    rows = [json.loads(line) for line in (tmp_path / "n.jsonl").read_text().splitlines()]
    assert [r["value"] for r in rows] == table.value.tolist()


@pytest.mark.seconds
def test_parquet_is_written_or_its_lack_is_told_in_one_line(tmp_path: Path) -> None:
    done = run(LEAK, "--export", tmp_path / "n.parquet")
    try:
        import pyarrow  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except ImportError:
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "parquet needs pyarrow" in done.stderr
    else:
        assert done.returncode == 0
        assert (tmp_path / "n.parquet").stat().st_size > 0


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "head"), [("n.png", b"\x89PNG"), ("n.svg", b"<?xml")])
def test_plots_are_written_in_the_format_of_their_suffix(name: str, head: bytes, tmp_path: Path) -> None:
    assert run(LEAK, "--plot", tmp_path / name).returncode == 0
    made = (tmp_path / name).read_bytes()
    assert made.startswith(head)
    if name == "n.svg":
        assert b"growth" in made and b"rss" in made


def test_a_logarithmic_axis_has_plain_numbers(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {i} loss {10.0**i}\n" for i in range(12)))
    assert run(log, "--plot", tmp_path / "n.svg").returncode == 0
    drawn = (tmp_path / "n.svg").read_text()
    assert re.search(r">1e\+\d\d<", drawn)  # which of them get a label is the library's choice
    assert "mathdefault" not in drawn


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--export", "n.xls"], "series are written as .csv, .jsonl or .parquet"),
        (["--plot", "n.doc"], "pictures are .png, .svg or .pdf"),
        (["--export", "no/such/folder/n.csv"], "could not be written there"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = run(LEAK, arguments[0], tmp_path / arguments[1])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_a_log_without_numbers_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("hello\nTraceback (most recent call last):\n")
    done = run(tmp_path / "train.log")
    assert (done.returncode, done.stdout) == (0, "the given logs print no number more than once\n")


@pytest.mark.seconds
def test_an_analysis_imports_neither_pandas_nor_matplotlib() -> None:
    code = (
        "import sys; from pathlib import Path; from forensics import pipeline; "
        f"pipeline.analyze_paths([Path({str(LEAK)!r})], 'x', pipeline.database()); "
        "sys.exit(any(m in sys.modules for m in ('pandas', 'matplotlib', 'pyarrow')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
