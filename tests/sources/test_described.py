"""A pod's description and its container's log in one text. Both are made for these tests."""

from pathlib import Path

import pytest

import forensics
from forensics.sources import open_paths
from tests.sources.helpers import read_source

DESCRIPTION = """\
Name:             trainer-0
Namespace:        ml
Node:             gpu-04/10.0.0.14
Start Time:       Mon, 05 Jan 2026 10:10:58 +0000
Status:           Running
Containers:
  trainer:
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Exit Code:    1
      Started:      Mon, 05 Jan 2026 10:11:10 +0000
      Finished:     Mon, 05 Jan 2026 10:11:14 +0000
    Restart Count:  5
QoS Class:                   BestEffort
Node-Selectors:              <none>
Events:
  Type     Reason     Age                From      Message
  ----     ------     ----               ----      -------
  Warning  BackOff    10s (x15 over 4m)  kubelet   Back-off restarting failed container trainer in pod trainer-0_ml
"""
LOG = """\
2026-01-05 10:11:12 INFO loading data from /data/train
2026-01-05 10:11:13 INFO found 12 shards
Traceback (most recent call last):
  File "/app/train.py", line 61, in main
    cfg = load_config(args.config)
  File "/app/config.py", line 14, in load_config
    raise ValueError("config has no section 'optimizer'")
ValueError: config has no section 'optimizer'
"""


def parts(folder: Path, text: str) -> dict[str, list[tuple[int, str]]]:
    file = folder / "ticket.txt"
    file.write_text(text)
    found = (read_source(source, []) for source in open_paths([file], lambda _w: None))
    return {part.name.removeprefix(f"{folder}/"): part.numbered for part in found}


@pytest.mark.parametrize("asked", ["", "$ kubectl describe pod trainer-0\n", "\n\n"])
def test_the_description_is_a_part_of_its_own_with_the_numbers_of_the_whole(tmp_path: Path, asked: str) -> None:
    found = parts(tmp_path, LOG + asked + DESCRIPTION + "$ exit\n")
    assert [*found] == ["ticket.txt", "ticket.txt!describe"]
    assert [line for _, line in found["ticket.txt!describe"]] == DESCRIPTION.splitlines()
    first = found["ticket.txt!describe"][0][0]
    assert first == (LOG + asked).count("\n") + 1
    assert found["ticket.txt"][:8] == [*enumerate(LOG.splitlines(), 1)]
    assert found["ticket.txt"][-1] == (first + DESCRIPTION.count("\n"), "$ exit")


def test_two_descriptions_in_front_of_a_log_are_one_part(tmp_path: Path) -> None:
    found = parts(tmp_path, DESCRIPTION + DESCRIPTION.replace("trainer-0", "trainer-1") + LOG)
    assert len(found["ticket.txt!describe"]) == 2 * DESCRIPTION.count("\n")
    assert [line for _, line in found["ticket.txt"]] == LOG.splitlines()


@pytest.mark.parametrize(
    "text", [DESCRIPTION, "$ kubectl describe pod trainer-0\n\n" + DESCRIPTION, LOG, LOG + "Namespace: ml\n"]
)
def test_what_has_not_both_stays_whole(tmp_path: Path, text: str) -> None:
    assert [*parts(tmp_path, text)] == ["ticket.txt"]


@pytest.mark.parametrize("text", [LOG + DESCRIPTION, DESCRIPTION + LOG])
def test_what_the_program_said_is_the_cause_and_the_state_what_followed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ticket.txt"
    file.write_text(text)
    found = forensics.analyze([file])
    assert found.causes[0].evidence[0].text.startswith("ValueError: config has no section")
