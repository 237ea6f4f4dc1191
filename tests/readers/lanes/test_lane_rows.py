"""Whose line each one is, by what stands in front of it. All lines are made for these tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database
from forensics.readers.lanes.lane_rows import MAIN_PROGRAM, lane_key, lane_kind, rows_by_lane
from tests.outcome.made import lanes_of, scan_of


@pytest.mark.parametrize(
    ("line", "key"),
    [
        pytest.param("Aug 22 03:00:07 node-7 sshd[771]: error: no route", ("unit", "sshd"), id="syslog"),
        pytest.param("<30>Aug  2 03:00:07 node-7 cron[9]: (root) CMD (true)", ("unit", "cron"), id="syslog with priority"),
        pytest.param("2025-08-22T03:00:07.1+02:00 node-7 dockerd[5]: msg", ("unit", "dockerd"), id="journal, ISO times"),
        pytest.param("Aug 22 03:00:07 node-7 systemd[1]: Started Session 4.", ("unit", "systemd"), id="journal"),
        pytest.param("Aug 22 03:00:07 node-7 kernel: Out of memory: Killed process 7", ("kernel", ""), id="kernel by syslog"),
        pytest.param("Aug 22 03:00:07 n /usr/sbin/slurmd[5]: error: x", ("unit", "slurmd"), id="a program with its path"),
        pytest.param("[11686.888109] Out of memory: Killed process 4242", ("kernel", ""), id="dmesg"),
        pytest.param("<6>[    0.000000] Linux version 6.1", ("kernel", ""), id="dmesg with priority"),
        pytest.param("kern  :warn  : [   12.100000] nvme nvme0: I/O", ("kernel", ""), id="dmesg --decode"),
        pytest.param("[   12.100000][ T1234] task is hung", ("kernel", ""), id="dmesg with its caller"),
        pytest.param("6,1234,5678901,-;usb 1-1: new device", ("kernel", ""), id="kmsg"),
        pytest.param("[rank3]: RuntimeError: x", ("rank", "3"), id="torchrun"),
        pytest.param("[default0]: step 1", ("rank", "0"), id="torchrun with its role"),
        pytest.param("[1,12]<stderr>:step 1", ("rank", "12"), id="mpirun"),
        pytest.param("(Trainer pid=4711) step 1", ("process", "Trainer 4711"), id="Ray's task"),
        pytest.param("(Actor rank=2, pid=4711, ip=10.0.0.7) x", ("process", "Actor 4711"), id="Ray's actor with a rank"),
        pytest.param("\x1b[36m(Trainer pid=4711)\x1b[0m step 1", ("process", "Trainer 4711"), id="Ray in colours"),
        pytest.param("6m1s   Warning   Failed   pod/fit-0   Error: x", ("kubectl", "pod/fit-0"), id="kubectl get events"),
        pytest.param("ml  3m (x5 over 9m)  Normal  Pulled  pod/a  x", ("kubectl", "pod/a"), id="events of all namespaces"),
        pytest.param("  Warning  BackOff  2m  kubelet  Back-off", None, id="events of kubectl describe"),
        pytest.param("Epoch 3/10 loss 0.41", None, id="a program's own line"),
        pytest.param("2025-08-22T03:00:07 ERROR train: lost", None, id="a logger's line is none of syslog"),
        pytest.param("[2025-08-22 03:00:07] step 1", None, id="a stamp in brackets"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_prefix_of_a_line_names_its_writer(line: str, key: tuple[str, str] | None) -> None:
    assert lane_key(line.encode()) == key


@pytest.mark.parametrize(
    "front",
    [
        "2026-01-05T10:11:12.345678901Z ",
        "2026-01-05T10:11:12.345678Z 01O ",
        "[2026-01-05T10:11:12.345Z] ",
        "2026-01-05T10:11:12Z\t",
    ],
)
def test_what_a_collector_writes_in_front_hides_no_rank_and_makes_no_program(front: str) -> None:
    assert lane_key(f"{front}[rank3]: KeyError: 'lr'".encode()) == ("rank", "3")
    assert lane_key(f"{front}KeyError: 'lr'".encode()) is None


def test_a_redrawn_progress_bar_has_one_template_whatever_its_numbers() -> None:
    """By its form a line is known to repeat, so that a program is known to work on."""
    bars = "Epoch one  3%\rEpoch one 40% 3/9 done\nEpoch one  4%\rEpoch one 71% 7/9 done\n"
    assert rows_by_lane(scan_of(bars), "")[MAIN_PROGRAM].templates == [b"Epoch one done"] * 2
    (row,) = rows_by_lane(scan_of("first frame\rsecond frame\rEpoch one 71% done\r\n"), "")[MAIN_PROGRAM]
    assert (row.template, row.text()) == (b"Epoch one done", "Epoch one 71% done")


def test_a_number_in_front_is_a_rank_only_where_srun_labels_lines() -> None:
    assert lane_key(b" 3: step 1") is None
    assert lane_key(b" 3: step 1", ranks=True) == ("rank", "3")
    assert lane_key(b"   3: core::panicking::panic_fmt", ranks=True) is None
    labelled = "0: step 1 of the training\n1: step 1 of the training\n0: step 2 of it\n1: step 2 of it\n"
    assert rows_by_lane(scan_of(labelled), "").keys() == {("rank", "0"), ("rank", "1")}
    once = "reading the list of files\n3: the third of them\n" + "step of the training\n" * 9
    assert rows_by_lane(scan_of(once), "").keys() == {("job", "")}


@pytest.mark.parametrize(
    ("name", "source_format", "layout", "kind"),
    [
        ("dmesg.log", "dmesg -T", "", "kernel"),
        ("a.log", None, "kernel", "kernel"),
        ("kern.log", None, "talos", "kernel"),
        ("a.log", "journal", "", "service"),
        ("a.log", None, "syslog", "service"),
        ("nb.ipynb", "notebook", "", "notebook"),
        ("a.log", None, "jupyter", "notebook"),
        ("n1/slurmd.log", None, "syslog", "scheduler"),
        ("slurmdata.log", None, "", "job"),
        ("train.log", None, "logging", "job"),
    ],
)
def test_lines_without_a_prefix_belong_to_the_files_own_program(
    name: str, source_format: str | None, layout: str, kind: str
) -> None:
    assert lane_kind(MAIN_PROGRAM, scan_of("x\n", name, source_format), layout) == kind


@given(st.binary(max_size=200))
def test_any_bytes_have_a_writer_or_none(raw: bytes) -> None:
    assert lane_key(raw, ranks=True) is None or len(lane_key(raw, ranks=True) or ()) == 2


def test_a_hosts_log_is_split_by_program(knowledge: Database) -> None:
    text = (
        "Aug 22 03:00:07 n kernel: usb 1-1: reset\nAug 22 03:00:08 n slurmd[5]: launching a job\n"
        "Aug 22 03:00:09 n slurmd[5]: done with the job\nAug 22 03:00:10 n containerd[6]: shim started\n"
        "Aug 22 03:00:11 n chronyd[7]: synchronised\n"
    )
    found = lanes_of(text, knowledge, layout="syslog")
    kinds = {name: (lane.kind, lane.digest.lines) for name, lane in found.items()}
    assert kinds == {
        "unit slurmd": ("scheduler", 2),
        "kernel": ("kernel", 1),
        "unit containerd": ("runtime", 1),
        "unit chronyd": ("service", 1),
    }


def test_ranks_are_lanes_of_a_job_and_what_has_no_prefix_is_the_launchers(knowledge: Database) -> None:
    text = "launching two workers\n[rank0]: step 1 of it\n[rank1]: step 1 of it\n[rank1]: step 2 of it\n"
    found = lanes_of(text, knowledge)
    assert {name: lane.kind for name, lane in found.items()} == {"rank 1": "job", "rank 0": "job", "job train.log": "job"}
    assert next(iter(found)) == "rank 1", "the lane with most lines comes first"


def test_a_hosts_log_that_begins_in_the_midst_of_a_record_is_read(knowledge: Database) -> None:
    text = "the rest of a record\nAug 22 03:00:07 n app[5]: started\n"
    found = lanes_of(text, knowledge, layout="syslog")
    assert {n: x.digest.lines for n, x in found.items()} == {"job train.log": 1, "unit app": 1}


def test_a_line_without_a_head_goes_on_with_the_one_before_it(knowledge: Database) -> None:
    text = "Aug 22 03:00:07 n app[5]: Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'\n"
    assert lanes_of(text, knowledge, layout="syslog")["unit app"].digest.lines == 3
    text = "[rank0]: Traceback (most recent call last):\n  goes on here\nthe launcher says this\n[rank1]: step\n"
    assert {n: x.digest.lines for n, x in lanes_of(text, knowledge).items()} == {"rank 0": 2, "job train.log": 1, "rank 1": 1}


def test_a_notebook_and_a_schedulers_daemon_are_what_they_are(knowledge: Database) -> None:
    assert lanes_of("In [1]:\nfit()\n", knowledge, source_format="notebook")["job train.log"].kind == "notebook"
    scan = scan_of("error: cannot reach the controller\n", name="var/log/slurm/slurmd.log")
    from forensics.outcome import line_classes, split_lanes

    assert split_lanes(scan, "", (), line_classes(knowledge))[0][0].kind == "scheduler"
