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


@case("process.stalled", ("guard.log", "no progress"), symptoms=("process.worker_died",))
def guard_kills_deadlock(stage: Callable[..., Stage]) -> Files:
    """Two threads wait for each other's lock; a shell script that guards the job kills it when its log no longer grows."""
    one = stage()
    one.prepare("two_locks.py")
    one.write("guard.sh", _GUARD)
    script = (
        "python two_locks.py > train.log 2>&1 &\njob=$!\nbash guard.sh $job > guard.log 2>&1 &\n"
        'wait $job\necho "exit status $?"\nwait'
    )
    shell = one.run(script)
    return {"train.log": one.read("train.log") + shell, "guard.log": one.read("guard.log")}


_GUARD = """while sleep 4; do
  age=$(( $(date +%s) - $(stat -c %Y train.log) ))
  if [ $age -gt 12 ]; then
    echo "$(date '+%F %T') guard: no progress in train.log for $age s, killing process $1"
    kill -9 $1
    exit
  fi
  echo "$(date '+%F %T') guard: train.log grew $age s ago"
done
"""
