"""What a launcher, scheduler or engine prints of a rank that failed is no root beside the error that the rank printed itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import in_text

ERRORS = {
    "code.shape": """\
Traceback (most recent call last):
  File "/home/ana/fit.py", line 41, in <module>
    loss = net(batch)
  File "/home/ana/net.py", line 12, in forward
    return self.head(x)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)
""",
    "gpu_memory.capacity": """\
Traceback (most recent call last):
  File "/home/ana/fit.py", line 41, in <module>
    loss = net(batch)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.77 GiB of which \
1.12 GiB is free. Process 4242 has 14.65 GiB memory in use. Of the allocated memory 13.10 GiB is allocated by PyTorch, and \
512.00 MiB is reserved by PyTorch but unallocated.
""",
}
ECHOES = {
    "hydra": """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 4242 RUNNING AT n7
=   EXIT CODE: 1
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
""",
    "mpirun": """\
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[4242,1],3]
  Exit code:    1
--------------------------------------------------------------------------
""",
    "lsf": """\
------------------------------------------------------------
Sender: LSF System <lsfadmin@n7>
Subject: Job 4242: <fit> in cluster <lab> Exited

Exited with exit code 1.

Resource usage summary:

    CPU time :                                   412.00 sec.
    Max Memory :                                 2048 MB
""",
    "engine": """\
ERROR 03-04 10:00:01 [core_client.py:500] EngineCore encountered an issue
vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
""",
}


def report_of(tmp_path: Path, text: str) -> dict[str, Any]:
    log = tmp_path / "job.log"
    log.write_text(text)
    told: dict[str, Any] = json.loads(in_text("analyze", log, "--format", "json").stdout)
    return told


def first_of(tmp_path: Path, text: str) -> tuple[str, str]:
    told = report_of(tmp_path, text)
    return told["verdict"], told["causes"][0]["id"]


@pytest.mark.seconds
@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("cause", ERRORS)
def test_the_error_of_the_rank_is_the_root(tmp_path: Path, cause: str, echo: str) -> None:
    assert first_of(tmp_path, f"epoch 1 step 10 loss 0.71\n{ERRORS[cause]}{ECHOES[echo]}") == ("crash", cause)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("AssertionError: Torch not compiled with CUDA enabled", "code.config"),
        ("lightgbm.basic.LightGBMError: GPU Tree Learner was not enabled in this build.", "code.config"),
        ("RuntimeError: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')", "code.import"),
        ("FileNotFoundError: data/train.csv not found", "data.missing"),
        ("TypeError: Invalid dimensions for image data", "code.shape"),
    ],
)
def test_an_exception_is_known_by_its_message(tmp_path: Path, line: str, cause: str) -> None:
    text = f'Traceback (most recent call last):\n  File "/home/ana/fit.py", line 41, in <module>\n    main()\n{line}\n'
    assert first_of(tmp_path, text) == ("crash", cause)


@pytest.mark.parametrize(
    "line",
    [
        "usb 1-2: USB disconnect, device number 5",
        "I tensorflow/core/kernels/data/shuffle_dataset_op.cc:390] Filling up shuffle buffer (this may take a while): 100 of 1000",
        "WARNING:tensorflow:5 out of the last 5 calls to <function f at 0x7f> triggered tf.function retracing.",
        "W tensorflow/core/framework/cpu_allocator_impl.cc:83] Allocation of 411041792 exceeds 10% of free system memory.",
    ],
)
def test_what_a_working_machine_says_is_no_crash(tmp_path: Path, line: str) -> None:
    assert first_of(tmp_path, f"epoch 1 loss 0.71\n{line}\nepoch 2 loss 0.52\n")[0] == "no_crash"


def test_firmware_that_does_not_answer_is_the_cause_of_the_lockup_behind_it(tmp_path: Path) -> None:
    kernel = """\
[81023.100102] NVRM: Xid (PCI:0000:3b:00): 119, pid=4242, name=python3, Timeout after 6s of waiting for RPC response from GPU0 GSP! \
Expected function 76 (GSP_RM_CONTROL) (0x2080a026 0x1c).
[81051.550102] watchdog: BUG: soft lockup - CPU#12 stuck for 26s! [nvidia-smi:5151]
"""
    assert first_of(tmp_path, kernel)[1] == "gpu_hardware.firmware"


def test_a_hanging_transmit_queue_is_a_fault_of_the_network_card(tmp_path: Path) -> None:
    kernel = """\
[81023.100102] ixgbe 0000:02:00.0 eth2: Detected Tx Unit Hang
[81023.200102] ixgbe 0000:02:00.0 eth2: tx hang 1 detected on queue 3, resetting adapter
[81031.550102] nfs: server 10.0.0.7 not responding, timed out
"""
    assert "host_hardware.nic" in [c["id"] for c in report_of(tmp_path, kernel)["causes"]]


def test_a_large_allocation_is_evidence_of_the_kill_behind_it_and_never_an_alarm(tmp_path: Path) -> None:
    asked = "W tensorflow/core/framework/cpu_allocator_impl.cc:83] Allocation of 41104179200 exceeds 10% of free system memory."
    killed = "[ 8811.2] Out of memory: Killed process 4711 (python) total-vm:90000000kB, anon-rss:62000000kB, file-rss:0kB, \
shmem-rss:0kB, UID:1000 pgtables:90kB oom_score_adj:0"
    alone = report_of(tmp_path, f"epoch 1 loss 0.71\n{asked}\n")
    assert (alone["verdict"], [n["text"] for n in alone["notices"]]) == ("no_crash", [asked])
    death = report_of(tmp_path, f"epoch 1 loss 0.71\n{asked}\n{killed}\nKilled\n")
    first = death["causes"][0]
    assert (death["verdict"], first["id"], death["notices"]) == ("crash", "host_memory.oom_global", [])
    assert asked in [e["text"] for e in first["evidence"]]
