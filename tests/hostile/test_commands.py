"""No output of any command, stderr included, is a command to a terminal or to a system that runs jobs, or hides what it says."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.commandline import in_text

pytestmark = pytest.mark.seconds
ACTING = "##vso[task.complete result=Failed]"
HIDDEN = "\U000e0101\u034f\u115f\u17b4\u2800\u3164\ufe0f\u200b\U000e0041\u202e"
LINES = [
    "Traceback (most recent call last):",
    '  File "train.py", line 3, in <module>',
    f"RuntimeError: x {ACTING} ##[error]y {HIDDEN} \x1b[31m {'word ' * 30}::add-mask::z ::error::z {'::error::w ' * 20}",
]
NAMES = [
    "::error::name.log",
    "  ::add-mask::n.log",
    f"a{HIDDEN}.log",
    "b##vso[x].log",
    "c\n::error::d.log",
    "=cmd.log",
    "e\x1b[31m.log",
]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    folder = tmp_path / "::error::case\n::warning::case"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text("\n".join(LINES) + "\n")
    return folder


@pytest.mark.parametrize(
    "asked",
    [
        *(("analyze", "-f", form) for form in ("text", "markdown", "html", "json", "jsonl", "csv", "junit", "sarif", "github")),
        *(("timeline", "-f", form) for form in ("text", "csv", "jsonl")),
        ("batch",),
        ("batch", "-f", "csv"),
        ("series",),
        ("analyze", "--why"),
    ],
)
def test_no_output_holds_a_command_or_hides_a_character(asked: tuple[str, ...], case: Path) -> None:
    folder = case.parent if asked[0] == "batch" else "."
    done = in_text(*asked, folder, cwd=case)
    for said in (done.stdout, done.stderr):
        own = ("::error file=", "::warning file=", "::notice ") if "github" in asked else ()
        lines = [line for line in said.split("\n") if not line.startswith(own)] if own else said.split("\n")
        assert not [line for line in lines if re.match(r"\s*::", line)]
        assert not re.search(r"##\w*\[", said)
        assert not [c for c in said if c in HIDDEN or c in "\x1b\r"]
    if "json" in asked:
        json.loads(done.stdout)
    if "csv" in asked:
        cells = [cell for row in csv.reader(io.StringIO(done.stdout)) for cell in row]
        assert not [c for c in cells if c.lstrip()[:1] in tuple("=+@")]
