"""One process and its workers: signals, limits, forks."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

from .case import Files, case
from .stage import KernelLog, Stage


@case("process.segfault", ("train.log", "Fatal Python error: Segmentation fault"))
def segfault_ctypes(stage: Callable[..., Stage]) -> Files:
    """A null pointer is read through ctypes; faulthandler and the shell say so."""
    return {"train.log": stage().output_of('python -X faulthandler segfault.py\necho "exit status $?"', "segfault.py")}


@case("process.segfault", ("dmesg.log", "segfault at"))
def segfault_kernel(stage: Callable[..., Stage]) -> Files:
    """The same segfault without faulthandler: the shell's line and the kernel's."""
    one, kernel = stage(), KernelLog()
    output = one.output_of('python segfault.py\necho "exit status $?"', "segfault.py")
    return {"train.log": output, "dmesg.log": kernel.lines()}


@case("process.segfault", ("train.log", "Segmentation fault"))
def segfault_shell_only(stage: Callable[..., Stage]) -> Files:
    """The same segfault without faulthandler: only the shell's line tells."""
    return {"train.log": stage().output_of('python segfault.py\necho "exit status $?"', "segfault.py")}


@case("process.abort", ("train.log", "free(): double free detected"))
def heap_corruption(stage: Callable[..., Stage]) -> Files:
    """Native code frees the same memory twice; the C library aborts."""
    files = {"train.py": _DOUBLE_FREE}
    return {"train.log": stage().output_of('python -X faulthandler train.py\necho "exit status $?"', files=files)}


@case("process.illegal_instruction", ("train.log", "Illegal instruction"))
def illegal_instruction(stage: Callable[..., Stage]) -> Files:
    """A page of machine code holds an instruction that the CPU does not have (ud2)."""
    one, kernel = stage(), KernelLog()
    one.prepare()
    one.write("train.py", _UD2)
    return {"train.log": one.run('python train.py\necho "exit status $?"'), "dmesg.log": kernel.lines()}


@case("process.bus_error", ("train.log", "Bus error"))
def bus_error_mmap(stage: Callable[..., Stage]) -> Files:
    """A memory-mapped data file is truncated while it is read."""
    files = {"train.py": _MEMMAP}
    return {"train.log": stage().output_of('python -X faulthandler train.py\necho "exit status $?"', files=files)}


@case("process.resource_limit", ("train.log", "Too many open files"))
def open_files(stage: Callable[..., Stage]) -> Files:
    """Samples shared by DataLoader workers are kept, each with a file descriptor, under `ulimit -n 128`."""
    return {"train.log": stage().output_of("ulimit -n 128\npython open_files.py", "open_files.py")}


@case("process.resource_limit", ("train.log", "OSError: [Errno 24] Too many open files: 'shards/shard-"))
def open_files_plain(stage: Callable[..., Stage]) -> Files:
    """A script opens shards without closing them under `ulimit -n 256`."""
    return {"train.log": stage().output_of("ulimit -n 256\npython open_plain.py", "open_plain.py")}


@case("process.resource_limit", ("train.log", "can't start new thread"))
def thread_limit(stage: Callable[..., Stage]) -> Files:
    """A pool starts more threads than `ulimit -u` allows the user."""
    files = {"train.py": _THREADS}
    return {"train.log": stage().output_of("ulimit -u 60\npython train.py", files=files)}


@case(
    "process.fork_threads",
    ("train.log", "An attempt has been made to start a new process before the"),
    symptoms=("process.worker_died",),
)
def spawn_without_guard(stage: Callable[..., Stage]) -> Files:
    """A script spawns DataLoader workers without `if __name__ == '__main__'`."""
    files = {"train.py": _NO_GUARD}
    return {"train.log": stage().output_of("python train.py", files=files)}


@case("process.worker_died", ("train.log", "is killed by signal: Killed"))
def dataloader_worker_killed(stage: Callable[..., Stage]) -> Files:
    """A DataLoader worker gets SIGKILL from outside."""
    one = stage()
    one.prepare()
    one.write("train.py", _WORKERS)

    def kill(_: subprocess.Popen[bytes]) -> None:
        pid = int(one.wait_for("worker.pid"))
        time.sleep(2)
        os.kill(pid, signal.SIGKILL)

    return {"train.log": one.run("python train.py", meanwhile=kill)}


