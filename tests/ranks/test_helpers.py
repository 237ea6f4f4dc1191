"""A rank that waits for a process of its own, which the kernel ended. The kernel's lines are those of a capture (g0)."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.cli.ranks import _picture
from forensics.database import Database
from forensics.pipeline import analyze_paths
from forensics.report.phrases import what_happened
from tests.ranks.test_by_stacks import IN_CALL, LOADS, stack

LIBRARY = "/usr/lib/python3.11"
IN_POOL = f"wait ({LIBRARY}/threading.py:327)|get ({LIBRARY}/multiprocessing/pool.py:768)|rows_of (/run/pools.py:35)|main (/run/pools.py:51)"
IN_QUEUE = (
    f"poll ({LIBRARY}/multiprocessing/connection.py:257)|get ({LIBRARY}/multiprocessing/queues.py:103)|rows_of (/run/pools.py:39)"
)
WRITTEN = datetime(2026, 12, 1, 5, 29, 30, tzinfo=UTC).timestamp()
KERNEL = """\
[Tue Dec  1 05:29:14 2026] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[Tue Dec  1 05:29:14 2026] memory: usage 163840kB, limit 163840kB, failcnt 20
[Tue Dec  1 05:29:14 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/pool_helpers,task_memcg=/pool_helpers,task={name},pid={pid},uid=0
[Tue Dec  1 05:29:14 2026] Memory cgroup out of memory: Killed process {pid} ({name}) total-vm:760836kB, anon-rss:309724kB, file-rss:5440kB, shmem-rss:0kB, UID:0 pgtables:708kB oom_score_adj:0
"""


def write_case(folder: Path, waits: str, name: str, *pids: int) -> Path:
    for rank, frames in enumerate((IN_CALL, waits, IN_CALL)):
        text = "\n".join(stack(None, frames, 4061 + rank)[1:]).replace("python train.py", "/venv/bin/python3 -u pools.py")
        for look in (0, 1):
            (folder / f"look{look}").mkdir(exist_ok=True)
            (folder / f"look{look}" / f"rank{rank}.txt").write_text(text + "\n")
    (folder / "kern.log").write_text("".join(KERNEL.format(name=name, pid=pid) for pid in pids))
    (folder / "job.log").write_text("".join(f"step {step} {0.4 / (step + 1):.3f}\n" for step in range(9)))
    for file in folder.rglob("*.*"):
        os.utime(file, (WRITTEN, WRITTEN))
    return folder


@pytest.mark.parametrize("waits", [IN_POOL, IN_QUEUE], ids=["pool", "queue"])
def test_the_end_of_a_helper_is_the_reason(waits: str, knowledge: Database, tmp_path: Path) -> None:
    (odd,) = _picture([write_case(tmp_path, waits, "python3", 4066)], 1).odd
    assert (odd.rank, odd.kind, odd.helper) == (1, "outside", 4066)
    assert odd.doing.startswith("it waits for another process, and a process that was started soon after it")
    assert odd.proofs[-1].source.endswith("kern.log") and "Killed process 4066" in odd.proofs[-1].text
    report = analyze_paths([tmp_path], "case", knowledge)
    assert report.causes[0].id == "host_memory.oom_cgroup"
    assert "Rank 1 (pid 4062) kept the others waiting" in what_happened(report)


@pytest.mark.parametrize(
    ("waits", "name", "pids"),
    [
        (LOADS, "python3", (4066,)),
        (IN_POOL, "chrome", (4066,)),
        (IN_POOL, "python3", (900,)),
        (IN_POOL, "python3", (29_000,)),
        (IN_POOL, "python3", (4066, 4070)),
    ],
    ids=["no wait for a process", "another program", "older", "much later", "one of two"],
)
def test_the_end_of_another_process_is_no_reason(waits: str, name: str, pids: tuple[int, ...], tmp_path: Path) -> None:
    (odd,) = _picture([write_case(tmp_path, waits, name, *pids)], 1).odd
    assert (odd.rank, odd.helper) == (1, None)
