"""`forensics k8s POD`: against what kubectl answered, and, where kubectl is installed, against a server through kubectl itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from forensics.adapters.kubernetes.answer import status_sentences
from forensics.report.short import CUT_NOTE, cut_to
from tests.adapters.kubernetes import stub_api
from tests.commandline import in_text as forensics

RECORDED = Path(__file__).with_name("recorded.json")
FIRST = {  # pod -> verdict, first cause, words of the answer
    "oom-0": ("crash", "host_memory.oom_cgroup", "OOMKilled, exit code 137 (signal 9), restarted 2 times"),
    "exception-0": ("crash", "code.exception", "learning_rate"),
    "waiting-0": ("undetermined", "", "not scheduled: 0/3 nodes are available"),
    "evicted-0": ("crash", "host_memory.oom_daemon", "Evicted"),
    "healthy-0": ("no_crash", "none.healthy", "Completed, exit code 0"),
}


@pytest.fixture
def kubectl(tmp_path: Path) -> str:
    """PATH with a kubectl that replays."""
    return f"{stub_api.replaying(tmp_path, RECORDED)}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.seconds
@pytest.mark.parametrize("pod", FIRST)
def test_the_first_cause_of_a_pod_and_what_kubernetes_says_of_it(pod: str, kubectl: str) -> None:
    done = forensics("k8s", pod, "-n", "research", "--context", "stub", "-f", "json", PATH=kubectl)
    assert not done.returncode, done.stderr
    report = json.loads(done.stdout)
    verdict, cause, words = FIRST[pod]
    assert report["verdict"] == verdict
    assert report["causes"][0]["id"].startswith(cause)
    assert words in done.stdout
    assert report["case"] == f"pod {pod}"


@pytest.mark.seconds
def test_the_text_begins_with_what_kubernetes_says(kubectl: str) -> None:
    done = forensics("k8s", "pod/oom-0", "-n", "research", "--context", "stub", "--exit-code", PATH=kubectl)
    assert done.returncode == 1
    assert done.stdout.startswith("pod research/oom-0: Running on gpu-node-3\ncontainer main: running; before that ended")
    assert "main.previous.log" in done.stdout


@pytest.mark.seconds
def test_what_kubectl_may_not_read_is_told_and_the_rest_is_analysed(kubectl: str) -> None:
    done = forensics("k8s", "exception-0", "-n", "research", "--context", "stub", PATH=kubectl)
    assert 'nodes "forbidden-node" is forbidden' in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("pod", "line"),
    [
        ("absent-0", 'pods "absent-0" not found'),
        ("--all", ""),
        ("a;b", "not the name of a pod"),
        ("A_b", "not the name of a pod"),
    ],
)
def test_a_missing_pod_is_one_line_and_status_2(pod: str, line: str, kubectl: str) -> None:
    done = forensics("k8s", pod, "-n", "research", "--context", "stub", PATH=kubectl)
    assert done.returncode == 2
    assert line in done.stderr
    assert not done.stdout


def test_without_kubectl_it_says_so(tmp_path: Path) -> None:
    done = forensics("k8s", "train-0", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "kubectl is not installed here" in done.stderr


def test_a_container_that_waits_is_told_with_its_reason() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image\nmore"}}
    said = list(status_sentences(stub_api.pod("x", waiting)))
    assert said[1] == "container main: waiting, ImagePullBackOff, Back-off pulling image"


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
@pytest.mark.seconds
def test_the_recorded_answers_are_those_of_kubectl_today(tmp_path: Path) -> None:
    stub_api.record(tmp_path / "again.json")
    again, kept = (json.loads(path.read_text()) for path in (tmp_path / "again.json", RECORDED))
    assert set(again) == set(kept)
    assert [again[k][0] for k in sorted(again)] == [kept[k][0] for k in sorted(kept)]
    logs = [k for k in again if " logs " in k]
    assert logs
    assert {k: again[k][1] for k in logs} == {k: kept[k][1] for k in logs}


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
@pytest.mark.seconds
def test_context_and_namespace_reach_the_server_through_kubectl(tmp_path: Path) -> None:
    with stub_api.serving(tmp_path) as config, mock.patch.dict(os.environ, {"KUBECONFIG": str(config), "HOME": str(tmp_path)}):
        done = forensics("k8s", "exception-0", "-n", "research", "--context", "stub", "-f", "json")
        wrong = forensics("k8s", "exception-0", "--context", "other")
    assert json.loads(done.stdout)["causes"][0]["id"] == "code.exception"
    assert wrong.returncode == 2
    assert "other" in wrong.stderr


def test_a_short_report_is_cut_at_a_line_and_counts_bytes() -> None:
    text = "".join(f"zeile {i} größer\n" for i in range(500))
    for most in (200, 4096, 4097):
        short = cut_to(text, most)
        assert len(short.encode()) <= most
        assert short.endswith(CUT_NOTE)
        assert text.startswith(short.removesuffix(CUT_NOTE))
    assert cut_to(text, 1 << 20) == text


@pytest.mark.seconds
def test_an_entry_point_leaves_its_report_in_the_termination_file(tmp_path: Path) -> None:
    """The file is there in every container of a pod; elsewhere nothing is written."""
    message, absent = tmp_path / "termination-log", tmp_path / "absent"
    message.touch()
    train = tmp_path / "train.py"
    train.write_text("print('ü' * 3000)\nfor i in range(40): print('step', i)\n{}['learning_rate']\n")
    for place in (message, absent):
        done = subprocess.run(
            [sys.executable, "-m", "forensics", "run", "--quiet", "--", sys.executable, str(train)],
            env={**os.environ, "FORENSICS_TERMINATION_FILE": str(place), "XDG_STATE_HOME": str(tmp_path / "state")},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
    said = message.read_bytes()
    assert 0 < len(said) <= 4096
    assert said.decode().splitlines()[0].split("   ")[:2] == ["The program stopped with an error", "code.exception"]
    assert b"learning_rate" in said
    assert not absent.exists()
