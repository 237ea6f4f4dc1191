"""The bars on plain input: at most 1 MB within 5 s of processor and 300 MiB, at most 100 MB within 30 s and 500 MiB.

The analysis runs in a child that the system ends when it takes more processor time; its peak of memory is asked for.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.generate import mixed
from forensics.core import limits
from forensics.database import Allowance, Confirmer, Database
from forensics.model import Source, Warn
from forensics.scan import scan
from forensics.sources import open_paths
from tests.hostile.inputs import CAUSE, OOM

MIB = 1 << 20
MAX_SECONDS, MAX_MIB = 30, 500
HELD_TO = """
import json, resource, subprocess, sys
limit, command = int(sys.argv[1]), sys.argv[2:]
def bounds():
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
done = subprocess.run(command, capture_output=True, preexec_fn=bounds)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stdout.buffer.write(done.stdout)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024]), file=sys.stderr)
"""
PARTIAL = b"2026-11-21T08:00:07.123456789Z stderr P " + b"step " * 45 + b"\n"
MAX_GROWTH = 9  # of the time for four times the lines: 4 in proportion to them, 16 with their square


def held(folder: Path, seconds: int = MAX_SECONDS, mib: int = MAX_MIB) -> dict[str, object]:
    """The report on `folder` by a process that keeps to so many seconds and MiB."""
    command = [
        sys.executable,
        "-c",
        HELD_TO,
        str(seconds),
        sys.executable,
        "-m",
        "forensics",
        "analyze",
        str(folder),
        "-f",
        "json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, took, peak = json.loads(done.stderr)
    assert status == 0, f"{took} s"
    assert took <= seconds
    assert peak <= mib
    report: dict[str, object] = json.loads(done.stdout)
    return report


def causes(report: dict[str, object]) -> set[str]:
    found = report["causes"]
    assert isinstance(found, list)
    return {c["id"] for c in found}


@pytest.mark.slow
def test_a_mixed_log_of_100_mb(tmp_path: Path) -> None:
    with (tmp_path / "mixed.log").open("w") as file:
        file.writelines(mixed(100))
    (tmp_path / "kern.log").write_bytes(OOM)
    held(tmp_path)


@pytest.mark.slow
def test_one_line_of_400_mb(tmp_path: Path) -> None:
    with (tmp_path / "line.log").open("wb") as file:
        for _ in range(400):
            file.write(b"Out of memory: Killed " * (MIB // 22))
    (tmp_path / "kern.log").write_bytes(OOM)
    assert CAUSE in causes(held(tmp_path, seconds=4 * MAX_SECONDS))  # four times as much as the bar is for


def test_partial_lines_of_a_container_take_time_in_proportion(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        log = tmp_path / f"{count}.log"
        log.write_bytes(PARTIAL * count)
        taken = []
        for _ in range(3):
            (source,) = open_paths([log], lambda _: None)
            begun = time.process_time()
            for _ in source.blocks(lambda _: None):
                pass
            taken.append(time.process_time() - begun)
        return min(taken)

    assert seconds(40_000) < MAX_GROWTH * seconds(10_000)


def test_confirmations_of_a_source_keep_to_their_budget(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []

    def slow(_: Confirmer, line: str, allowance: Allowance | None = None) -> None:
        assert allowance
        spent.append(allowance.left)
        allowance.left = 0.0
        raise TimeoutError

    monkeypatch.setattr(Confirmer, "search", slow)
    line = b"NVRM: Xid (PCI:0000:01:00): 79, RuntimeError: CUDA out of memory. Killed process 7 Segmentation fault Bus error\n"
    blocks = [line * (MIB // len(line))] * 3

    def given(_: Warn) -> Iterator[bytes]:
        yield from blocks

    noted: list[str] = []
    scan(Source("train.log", given), knowledge, lambda w: noted.append(w.kind))
    granted = limits.current.source_confirm + limits.current.more_confirm * len(blocks)
    assert len(spent) > 10
    assert sum(spent) <= 1.1 * granted  # each signature may have its last share beyond the budget
    assert "timeout" in noted
