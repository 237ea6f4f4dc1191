"""Trouble whose end the same log tells is no crash."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
STARTED = "  Normal   Started  2m  kubelet  Started container main\n"


@pytest.mark.parametrize(
    "event",
    [
        'FailedMount  4m (x3 over 5m)  kubelet  MountVolume.SetUp failed for volume "sets" : mount failed: exit status 32',
        "FailedScheduling  4m  default-scheduler  0/6 nodes are available: 6 Insufficient nvidia.com/gpu.",
        'FailedAttachVolume  4m  attachdetach-controller  Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) a-0',
        'Failed  4m  kubelet  Failed to pull image "reg/train:1": rpc error: code = Unknown desc = context deadline exceeded',
    ],
)
def test_a_pod_that_started_after_all(event: str, analyze: Analyze) -> None:
    table = f"Events:\n  Warning  {event}\n"
    assert analyze(events_txt=table).causes[0].id != "none.healthy"
    assert analyze(events_txt=table + STARTED).causes[0].id == "none.healthy"
    assert analyze(events_txt=STARTED + table).causes[0].id != "none.healthy", "it started before"


def test_another_pod_that_started_cures_nothing(analyze: Analyze) -> None:
    table = '3m  Warning  FailedMount  pod/train-0  MountVolume.SetUp failed for volume "sets" : mount failed: exit status 32\n'
    started = "1m  Normal  Started  pod/{}  Started container main\n"
    assert analyze(events_txt=table + started.format("train-0")).causes[0].id == "none.healthy"
    assert analyze(events_txt=table + started.format("train-1")).causes[0].id == "storage.network_fs"


def test_a_page_that_connects_again(analyze: Analyze) -> None:
    kernel = "1d6d85b4-1c13-4a84-960e-635d721ecdb7"
    lost = (
        f"[I 2026-05-01 10:00:00.120 ServerApp] Kernel started: {kernel}\n"
        "[W 2026-05-01 10:20:00.120 ServerApp] WebSocket ping timeout after 90000 ms.\n"
    )
    again = f"[I 2026-05-01 10:25:00.120 ServerApp] Restoring connection for {kernel}:aa\n"
    assert analyze(jupyter_log=lost).causes[0].id == "notebook.connection_lost"
    assert analyze(jupyter_log=lost + again).verdict == "no_crash"


def test_a_queue_that_answers_again(analyze: Analyze) -> None:
    lost = "[2026-05-01 10:00:12,642: ERROR/MainProcess] consumer: Cannot connect to amqp://queue:5672//: [Errno 111] Connection refused.\n"
    again = "[2026-05-01 10:00:22,689: INFO/MainProcess] Connected to amqp://queue:5672//\n"
    assert analyze(worker_log=lost).causes[0].id == "distributed.network"
    assert analyze(worker_log=lost + again).causes[0].id == "none.healthy"
    assert analyze(worker_log=again + lost).causes[0].id == "distributed.network"


@pytest.mark.parametrize(("state", "cause"), [("success", "none.healthy"), ("failed", "stopped.user")])
def test_what_the_runner_ends_after_a_success(state: str, cause: str, analyze: Analyze) -> None:
    stamp = "[2026-05-01, 10:00:18 UTC]"
    log = (
        f"{stamp} {{local_task_job.py:211}} WARNING - State of this instance has been externally set to {state}. Terminating.\n"
        f"{stamp} {{taskinstance.py:1408}} ERROR - Received SIGTERM. Terminating subprocesses.\n"
    )
    assert analyze(task_log=log).causes[0].id == cause


def test_a_download_from_the_next_address(analyze: Analyze) -> None:
    refused = "Connecting to mirror.example (mirror.example)|2a02:8301:0:2::150|:443... failed: No route to host.\n"
    reached = "Connecting to mirror.example (mirror.example)|10.0.0.3|:443... connected.\n"
    assert analyze(fetch_log=refused).causes[0].id == "data.download"
    assert analyze(fetch_log=refused + reached).causes[0].id == "none.healthy"


def test_parameters_that_do_not_fit_and_are_left_out(analyze: Analyze) -> None:
    told = "WARNING - mmdet - The model and loaded state dict do not match exactly\n\n"
    misfit = (
        "size mismatch for fc.weight: copying a param with shape torch.Size([1000, 512]) from checkpoint, the shape in current "
    )
    misfit += "model is torch.Size([10, 512]).\n"
    assert analyze(train_log=misfit).causes[0].id == "code.shape"
    assert analyze(train_log=told + misfit).causes[0].id == "none.healthy"
    started = "2024-03-02 10:11:12,345 - mmseg - INFO - Start running, host: me@node1, work_dir: /work/a\n"
    assert analyze(train_log=misfit + started).causes[0].id == "none.healthy"
    assert analyze(train_log=started + misfit).causes[0].id == "code.shape"
    raised = "RuntimeError: Error(s) in loading state_dict for Net:\n\t" + misfit
    assert analyze(train_log=told + raised).causes[0].id == "code.shape"


def test_a_machine_that_sleeps_takes_its_link_down(analyze: Analyze) -> None:
    down = "[ 5306.653879] e1000e 0000:00:1f.6 enp0s31f6: NIC Link is Down\n"
    sleep = "[ 5307.207167] PM: suspend entry (deep)\n[ 5309.429968] PM: suspend exit\n"
    assert analyze(kern_log=down).causes[0].id == "host_hardware.nic"
    assert analyze(kern_log=down + sleep).causes[0].id == "none.healthy"
    assert analyze(kern_log=sleep + down).causes[0].id == "host_hardware.nic"
