"""The commands as a user types them: reports on stdout, notes on stderr, the right exit status, never a traceback."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forensics import cli
from forensics.cli.output import write
from forensics.core.errors import UsageError
from forensics.report.redaction.lines import MaskedStream
from tests.commandline import forensics, in_text, unchanged_process

SHAPE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "train.log").write_text("step 1 loss 2.3\n" + SHAPE)
    return tmp_path / "logs"


def test_analyze_tells_the_cause_on_stdout(logs: Path) -> None:
    done = forensics("analyze", str(logs))
    assert done.returncode == 0
    assert "code.shape" in done.stdout.decode().splitlines()[0]
    assert "train.log:2" in done.stdout.decode()


def test_stdin_is_read_and_named(logs: Path) -> None:
    done = forensics("stdin", "--format", "json", stdin=SHAPE.encode())
    report = json.loads(done.stdout)
    assert (report["schema"], report["verdict"], report["causes"][0]["id"]) == ("forensics-report/1", "crash", "code.shape")
    assert report["causes"][0]["evidence"][0]["source"] == "<stdin>"


@pytest.mark.seconds
def test_a_dash_is_standard_input_alone_or_beside_files(logs: Path) -> None:
    alone = forensics("analyze", "-", "-f", "json", stdin=SHAPE.encode())
    assert alone.stdout == forensics("stdin", "-f", "json", stdin=SHAPE.encode()).stdout
    assert alone.stdout == forensics("-", "-f", "json", stdin=SHAPE.encode()).stdout
    both = json.loads(forensics("analyze", "-", str(logs), "-f", "json", stdin=b"all is well\n").stdout)
    assert both["case"] == "logs"
    assert [s["name"].rsplit("/", 1)[-1] for s in both["sources"]] == ["<stdin>", "train.log"]
    nothing = forensics("analyze", "-")
    assert (nothing.returncode, nothing.stdout) == (2, b"")
    assert b"nothing readable" in nothing.stderr


def test_streams_of_text_are_written_to_and_read_from(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller's `io.StringIO` has no bytes below it."""
    for given, stdin in ((("analyze", str(logs)), ""), (("stdin",), SHAPE)):
        streams = {"stdin": io.StringIO(stdin), "stdout": io.StringIO(), "argv": ["forensics", *given]}
        with monkeypatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            with unchanged_process(), pytest.raises(SystemExit) as left:
                cli.main()
        assert not left.value.code
        assert "code.shape" in streams["stdout"].getvalue()  # type: ignore[union-attr]


def test_batch_gives_one_document_a_line_in_order(tmp_path: Path, logs: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / "cases" / name).mkdir(parents=True)
    (tmp_path / "cases" / "a" / "x.log").write_text(SHAPE)
    (tmp_path / "cases" / "b" / "x.log").write_text("all is well\n")
    (tmp_path / "cases" / "loose.log").write_text(SHAPE)
    done = forensics("batch", str(tmp_path / "cases"), "--format", "jsonl")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["case"], r["causes"][0]["id"]) for r in reports] == [
        ("a", "code.shape"),
        ("b", "none.healthy"),
        ("c", "none.healthy"),
        ("loose.log", "code.shape"),
    ]
    assert [w["kind"] for w in reports[2]["warnings"]] == ["unreadable"]
    assert (reports[2]["verdict"], reports[2]["causes"][0]["title"]) == ("undetermined", "Nothing could be read")
    assert done.returncode == 0


def test_exit_code_tells_a_crash_only_when_asked(logs: Path) -> None:
    assert forensics("analyze", str(logs)).returncode == 0
    assert forensics("analyze", str(logs), "--exit-code").returncode == 1
    assert forensics("stdin", "--exit-code", stdin=b"all is well\n").returncode == 0


def test_the_report_goes_to_a_file(logs: Path, tmp_path: Path) -> None:
    done = forensics("analyze", str(logs), "--format", "markdown", "-o", str(tmp_path / "report.md"))
    assert done.stdout == b""
    assert (tmp_path / "report.md").read_text().startswith("## ")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["logs", "report.md"]


