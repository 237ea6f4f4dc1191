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


def _acts(said: str, form: str = "") -> None:
    """Fails where a part of an output would be a command, or is hidden."""
    own = ("::error file=", "::warning file=", "::notice ") if form == "github" else ()
    lines = [line for line in said.split("\n") if not line.startswith(own)] if own else said.split("\n")
    assert not [line for line in lines if re.match(r"\s*::", line)]
    assert not re.search(r"##\w*\[", said)
    assert not [c for c in said if c in HIDDEN or c in "\x1b\r"]
    if form == "json":
        json.loads(said)
    if form == "csv":
        cells = [cell for row in csv.reader(io.StringIO(said)) for cell in row]
        assert not [c for c in cells if c.lstrip()[:1] in tuple("=+@")]


@pytest.mark.parametrize(
    "asked",
    [
        *(
            ("analyze", "-f", form)
            for form in ("text", "brief", "issue", "markdown", "html", "json", "jsonl", "csv", "junit", "sarif", "github")
        ),
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
    _acts(done.stdout, asked[-1])
    _acts(done.stderr)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_neither_run_acts_in_a_comparison(form: str, case: Path, tmp_path: Path) -> None:
    good = tmp_path / "::error::good.log"
    good.write_text("epoch 1 loss 1.5\n" + LINES[0] + "\n")
    for given in ((good, "."), (".", good)):
        done = in_text("compare", *given, "-f", form, cwd=case)
        assert "::error" in done.stdout or "error" in done.stdout, "the names and lines are shown"
        _acts(done.stdout, form)
        _acts(done.stderr)


@pytest.mark.parametrize("form", ["text", "json"])
def test_words_of_a_question_do_not_act(form: str, case: Path) -> None:
    for question in (LINES[-1], "::error::CUDA out of memory\n::add-mask::x", f"Xid 79 {HIDDEN}\x1b[31m {ACTING}"):
        done = in_text("explain", "-f", form, question, cwd=case)
        assert done.stdout or done.stderr
        _acts(done.stdout, form if done.stdout else "")
        _acts(done.stderr)


def test_what_a_history_keeps_does_not_act(case: Path, tmp_path: Path) -> None:
    place = ("--history", tmp_path / "history.db")
    for path in ("-f", "json", "-o", tmp_path / "one.json"), ("-f", "jsonl", "-o", tmp_path / "one.jsonl"):
        in_text("analyze", ".", *path, cwd=case)
    added = in_text("history", "add", tmp_path / "one.jsonl", "--keep-names", *place, cwd=case)
    assert added.returncode == 0, added.stderr
    in_text("history", "resolve", 1, "--note", LINES[-1], *place, cwd=case)
    asked = [("same", "."), ("same", ".", "-f", "json")]
    for name in ("list", "show", "trend", "nodes"):
        asked += [(name, *((1,) if name == "show" else ()), "-f", form) for form in ("text", "json", "csv")]
    for words in asked:
        done = in_text("history", *words, *place, cwd=case)
        assert "Traceback" not in done.stderr
        _acts(done.stdout, str(words[-1]) if done.stdout.strip() else "")
        _acts(done.stderr)
    in_text("history", "export", tmp_path / "all.jsonl", *place, cwd=case)
    _acts((tmp_path / "all.jsonl").read_text())


def test_what_a_fleet_tells_does_not_act(case: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra fleet")
    out = tmp_path / "out"
    done = in_text("fleet", case.parent, "-o", out, "--page", tmp_path / "fleet.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for said in (done.stdout, done.stderr, (tmp_path / "fleet.html").read_text()):
        _acts(said)
