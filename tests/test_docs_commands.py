"""Each command on each page is one that this version takes; those of the page for the first three minutes are run."""

import functools
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from forensics.cli.app import build
from scripts.docs.pages import repository_pages
from tests.commandline import in_text, measured

ROOT = Path(__file__).parents[1]
BLOCKS = re.compile(r"^```(?:sh|console|bash|text)?\n(.*?)^```|((?:^ {4}[^\n]*\n)+)", re.M | re.S)
COMMAND = re.compile(r"(?:^|[|;&(]\s*|\$ |-- |&& )(?:\.venv/bin/)?forensics (?![-:.]$)([^\n]*)", re.M)
NOT_PAGES = ("CHANGELOG.md",)  # it tells of commands of earlier versions
STARTS = "analyze"


INLINE = re.compile(r"(?<!`)`forensics ([^`\n]+)`")


def commands(text: str) -> Iterator[list[str]]:
    """The words behind `forensics` in the blocks of a page; of what is behind a pipe, a redirection or a comment nothing."""
    for block in BLOCKS.finditer(text):
        shown = re.sub(r"^ {4}", "", (block[1] or block[2]).replace("\\\n", " "), flags=re.M)
        yield from filter(None, map(_words, COMMAND.findall(shown)))


def named(text: str) -> Iterator[list[str]]:
    """The commands that a page names in its sentences; one word alone may be the name of a program's part."""
    yield from filter(None, map(_words, INLINE.findall(text)))


def _words(line: str) -> list[str]:
    try:
        lexed = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexed.whitespace_split = True
        words = list(lexed)
    except ValueError:
        return []
    return words[: next((i for i, word in enumerate(words) if set(word) <= set("|&;<>()")), len(words))]


@functools.cache
def _top() -> Any:
    return typer.main.get_command(build())


def fault(words: list[str]) -> str:
    """What the command line has against `words`; empty for nothing."""
    if words[0].endswith(":"):  # the beginning of a line of a log
        return ""
    if words[:2] == ["slurm", "epilog"]:  # it has its own options (tests/adapters/slurm), as a batch system waits for it
        return ""
    top = _top()
    command, context = top, top.context_class(top, info_name="forensics")
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words[0]]
        context, words = type(context)(command, info_name=words[0], parent=context), words[1:]
    if command is top and words and not words[0].startswith("-"):
        command = top.commands[STARTS] if re.search(r"[./A-Z$]", words[0]) else None
        if command is None:
            return f"no command {words[0]}"
        context = type(context)(command, info_name=STARTS, parent=context)
    try:
        command.make_parser(context).parse_args(list(words))
    except Exception as error:
        return "" if "requires an argument" in str(error) else str(error)  # a sentence names an option without its value
    return ""


def test_each_command_on_each_page_is_one() -> None:
    pages = {name: text for name, text in repository_pages().items() if name not in NOT_PAGES}
    found = [(name, words) for name, text in pages.items() for words in (*commands(text), *named(text))]
    assert len(found) > 150
    assert [f"{name}: forensics {' '.join(words)}: {said}" for name, words in found if (said := fault(words))] == []


def test_a_command_that_is_none_is_found() -> None:
    page = "```sh\nforensics train x\nforensics analyze --rdact x | head\nforensics job.log -f html\n```\n"
    assert [bool(fault(words)) for words in commands(page)] == [True, True, False]


@pytest.mark.slow
def test_the_first_three_minutes_are_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the page, in its order, in a folder with logs of the names that it uses."""
    sample = ROOT / "sample_logs" / "jupyter_oom"
    for name, source in (("job.log", "jupyter.log"), ("jupyter.log", "jupyter.log"), ("kern.log", "dmesg.log")):
        shutil.copy(sample / source, tmp_path / name)
    shutil.copy(next((ROOT / "sample_logs").rglob("*.ipynb")), tmp_path / "out.ipynb")
    (tmp_path / "sample_logs").symlink_to(ROOT / "sample_logs")
    (tmp_path / "train.py").write_text("raise RuntimeError('CUDA error: device-side assert triggered')\n")
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/nowhere")  # no cluster answers
    told: dict[str, Any] = {}
    for words in commands((ROOT / "docs" / "three-minutes.md").read_text()):
        line = " ".join(words)
        if words[0] == "run":  # it becomes the process that watches
            command = [sys.executable, "-m", "forensics", *words]
            env = measured() | {"PATH": str(Path(sys.executable).parent), "FORENSICS_RUNS": str(tmp_path / "runs")}
            told[line] = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
        elif words[0] == "watch":
            pass  # it waits for the end of a log: tests/cli/test_watch.py
        else:
            told[line] = in_text(*words, cwd=tmp_path)
    statuses = {line: done.returncode for line, done in told.items()}
    elsewhere = {line: status for line, status in statuses.items() if line.startswith(("slurm", "k8s"))}
    assert set(elsewhere.values()) == {2} and len(elsewhere) == 2
    assert statuses.pop("run -- python train.py") == 1
    assert {line for line in statuses.keys() - elsewhere.keys() if statuses[line]} == set()
    assert "host_memory.oom_cgroup" in told["job.log kern.log"].stdout.splitlines()[0]
    assert "train.py" in told["runs"].stdout and "gpu-node" not in (tmp_path / "ticket.md").read_text()
    assert told["why"].stdout and Path(told["runs open 1"].stdout.strip()).is_file()


ELSEWHERE = (
    "run",
    "watch",
    "serve",
    "mcp",
    "k8s",
    "slurm",
    "fleet",
    "collect",
    "stacks",
    "tell",
)  # they have tests of their own
LONG = [["signatures", "check"]]  # minutes; `scripts/check` runs it


@pytest.mark.slow
def test_no_command_of_a_page_ends_in_an_error_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of each page in a folder with some of the files that pages name: it answers, or says in a line what is missing."""
    nan, killed = ROOT / "sample_logs" / "nan_loss", ROOT / "sample_logs" / "jupyter_oom"
    for name in ("job.log", "train.log", "good.log", "bad.log", "slurm-4711.out"):
        shutil.copy(nan / "train.log", tmp_path / name)
    for name in ("kern.log", "dmesg.log"):
        shutil.copy(killed / "dmesg.log", tmp_path / name)
    for folder in ("logs", "incidents"):
        for case in (nan, killed):
            shutil.copytree(case, tmp_path / folder / case.name)
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    pages = [text for name, text in repository_pages().items() if name not in NOT_PAGES]
    asked = {tuple(words): words for text in pages for words in (*commands(text), *named(text))}
    wanted = [w for w in asked.values() if w[0] not in ELSEWHERE and w not in LONG and not w[0].endswith(":")]
    assert len(wanted) > 80
    answered = 0
    for words in wanted:
        done = in_text(*words, cwd=tmp_path)
        line = " ".join(words)
        assert done.returncode in (0, 1, 2), f"{line}: {done.stderr}"
        assert "internal error" not in done.stderr, line
        answered += done.returncode != 2
    assert answered > len(wanted) // 3