def test_a_report_that_cannot_be_written_is_not_lost(logs: Path) -> None:
    done = forensics("analyze", str(logs), "-o", str(logs))
    assert done.returncode == 2
    assert b"code.shape" in done.stdout
    assert done.stderr.count(b"\n") == 1


def test_a_command_without_arguments_offers_the_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ranks").mkdir()
    monkeypatch.chdir(tmp_path)
    told = forensics("ranks")
    assert (told.returncode, "forensics ./ranks reads what is called so here" in told.stderr.decode()) == (2, True)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("analyze", "/nowhere/at/all"), "no such file or folder"),
        (("analyze",), "PATHS"),
        (("analyze", ".", "-o", "/nowhere/report.txt"), "/nowhere: no such folder to write to; mkdir -p /nowhere"),
        (("analyze", ".", "-f", "html", "-o", "/nowhere/x.html"), "/nowhere: no such folder to write to"),
        (("analyze", ".", "--format", "yaml"), "unknown format"),
        (("batch", "/nowhere"), "no such folder"),
        (("frobnicate",), "no command 'frobnicate'; commands are"),
        (("anlyze",), "no command 'anlyze'; did you mean analyze?"),
        (("signatures", "lst"), "no command 'lst'; did you mean list?"),
        (("no/such.log",), "no command 'no/such.log', and no such file or folder"),
        (("analyze", "--rdact", "x"), "analyze has no option --rdact; did you mean --redact?"),
        (("--vrsion",), "did you mean --version?"),
        (("-f", "issue"), "options come after the paths"),
        (("brief", "."), "no command 'brief'; it is an option: forensics analyze PATHS -f brief"),
        (("redact", "."), "it is an option: forensics analyze PATHS --redact"),
        (("analyze", "-o"), "requires an argument; forensics --help"),
        (
            ("batch", __file__),
            f"this is a file; each case is a sub-folder of a folder; for this one: forensics analyze {__file__}",
        ),
        (("why", __file__), f"this file is no packed bundle; to read a log: forensics analyze {__file__}"),
        (("why", "77777"), "no run 77777"),
        (("runs", "remove", "77777"), "no run 77777"),
        (("runs", "--since", "soon"), "--since takes a day, a time or a time span"),
        (("runs", "-f", "yaml"), "unknown format 'yaml'"),
        (("analyze", ".", "--since", "soon"), "--since takes a time, not 'soon'"),
        (("batch", str(Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE")), "no log in it, so no cases"),
        (("signatures", "list", "--format", "yaml"), "unknown format 'yaml'"),
        (("history", "add", "/nowhere/report.json"), "no such file"),
        (("why", "/nowhere"), "no such folder"),
        (("run", "--keep", "some", "--", "true"), "unknown value 'some' of --keep"),
        (("mcp", "--root", "/nowhere"), "no such folder"),
        (("",), "a path is empty; is a variable of the shell not set?"),
        (("analyze", ""), "a path is empty; is a variable of the shell not set?"),
        (("batch", "", "-f", "html"), "a path is empty; is a variable of the shell not set?"),
        (("explain", "--nosuch"), "explain has no option --nosuch"),
        (("analyze", "--pid", "-1", "."), "-1 is not in the range"),
        (("run", "--stall", "-5", "--", "true"), "'-5' is not a duration"),
        (("run", "--every", "nan", "--", "true"), "'nan' is not a duration"),
        (("history",), "history: Missing command"),
        (("signatures",), "signatures: Missing command"),
        (("collect", "--pid", "1", "--unit", "x"), "more than one of --pid, --job and --unit"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_2(args: tuple[str, ...], told: str) -> None:
    done = forensics(*args)
    assert done.returncode == 2
    assert done.stdout == b""
    assert told in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_message_in_place_of_a_command_leads_to_explain() -> None:
    assert "forensics explain 'CUDA out of memory'" in forensics("CUDA out of memory").stderr.decode()


def test_a_log_that_is_piped_in_needs_no_word(logs: Path) -> None:
    """Of a file or a pipe, with options or without; a device that says nothing is no log."""
    asked = forensics("analyze", "-", "-f", "csv", stdin=(logs / "train.log").read_bytes()).stdout.decode()
    program = [sys.executable, "-m", "forensics"]
    with (logs / "train.log").open() as log:
        assert subprocess.run([*program, "-f", "csv"], stdin=log, capture_output=True, text=True, check=True).stdout == asked
    text = (logs / "train.log").read_text()
    assert "code.shape" in subprocess.run(program, input=text, capture_output=True, text=True, check=True).stdout
    assert subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).returncode == 2


def test_an_option_in_front_of_the_log_is_taken(logs: Path) -> None:
    assert forensics("-f", "csv", logs).stdout == forensics(logs, "-f", "csv").stdout


def test_a_folder_of_runs_is_told_of_batch(logs: Path) -> None:
    assert b"batch" not in forensics(logs).stderr
    for number in range(3):
        (logs / f"run_{number}.log").write_text(SHAPE)
    told = forensics(logs)
    assert (told.returncode, f"forensics batch {logs}" in told.stderr.decode()) == (0, True)


def test_exit_code_tells_of_a_bad_end_whose_cause_is_not_proven(tmp_path: Path) -> None:
    log = tmp_path / "stage.log"
    log.write_text("staging data\ncp: cannot stat '/data/train/shards-1.tar': No such file or directory\n")
    assert json.loads(forensics(log, "-f", "json").stdout)["verdict"] == "undetermined"
    assert [forensics(*args, "--exit-code").returncode for args in ((log,), ("batch", tmp_path))] == [1, 1]
    log.write_text("".join(f"epoch {n}/9 loss {1 / n:.3f}\n" for n in range(1, 6)))
    assert forensics(log, "--exit-code").returncode == 0


def test_a_file_or_folder_alone_is_analysed(logs: Path) -> None:
    for path in (logs, logs / "train.log"):
        assert forensics(path, "-f", "csv").stdout == forensics("analyze", path, "-f", "csv").stdout != b""


def test_in_a_folder_without_folders_each_run_is_a_case(tmp_path: Path) -> None:
    steps = "".join(f"step {n} loss {3 - n / 9:.2f}\n" for n in range(9))
    files = {"bert.log": "KeyError: 'label'\n", "slurm-7.out": steps, "slurm-7.err": "KeyError: 'label'\n", "slurm-8.out": steps}
    files |= {"run_rank0.log": steps, "run_rank1.log": "KeyError: 'label'\n", "run.log": steps, "config.yaml": "lr: 3\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    told = {r["case"]: len(r["sources"]) for r in map(json.loads, forensics("batch", str(tmp_path)).stdout.splitlines())}
    assert told == {"bert.log": 1, "run.log": 1, "run_rank0.log": 2, "slurm-7.err": 2, "slurm-8.out": 1}


def test_batch_is_a_table_on_a_terminal_failures_first(tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("a", "all is well\n"), ("b", SHAPE)):
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "x.log").write_text(text)
    asked = forensics("batch", tmp_path / "cases", "-f", "table").stdout.decode()
    assert [line.split()[:2] for line in asked.splitlines()[3:] if line.strip(" ")[:2] in ("a ", "b ")] == [
        ["b", "code.shape"],
        ["a", "none.healthy"],
    ]
    assert " ".join(SHAPE.split()[:4]) in asked, "the line that tells why"
    monkeypatch.setattr(MaskedStream, "isatty", lambda _stream: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    shown = forensics("batch", tmp_path / "cases").stdout.decode()
    assert [line.split()[0] for line in shown.splitlines()[3:] if line.strip(" ")[:2] in ("a ", "b ")] == ["b", "a"]


def test_a_history_that_cannot_be_kept_is_told_before_anything_is_read(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    done = forensics("analyze", logs, "--remember")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"forensics: --remember needs SQLAlchemy; pip install sqlalchemy pyarrow\n"


@pytest.mark.seconds
def test_a_history_of_the_configuration_that_cannot_be_kept_does_not_cost_the_report(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "forensics.yaml").write_text(f"history: {tmp_path / 'h.db'}\n")
    code = f"import sys; sys.modules['sqlalchemy'] = None; sys.argv[1:] = ['analyze', {str(logs)!r}]; from forensics.cli import main; main()"
    env = os.environ | {"FORENSICS_CONFIG": str(tmp_path / "forensics.yaml")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, timeout=300, check=False)
    assert (done.returncode, b"code.shape" in done.stdout) == (0, True)
    assert b"a history needs SQLAlchemy; pip install sqlalchemy pyarrow" in done.stderr
    assert b"internal error" not in done.stderr


@pytest.mark.seconds
@pytest.mark.parametrize("command", [("trend",), ("same", "x.log")])
def test_each_command_of_a_history_says_what_it_lacks(command: tuple[str, ...]) -> None:
    code = f"import sys; sys.modules['sqlalchemy'] = None; sys.argv[1:] = {['history', *command]!r}; from forensics.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (2, b"") and b"a history needs SQLAlchemy" in done.stderr


def test_a_page_that_cannot_be_written_does_not_fill_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal := io.StringIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    with pytest.raises(UsageError):
        write("<!DOCTYPE html>", tmp_path)
    assert terminal.getvalue() == ""


def test_nothing_readable_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(5000))
    done = forensics("analyze", str(tmp_path))
    assert done.returncode == 2
    assert b"nothing readable" in done.stderr


@pytest.mark.seconds
def test_a_reader_that_has_enough_is_no_error(logs: Path) -> None:
    command = f"{sys.executable} -m forensics analyze {logs} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=300, check=False)
    assert b"code.shape" in done.stdout
    assert b"Traceback" not in done.stderr


def test_version_and_help() -> None:
    assert forensics("--version").stdout.startswith(b"forensics ")
    assert forensics("-V").stdout == forensics("--version").stdout
    for command in ("analyze", "stdin", "batch"):
        assert command.encode() in forensics("--help").stdout
        assert b"Example" in forensics(command, "--help").stdout


@pytest.mark.seconds
def test_a_plain_analysis_imports_nothing_heavy(logs: Path) -> None:
    code = f"import sys, forensics; forensics.analyze({str(logs)!r}); print([m for m in ('pandas', 'numpy', 'sklearn', 'matplotlib', 'jinja2', 'yaml') if m in sys.modules])"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=300)  # fills the cache
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=300)
    assert done.stdout.strip() == b"[]"


def test_a_case_with_nothing_in_the_time_asked_for_is_no_failure_of_a_batch(tmp_path: Path) -> None:
    for case, day in (("old", 21), ("new", 27)):
        (tmp_path / case).mkdir()
        lines = (f"2026-11-{day} 09:00:{s:02d},000 INFO step {s} of 30 loss 0.5\n" for s in range(1, 31))
        (tmp_path / case / "train.log").write_text("".join(lines) + f"2026-11-{day} 09:00:31,000 INFO Training finished.\n")
    asked = in_text("batch", tmp_path, "-f", "table", "--since", "2026-11-25")
    assert ("new" in asked.stdout, "old" in asked.stdout) == (True, False)
    assert "1 case without --since 2026-11-25" in asked.stderr
    assert "without" not in in_text("batch", tmp_path, "-f", "table").stderr
    error = "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device: '/o/p'\n"  # has no time of its own
    (tmp_path / "old" / "train.log").write_text(f"2026-11-21 09:00:00,000 INFO step 1 loss 0.5\n{error}")
    assert "1 case without --since 2026-11-25" in in_text("batch", tmp_path, "-f", "table", "--since", "2026-11-25").stderr
