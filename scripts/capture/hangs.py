"""Captures jobs of several ranks in which one rank keeps the others waiting: dumps, stacks and the job's log of each.

    sudo python -m scripts.capture.hangs WORK FOLDER [NAME...]    # WORK: for virtual environments and running jobs

Each becomes FOLDER/NAME/ with fr/rank_N (the flight recorder's dumps), stacks/PID.txt (py-spy), job.log, dmesg.log where the
kernel tells the reason, and expected.yaml: kind, rank and line of the fault. Names are those of HANGS. A capture takes a minute
or two, most of it until the ranks' own time-out, and four where the kernel's watchdog is waited for.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .case import rekey
from .stage import MIB, PROGRAMS, KernelLog, Stage, make_venv
from .storage import DATA, disk_image

PROGRAM = "hung_ranks.py"
STILL_S = 5.0  # a step takes half a second at most: after so long without one of any rank, all others wait
HANGS_S = 120.0  # by then they wait, however busy the machine is
GOES_ON = ("straggler", "slow", "healthy")  # nobody hangs: looked at in the middle of the run
DUMPED_S = 55.0  # a dump with stacks takes up to half a minute where all ranks write theirs at once on two cores
WITHOUT_LAUNCHER = (
    "dead_rank",
    "exception",
    "out_of_memory",
)  # a launcher ends the others at once, before they can tell anything
HEALTHY = ("healthy", "slow", "ended")
_IMAGE = "/home/disk.img"
_WAIT = "for _ in $(seq 600); do [ -e /home/user/run/%s ] && break; sleep 0.5; done"
MOUNTS = {  # of the kinds whose reason the kernel's log tells
    "frozen_disk": [
        *disk_image(64),
        f"({_WAIT % 'freeze.now'}; fsfreeze -f {DATA}; {_WAIT % 'thaw'}; fsfreeze -u {DATA}) > /dev/null 2>&1 &",
    ],
    "lost_disk": [
        *disk_image(64),
        f"head -c 50000000 /dev/zero > {DATA}/shard.bin",
        f"umount {DATA}",
        f"mount -o loop {_IMAGE} {DATA}",
        f"truncate -s 16m {_IMAGE}",
    ],
    "out_of_memory": [],
}
MEMORY_LIMIT = 1400 * MIB  # three ranks need some 700 MiB
BLOCKED_S = 260.0  # the kernel's watchdog reports a blocked task after 120 to 240 s


@dataclass(frozen=True)
class Hang:
    """One capture. `odd`: the rank with the fault, from `step` on. `model`: a step function of the program. `held_out`: it is
    only measured, and was not looked at while the rules were written. `dumps`: without them it leaves stacks alone."""

    kind: str
    ranks: int
    odd: int
    step: int
    model: str
    held_out: bool = False
    dumps: bool = True

    @property
    def looked_at(self) -> int:
        """The step after which a run that goes on is looked at: the late rank was late for some time."""
        return max(self.step + 12, 15)

    @property
    def name(self) -> str:
        """`late_loader_grid_4`."""
        return f"{self.kind}_{self.model}_{self.ranks}"


_ALL = ("late_loader", "dead_rank", "exception", "other_operation", "other_shape", "gil_held", "sleeping_hook", "fewer_batches")
_MORE = ("waits_for_file", "broken_barrier", "straggler")
HANGS = (
    *(Hang(kind, 4, 2, 8, "averaging") for kind in (*_ALL, *_MORE, *HEALTHY)),
    *(Hang(kind, 4, 1, 9, "grid") for kind in (*_ALL, *_MORE, "group_order", "lock_held", *HEALTHY)),
    *(Hang(kind, 3, 0, 6, "sharded", held_out=True) for kind in (*_ALL, *_MORE, "waits_for_pipe", *HEALTHY)),
    *(Hang(kind, 6, 4, 7, "sharded", held_out=True) for kind in ("group_order", "lock_held", "late_loader", "fewer_batches")),
    *(Hang(kind, 3, 1, 12, "averaging", held_out=True) for kind in (*_ALL, *_MORE, "lock_held", "waits_for_pipe", *HEALTHY)),
    Hang("group_order", 4, 3, 5, "sharded", held_out=True),
    *(Hang(kind, 2, 0, 11, "averaging", held_out=True) for kind in ("late_loader", "dead_rank", "other_shape", "gil_held")),
    *(Hang(kind, 2, 0, 11, "averaging", held_out=True) for kind in ("sleeping_hook", "fewer_batches", "waits_for_file")),
    *(Hang(kind, 2, 0, 15, "averaging", held_out=True) for kind in ("broken_barrier", "straggler", "lock_held")),
    Hang("exception", 2, 1, 5, "averaging", held_out=True),
    Hang("other_operation", 2, 1, 5, "averaging", held_out=True),
    Hang("waits_for_pipe", 2, 0, 5, "averaging", held_out=True),
    Hang("straggler", 6, 5, 20, "grid", held_out=True),
    *(Hang(kind, 3, 1, 10, "averaging", held_out=True) for kind in MOUNTS),
    Hang("waits_for_pipe", 4, 3, 9, "averaging", held_out=True, dumps=False),
)


def capture(hang: Hang, work: Path, folder: Path) -> None:
    """Let it happen, and write what is left of it to `folder`/NAME."""
    limit = MEMORY_LIMIT if hang.kind == "out_of_memory" else None
    stage = Stage(work, hang.name, venv="venv_ranks", mounts=MOUNTS.get(hang.kind, []), memory_limit=limit, cgroup=hang.name)
    kernel = KernelLog()
    stage.prepare(PROGRAM)
    stage.write("shards/.keep", "")
    subprocess.run(["mkfifo", str(stage.run_dir / "shards" / "pipe")], check=True)
    out = folder / hang.name
    shutil.rmtree(out, ignore_errors=True)
    (out / "stacks").mkdir(parents=True)
    log = stage.run(_script(hang), timeout=400, meanwhile=lambda _: _look(hang, stage, out, kernel))
    (out / "job.log").write_text(rekey(log))
    if hang.kind in MOUNTS:
        (out / "dmesg.log").write_text(rekey(kernel.lines("-T")))
    if hang.dumps:
        shutil.copytree(stage.run_dir / "fr", out / "fr")
    for part in (out / "fr").glob("*.part"):
        part.unlink()
    (out / "expected.yaml").write_text(_expected(hang, stage.run_dir / PROGRAM))


def _script(hang: Hang) -> str:
    program = f"{PROGRAM} {hang.kind} {hang.odd} {hang.step} {hang.model}"
    prepared = "export TORCH_FR_BUFFER_SIZE=2000 OMP_NUM_THREADS=1"
    if hang.kind not in WITHOUT_LAUNCHER:
        return f"{prepared}\ntorchrun --standalone --nproc_per_node={hang.ranks} {program}"
    ranks = " ".join(map(str, range(hang.ranks)))
    return (
        f"{prepared} MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 WORLD_SIZE={hang.ranks}\n"
        f"for rank in {ranks}; do\n"
        f'  (RANK=$rank LOCAL_RANK=$rank python {program}; echo "rank $rank ended with status $?") &\ndone\nwait'
    )


def _look(hang: Hang, stage: Stage, out: Path, kernel: KernelLog) -> None:
    """While it hangs: the stacks of all ranks, then their dumps. The job then ends by itself, or waits for its time-out."""
    pids = {rank: int(stage.wait_for(f"pid.{rank}")) for rank in range(hang.ranks)}
    if hang.kind == "ended":
        return
    _wait_until_it_hangs(hang, stage)
    if hang.kind not in WITHOUT_LAUNCHER:
        for rank, pid in pids.items():
            command = ["py-spy", "dump", "--nonblocking", "--pid", str(pid)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.stdout:
                (out / "stacks" / f"{pid}.txt").write_text(f"stacks of pid {pid} (python), rank {rank}\n{rekey(done.stdout)}")
        if not hang.dumps:
            return
        stage.write("dump.now", "now")
    end = time.monotonic() + DUMPED_S
    silent = {hang.odd} if hang.kind in ("gil_held", "dead_rank", "out_of_memory") else set()
    while time.monotonic() < end and not all((stage.run_dir / f"dumped.{r}").exists() for r in pids if r not in silent):
        time.sleep(0.5)
    end = time.monotonic() + BLOCKED_S
    while hang.kind == "frozen_disk" and time.monotonic() < end and "blocked for more than" not in kernel.lines():
        time.sleep(5)
    stage.write("thaw", "")


def _wait_until_it_hangs(hang: Hang, stage: Stage) -> None:
    """Wait until no rank makes a step any more; of a run that goes on, until all ranks made most of their steps."""
    steps, changed, end = _steps(hang, stage), time.monotonic(), time.monotonic() + HANGS_S
    while time.monotonic() < end and time.monotonic() - changed < STILL_S:
        time.sleep(0.2)
        if (now := _steps(hang, stage)) != steps:
            steps, changed = now, time.monotonic()
        if hang.kind in GOES_ON and min(steps) > hang.looked_at:
            return
    if hang.kind in GOES_ON or min(steps) < hang.step - 1:
        raise TimeoutError(f"{hang.name}: the ranks stand in steps {steps}")


def _steps(hang: Hang, stage: Stage) -> list[int]:
    """The last step of each rank; -1 before the first."""
    files = [stage.run_dir / f"step.{rank}" for rank in range(hang.ranks)]
    return [int(file.read_text() or -1) if file.exists() else -1 for file in files]


def _expected(hang: Hang, program: Path) -> str:
    marks = (f"# line of {hang.kind} in {hang.model}", f"# line of {hang.kind}")
    lines = program.read_text().splitlines()
    number = next((n for mark in marks for n, line in enumerate(lines, 1) if line.endswith(mark)), 0)
    return f"kind: {hang.kind}\nrank: {hang.odd}\nranks: {hang.ranks}\nline: {number}\nheld_out: {str(hang.held_out).lower()}\n"


def main() -> None:
    """Capture what the command line names, or all."""
    work, folder, *names = sys.argv[1:]
    assert (PROGRAMS / PROGRAM).exists()
    make_venv(Path(work), "venv_ranks")
    for hang in HANGS:
        if not names or hang.name in names:
            print(hang.name, flush=True)
            capture(hang, Path(work), Path(folder))


if __name__ == "__main__":
    main()
