"""`forensics ranks`: the rank that keeps the others waiting, as text and as JSON; bad input is one line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from forensics.cli.app import build
from forensics.core.errors import SourceError, UsageError
from tests.sources.rank_dumps.hostile_pickles import HOSTILE

CAPTURED = Path(__file__).parents[1] / "ranks" / "captured"


def run(*words: str) -> Result:
    return CliRunner().invoke(build("ranks"), ["ranks", *words])


def test_text_names_rank_lines_table_and_last_calls() -> None:
    out = run(str(CAPTURED / "late_loader_averaging_4")).stdout
    assert out.startswith(
        "Rank 2 (pid 30956 on node-1): it loads data, and holds the interpreter's lock at Shards.decode (hung_ranks.py:71)"
    )
    assert "  rank 2      hung_ranks.py:71 in Shards.decode\n  the others  /home/user/run/hung_ranks.py:117 in averaging\n" in out
    assert "\n  0, 1, 3      waits in all_reduce no. 18 of group default_pg (0) at hung_ranks.py:117\n" in out
    assert "last calls of rank 2" in out
    assert len(out.partition("last calls of rank 2")[2].strip().split("\n")) == 6


def test_json_has_the_matrix() -> None:
    said = json.loads(run(str(CAPTURED / "gil_held_averaging_4"), "-f", "json").stdout)
    assert [o["rank"] for o in said["odd"]] == [2]
    assert said["missing"] == [2]
    (row,) = said["matrix"]
    assert (row["members"], row["called"]) == ([0, 1, 2, 3], {"0": 18, "1": 18, "3": 18})
    assert said["edges"] == [[0, 2], [1, 2], [3, 2]]


def test_a_hostile_dump_beside_good_ones_is_one_note(tmp_path: Path) -> None:
    for path in (CAPTURED / "late_loader_averaging_4" / "fr").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "rank_7").write_bytes(HOSTILE["calls"])
    done = run(str(tmp_path))
    (note,) = [line for line in done.stderr.splitlines() if "rank_7" in line]
    assert "the dump was not read: it holds more than plain values" in note
    assert done.stdout.startswith("Rank 2")


def test_no_dump_and_an_unknown_format_are_errors_of_usage(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("step 1\n")
    with pytest.raises(SourceError, match="no dump of a rank"):
        CliRunner().invoke(build("ranks"), ["ranks", str(tmp_path)], catch_exceptions=False)
    with pytest.raises(UsageError, match="unknown format"):
        CliRunner().invoke(build("ranks"), ["ranks", str(tmp_path), "-f", "xml"], catch_exceptions=False)
