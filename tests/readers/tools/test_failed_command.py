"""What a command said that a Python program called and that failed. The commands are run here, so their words are their own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]


def log_of(folder: Path, program: str) -> str:
    """What a program prints that is run in `folder`, with its steps in front."""
    (folder / "fit.py").write_text(f"import subprocess\nfor n in range(3): print('step', n, 'loss', 0.5)\n{program}\n")
    run = subprocess.run(
        [sys.executable, "-u", "fit.py"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
    )
    assert run.returncode == 1
    return run.stdout


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("program", "cause", "marked"),
    [
        ("subprocess.run(['tar', '-xf', 'shards.tar'], check=True)", "data.missing", "tar: shards.tar: Cannot open"),
        ("subprocess.run('cd . && cp last.pt old.pt', shell=True, check=True)", "data.missing", "cp: cannot stat 'last.pt'"),
        ("subprocess.check_call(['tar', '-xzf', 'fit.py'])", "data.corrupt", "gzip: stdin: not in gzip format"),
        ("subprocess.check_output(['tar', '--no-such-option'])", "code.exception", "tar: unrecognized option"),
    ],
)
def test_the_commands_own_error_is_the_cause(analyze: Analyze, tmp_path: Path, program: str, cause: str, marked: str) -> None:
    report = analyze(train_log=log_of(tmp_path, program))
    first = report.causes[0]
    assert (report.verdict, first.id) == ("crash", cause)
    assert first.evidence[0].text.startswith(marked)
    assert any("CalledProcessError" in p.text for p in first.evidence[1:])  # what follows from it
    assert marked in first.summary or cause != "data.missing"


@pytest.mark.seconds
def test_what_a_command_printed_before_it_worked_is_no_reason(analyze: Analyze, tmp_path: Path) -> None:
    told = "subprocess.run(['cp', 'a', 'b'])\nsubprocess.run([__import__('sys').executable, '-c', 'raise SystemExit(3)'], check=True)"
    first = analyze(train_log=log_of(tmp_path, told)).causes[0]
    assert "CalledProcessError" in first.evidence[0].text
