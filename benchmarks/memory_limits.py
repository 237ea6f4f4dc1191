"""Is the advised batch size right? Trains small models under memory limits that the kernel enforces, and counts.

    python benchmarks/memory_limits.py --python PYTHON [--seed 1] [--only torch] [--families enc:3,own:2] [--floor] [--out runs.csv]

PYTHON has torch, torchinfo, tensorflow and keras. Needs root and a memory cgroup of version 1. Forty models of nine families are
drawn at random. For each training: its model's summary is printed, the batch size is computed from it as an analysis does
(settings and limit known), then the training runs for
two steps with that batch, which must finish, and with twice of it, which must not. Either ends in one of three ways: it ran, the
kernel killed it, or it thrashed: it read more from the disk than READ_LIMITS times its limit, though it opens no file, because its
libraries' pages no longer stayed in memory. A machine without swap does not kill such a process, and it makes no progress. `off` is the estimated memory of
the advised batch against the measured peak of its process. --floor finds the least limit in which a tiny training runs at all.
"""

import argparse
import csv
import itertools
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from msgspec.structs import replace

from forensics.estimate import Need, estimate, largest_batch
from forensics.estimate.activations import kind_of, sample_of
from forensics.estimate.needs import HOST_MEMORY_MARGIN, RUNTIME_BYTES
from forensics.model import Line
from forensics.readers.torch.architecture import read_summary

MIB = 1 << 20
GROUP = Path("/sys/fs/cgroup/memory") / f"memory-limits-{os.getpid()}"
TRAININGS = Path(__file__).with_name("trainings.py")
LIMITS_MIB = {"torch": 704, "keras": 960}
FAMILIES = {"plain": 3, "cnn": 3, "res": 3, "sep": 2, "unet": 2, "point": 2, "tr": 2, "enc": 2, "mlp": 1}  # of each twenty
TRANSFORMERS = ("tr", "enc", "own")
BATCHES = range(8, 513)
READ_LIMITS = 20  # a training that ends reads less than its limit once: its libraries; the same bound holds for both batches
PATIENCE_S = 300


def drawn(seed: int, families: dict[str, int]) -> list[list[str]]:
    """(backend, model, optimizer) of trainings of `families` (how many of each; with FAMILIES forty) and as many in reserve of each family, sizes at random."""
    numbers = random.Random(seed)
    runs = []
    for backend, (family, count) in itertools.product(LIMITS_MIB, families.items()):
        for _ in range(2 * count):
            if family == "point":
                sizes = [numbers.randrange(256, 2049, 128), numbers.randrange(32, 257, 16), numbers.randint(2, 5)]
            elif family == "mlp":
                sizes = [numbers.randrange(40_000, 160_001, 10_000), numbers.randrange(16, 65, 16), numbers.randint(1, 3)]
            elif family in TRANSFORMERS:
                heads = numbers.choice((2, 4, 8))
                sizes = [numbers.randrange(48, 257, 16), heads * numbers.randint(8, 16), numbers.randint(1, 4), heads]
            else:
                sizes = [numbers.randrange(32, 129, 16), numbers.randrange(8, 33, 4), numbers.randint(2, 4)]
            runs.append([backend, "-".join([family, *map(str, sizes)]), numbers.choice(("sgd", "adam"))])
    return runs


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

    def run(self, model: str, optimizer: str, batch: int, limit: int | None = None) -> tuple[str, int, int, list[str]]:
        """How it ended (`ran`, `killed`, `thrashed`, `stuck`, `failed`), its peak, the bytes it read, and what it printed, under `limit` bytes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        set_limit(limit)
        most_read = READ_LIMITS * (limit or sys.maxsize)
        self.process.stdin.write(f"{model} {optimizer} {batch} {most_read} {PATIENCE_S}\n")
        self.process.stdin.flush()
        printed: list[str] = []
        while line := self.process.stdout.readline():
            if line.startswith("ended"):
                status, peak, read = (int(n) for n in line.split()[1:])
                return {0: "ran", -9: "killed", -10: "thrashed", -14: "stuck"}.get(status, "failed"), peak, read, printed
            printed.append(line)
        self.process.wait()
        self.process = self.start()
        return "killed", 0, 0, printed

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
    _, _, _, printed = server.run(model, optimizer, 0)
    found = read_summary([Line(n, text.rstrip()) for n, text in enumerate(printed, 1)])
    if found is None:
        sys.exit(f"no summary of {backend} {model}")
    kinds = kind_of(" ".join(layer.kind for layer in found.layers))
    heads = int(model.split("-")[-1]) if model.startswith(TRANSFORMERS) else 0
    fused = backend == "torch" and model.startswith("enc")  # which the program says
    sample = sample_of(found.layers, kinds, heads, found.weighted_outputs, input_bytes=found.input_bytes, fused=fused)
    return Need(
        found.parameters,
        found.trainable,
        sample,
        1,
        optimizer=optimizer,
        runtime=RUNTIME_BYTES[kinds],
        margin=HOST_MEMORY_MARGIN,
        heap=kinds == "torch",
    )


def floor(server: Server) -> int:
    """The least limit, in MiB, in which a tiny training runs."""
    low, high = 16, 1024
    while high - low > 16:
        middle = (low + high) // 2
        try:
            ended, _, _, _ = server.run("mlp-16-16-1", "sgd", 8, middle * MIB)
        except OSError:  # less than the libraries hold already
            ended = "killed"
        low, high = (low, middle) if ended == "ran" else (middle, high)
    return high


def measure(server: Server, run: list[str]) -> dict[str, object] | None:
    """One training: advised, run, run with twice of it; None where another batch than one of BATCHES is advised."""
    limit = LIMITS_MIB[run[0]] * MIB
    need = need_of(server, run)
    advised = largest_batch(need, limit)
    if advised not in BATCHES:
        return None
    made = estimate(replace(need, batch=advised))
    started = time.monotonic()
    once, peak, read, _ = server.run(run[1], run[2], advised, limit)
    twice, _, read_twice, _ = server.run(run[1], run[2], 2 * advised, limit)
    total = made.fixed + advised * made.per_sample
    row: dict[str, object] = {
        "backend": run[0],
        "model": run[1],
        "optimizer": run[2],
        "limit_mib": limit // MIB,
        "advised": advised,
    }
    row |= {"advised_batch": once, "twice_of_it": twice, "right": once == "ran" and twice in ("killed", "thrashed")}
    row |= {"peak_mib": peak // MIB, "estimated_mib": total // MIB, "off": round(total / peak, 2) if peak else ""}
    return row | {
        "fixed_mib": made.fixed // MIB,
        "sample_kib": made.per_sample >> 10,
        "read_mib": read // MIB,
        "read_twice_mib": read_twice // MIB,
        "seconds": round(time.monotonic() - started),
    }


def main() -> None:
    """Print one row a training, and the sums."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--python", default=sys.executable)
    asked.add_argument("--only", default="")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--families", default=",".join(f"{family}:{count}" for family, count in FAMILIES.items()))
    asked.add_argument("--floor", action="store_true")
    asked.add_argument("--out", type=Path)
    given = asked.parse_args()
    families = {family: int(count) for family, count in (f.split(":") for f in given.families.split(","))}
    runs = [r for r in drawn(given.seed, families) if given.only in " ".join(r)]
    left = {(backend, family): count for backend in LIMITS_MIB for family, count in families.items()}
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
            kind = (run[0], run[1].split("-")[0])
            row = measure(serving(run[0]), run) if left[kind] else None
            if row is None:
                continue
            left[kind] -= 1
            rows.append(row)
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
