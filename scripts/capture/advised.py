"""Mistakes that the program beside the log shows: Keras, TensorFlow, pandas and NumPy under memory limits of their own."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from .case import Files, case
from .stage import MIB, PROGRAMS, KernelLog, Stage

_KILLED = "Memory cgroup out of memory: Killed process"
_MEMORY = "host_memory.oom_cgroup"
_DIED = ("process.worker_died",)
TENSORFLOW = "venv_tensorflow"
JAX = "venv_jax"


def killed(one: Stage, program: str) -> Files:
    """`program` ran until the kernel ended it: its output with the shell's words, the kernel's report of it, and the program."""
    kernel = KernelLog()
    output = one.output_of(f'python {program}\necho "exit status $?"', program)
    return {"train.log": output, "dmesg.log": own_report(kernel.lines("-T")), program: (PROGRAMS / program).read_text()}


def own_report(log: str) -> str:
    """The kernel's last report of a kill in the stage's cgroup, without those of other cgroups at the same time."""
    lines = log.splitlines(keepends=True)
    kill = max(i for i, line in enumerate(lines) if "oom_memcg=/train," in line)
    start = max(i for i, line in enumerate(lines[:kill]) if "invoked oom-killer" in line)
    return "".join(lines[start : kill + 2])


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def keras_big_batch(stage: Callable[..., Stage]) -> Files:
    """A Keras CNN is fitted with a batch of 12,800 images in 1500 MiB; its summary stands in the log."""
    return killed(stage(memory_limit=1500 * MIB), "keras_big_batch.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=JAX)
def jax_big_batch(stage: Callable[..., Stage]) -> Files:
    """A CNN of Flax is trained with a batch of 4,096 images in 1500 MiB; nothing in the log tells what a step needs."""
    return killed(stage(memory_limit=1500 * MIB), "jax_big_batch.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=JAX)
def jax_planned_batch(stage: Callable[..., Stage]) -> Files:
    """The same CNN of Flax in 1500 MiB, and the program prints what XLA planned for one step."""
    return killed(stage(memory_limit=1500 * MIB), "jax_planned_batch.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def shuffle_buffer(stage: Callable[..., Stage]) -> Files:
    """A pipeline of tf.data shuffles ten thousand images of 588 KiB at a time in 1600 MiB."""
    return killed(stage(memory_limit=1600 * MIB), "shuffle_buffer.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def keras_eager(stage: Callable[..., Stage]) -> Files:
    """A Keras CNN is fitted step by step in Python (run_eagerly) in 900 MiB."""
    return killed(stage(memory_limit=900 * MIB), "keras_eager.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def keras_rebuilt(stage: Callable[..., Stage]) -> Files:
    """A search builds a Keras model for each width and clears no session, until the cgroup's OOM killer ends it."""
    return killed(stage(memory_limit=900 * MIB), "keras_rebuilt.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def tf_retracing(stage: Callable[..., Stage]) -> Files:
    """A training loop makes a new tf.function in each step and keeps it; TensorFlow warns of retracing, and memory ends."""
    return killed(stage(memory_limit=700 * MIB), "tf_retracing.py")


@case("code.exception", ("train.log", "words counted of"), venv=JAX)
def lost_counts(stage: Callable[..., Stage]) -> Files:
    """Threads add to one counter without a lock, and the sum at the end is too small."""
    return _said(stage(), "lost_counts.py")


@case("code.exception", ("train.log", "changed size during iteration"), venv=JAX)
def changed_while_read(stage: Callable[..., Stage]) -> Files:
    """A thread goes over a dictionary that two others fill."""
    return _said(stage(), "changed_while_read.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def growing_generator(stage: Callable[..., Stage]) -> Files:
    """The generator that feeds Keras appends every sample to a list that nobody empties."""
    return killed(stage(memory_limit=900 * MIB), "growing_generator.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def opencv_pipeline(stage: Callable[..., Stage]) -> Files:
    """A pipeline of tf.data decodes and resizes with OpenCV, one image after the other, and caches the floats."""
    return killed(stage(memory_limit=900 * MIB), "opencv_pipeline.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED)
def concatenates(stage: Callable[..., Stage]) -> Files:
    """Features of shard after shard are concatenated to one array, which is copied each time."""
    return killed(stage(memory_limit=700 * MIB), "concatenates.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def whole_csv(stage: Callable[..., Stage]) -> Files:
    """pandas reads a table of two hundred columns whole, of which the model needs three."""
    return killed(stage(memory_limit=400 * MIB), "whole_csv.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, venv=TENSORFLOW)
def keras_keeps(stage: Callable[..., Stage]) -> Files:
    """A Keras callback keeps the predictions of every epoch; after tens of good epochs the OOM killer ends the run."""
    return killed(stage(memory_limit=700 * MIB), "keras_keeps.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED, accept=("numerics.nan",))
def nan_and_leak(stage: Callable[..., Stage]) -> Files:
    """The loss is NaN after a few steps, and batches that are kept fill the cgroup: two faults at once."""
    return killed(stage(memory_limit=700 * MIB), "nan_and_leak.py")


@case("code.exception", ("train.log", "No gradients provided"), accept=("code.config",), venv=TENSORFLOW)
def left_the_tape(stage: Callable[..., Stage]) -> Files:
    """A loss becomes a NumPy number inside tf.GradientTape, and Keras finds no gradients."""
    return _said(stage(), "left_the_tape.py")


@case("numerics.nan", ("train.log", "loss: nan"), series=True, venv=TENSORFLOW)
def keras_own_loss(stage: Callable[..., Stage]) -> Files:
    """A loss of the program's own takes the logarithm of 0: NaN from the first epoch to the last, and nothing is raised."""
    return _said(stage(), "keras_own_loss.py")


@case(_MEMORY, ("dmesg.log", _KILLED), symptoms=_DIED)
def swap_full(stage: Callable[..., Stage]) -> Files:
    """A job may hold 300 MiB and the swap space; `free` is printed beside it until both are full and it is killed."""
    with _swap_space(192):
        one, kernel = stage(memory_limit=300 * MIB, swap=400 * MIB), KernelLog()
        watch = "while kill -0 $job; do free -m | tail -n1; sleep 0.1; done 2>/dev/null"
        script = f'free -m\npython fills_slowly.py 700 &\njob=$!\n{watch}\nwait $job\necho "exit status $?"'
        output = one.output_of(script, "fills_slowly.py")
        return {"train.log": output, "dmesg.log": own_report(kernel.lines("-T"))}


@case("none.healthy")
def healthy_but_paging(stage: Callable[..., Stage]) -> Files:
    """A job draws from an array larger than its memory: it ends well, and vmstat beside it shows that it pages all the time."""
    with _swap_space(700):
        one = stage(memory_limit=200 * MIB, swap=700 * MIB)
        one.prepare("working_set.py")
        script = 'vmstat 1 > vmstat.log &\npython working_set.py 400 6\necho "exit status $?"\nkill %1'
        output = one.run(script)
        return {"train.log": output, "vmstat.log": one.read("vmstat.log")}


@case("none.healthy")
def healthy_thrashing(stage: Callable[..., Stage]) -> Files:
    """Four workers draw from arrays that are together eight times their memory: all end well, and their group's pressure file is
    printed beside them."""
    with _swap_space(1200):
        one = stage(memory_limit=100 * MIB, swap=1100 * MIB, pressure=True)
        one.prepare("working_set.py")
        watch = "date '+%F %T'; cat /sys/fs/cgroup/unified/train/memory.pressure; sleep 1"
        start = 'for n in 1 2 3 4; do python working_set.py 200 12 & workers="$workers $!"; done'
        script = f'{start}\n(while true; do {watch}; done) > memory.pressure.log &\nwait $workers\necho "exit status $?"\nkill %5'
        output = one.run(script)
        return {"train.log": output, "memory.pressure.log": one.read("memory.pressure.log")}


@case("numerics.nan", ("run-3.log", "not finite at step 141"))
def same_step(stage: Callable[..., Stage]) -> Files:
    """Three starts with other first weights end at the same step, where a record of the data is infinite."""
    one = stage()
    one.prepare("bad_record.py")
    return {f"run-{n}.log": one.run(f'date "+%F %T"\npython bad_record.py {n}\necho "exit status $?"') for n in (1, 2, 3)}


def _said(one: Stage, program: str) -> Files:
    """What `program` said until its end, and the program."""
    output = one.output_of(f'python {program}\necho "exit status $?"', program)
    return {"train.log": output, program: (PROGRAMS / program).read_text()}


@contextlib.contextmanager
def _swap_space(size_mib: int) -> Iterator[None]:
    """A swap file of the machine while the stage runs; only what exceeds the stage's own limit goes there."""
    path = Path("/var/tmp/capture.swap")
    subprocess.run(["dd", "if=/dev/zero", f"of={path}", "bs=1M", f"count={size_mib}", "status=none"], check=True)
    path.chmod(0o600)
    try:
        subprocess.run(["mkswap", "-q", str(path)], check=True)
        subprocess.run(["swapon", str(path)], check=True)
        yield
    finally:
        subprocess.run(["swapoff", str(path)], check=False)
        path.unlink(missing_ok=True)
