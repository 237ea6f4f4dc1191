"""A pod in CrashLoopBackOff beside the log of its container: what the program said itself is told, and the state followed from it.

captured/: node -e 'require("express")' and a refused connection (Node.js 20), nginx 1.22 with an unknown upstream, `log.Fatalf` of
Go 1.19, bash with a binary of another processor, a Python program and a script of sh that give up with a sentence of their own.
"""

import json
from pathlib import Path

import pytest

from forensics import analyze
from forensics.database import Database
from forensics.model import Report
from tests.adapters.kubernetes.test_k8s import RECORDED

CAPTURED = Path(__file__).parent / "captured"
SLURM = "4711                fit        gpu      team           8     FAILED      1:0 \n"


def described(status: int) -> str:
    answers = json.loads(RECORDED.read_text())
    text: str = next(said for asked, (_, said, _) in answers.items() if asked.endswith("describe pod oom-0"))
    waiting = text.replace("State:          Running", "State:          Waiting\n      Reason:       CrashLoopBackOff")
    return waiting.replace("OOMKilled", "Error").replace("Code:    137", f"Code:    {status}")


def told(tmp_path: Path, log: str, status: int = 1, name: str = "fit.log") -> Report:
    (tmp_path / "describe.txt").write_text(described(status))
    (tmp_path / name).write_text((CAPTURED / log).read_text())
    return analyze(tmp_path, workers=1)


@pytest.mark.parametrize("name", ["fit.log", "fit.previous.log"])
@pytest.mark.parametrize(
    ("log", "status", "cause", "line"),
    [
        ("own.log", 1, "data.missing", "Error: config file not found: /etc/fit/config.yaml"),
        ("nodemod.log", 1, "code.import", "Error: Cannot find module 'express'"),
        ("noderej.log", 1, "distributed.network", "Error: connect ECONNREFUSED 127.0.0.1:5999"),
        ("execfmt.log", 126, "process.illegal_instruction", "cannot execute binary file: Exec format error"),
        ("nginx.log", 1, "code.config", 'host not found in upstream "backend-missing"'),
    ],
)
def test_the_reason_that_a_log_tells_stands_before_the_state_of_its_pod(
    tmp_path: Path, log: str, status: int, cause: str, line: str, name: str, knowledge: Database
) -> None:
    first = told(tmp_path, log, status, name).causes[0]
    assert first.id == cause and first.probability > 0.9
    assert line in first.evidence[0].text


@pytest.mark.parametrize(("log", "line"), [("ownsh.log", "DATABASE_URL is not set, giving up"), ("gofatal.log", "/etc/app.yaml")])
def test_of_a_message_that_nobody_knows_the_last_words_are_told_with_the_state(
    tmp_path: Path, log: str, line: str, knowledge: Database
) -> None:
    first = told(tmp_path, log).causes[0]
    assert line in first.evidence[0].text and first.evidence[0].source.endswith("fit.log")
    assert "ends again and again" in first.summary and line in first.summary
    assert "not said here" not in first.summary
    assert "fit.log:2" in first.remediations[0].action or line in first.remediations[0].action


def test_the_same_holds_of_a_row_of_slurm(tmp_path: Path, knowledge: Database) -> None:
    (tmp_path / "sacct.txt").write_text("JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n" + SLURM)
    (tmp_path / "slurm-4711.out").write_text((CAPTURED / "ownsh.log").read_text())
    first = analyze(tmp_path, workers=1).causes[0]
    assert first.evidence[0].text == "DATABASE_URL is not set, giving up"
    assert "DATABASE_URL is not set" in first.summary


def test_without_a_log_the_state_is_all_that_is_told(tmp_path: Path, knowledge: Database) -> None:
    (tmp_path / "describe.txt").write_text(described(1))
    assert "not said here" in analyze(tmp_path, workers=1).causes[0].summary


def test_a_kill_that_kubernetes_tells_is_more_than_a_status(tmp_path: Path, knowledge: Database) -> None:
    """The log of a container that was killed for memory ends with an error that it printed before."""
    (tmp_path / "describe.txt").write_text(described(137).replace("Reason:       Error", "Reason:       OOMKilled"))
    (tmp_path / "fit.log").write_text((CAPTURED / "nodemod.log").read_text())
    assert analyze(tmp_path, workers=1).causes[0].id == "host_memory.oom_cgroup"
