"""A pod is called by its name, and not by the file that describes it."""

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


def test_the_pod_is_named_and_not_the_file_that_describes_it(tmp_path: Path) -> None:
    (tmp_path / "describe.txt").write_text(DESCRIBED)
    assert analyze(tmp_path / "describe.txt").to_text().splitlines()[1].startswith(("pod train-0 ", "in pod train-0 "))
