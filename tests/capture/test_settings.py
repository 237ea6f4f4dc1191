"""What the configuration says of captured runs: in force unless the command line says something else."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from forensics.capture.bundle import state_folder
from forensics.capture.options import Options
from forensics.cli import run
from forensics.cli.app import build


@pytest.mark.parametrize(
    ("typed", "keep", "stall_s"),
    [((), "always", 60.0), (("--keep", "never"), "never", 60.0), (("--stall", "2m"), "always", 120.0)],
)
def test_the_command_line_outranks_the_file(
    typed: tuple[str, ...], keep: str, stall_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Options] = []
    monkeypatch.setattr(run.os, "execv", lambda _program, words: given.append(Options.from_json(words[5], words[6:])))
    monkeypatch.setattr(run.signal, "pthread_sigmask", lambda *_: set())
    monkeypatch.setenv("FORENSICS_CONFIG", str(tmp_path / "c.yaml"))
    monkeypatch.setenv("FORENSICS_RUNS", "")
    monkeypatch.delenv("FORENSICS_RUNS")
    (tmp_path / "c.yaml").write_text("capture: {keep: always, stall: 1m, folder: runs, on_crash: 'mail {bundle}'}\n")
    assert CliRunner().invoke(build(), ["run", *typed, "--", "true", "--keep", "crash"]).exit_code == 0
    assert (given[0].keep, given[0].stall_s, given[0].on_crash) == (keep, stall_s, "mail {bundle}")
    assert given[0].command == ["true", "--keep", "crash"]
    assert state_folder() == str(tmp_path / "runs")
