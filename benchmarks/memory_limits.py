"""Is the advised batch size right? Trains small models under memory limits that the kernel enforces, and counts.

    python benchmarks/memory_limits.py --python PYTHON [--only torch] [--floor] [--out runs.csv]

PYTHON has torch, torchinfo, tensorflow and keras. Needs root and a memory cgroup of version 1. For each training: its model's
summary is printed, the batch size is computed from it as an analysis does (settings and limit known), then the training runs for
two steps with that batch, which must finish, and with twice of it, which the kernel must kill. `off` is the estimated memory of
the advised batch against the measured peak of its process. --floor finds the least limit in which a tiny training runs at all.
"""

import argparse
import csv
import os
import subprocess
import sys
import time
from pathlib import Path

from forensics.advice.memory import Need, estimate, largest_batch, sample_of
from forensics.advice.memory.activations import kind_of
from forensics.advice.memory.estimate import HOST_MARGIN, RUNTIME_BYTES
from forensics.context.architecture import read_summary
from forensics.model import Line

MIB = 1 << 20
GROUP = Path("/sys/fs/cgroup/memory") / f"memory-limits-{os.getpid()}"
TRAININGS = Path(__file__).with_name("trainings.py")
# backend, model, optimizer, limit in MiB: sizes that none of the shares of the arithmetic was set on
RUNS = """
torch plain-64-48-3 sgd 768; torch plain-144-24-4 adam 768; torch plain-192-20-3 sgd 768; torch plain-112-40-4 adam 768
torch cnn-56-24-3 adam 768; torch cnn-96-32-3 sgd 768; torch cnn-144-20-4 adam 768; torch cnn-72-40-3 sgd 768
torch res-56-24-3 sgd 768; torch res-80-32-2 adam 768; torch sep-80-40-4 sgd 768; keras plain-64-48-3 sgd 1088
keras plain-144-24-4 adam 1088; keras plain-192-20-3 sgd 1088; keras plain-112-40-4 adam 1088; keras cnn-56-24-3 adam 1088
keras cnn-96-32-3 sgd 1088; keras cnn-144-20-4 adam 1088; keras cnn-72-40-3 sgd 1088; keras res-56-24-3 sgd 1088
keras res-80-32-2 adam 1088; keras sep-80-40-4 sgd 1088; torch sep-112-24-3 adam 768; torch unet-80-16-2 adam 768
torch unet-48-32-3 sgd 768; torch point-1536-64-4 adam 768; torch point-1024-192-3 sgd 768; torch tr-80-128-3-8 adam 768
torch tr-160-96-2-6 sgd 768; torch tr-224-64-3-4 adam 768; torch enc-96-128-4-8 adam 768; torch enc-192-96-3-6 sgd 768
torch mlp-2048-1536-4 adam 768; keras sep-112-24-3 adam 1088; keras unet-80-16-2 adam 1088; keras unet-48-32-3 sgd 1088
keras point-1536-64-4 adam 1088; keras point-1024-192-3 sgd 1088; keras tr-80-128-3-8 adam 1088; keras tr-160-96-2-6 sgd 1088
keras tr-224-64-3-4 adam 1088; keras enc-96-128-4-8 adam 1088; keras enc-192-96-3-6 sgd 1088; keras mlp-2048-1536-4 adam 1088
"""


class Server:
    """A process of `backend` in the cgroup, which has imported its libraries and forks for each training."""

    def __init__(self, python: str, backend: str) -> None:
        self.python, self.backend = python, backend
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        """A fresh one, ready for trainings."""
        set_limit(None)
        environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "160"}
        environment |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
        command = [
            "sh",
            "-c",
            f'echo $$ > {GROUP}/cgroup.procs; exec "$@"',
            "sh",
            self.python,
            str(TRAININGS),
            self.backend,
            "serve",
        ]
        pipe = subprocess.PIPE
        started = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment)
        assert started.stdout is not None
        while not started.stdout.readline().startswith("ready"):
            if started.poll() is not None:
                sys.exit(f"{self.python} cannot import the libraries of {self.backend}")
        return started

    def run(self, model: str, optimizer: str, batch: int, limit: int | None = None) -> tuple[str, int, list[str]]:
        """How it ended (`ran`, `killed`, `failed`), its peak in bytes, and what it printed, under `limit` bytes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        set_limit(limit)
        self.process.stdin.write(f"{model} {optimizer} {batch}\n")
        self.process.stdin.flush()
        printed: list[str] = []
        while line := self.process.stdout.readline():
            if line.startswith("ended"):
                status, peak = (int(n) for n in line.split()[1:])
                return {0: "ran", -9: "killed"}.get(status, "failed"), peak, printed
            printed.append(line)
        self.process.wait()
        self.process = self.start()
        return "killed", 0, printed

    def stop(self) -> None:
        """No more trainings."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def set_limit(limit: int | None) -> None:
    """Bytes that the cgroup may hold; the pages of its server count."""
    (GROUP / "memory.limit_in_bytes").write_text(str(limit or -1))