@case("process.worker_died", ("train.log", "BrokenProcessPool"))
def broken_pool(stage: Callable[..., Stage]) -> Files:
    """A worker of a process pool that prepares data vanishes without a word."""
    return {"train.log": stage().output_of("python prepare.py", files={"prepare.py": _POOL})}


@case("process.worker_died", ("train.log", "process 1 terminated with signal SIGKILL"))
def spawned_rank_killed(stage: Callable[..., Stage]) -> Files:
    """One process of torch.multiprocessing.spawn gets SIGKILL."""
    return {"train.log": stage().output_of("python train.py", files={"train.py": _SPAWN})}


@case("stopped.user", ("train.log", "KeyboardInterrupt"))
def keyboard_interrupt(stage: Callable[..., Stage]) -> Files:
    """A training gets SIGINT, as from Ctrl-C."""
    one = stage()
    one.prepare("healthy_train.py")

    def interrupt(_: subprocess.Popen[bytes]) -> None:
        pid = int(one.wait_for("train.pid"))
        time.sleep(8)
        os.kill(pid, signal.SIGINT)

    # A shell starts background jobs with SIGINT ignored; a subshell that becomes the job in the foreground does not.
    return {"train.log": one.run("(echo $BASHPID > train.pid; exec python healthy_train.py)", meanwhile=interrupt)}


@case("process.stalled", ("train.log", "Timeout (0:00:20)!"))
def deadlock_dump(stage: Callable[..., Stage]) -> Files:
    """Two threads wait for each other's lock; faulthandler's timer dumps their stacks and ends the process."""
    files = {"train.py": _DEADLOCK}
    return {"train.log": stage().output_of("python train.py", files=files)}


_DOUBLE_FREE = """import ctypes

import numpy as np

libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
for step in range(5):
    print(f"step {step} loss {np.exp(-step):.4f}")
buffer = libc.malloc(64)
libc.free(buffer)
libc.free(buffer)
"""
_UD2 = """import ctypes
import mmap

print("loading the fused kernel built with -march=native")
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0x0F, 0x0B, 0xC3]))
fused = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
fused()
"""
_MEMMAP = """import os

import numpy as np

np.zeros(64 << 20, dtype=np.uint8).tofile("tokens.bin")
tokens = np.memmap("tokens.bin", dtype=np.uint8, mode="r")
print("mapped", tokens.nbytes, "bytes")
for step in range(8):
    print(f"step {step} sum {int(tokens[step << 20 : (step + 1) << 20].sum())}")
    if step == 4:
        os.truncate("tokens.bin", 4096)
"""
_THREADS = """import threading
import time

workers = []
for number in range(100):
    worker = threading.Thread(target=time.sleep, args=(5,), daemon=True)
    worker.start()
    workers.append(worker)
    print(f"started prefetch thread {number}")
"""
_NO_GUARD = """import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 8))
loader = DataLoader(data, batch_size=8, num_workers=1, multiprocessing_context="spawn")
for step, (batch,) in enumerate(loader):
    print(f"step {step} mean {batch.mean().item():.4f}")
"""
_WORKERS = """import os
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.randn(16)


def note_pid(worker):
    if worker == 1:
        with open("worker.pid", "w") as file:
            file.write(str(os.getpid()))


for step, batch in enumerate(DataLoader(Samples(), batch_size=32, num_workers=2, worker_init_fn=note_pid)):
    print(f"step {step} mean {batch.mean().item():.4f}")
"""
_DEADLOCK = """import faulthandler
import threading
import time

faulthandler.dump_traceback_later(20, exit=True)
queue_lock, cache_lock = threading.Lock(), threading.Lock()


def prefetch():
    for step in range(100):
        with cache_lock:
            time.sleep(0.05)
            with queue_lock:
                pass


def train():
    for step in range(100):
        print(f"step {step}")
        with queue_lock:
            time.sleep(0.05)
            with cache_lock:
                pass


threading.Thread(target=prefetch, name="prefetch").start()
train()
"""
_POOL = """import os
from concurrent.futures import ProcessPoolExecutor


def tokenize(number):
    if number == 37:
        os._exit(1)
    return number * 512


with ProcessPoolExecutor(2) as pool:
    for number, tokens in enumerate(pool.map(tokenize, range(100))):
        if number % 10 == 0:
            print(f"document {number}: {tokens} tokens")
"""
_SPAWN = """import os
import signal
import time

import torch.multiprocessing as mp


def train(rank):
    for step in range(20):
        print(f"rank {rank} step {step}", flush=True)
        time.sleep(0.2)
        if (rank, step) == (1, 10):
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
"""
