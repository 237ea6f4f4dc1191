"""Advice follows the evidence: what a case's own lines rule out is not recommended, what they point to comes first."""

from pathlib import Path

import pytest

from forensics import analyze

KERNEL_OOM = """\
[ 10.000001] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[ 10.000002]  mem_cgroup_out_of_memory+0xc0/0x110
[ 10.000003]  try_charge_memcg+0x422/0x6f0
[ 10.000004] memory: usage 409600kB, limit 409600kB, failcnt 101
[ 10.000005] Memory cgroup stats for /lab:
[ 10.000006] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/lab,task_memcg=/lab,task=python3,pid=4711,uid=0
[ 10.000007] Memory cgroup out of memory: Killed process 4711 (python3) total-vm:900kB, anon-rss:400kB, file-rss:0kB, shmem-rss:0kB, UID:0
"""
SEGFAULT = "python[4711]: segfault at 0 ip 00007f0762570a89 sp 00007ffec53aa478 error 4 in {}[152a89,7f0762444000+156000]"
GLOO = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete"
NCCL = (
    "[rank3]:[E ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 milliseconds before timing out."
)


@pytest.mark.parametrize(
    ("log", "cause", "first", "absent"),
    [
        (KERNEL_OOM, "host_memory.oom_cgroup", "Ask for more memory than the 400 MiB", "sharded"),
        (SEGFAULT.format("libc.so.6"), "process.segfault", "Run it once more with faulthandler on", "libc.so.6, in which"),
        (GLOO, "distributed.timeout", "Find the rank that stayed away", "nccl"),
        (
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 80.5 GiB for an array with shape (60000, 60000, 3) and data type float64",
            "host_memory.alloc_refused",
            "Do not build the array",
            "Windows",
        ),
        (
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 4.00 MiB for an array with shape (512, 512, 2) and data type float64",
            "host_memory.alloc_refused",
            "Look for what already holds the memory",
            "mistaken dimension",
        ),
        (
            "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:4011 (pid=4711) exceeded 95% memory budget. Restarting...",
            "host_memory.oom_daemon",
            "Raise the workers' memory limit",
            "earlyoom",
        ),
    ],
    ids=["cgroup", "libc", "gloo", "large array", "small array", "dask"],
)
def test_the_first_remedy_fits_and_what_is_ruled_out_is_absent(
    tmp_path: Path, log: str, cause: str, first: str, absent: str
) -> None:
    (tmp_path / "job.log").write_text(log + "\n")
    finding = analyze(tmp_path).causes[0]
    assert finding.id == cause
    actions = [r.action for r in finding.remediations]
    assert actions[0].startswith(first)
    assert [a for a in actions if absent.lower() in a.lower()] == []


def test_what_is_left_out_there_is_given_where_it_fits(tmp_path: Path) -> None:
    for name, log, told in (
        ("library", SEGFAULT.format("libfoo.so.3"), "libfoo.so.3, in which it crashed"),
        ("nccl", f"gpu-04:211:240 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n{NCCL}", "nccl-tests"),
        ("windows", "OSError: [WinError 1455] The paging file is too small for this operation to complete.", "On Windows"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "job.log").write_text(log + "\n")
        finding = analyze(tmp_path / name).causes[0]
        assert any(told in r.action for r in finding.remediations), name


def test_frames_of_the_kernels_stack_are_the_last_evidence(tmp_path: Path) -> None:
    (tmp_path / "dmesg.log").write_text(KERNEL_OOM)
    finding = analyze(tmp_path).causes[0]
    lines = [p.line for p in finding.evidence]
    assert {2, 3}.isdisjoint(lines[:5])
    assert finding.summary.count("/lab") == 1