def need_of(server: Server, run: list[str]) -> Need:
    """What the arithmetic takes from the printed summary of a model."""
    backend, model, optimizer = run[:3]
    _, _, printed = server.run(model, optimizer, 0)
    found = read_summary([Line(n, text.rstrip()) for n, text in enumerate(printed, 1)])
    if found is None:
        sys.exit(f"no summary of {backend} {model}")
    kinds = kind_of(" ".join(layer.kind for layer in found.layers))
    heads = int(model.split("-")[-1]) if model.startswith(("tr", "enc")) else 0
    sample = sample_of(found.layers, kinds, heads, found.weighted_outputs)
    return Need(
        found.parameters, found.trainable, sample, 1, optimizer=optimizer, runtime=RUNTIME_BYTES[kinds], margin=HOST_MARGIN
    )


def floor(server: Server) -> int:
    """The least limit, in MiB, in which a tiny training runs."""
    low, high = 16, 1024
    while high - low > 16:
        middle = (low + high) // 2
        ended, _, _ = server.run("mlp-16-16-1", "sgd", 8, middle * MIB)
        low, high = (low, middle) if ended == "ran" else (middle, high)
    return high


def measure(server: Server, run: list[str]) -> dict[str, object]:
    """One training: advised, run, run with twice of it."""
    limit = int(run[3]) * MIB
    need = need_of(server, run)
    made = estimate(need)
    advised = largest_batch(need, limit)
    started = time.monotonic()
    once, peak, _ = server.run(run[1], run[2], advised, limit)
    twice, _, _ = server.run(run[1], run[2], 2 * advised, limit)
    total = made.fixed + advised * made.per_sample
    row: dict[str, object] = {"backend": run[0], "model": run[1], "optimizer": run[2], "limit_mib": run[3], "advised": advised}
    row |= {"advised_batch": once, "twice_of_it": twice, "right": once == "ran" and twice == "killed"}
    row |= {"peak_mib": peak // MIB, "estimated_mib": total // MIB, "off": round(total / peak, 2) if peak else ""}
    return row | {
        "fixed_mib": made.fixed // MIB,
        "sample_kib": made.per_sample >> 10,
        "seconds": round(time.monotonic() - started),
    }


def main() -> None:
    """Print one row a training, and the sums."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--python", default=sys.executable)
    asked.add_argument("--only", default="")
    asked.add_argument("--floor", action="store_true")
    asked.add_argument("--out", type=Path)
    given = asked.parse_args()
    runs = [one.split() for line in RUNS.strip().splitlines() for one in line.split(";")]
    runs = [r for r in runs if given.only in " ".join(r)]
    GROUP.mkdir()
    rows: list[dict[str, object]] = []
    servers: list[Server] = []  # one at a time

    def serving(backend: str) -> Server:
        if not servers or servers[0].backend != backend:
            for server in servers:
                server.stop()
            servers[:] = [Server(given.python, backend)]
        return servers[0]

    try:
        if given.floor:
            for backend in sorted({r[0] for r in runs}):
                print(backend, floor(serving(backend)), "MiB", flush=True)
            return
        for run in runs:
            rows.append(measure(serving(run[0]), run))
            print(*rows[-1].values(), flush=True)
            if given.out:
                with given.out.open("w", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
    finally:
        for server in servers:
            server.stop()
        GROUP.rmdir()
    near = [float(str(r["off"])) for r in rows if r["off"]]
    print(
        f"{sum(bool(r['right']) for r in rows)} of {len(rows)} right; {sum(1 / 1.5 <= n <= 1.5 for n in near)} of {len(near)} within 1.5"
    )


if __name__ == "__main__":
    main()
