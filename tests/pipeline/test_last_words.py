"""What the last line of a job's log tells, and what a row of sacct does. The forms are those of logging, loguru, glog and Slurm."""

from collections.abc import Callable

import pytest

from forensics.database import HEALTHY
from forensics.model import Report

Analyze = Callable[..., Report]
WORK = "".join(f"2026-11-30 22:42:1{i},773 INFO trainer: epoch {i} val_acc 0.{i}\n" for i in range(1, 6))
QUIET = "2026-11-30 22:42:14,773 INFO trainer: reading the manifest\n2026-11-30 22:42:15,773 INFO trainer: 14 shards\n"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "last",
    [
        "2026-11-30 22:42:18,781 [ERROR] trainer: aborting",
        "2026-11-30 22:42:18 | ERROR    | trainer:main:12 - shard 7 is gone",
        "E1130 22:42:18.781000 12345 trainer.cc:12] shard 7 is gone",
        "2026-11-30 22:42:18,781 CRITICAL trainer: cannot continue",
        "exit 1",
        "rc=124",
        "exit code: 3",
        "EXIT=1",
    ],
)
def test_a_program_at_work_ended_with_its_error_or_status(analyze: Analyze, last: str) -> None:
    report = analyze(train_log=f"{WORK}{last}\n")
    assert report.verdict != "no_crash"
    assert report.subject is not None
    assert any(last in line for line in report.subject.outcome_lines) or "exit status" in report.subject.why


@pytest.mark.seconds
def test_where_nothing_was_counted_an_error_record_at_the_end_leaves_it_open(analyze: Analyze) -> None:
    report = analyze(train_log=f"{QUIET}2026-11-30 22:42:16,781 ERROR trainer: shard 7 is gone\n")
    assert (report.verdict, report.causes[0].id) == ("undetermined", HEALTHY)
    assert report.causes[0].evidence[0].line == 3
    assert any("signatures new" in q.command for q in report.missing)


@pytest.mark.seconds
def test_one_of_many_errors_of_requests_ends_nothing(analyze: Analyze) -> None:
    request = "2026-11-30 22:42:16,781 ERROR api: request 7 failed: no such key\n" + QUIET
    assert analyze(train_log=QUIET + request * 12 + request.splitlines()[0] + "\n").verdict == "no_crash"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ("done best 0.7281 saved /tmp/best_0.pt", "ended_well"),
        ("saved model to out.pt", "ended_well"),
        ("finished, best loss 0.72", "ended_well"),
        ("finished loading the cache", "unknown"),
        ("Saved checkpoint ckpt-200.pt", "unknown"),
        ("2026-11-30 22:42:18,773 INFO trainer: epoch 6 val_acc 0.6", "cut_off"),
    ],
)
def test_a_log_breaks_off_only_where_its_last_line_is_of_the_work(analyze: Analyze, last: str, outcome: str) -> None:
    report = analyze(train_log=f"{WORK}{last}\n")
    assert report.subject is not None
    assert (report.verdict, report.subject.outcome) == ("no_crash", outcome)


@pytest.mark.seconds
def test_saved_is_no_end_while_the_count_is_short(analyze: Analyze) -> None:
    counted = "".join(f"Epoch {i}/9 loss 0.{9 - i}\n" for i in range(1, 4))
    assert analyze(train_log=f"{counted}saved model to out.pt\n").verdict == "undetermined"


STATES = {
    "OUT_OF_MEMORY": "host_memory.oom_cgroup",
    "CANCELLED": "stopped.user",
    "TIMEOUT": "stopped.time_limit",
    "DEADLINE": "stopped.time_limit",
    "PREEMPTED": "stopped.preempted",
    "NODE_FAIL": "distributed.peer_lost",
    "BOOT_FAIL": "distributed.peer_lost",
    "FAILED": "code.exception",
}
JSON = '{{\n  "jobs": [\n    {{\n      "job_id": 4711,\n      "state": {{\n        "current": [\n          "{}"\n        ]\n      }}\n    }}\n  ]\n}}\n'
RULE = "------------ ---------- ---------- ---------- --------"


@pytest.mark.seconds
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", ["gpu", "cuda", "cpu"])
def test_a_state_of_sacct_counts_whatever_names_stand_beside_it(analyze: Analyze, state: str, name: str) -> None:
    code = {"OUT_OF_MEMORY": "0:125", "FAILED": "3:0"}.get(state, "0:0")
    rows = [f"4711|{name}_fit|{state}|{code}|{name}-07|gres/{name}=1", f"4711.extern|extern|COMPLETED|0:0|{name}-07|"]
    told = analyze(sacct_txt="\n".join(["JobID|JobName|State|ExitCode|NodeList|AllocTRES", *rows, ""]))
    cut = f"{state[:9]}+" if len(state) > 10 else state
    wide = [f"{'4711':<12} {name + '-fit':>10} {name:>10} {cut:>10} {code:>8} "]
    head = f"{'JobID':<12} {'JobName':>10} {'Partition':>10} {'State':>10} {'ExitCode':>8} "
    table = analyze(sacct_txt="\n".join([head, RULE, *wide, ""]))
    for report in (told, table, analyze(sacct_json=JSON.format(state))):
        assert report.verdict != "no_crash"
        assert report.causes[0].id == STATES[state]
    for report in (told, table):
        assert not any("kubectl" in c for r in report.causes[0].remediations for c in r.commands)


