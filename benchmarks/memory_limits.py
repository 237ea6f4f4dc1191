"""Is the advised batch size right? Trains small models under memory limits that the kernel enforces, and counts.

    python benchmarks/memory_limits.py --python PYTHON [--only torch] [--floor] [--out runs.csv]

PYTHON has torch, torchinfo, tensorflow and keras. Needs root and a memory cgroup of version 1. For each training: its model's
summary is printed, the batch size is computed from it as an analysis does (settings and limit known), then the training runs for
three steps with that batch, which must finish, and with twice of it, which the kernel must kill. `off` is the estimated memory of
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
from forensics.advice.memory.estimate import RUNTIME_BYTES
from forensics.context.architecture import read_summary
from forensics.model import Line

MIB = 1 << 20
GROUP = Path("/sys/fs/cgroup/memory") / f"memory-limits-{os.getpid()}"
TRAININGS = Path(__file__).with_name("trainings.py")
LONGEST_S = 300
# backend, model, optimizer, limit in MiB: sizes that none of the shares of the arithmetic was set on
RUNS = """
torch plain-96-32-3 sgd 1024;     torch plain-128-16-4 adam 1280;   torch plain-160-24-4 sgd 1536;    torch plain-224-16-4 adam 1536
torch cnn-48-32-3 adam 1024;      torch cnn-80-24-3 sgd 1280;       torch cnn-112-32-4 adam 1536;     torch cnn-160-16-4 sgd 1280
torch res-48-32-3 sgd 1280;       torch res-96-16-3 adam 1280;      torch res-64-48-2 adam 1536;      torch sep-96-32-4 sgd 1280
torch sep-64-48-3 adam 1024;      torch unet-64-16-3 adam 1536;     torch unet-96-32-2 sgd 1792;      torch point-2048-96-4 adam 1280
torch point-768-256-3 sgd 1536;   torch point-4096-48-4 adam 1280;  torch tr-96-96-3-6 adam 1280;     torch tr-192-64-2-4 sgd 1536
torch tr-256-128-2-8 adam 1792;   torch enc-128-128-4-4 adam 1280;  torch enc-256-96-3-6 sgd 1536;    torch enc-64-192-3-6 adam 1024
keras plain-96-32-3 sgd 1280;     keras plain-128-16-4 adam 1536;   keras plain-160-24-4 sgd 1536;    keras plain-224-16-4 adam 1792
keras cnn-48-32-3 adam 1280;      keras cnn-80-24-3 sgd 1536;       keras cnn-112-32-4 adam 1792;     keras cnn-160-16-4 sgd 1536
keras res-48-32-3 sgd 1536;       keras res-96-16-3 adam 1536;      keras res-64-48-2 adam 1792;      keras sep-96-32-4 sgd 1536
keras sep-64-48-3 adam 1280;      keras unet-64-16-3 adam 1792;     keras unet-96-32-2 sgd 2048;      keras point-2048-96-4 adam 1536
keras point-768-256-3 sgd 1536;   keras point-4096-48-4 adam 1536;  keras tr-96-96-3-6 adam 1536;     keras tr-192-64-2-4 sgd 1536
keras tr-256-128-2-8 adam 2048;   keras enc-128-128-4-4 adam 1536;  keras enc-256-96-3-6 sgd 1792;    keras enc-64-192-3-6 adam 1280
torch mlp-1024-2048-4 adam 1280;  torch mlp-3072-1024-6 sgd 1024;   keras mlp-1024-2048-4 adam 1536;  keras mlp-3072-1024-6 sgd 1280
"""


def train(python: str, run: list[str], batch: int, limit: int | None) -> tuple[str, int, float]:
    """How it ended (`ran`, `killed`, `hung`, `failed`), its peak in bytes and its seconds, in a cgroup of `limit` bytes."""
    (GROUP / "memory.limit_in_bytes").write_text(str(limit or -1))
    command = f'echo $$ > {GROUP}/cgroup.procs; exec "$@"'
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    started = time.monotonic()
    arguments = ["sh", "-c", command, "sh", python, str(TRAININGS), *run[:3], str(batch)]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        out, _ = child.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return "hung", 0, time.monotonic() - started
    took = time.monotonic() - started
    if child.returncode == 0:
        return "ran", next(int(line.split()[1]) for line in out.splitlines() if line.startswith("peak")), took
    return "killed" if child.returncode == -9 else "failed", 0, took


def need_of(python: str, run: list[str]) -> Need:
    """What the arithmetic takes from the printed summary of a model."""
    backend, model, optimizer = run[:3]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "COLUMNS": "160"}
    shown = subprocess.run(
        [python, str(TRAININGS), backend, model, optimizer, "0"], capture_output=True, text=True, env=environment
    )
    found = read_summary([Line(n, text) for n, text in enumerate(shown.stdout.splitlines(), 1)])
    if found is None:
        sys.exit(f"no summary of {backend} {model}: {shown.stderr[-300:]}")
    kinds = kind_of(" ".join(layer.kind for layer in found.layers))
    heads = int(model.split("-")[-1]) if model.startswith(("tr", "enc")) else 0
    sample = sample_of(found.layers, kinds, heads, found.weighted_outputs)
    return Need(found.parameters, found.trainable, sample, 1, optimizer=optimizer, runtime=RUNTIME_BYTES[kinds])


def floor(python: str, backend: str) -> int:
    """The least limit, in MiB, in which a tiny training runs."""
    low, high = 16, 1024
    while high - low > 16:
        middle = (low + high) // 2
        ended, _, _ = train(python, [backend, "mlp-16-16-1", "sgd"], 8, middle * MIB)
        low, high = (low, middle) if ended == "ran" else (middle, high)
    return high


def measure(python: str, run: list[str]) -> dict[str, object]:
    """One training: advised, run, run with twice of it."""
    limit = int(run[3]) * MIB
    need = need_of(python, run)
    made = estimate(need)
    advised = largest_batch(need, limit)
    once, peak, took = train(python, run, advised, limit)
    twice, _, also = train(python, run, 2 * advised, limit)
    total = made.fixed + advised * made.per_sample
    row: dict[str, object] = {"backend": run[0], "model": run[1], "optimizer": run[2], "limit_mib": run[3], "advised": advised}
    row |= {"advised_batch": once, "twice_of_it": twice, "right": once == "ran" and twice in ("killed", "hung")}
    row |= {"peak_mib": peak // MIB, "estimated_mib": total // MIB, "off": round(total / peak, 2) if peak else ""}
    return row | {"fixed_mib": made.fixed // MIB, "sample_kib": made.per_sample >> 10, "seconds": round(took + also)}


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
    runs = sorted(runs, key=lambda r: [x[1] for x in runs if x[0] == r[0]].index(r[1]))  # of each backend in turn
    GROUP.mkdir()
    rows: list[dict[str, object]] = []
    try:
        if given.floor:
            for backend in sorted({r[0] for r in runs}):
                print(backend, floor(given.python, backend), "MiB", flush=True)
            return
        for run in runs:
            rows.append(measure(given.python, run))
            print(*rows[-1].values(), flush=True)
            if given.out:
                with given.out.open("w", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
    finally:
        GROUP.rmdir()
    near = [float(str(r["off"])) for r in rows if r["off"]]
    print(
        f"{sum(bool(r['right']) for r in rows)} of {len(rows)} right; {sum(1 / 1.5 <= n <= 1.5 for n in near)} of {len(near)} within 1.5"
    )


if __name__ == "__main__":
    main()
