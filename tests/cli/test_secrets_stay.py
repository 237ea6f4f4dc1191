"""No command shows a secret of a log: not on stdout, not on stderr, not in a file that it writes.

Every command of the application has a check here; a new one without a check fails.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from forensics.cli.app import build
from tests.commandline import forensics
from tests.report.seeds import Seed, seeds

SEEDS = [
    s
    for s in seeds(11)
    if s.kind in ("GitHub ghp_", "OpenAI", "database URL", "password in an environment", "bearer header", "JWT")
]
NAMED = next(s.secret for s in SEEDS if s.kind == "GitHub ghp_")  # in the names of files and folders, and in wrong usage
BUNDLE_FILES = ("stdout.log", "stderr.log", "output.log", "run.json")  # what was captured stays as it was: it is the evidence

Check = Callable[[Path, Path], Iterator[tuple[object, ...]]]  # (folder of logs, empty folder) -> the command lines


def _lines(seeds: list[Seed]) -> str:
    said = "".join(f"2026-03-01 12:00:0{i} ERROR {s.line.replace('@@', s.secret)} loss={i}.5\n" for i, s in enumerate(seeds))
    return (
        f"2026-03-01 12:00:00 INFO epoch 1 loss 1.5\n2026-03-01 12:00:01 INFO epoch 2 loss 1.25\n{said}"
        "Traceback (most recent call last):\n"
        '  File "/srv/train.py", line 7, in <module>\n    run(key)\n'
        f"RuntimeError: login failed with password={SEEDS[3].secret} and token {NAMED}\n"
    )


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with one case, whose logs tell secrets and whose names hold one."""
    case = tmp_path / "cases" / f"case-{NAMED}"
    case.mkdir(parents=True)
    (case / f"train-{NAMED}.log").write_text(_lines(SEEDS))
    (case / "unreadable.gz").write_bytes(b"\x1f\x8b" + NAMED.encode())
    return tmp_path / "cases"


