"""Which cell runs, and what is said of a death: plain functions, no Jupyter needed."""

import json
import re
from typing import Any

import pytest

from forensics.adapters.jupyter.message import death_message
from forensics.adapters.jupyter.running_cell import OWN_SESSION, RunningCell
from forensics.api import Report

REQUEST = {"msg_id": "r1", "msg_type": "execute_request", "session": "s"}
FACTS = {
    "pid": 1917, "status": "was ended by signal 9 (SIGKILL)", "time": "2026-11-22T18:00:00+00:00", "bundle": "/b/x", "count": 12,
    "line": 0, "code": "df = load('<all>')", "link": "/user/ada/forensics/deaths/x", "again": "Run it again",
}  # fmt: skip


def message(kind: str, content: dict[str, Any], parent: dict[str, Any] = REQUEST, topic: bytes = b"kernel.1.") -> list[bytes]:
    parts = [{"msg_type": kind, "msg_id": "m"}, parent, {}, content]
    return [topic + kind.encode(), b"<IDS|MSG>", b"", *(json.dumps(p).encode() for p in parts)]


def test_the_running_cell_is_the_one_between_busy_and_idle() -> None:
    cell = RunningCell()
    cell.take(message("status", {"execution_state": "busy"}))
    cell.take(message("execute_input", {"code": "# load\n\ndf = load()\n", "execution_count": 12}))
    cell.take(message("stream", {"name": "stdout", "text": "reading\n"}, topic=b"stream.stdout."))
    assert cell.now is not None
    assert (cell.now.number, cell.now.code, cell.printed()) == (12, "# load\n\ndf = load()\n", "reading\n")
    cell.take(message("status", {"execution_state": "idle"}))
    assert cell.now is None


def test_a_request_counts_where_the_kernel_died_before_it_could_say_a_word() -> None:
    cell = RunningCell()
    second = {**REQUEST, "msg_id": "r2"}
    cell.requested(REQUEST, "import os; os._exit(7)")
    cell.requested(second, "1 + 1")
    assert cell.now is not None
    assert cell.now.request == REQUEST
    cell.take(message("status", {"execution_state": "idle"}))
    assert cell.now is not None
    assert cell.now.request == second


def test_a_request_that_is_noted_late_names_the_cell_that_runs_and_none_that_is_over() -> None:
    cell = RunningCell()
    cell.take(message("status", {"execution_state": "busy"}))
    cell.requested(REQUEST, "train()")
    assert cell.now is not None
    assert cell.now.code == "train()"
    cell.take(message("status", {"execution_state": "idle"}))
    cell.requested(REQUEST, "train()")
    assert cell.now is None


@pytest.mark.parametrize("frames", [[], [b"x"], [b"t", b"<IDS|MSG>", b"", b"{", b"{}", b"{}", b"{}"], [b"t", b"<IDS|MSG>", b""]])
def test_bytes_that_are_no_message_are_ignored(frames: list[bytes]) -> None:
    cell = RunningCell()
    cell.take(frames)
    assert cell.now is None


def test_a_request_of_this_program_is_no_cell() -> None:
    cell = RunningCell()
    cell.take(message("status", {"execution_state": "busy"}, {**REQUEST, "session": OWN_SESSION}))
    assert cell.now is None


def test_only_an_execute_request_makes_a_cell_run() -> None:
    cell = RunningCell()
    cell.take(message("status", {"execution_state": "busy"}, {"msg_id": "i", "msg_type": "kernel_info_request"}))
    assert cell.now is None


def test_the_message_tells_cause_cell_ways_out_and_where_the_report_is(analyze: Any) -> None:
    kill = (
        "kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/job,task_memcg=/job,"
        "task=python,pid=1917,uid=0\nkernel: Memory cgroup out of memory: Killed process 1917 (python) total-vm:9kB, "
        "anon-rss:444796kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n"
    )
    told = death_message(Report.of(analyze(dmesg=kill)), FACTS)
    lines = told["text"].splitlines()
    assert lines[0].startswith("The kernel died: A memory limit was hit (")
    at = lines.index("Cell [12] was running:")
    assert lines[at + 1 : at + 3] == ["    df = load('<all>')", "Its variables are gone. Run it again."]
    assert lines[-1] == "The full report: /user/ada/forensics/deaths/x or forensics why /b/x"
    assert "&lt;all&gt;" in told["html"]
    assert "<all>" not in told["html"]
    assert told["metadata"]["forensics"]["cause"] == "host_memory.oom_cgroup"
    assert "\n" not in told["error"]


def test_clicks_are_hidden_until_a_front_end_that_runs_them_shows_them_and_only_a_server_has_them() -> None:
    told = death_message(None, FACTS)["html"]
    buttons = re.findall("<button [^>]*style='([^']*)'", told)
    assert len(buttons) == 2 and all(style.startswith("display:none") for style in buttons)
    assert "<script" not in told
    assert "<button" not in death_message(None, FACTS | {"link": ""})["html"]


def test_where_nothing_says_why_no_cause_is_named() -> None:
    told = death_message(None, FACTS | {"link": "", "code": "", "count": 0, "again": ""})
    assert told["text"].startswith("The kernel died: its process was ended by signal 9 (SIGKILL)\n")
    assert told["metadata"]["forensics"]["cause"] is None
    assert "forensics why /b/x" in told["html"]
