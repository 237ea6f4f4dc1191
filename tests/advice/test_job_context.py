"""The environment, the curves and the table of processes, from lines made in the wording of the programs that print them."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.advice.curves import MAX_CURVE_POINTS, MIN_CURVE_POINTS, thin_points
from forensics.model import Report

Analyze = Callable[..., Report]


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4     |", "driver", "550.54.15"),
        ("| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4     |", "CUDA", "12.4"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb  3 00:00:00 UTC 2024", "driver", "535.161.08"),
        ("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build", "driver", "570.86.15"),
        ("[    0.000000] Linux version 6.1.0-18-amd64 (debian@x) (gcc-12) #1 SMP", "kernel", "6.1.0-18-amd64"),
        ("[ 12.1] CPU: 2 PID: 4711 Comm: python Tainted: P           OE     5.15.0-112-generic #122-Ubuntu", "kernel", "5.15.0-112-generic"),
        ("[ 12.1] CPU: 2 PID: 4711 Comm: python Not tainted 6.8.0-45-generic #45-Ubuntu", "kernel", "6.8.0-45-generic"),
        ("[ 12.1] Hardware name: Supermicro SYS-1/X11, BIOS 3.2a 12/10/2021", "machine", "Supermicro SYS-1/X11"),
        ("node1:812:812 [0] NCCL INFO NCCL version 2.21.5+cuda12.4", "NCCL", "2.21.5+cuda12.4"),
        ("PyTorch version: 2.4.0+cu121", "PyTorch", "2.4.0+cu121"),
        ("torch==2.3.1", "PyTorch", "2.3.1"),
        ("jax==0.4.30", "JAX", "0.4.30"),
        ("tensorflow==2.16.1", "TensorFlow", "2.16.1"),
        ("GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-1111-2222-3333-444444444444)", "GPU", "NVIDIA A100-SXM4-80GB"),
        ("Created device /gpu:0 with 78000 MB memory:  -> device: 0, name: NVIDIA H100 80GB HBM3, pci bus id: 0000:3b:00.0", "GPU", "NVIDIA H100 80GB HBM3"),
        ("Python version: 3.11.7 (64-bit runtime)", "Python", "3.11.7"),
    ],
)  # fmt: skip
def test_what_a_line_says_of_the_machine(analyze: Analyze, line: str, name: str, value: str) -> None:
    said = analyze(a_log=f"first\n{line}\nlast\n").environment
    assert (name, value, "a.log", 2) in {(s.name, s.value, s.source, s.line) for s in said}


@pytest.mark.parametrize(
    "line",
    [
        "CUDA error: device-side assert triggered",
        "the driver version is insufficient for CUDA runtime version",
        "Set TORCH_CUDA_ARCH_LIST; torch==nightly is not supported",
        "NCCL version mismatch between ranks",
        "this needs Python version 3",
    ],
)
def test_what_says_nothing_of_the_machine(analyze: Analyze, line: str) -> None:
    assert analyze(a_log=line + "\n").environment == ()


def test_the_same_value_is_told_once_where_it_was_first_said(analyze: Analyze) -> None:
    said = analyze(a_log="torch==2.3.1\ntorch==2.3.1\n", b_log="torch==2.3.1\ntorch==2.4.0\n").environment
    assert [(s.value, s.source, s.line) for s in said] == [("2.3.1", "a.log", 1), ("2.4.0", "b.log", 2)]


def test_curves_of_a_run_with_their_units_and_lost_readings(analyze: Analyze) -> None:
    lines = [f"step {i} loss {'nan' if i == 9 else 2.0 - i / 10} rss {600 + i} MiB" for i in range(12)]
    curves = {c.name: c for c in analyze(a_log="\n".join(lines)).curves}
    assert curves["loss"].points[0] == (1, 2.0)
    assert curves["loss"].points[9] == (10, None)
    assert curves["rss"].unit == "B"
    assert curves["rss"].points[3] == (4, 603 * 2**20)


def test_a_time_per_step_is_shown_as_steps_a_second(analyze: Analyze) -> None:
    lines = [f"step {i} loss 2.0 step_time {0.5 if i < 6 else 0.0 if i == 6 else 2.0}" for i in range(12)]
    (curve,) = (c for c in analyze(a_log="\n".join(lines)).curves if c.kind == "throughput")
    assert (curve.name, curve.unit) == ("steps per second", "1/s")
    assert [v for _, v in curve.points] == [2.0] * 6 + [0.5] * 5


def test_ranks_have_curves_of_their_own_and_few_readings_none(analyze: Analyze) -> None:
    lines = [f"[rank {r}] step {i} loss {i}.5" for i in range(10) for r in (0, 1)] + ["val_loss 3.0"] * (MIN_CURVE_POINTS - 1)
    assert {(c.name, c.rank, len(c.points)) for c in analyze(a_log="\n".join(lines)).curves} == {("loss", 0, 10), ("loss", 1, 10)}


@given(st.integers(1, 5000))
def test_thinning_keeps_the_ends_the_order_and_the_bound(count: int) -> None:
    points = [(i, float(i)) for i in range(count)]
    kept = thin_points(points)  # type: ignore[arg-type]
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert list(kept) == sorted(kept)
    assert len(kept) <= MAX_CURVE_POINTS


TABLE = """\
[ 10.1] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[ 10.1] memory: usage 409600kB, limit 409600kB, failcnt 7
[ 10.1] Tasks state (memory values in pages):
[ 10.1] [  pid  ]   uid  tgid total_vm      rss {more}pgtables_bytes swapents oom_score_adj name
[ 10.1] [    811]  1000   811      596      400 {zeros}  36864        4             0 sh
[ 10.1] [   4711]  1000  4711   655928   100000 {zeros}5226496   519670             0 my trainer
[ 10.1] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/j,task_memcg=/j,task=my,pid=4711,uid=1000
[ 10.1] Memory cgroup out of memory: Killed process 4711 (my trainer) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB
"""


@pytest.mark.parametrize(
    ("more", "zeros"), [("", ""), ("rss_anon rss_file rss_shmem ", "0 0 0 ")], ids=["before 6.8", "since 6.8"]
)
def test_the_table_of_processes_by_its_own_header(analyze: Analyze, more: str, zeros: str) -> None:
    report = analyze(kern_log=TABLE.format(more=more, zeros=zeros))
    assert report.causes[0].id == "host_memory.oom_cgroup"
    rows = [(p.pid, p.task, p.rss_bytes, p.killed, p.line) for p in report.processes]
    assert rows == [(4711, "my trainer", 409_600_000, True, 6), (811, "sh", 1_638_400, False, 5)]


def test_no_processes_for_another_cause(analyze: Analyze) -> None:
    assert analyze(a_log="ModuleNotFoundError: No module named 'x'\n").processes == ()