def _analyses(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    for form in ("text", "brief", "issue", "markdown", "html", "json", "jsonl", "csv", "sarif", "junit", "github"):
        yield "analyze", logs, "-f", form, "-o", out / f"report.{form}"
    yield "analyze", logs, "--why", "--redact"


def _batches(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield "batch", logs
    yield "batch", logs, "-f", "html", "-o", out / "pages"
    yield "batch", logs, "-f", "markdown", "-o", out / "cases.md"


def _timelines(logs: Path, _out: Path) -> Iterator[tuple[object, ...]]:
    for form in ("text", "csv", "jsonl"):
        yield "timeline", logs, "-f", form


def _histories(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    place = ("--history", out / "history.db")
    yield "analyze", logs, "-f", "jsonl", "-o", out / "report.jsonl"
    yield "history", "add", out / "report.jsonl", "--keep-names", *place
    yield "history", "same", logs, *place
    yield "history", "same", logs, "-f", "json", *place
    for form in ("text", "json", "csv"):
        yield "history", "list", "-f", form, *place
        yield "history", "show", 1, "-f", form, *place
        yield "history", "trend", "-f", form, *place
        yield "history", "nodes", "-f", form, *place
    yield "history", "trend", "-f", "html", "-o", out / "history.html", *place
    yield "history", "resolve", 1, "--note", f"a new token: {NAMED}", *place
    yield "history", "show", 1, *place
    yield "history", "export", out / "all.jsonl", *place
    yield "history", "forget", NAMED, *place
    yield "history", "prune", "--before", "2020-01-01", *place


def _series(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield "series", logs
    yield "series", logs, "--export", out / "numbers.csv"
    yield "series", logs, "--export", out / "numbers.jsonl"


def _compared(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    good = out / "good.log"
    good.write_text("2026-03-01 12:00:00 INFO epoch 1 loss 1.5\n")
    for form in ("text", "markdown", "json"):
        yield "compare", good, logs, "-f", form


def _explained(logs: Path, _out: Path) -> Iterator[tuple[object, ...]]:
    for seed in SEEDS:
        yield "explain", seed.line.replace("@@", seed.secret)
        yield "explain", "-f", "json", f"CUDA out of memory with {seed.line.replace('@@', seed.secret)}"


def _run(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    """The report on a captured run, in every place where it is kept."""
    bundle = out / "bundle"
    bundle.mkdir()
    (bundle / "output.log").write_text(next(logs.rglob("*.log")).read_text())
    yield "why", bundle, "--again"
    yield "why", bundle
    yield "why", bundle, "-f", "json"


def _reports(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield "analyze", logs, "-f", "json", "-o", out / "one.json"
    document = json.loads((out / "one.json").read_text())
    document["causes"][0]["summary"] += f" {NAMED}"  # of an older version, or made by hand
    (out / "given.json").write_text("")
    target = logs.parent / "given.json"
    target.write_text(json.dumps(document))
    yield "report", target
    yield "report", target, "-f", "html", "-o", out / "report.html"


def _fleet(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    pytest.importorskip("pyarrow")
    yield "fleet", logs, "-o", out / "fleet", "--page", out / "fleet.html"


def _usage(name: str) -> Check:
    """Wrong usage: the message repeats what was given."""
    return lambda _logs, _out: iter([(*name.split(), f"password={SEEDS[3].secret}-{NAMED}", f"--{NAMED}")])


CHECKS: dict[str, Check] = {
    "analyze": _analyses, "batch": _batches, "timeline": _timelines, "series": _series, "compare": _compared,
    "explain": _explained, "why": _run, "report": _reports, "fleet": _fleet,
    **{f"history {name}": _histories for name in
       ("add", "same", "list", "show", "trend", "nodes", "resolve", "export", "prune", "forget")},
    "lines": lambda logs, _out: iter([("lines", logs, "--around", 5), ("lines", logs, "--search", "0", "--most", 200)]),
    "stdin": lambda logs, _out: iter([("stdin",), ("stdin", "-f", "json")]),
    "run": lambda _logs, _out: iter([("run", "--keep", NAMED, "--", "true"), ("run", "--every", NAMED, "--", "true")]),
    # They print nothing of a log but what is given to them; the reports of run, slurm, k8s and mcp are those of other commands.
    **{name: _usage(name) for name in
       ("collect", "dev", "doctor", "estimate", "help", "k8s", "limits", "mcp", "ranks",
        "runs open", "runs remove", "runs show", "serve", "slurm", "stacks", "watch",
        "signatures list", "signatures new", "signatures show", "signatures check", "signatures test", "signatures export", "tell")},
}  # fmt: skip


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    if not hasattr(group, "commands"):
        yield " ".join(path)
    for name, command in getattr(group, "commands", {}).items():
        yield from _commands(command, (*path, name))


COMMANDS = sorted(_commands(typer.main.get_command(build())))


def test_every_command_has_a_check() -> None:
    assert sorted(CHECKS) == COMMANDS, "a command needs a check that it shows no secret of a log"


@pytest.mark.seconds
@pytest.mark.parametrize("name", sorted({f.__name__: n for n, f in CHECKS.items() if f.__name__ != "<lambda>"}.values()))
def test_no_command_shows_a_secret(name: str, logs: Path, tmp_path: Path) -> None:
    _tried(CHECKS[name], logs, tmp_path)


@pytest.mark.parametrize("name", sorted(n for n, f in CHECKS.items() if f.__name__ == "<lambda>"))
def test_wrong_usage_shows_no_secret(name: str, logs: Path, tmp_path: Path) -> None:
    _tried(CHECKS[name], logs, tmp_path)


def _tried(check: Check, logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    text = next(logs.rglob("*.log")).read_bytes()
    for args in check(logs, out):
        done = forensics(*args, stdin=text, cwd=out, FORENSICS_RUNS=str(tmp_path / "runs"))
        for what, shown in (("stdout", done.stdout), ("stderr", done.stderr)):
            assert _secrets_in(shown) == [], f"{' '.join(map(str, args))}: {what}"
    for path in out.rglob("*"):
        if path.is_file() and path.name not in BUNDLE_FILES:
            assert _secrets_in(path.read_bytes() + str(path.relative_to(out)).encode()) == [], path


def _secrets_in(data: bytes) -> list[str]:
    return [s.kind for s in SEEDS if s.secret.encode() in data]


def test_the_streams_of_the_program_mask_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from forensics.report.redaction.lines import masked_stream

    stream = masked_stream(sys.stdout)
    stream.write(f"first {NAMED}\n")
    stream.writelines([f"second {NAMED}\n", "third\n"])
    assert masked_stream(stream) is stream
    assert capsys.readouterr().out == "first [REDACTED:github-token]\nsecond [REDACTED:github-token]\nthird\n"