DESCRIPTION = """Name:             trainer-0
Namespace:        research
Containers:
  main:
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Exit Code:    1
      Started:      Mon, 30 Nov 2026 22:31:46 +0000
      Finished:     Mon, 30 Nov 2026 22:31:48 +0000
    Ready:          False
    Restart Count:  12
"""
PREVIOUS = """2026-11-30 22:31:48,647 INFO starting
Traceback (most recent call last):
  File "/app/fit.py", line 4, in <module>
    open("/models/ckpt-000.bin", "wb")
FileNotFoundError: [Errno 2] No such file or directory: '/models/ckpt-000.bin'
"""
EVICTED = """Name:             trainer-1
Namespace:        research
Status:           Failed
Reason:           Evicted
Message:          The node was low on resource: memory. Threshold quantity: 100Mi, available: 88Mi. Container main was using 1924152Ki, request is 0.
"""


@pytest.mark.seconds
def test_the_pod_of_a_description_is_told_beside_the_error_of_its_log(analyze: Analyze) -> None:
    first = analyze(describe_txt=DESCRIPTION, previous_log=PREVIOUS).causes[0]
    assert first.id == "data.missing"
    assert "pod research/trainer-0, container main (exit status 1, 12 restarts, CrashLoopBackOff)" in first.where
    said = " ".join(f"{r.action} {' '.join(r.commands)}" for r in first.remediations)
    assert not any(words in said for words in ("apptainer", "put the data at", "Fetch or unpack"))
    assert analyze(describe_txt=EVICTED, previous_log=PREVIOUS).causes[0].where  # a pod that has no exit status


@pytest.mark.seconds
def test_a_machine_is_told_whether_its_hardware_is_sick(analyze: Analyze) -> None:
    boot = "".join(f"[    {i}.000000] usb 1-{i}: new high-speed USB device number {i} using xhci_hcd\n" for i in range(1, 9))
    kill = "[ 3010.693327] Out of memory: Killed process 24488 (python) total-vm:3549296kB, anon-rss:611088kB, file-rss:0kB\n"
    fault = "[   12.000000] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Channel#1_DIMM#0 (channel:1 slot:0 page:0x12 offset:0x0)\n"
    assert "no known hardware fault" in analyze(dmesg_txt=boot + kill).causes[0].summary
    sick = analyze(dmesg_txt=boot + fault + kill).causes[0]
    assert "no known hardware fault" not in sick.summary


@pytest.mark.seconds
@pytest.mark.parametrize("end", ["", "exit status 3\n", "Exited with code 7\n", "rc=124\n"])
@pytest.mark.parametrize(
    "message",
    [
        "2026-11-30 22:42:16,781 quasar CRITICAL QZ-209 lease of tile-set 'north' failed (owner node 17, 4 renewals)",
        "zephyr: FATAL ledger 9 is not sealed",
    ],
)
def test_the_line_of_an_unknown_message_is_given_with_the_command_that_teaches_it(
    analyze: Analyze, message: str, end: str
) -> None:
    report = analyze(train_log=f"{QUIET}{message}\n{end}")
    assert any(q.command.startswith("forensics signatures new FAMILY.CAUSE ") and "3 --into" in q.command for q in report.missing)


@pytest.mark.seconds
def test_a_known_message_is_not_taught_again(analyze: Analyze) -> None:
    report = analyze(train_log=f"{QUIET}ModuleNotFoundError: No module named 'quasar'\nexit status 1\n")
    assert not any("signatures new" in q.command for q in report.missing)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("stamp", "since"),
    [
        ("2026-12-01 00:01:07,213", "2026-11-30 23:59:07"),  # of the machine's own zone
        ("2026-12-01T00:01:07+02:00", "2026-11-30 21:59:07 UTC"),
        ("", "TIME - 2 min"),
    ],
)
def test_a_command_names_the_time_that_is_known(analyze: Analyze, stamp: str, since: str) -> None:
    log = f"{stamp} step 7\n{stamp} [W] Received 15 death signal, shutting down workers\n".replace("\n ", "\n").lstrip()
    report = analyze(train_log=f"{log}SignalException: Process 31898 got signal: 15\n")
    assert f'journalctl --since "{since}" --until "' in " ".join(q.command for q in report.missing)
