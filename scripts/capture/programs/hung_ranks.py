"""A training of several ranks over gloo in which one rank does something else: `hung_ranks.py KIND ODD STEP MODEL`.

Each rank writes the flight recorder's dump to fr/rank_N when the file `dump.now` appears, and when an exception ends it.
"""

import ctypes
import datetime
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

KIND, ODD, STEP, MODEL = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS = {"straggler": 60, "slow": 60, "healthy": 400}.get(KIND, 20)
LOCK = threading.Lock()


def write_dump() -> None:
    """Without stacks at once, then with them: to find the lines takes seconds."""
    for stacks in (False, True):
        begun = time.time()
        data = torch._C._distributed_c10d._dump_fr_trace(includeStackTraces=stacks)
        with open(f"fr/rank_{RANK}.part", "wb") as file:
            file.write(data)
        os.utime(f"fr/rank_{RANK}.part", (begun, begun))
        os.replace(f"fr/rank_{RANK}.part", f"fr/rank_{RANK}")
    open(f"dumped.{RANK}", "w").close()


def dump_when_asked() -> None:
    while not os.path.exists("dump.now"):
        time.sleep(0.2)
    write_dump()


def dump_at_error(*error: object) -> None:
    usual(*error)
    write_dump()


def hold_lock() -> None:
    with LOCK:
        time.sleep(600)


class Shards:
    """Batches of numbers, as a loader would give them."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self):
        for index in range(self.count):
            yield self.load(index)

    def load(self, index: int) -> torch.Tensor:
        if mine("late_loader", index):
            self.decode()
        if mine("waits_for_file", index):
            self.wait_for("shards/ready")
        if mine("waits_for_pipe", index):
            return self.read("shards/pipe")
        if mine("frozen_disk", index):
            self.remember("data/seen.txt", index)
        if mine("lost_disk", index):
            return self.read_patiently("data/shard.bin")
        if mine("out_of_memory", index):
            self.collect()
        return torch.ones(64) * (index + 1)

    def decode(self) -> None:
        total, end = 0, time.time() + 600
        while time.time() < end:
            total += sum(range(2000))  # line of late_loader

    def wait_for(self, path: str) -> None:
        while not os.path.exists(path):
            time.sleep(0.25)  # line of waits_for_file

    def remember(self, path: str, index: int) -> None:
        open("freeze.now", "w").close()
        time.sleep(2)
        with open(path, "a") as file:  # line of frozen_disk
            file.write(f"{index}\n")

    def read_patiently(self, path: str) -> torch.Tensor:
        while True:
            try:
                return self.read(path)[:64]
            except OSError as error:
                print(f"rank {RANK}: {error}, once more", file=sys.stderr, flush=True)
                time.sleep(10)  # line of lost_disk

    def collect(self) -> None:
        kept = []
        while True:
            kept.append(torch.ones(1 << 20))  # line of out_of_memory

    def read(self, path: str) -> torch.Tensor:
        with open(path, "rb") as file:  # line of waits_for_pipe
            return torch.frombuffer(bytearray(file.read()), dtype=torch.float32)


def mine(kind: str, step: int) -> bool:
    return kind == KIND and RANK == ODD and step == STEP


def on_gradient(step: int) -> None:
    if mine("sleeping_hook", step):
        time.sleep(600)  # line of sleeping_hook


def instead(step: int, gradient: torch.Tensor) -> torch.Tensor:
    """What the odd rank does in the place of the step's own work."""
    if mine("dead_rank", step):
        os.kill(os.getpid(), signal.SIGKILL)  # line of dead_rank
    if mine("exception", step):
        raise KeyError(f"no label for sample {step}")  # line of exception
    if mine("gil_held", step):
        ctypes.PyDLL(None).sleep(600)  # line of gil_held
    if mine("lock_held", step):
        threading.Thread(target=hold_lock, daemon=True).start()
        time.sleep(0.5)
        with LOCK:  # line of lock_held
            pass
    if mine("other_operation", step):
        dist.broadcast(gradient, src=(ODD + 1) % WORLD)  # line of other_operation
    if mine("other_shape", step):
        return gradient[:48].clone()
    if (KIND, RANK) == ("straggler", ODD) and step >= STEP:
        time.sleep(0.35)  # line of straggler
    return gradient


