"""A log that many programs share, in which the job died long before the end: its own last lines tell, not those behind them."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database

OUT_OF_MEMORY = """\
Traceback (most recent call last):
  File "/job/train.py", line 92, in main
    loss = model(batch).loss
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.19 GiB \
is free. Process 4711 has 77.95 GiB memory in use. Of the allocated memory 74.88 GiB is allocated by PyTorch, and 1.20 GiB is \
reserved by PyTorch but unallocated."""
SHARE_BEHIND = 0.1  # of the log stands behind the end of the job


def stamp(line: int) -> str:
    seconds = line // 100
    return f"Nov 22 {seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d} node04 "


def shared_log(megabytes: int) -> Iterator[str]:
    """A job of pid 4711 among the lines of a kubelet and of sshd; then its end; then the others alone."""
    chance, line, size, step = random.Random(4), 0, 0, 0
    while size < megabytes * 1_000_000:
        ended = size > (1 - SHARE_BEHIND) * megabytes * 1_000_000
        if ended and step >= 0:
            yield from (f"{stamp(line)}train.sh[4711]: {row}\n" for row in OUT_OF_MEMORY.splitlines())
            step = -1
        which = chance.random()
        if which < 0.5 and not ended:
            text = f"train.sh[4711]: step {step} loss {2.5 / (1 + step * 1e-6):.4f} tokens/s {41_000 + step % 997}"
            step += 1
        elif which < 0.8:
            text = f"kubelet[901]: I1122 pod_workers.go:190] syncing pod web-{line % 50} in namespace default"
        else:
            text = f"sshd[{2000 + line % 999}]: Accepted publickey for deploy from 10.0.0.{line % 250} port {40_000 + line % 9999} ssh2"
        made = f"{stamp(line)}{text}\n"
        yield made
        size, line = size + len(made), line + 1


@pytest.mark.parametrize("megabytes", [2, pytest.param(400, marks=pytest.mark.slow)])
def test_the_end_of_a_job_counts_though_other_programs_write_on(megabytes: int, tmp_path: Path, knowledge: Database) -> None:
    path = tmp_path / "syslog"
    with path.open("w") as log:
        log.writelines(shared_log(megabytes))
    report = pipeline.analyze_paths([path], "case", knowledge)
    path.unlink()
    assert (report.verdict, report.causes[0].id) == ("crash", "gpu_memory.capacity")
    assert "torch.OutOfMemoryError" in report.causes[0].evidence[0].text
