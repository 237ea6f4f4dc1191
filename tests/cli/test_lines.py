"""`forensics lines`: the lines around a place, and those with a text; a brief from the command line."""

import gzip
from pathlib import Path

import pytest

from tests.commandline import in_text

LOG = "".join(f"{n} row of alice at /home/alice/run\n" for n in range(1, 31)) + "password=Xk9vQ2mZ7pLs4tRw\nTHE END of row 32\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    return path


def test_lines_around_a_place(log: Path) -> None:
    done = in_text("lines", log, "--around", 3, "--before", 1, "--after", 2)
    assert done.returncode == 0
    assert [row.removeprefix(f"{log}:").split(":")[0] for row in done.stdout.splitlines()] == ["2", "3", "4", "5"]


def test_lines_with_a_text_and_how_many_more(log: Path) -> None:
    assert in_text("lines", log, "--search", "the end").stdout == f"{log}:32: THE END of row 32\n"
    assert in_text("lines", log, "--search", "ROW OF", "--most", 2).stdout.splitlines()[2] == "and 28 more"


def test_secrets_are_masked(log: Path) -> None:
    assert "Xk9vQ2mZ7pLs4tRw" not in in_text("lines", log, "--around", 31).stdout


@pytest.mark.parametrize(("options", "status"), [((), 2), (("--around", "3", "--search", "x"), 2), (("--search", "absent"), 1)])
def test_wrong_usage_and_no_such_line(log: Path, options: tuple[str, ...], status: int) -> None:
    done = in_text("lines", log, *options)
    assert (done.returncode, done.stdout) == (status, "")
    assert len(done.stderr.splitlines()) <= 2


def test_a_brief_and_an_issue_hide_names_unless_they_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        'Traceback (most recent call last):\n  File "/home/alice/run/train.py", line 7, in <module>\n    x["a"]\nKeyError: \'a\'\n'
    )
    for form in ("brief", "issue"):
        assert "alice" not in in_text("analyze", path, "-f", form).stdout
        assert "/home/alice/run" in in_text("analyze", path, "-f", form, "--no-redact").stdout
    assert "/home/alice/run" in in_text("analyze", path).stdout
    assert "alice" not in in_text("analyze", path, "--redact").stdout
    done = in_text("analyze", path, "-f", "issue", "--tracker", "bugzilla")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
