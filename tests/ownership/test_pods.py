"""Rows of `kubectl get events` on other pods of the namespace say nothing about the pod that is described."""

from pathlib import Path

from forensics import analyze

DESCRIBED = """\
Name:             train-0
Namespace:        research
Node:             gpu-node-3/10.0.0.7
Containers:
  main:
    Image:          registry/train:1
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Sun, 29 Nov 2026 10:21:40 +0000
      Finished:     Sun, 29 Nov 2026 10:29:03 +0000
    Restart Count:  3
    Limits:
      memory:  16Gi
"""
EVENTS = """\
LAST SEEN   TYPE      REASON             OBJECT       MESSAGE
9m40s       Warning   BackOff            pod/train-0  Back-off restarting failed container main in pod train-0
12m         Warning   FailedScheduling   pod/{pod}    0/12 nodes are available: 12 Insufficient nvidia.com/gpu.
"""


def told(folder: Path, pod: str) -> tuple[str, float, list[str]]:
    (folder / "describe.txt").write_text(DESCRIBED)
    (folder / "events.txt").write_text(EVENTS.format(pod=pod))
    causes = analyze(folder).causes
    return causes[0].id, causes[0].probability, [c.id for c in causes[1:]]


def test_a_pod_that_finds_no_node_is_no_rival_of_another_one_that_was_killed(tmp_path: Path) -> None:
    cause, probability, others = told(tmp_path, "eval-7")
    assert (cause, "gpu_driver.unavailable" in others) == ("host_memory.oom_cgroup", False)
    assert probability > 0.9


def test_a_row_of_the_same_pod_counts(tmp_path: Path) -> None:
    assert "gpu_driver.unavailable" in told(tmp_path, "train-0")[2]


def test_the_pod_is_named_and_not_the_file_that_describes_it(tmp_path: Path) -> None:
    told(tmp_path, "eval-7")
    assert analyze(tmp_path / "describe.txt").to_text().splitlines()[1].startswith(("pod train-0 ", "in pod train-0 "))
