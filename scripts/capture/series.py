"""Numbers over time: runs whose logs tell what happened by their numbers alone, and a long healthy one."""

from __future__ import annotations

from collections.abc import Callable

from .case import Files, case
from .stage import MIB, Stage


@case(
    "host_memory.leak",
    ("train.log", "step 0 loss"),
    accept=("host_memory.oom_cgroup", "process.worker_died"),
    symptoms=("process.worker_died",),
)
def leak_memoised(stage: Callable[..., Stage]) -> Files:
    """A cache without bound grows by 4 MiB a step until the cgroup's OOM killer ends it; only the job's log was kept."""
    one = stage(memory_limit=600 * MIB, cgroup="series")
    one.prepare("memoised.py")
    return {"train.log": one.run('python memoised.py\necho "exit status $?"')}


@case(
    "host_memory.leak",
    ("train.log", "step 0 loss"),
    accept=("host_memory.oom_cgroup", "process.worker_died"),
    symptoms=("process.worker_died",),
)
def leak_at_evaluation(stage: Callable[..., Stage]) -> Files:
    """Each evaluation keeps its predictions, so memory steps up there until the cgroup's OOM killer ends the run."""
    one = stage(memory_limit=700 * MIB, cgroup="series")
    one.prepare("keeps_predictions.py")
    return {"train.log": one.run('python keeps_predictions.py 400000\necho "exit status $?"')}


@case("process.stalled", ("train.log", "ranks are alive"), series=True)
def stalled_ranks(stage: Callable[..., Stage]) -> Files:
    """Two of four processes take two locks in opposite order and wait for each other; the launcher says that all are alive."""
    one = stage()
    one.prepare("locked_ranks.py")
    return {"train.log": one.run("python locked_ranks.py 150 &\nsleep 840", timeout=900)}


@case("numerics.nan", ("train.log", "'step'"), series=True)
def diverging_loss(stage: Callable[..., Stage]) -> Files:
    """A learning rate that doubles again and again makes the loss explode; it never becomes NaN, and nothing is raised."""
    one = stage()
    one.prepare("diverge.py")
    return {"train.log": one.run("python diverge.py")}


@case("process.stalled", ("train.log", "data_time"), series=True)
def starving_loader(stage: Callable[..., Stage]) -> Files:
    """A DataLoader's storage becomes fifty times slower: each step waits for its data; nothing is raised."""
    one = stage()
    one.prepare("starve.py")
    return {"train.log": one.run("python starve.py 1600 150")}


@case("none.healthy")
def healthy_long_train(stage: Callable[..., Stage]) -> Files:
    """A small network trains for 2,400 steps, printing loss, gradient norm, step time and memory at each."""
    one = stage()
    one.prepare("long_train.py")
    return {"train.log": one.run("python long_train.py")}
