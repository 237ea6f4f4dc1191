"""The report's options on the command line: saved reports, redaction, pictures, terminals."""

import json
import os
import pty
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.report.ledger import LEAST_SHOWN
from tests.commandline import in_text

ROOT = Path(__file__).parents[2]
CASE = "sample_logs/jupyter_oom"


def forensics(*args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return in_text(*args, stdin=stdin, cwd=ROOT, **env)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "report.json"
    done = forensics("analyze", CASE, "-f", "json", "-o", str(path))
    assert (done.returncode, done.stdout) == (0, "")
    return path


@pytest.mark.seconds
@pytest.mark.parametrize("form", ["text", "markdown", "html", "json", "jsonl"])
def test_a_saved_report_is_shown_as_the_first_time(saved: Path, form: str) -> None:
    assert forensics("report", str(saved), "-f", form).stdout == forensics("analyze", CASE, "-f", form).stdout


@pytest.mark.seconds
def test_why_follows_the_text_report(saved: Path) -> None:
    plain, told = forensics("analyze", CASE).stdout, forensics("analyze", CASE, "--why").stdout
    assert told.startswith(plain)
    table = told[len(plain) :]
    assert forensics("report", str(saved), "--why").stdout == told
    report = json.loads(saved.read_text())
    first = report["causes"][0]
    assert first["ledger"]
    for adjustment in (a for a in first["ledger"] if abs(a["log_odds"]) >= LEAST_SHOWN):
        numbers = re.escape(f"{adjustment['log_odds']:+.2f}") + " +" + re.escape(f"{adjustment['value']:.2f}")
        meaning = "" if adjustment["feature"].startswith(("rule: ", "further events")) else r": \w+"  # a rule says what it is
        assert re.search(rf"{numbers} .*{re.escape(adjustment['feature'][:32])}", table)
        assert meaning == "" or re.search(rf"{re.escape(adjustment['feature'])}{meaning}", table)
    assert first["id"] in table
    assert "ended badly: " in table


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_why_changes_nothing_where_it_is_told_always(saved: Path, form: str) -> None:
    assert forensics("report", str(saved), "-f", form, "--why").stdout == forensics("report", str(saved), "-f", form).stdout


@pytest.mark.parametrize("command", [("analyze", CASE), ("stdin",), ("report", "x.json")])
@pytest.mark.parametrize("form", ["html", "markdown"])
def test_why_is_for_text(command: tuple[str, ...], form: str) -> None:
    done = forensics(*command, "-f", form, "--why")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--why goes with text" in done.stderr


def test_a_saved_report_comes_through_a_pipe(saved: Path) -> None:
    assert forensics("report", "-", "-f", "json", stdin=saved.read_text()).stdout == saved.read_text()


def test_of_several_one_is_chosen_by_its_case(saved: Path, tmp_path: Path) -> None:
    one = json.loads(saved.read_text())
    lines = tmp_path / "all.jsonl"
    lines.write_text("\n".join(json.dumps({**one, "case": name}) for name in ("run1", "run2")) + "\n")
    assert json.loads(forensics("report", str(lines), "--case", "run2", "-f", "json").stdout)["case"] == "run2"
    for args, said in (((), "2 reports in it"), (("--case", "run3"), "no report of case 'run3'")):
        done = forensics("report", str(lines), *args)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["", "nonsense", "{}", "[1]", '{"schema": "forensics-report/1"}', "[" * 100_000])
def test_what_is_no_report_is_one_line_and_2(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    done = forensics("report", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("forensics: ")
    assert done.stderr.count("\n") == 1


def test_the_exit_code_of_a_saved_report(saved: Path) -> None:
    assert forensics("report", str(saved), "--exit-code").returncode == 1


def test_names_are_hidden_and_the_key_is_for_the_owner_alone(tmp_path: Path) -> None:
    log = tmp_path / "alice-llama7" / "kern.log"
    log.parent.mkdir()
    line = "Mar  1 12:00:00 gpu-node17 kernel: Memory cgroup out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB"
    log.write_text(f"{line}\n")
    key = tmp_path / "key.json"
    done = forensics("analyze", str(log.parent), "-f", "json", "--redact-map", str(key))
    assert done.returncode == 0
    assert "gpu-node17" not in done.stdout
    assert "alice-llama7" not in done.stdout
    names = json.loads(key.read_text())
    assert {"gpu-node17", "alice-llama7"} <= set(names.values())
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "gpu-node17" in forensics("analyze", str(log.parent), "-f", "json").stdout


@pytest.mark.seconds
def test_a_secret_does_not_leave(tmp_path: Path) -> None:
    secret = "hf_" + "aB7" * 11 + "x"
    (tmp_path / "x.log").write_text(
        f'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: token {secret} is wrong\n'
    )
    for form in ("text", "markdown", "html", "json", "jsonl"):
        done = forensics("analyze", str(tmp_path / "x.log"), "-f", form)
        assert "ValueError" in done.stdout
        assert secret not in done.stdout + done.stderr


def test_the_size_of_markdown_is_kept() -> None:
    assert len(forensics("analyze", CASE, "-f", "markdown", "--max-chars", "1500").stdout) <= 1500
    assert forensics("analyze", CASE, "-f", "markdown", "--max-chars", "10").returncode == 2


def on_a_terminal(*args: str, columns: int = 80, **env: str) -> str:
    """What the command prints to a terminal of its own."""
    main, other = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-m", "forensics", *args],
        stdout=other,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**clean, "TERM": "xterm-256color", **env},
    ) as process:
        os.close(other)
        said = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            if not piece:
                break
            said += piece
        process.wait(timeout=300)
    os.close(main)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.seconds
def test_a_terminal_gets_colours_and_its_width() -> None:
    said = on_a_terminal("analyze", CASE, columns=72)
    assert "\x1b[1;31mA memory limit was hit" in said
    assert said.split("\n")[0].rstrip().endswith("%\x1b[0m")
    plain = on_a_terminal("analyze", CASE, columns=72, NO_COLOR="1")
    assert "\x1b" not in plain
    assert len(plain.split("\n")[0]) == 72
    assert "\x1b" not in on_a_terminal("analyze", CASE, TERM="dumb")


@pytest.mark.seconds
def test_a_pipe_gets_plain_text_unless_forced() -> None:
    assert "\x1b" not in forensics("analyze", CASE).stdout
    assert "\x1b[" in forensics("analyze", CASE, FORCE_COLOR="1").stdout
    assert "\x1b" not in forensics("analyze", CASE, FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.seconds
def test_a_file_gets_plain_text(tmp_path: Path) -> None:
    on_a_terminal("analyze", CASE, "-o", str(tmp_path / "r.txt"))
    assert "\x1b" not in (tmp_path / "r.txt").read_text()


@pytest.mark.parametrize("command", ["analyze", "stdin", "batch", "report"])
def test_help_shows_examples(command: str) -> None:
    said = forensics(command, "--help").stdout
    assert "Examples:" in said
    assert said.count(f"forensics {command} ") >= 3


def test_completion_is_one_command() -> None:
    said = forensics("--help").stdout
    assert "--install-completion" in said
    done = forensics(_FORENSICS_COMPLETE="source_bash")
    assert "complete" in done.stdout + done.stderr