def averaging(step: int, batch: torch.Tensor) -> None:
    gradient = batch.cos()
    on_gradient(step)
    gradient = instead(step, gradient)
    dist.all_reduce(gradient)  # line of averaging
    if not mine("broken_barrier", step) and step % 5 == STEP % 5:
        dist.barrier()
    dist.all_reduce(gradient.sum())  # line of broken_barrier in averaging


def grid(step: int, batch: torch.Tensor) -> None:
    """Two groups: rows and columns of the ranks."""
    gradient = instead(step, batch.sin())
    on_gradient(step)
    if mine("group_order", step):
        dist.all_reduce(gradient)  # line of group_order in grid
        dist.all_reduce(gradient, group=ROW)
    else:
        dist.all_reduce(gradient, group=ROW)
        dist.all_reduce(gradient, group=COLUMN)
    if not mine("broken_barrier", step) and step % 4 == STEP % 4:
        dist.barrier()
    dist.all_reduce(gradient.sum())  # line of broken_barrier in grid


def sharded(step: int, batch: torch.Tensor) -> None:
    """Parameters in shards: gathered, used, gradients reduced."""
    whole = [torch.empty(64) for _ in range(WORLD)]
    dist.all_gather(whole, batch)
    gradient = instead(step, torch.stack(whole).mean(0))
    on_gradient(step)
    if mine("group_order", step):
        dist.all_reduce(gradient)  # line of group_order in sharded
        dist.all_reduce(gradient, group=ROW)
    else:
        dist.all_reduce(gradient, group=ROW)
        dist.all_reduce(gradient, group=COLUMN)
    if not mine("broken_barrier", step) and step % 3 == STEP % 3:
        dist.barrier()
    dist.all_reduce(gradient)  # line of broken_barrier in sharded


def tell(step: int) -> None:
    """A file whose content says that this rank goes on."""
    with open(f"step.{RANK}.part", "w") as file:
        file.write(str(step))
    os.replace(f"step.{RANK}.part", f"step.{RANK}")


def evaluate() -> None:
    right = torch.ones(4)
    dist.broadcast(right, src=0)  # line of fewer_batches
    dist.all_reduce(right)


def train() -> None:
    step_of = {"averaging": averaging, "grid": grid, "sharded": sharded}[MODEL]
    batches = STEPS - (5 if (KIND, RANK) == ("fewer_batches", ODD) else 0)
    for step, batch in enumerate(Shards(batches)):
        if KIND == "slow":
            time.sleep(0.2 + 0.3 * (step % 7 == 0))
        else:
            time.sleep(0.05)
        step_of(step, batch)
        tell(step)
        if RANK == 0:
            print(f"step {step} of {STEPS}", flush=True)
    evaluate()


os.makedirs("fr", exist_ok=True)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
usual, sys.excepthook = sys.excepthook, dump_at_error
SIDE = 2 if WORLD % 2 == 0 else 1
rows = [list(range(at, at + WORLD // SIDE)) for at in range(0, WORLD, WORLD // SIDE)]
columns = [list(range(at, WORLD, WORLD // SIDE)) for at in range(WORLD // SIDE)] if SIDE > 1 else [list(range(WORLD))]
made_rows = [(ranks, dist.new_group(ranks, group_desc="rows")) for ranks in rows]
made_columns = [(ranks, dist.new_group(ranks, group_desc="columns")) for ranks in columns]
ROW, COLUMN = (next(group for ranks, group in made if RANK in ranks) for made in (made_rows, made_columns))
with open(f"pid.{RANK}", "w") as file:
    file.write(str(os.getpid()))
threading.Thread(target=dump_when_asked, name="dumps", daemon=True).start()
train()
if KIND == "ended":
    write_dump()
dist.destroy_process_group()
