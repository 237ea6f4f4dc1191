"""Ten causes in twelve environments: what is advised, as it was read and agreed to; nothing names a tool that is not there.

`pytest --update` rewrites gold/remedies.txt; the diff is what a reviewer reads.
"""

import itertools
from pathlib import Path

import pytest

from forensics.advice.remedies import fitting_remedies
from forensics.database import Database
from forensics.database.conditions import tools_available
from forensics.model import Fields

GOLD = Path(__file__).parents[1] / "gold" / "remedies.txt"
ENVIRONMENTS: dict[str, dict[str, set[str]]] = {
    "nothing known": {},
    "torch under Slurm": {"framework": {"torch"}, "scheduler": {"slurm"}, "device": {"cuda"}},
    "torchrun in a pod": {
        "framework": {"torch"}, "launcher": {"torchrun"}, "scheduler": {"kubernetes"}, "container": {"kubernetes"}, "device": {"cuda"},
    },
    "Keras in Jupyter": {"framework": {"keras", "tensorflow"}, "notebook": {"jupyter"}, "system": {"ubuntu"}},
    "Keras in Colab": {"framework": {"keras", "tensorflow"}, "notebook": {"colab"}, "cloud": {"colab"}},
    "transformers in Docker": {"framework": {"transformers", "torch"}, "container": {"docker"}, "device": {"cuda"}},
    "JAX on a TPU host": {"framework": {"jax"}, "device": {"tpu"}, "system": {"debian"}},
    "Lightning under LSF": {"framework": {"lightning", "torch"}, "scheduler": {"lsf"}, "container": {"apptainer"}},
    "torch on Windows": {"framework": {"torch"}, "system": {"windows"}},
    "torch on an AMD GPU": {"framework": {"torch"}, "device": {"rocm"}, "system": {"redhat"}},
    "CPU build in JupyterHub": {"framework": {"torch"}, "build": {"cpu"}, "notebook": {"jupyter", "jupyterhub"}},
    "scikit-learn under PBS": {"framework": {"sklearn"}, "scheduler": {"pbs"}},
}  # fmt: skip
NUMBERS: dict[str, str | int] = {
    "batch_size": 512, "batch_size_place": "train.py:7", "fitting_batch": 96, "step_batch": 64, "accumulation_steps": 8,
    "memory_margin": "20% of it stays free", "memory_estimate": "weights 10 MiB + activations 4.9 GiB (estimated) = 5 GiB for 512 samples, and the limit is 1 GiB",
}  # fmt: skip
FACTS: dict[str, dict[str, str | int]] = {
    "host_memory.oom_cgroup": {"limit_bytes": 1 << 30, **NUMBERS},
    "host_memory.oom_global": {"task": "python3"},
    "host_memory.alloc_refused": {"request_bytes": 1 << 34, "shape": "(60000, 60000)", "big_request": "yes"},
    "host_memory.leak": {"kept_loss": "train.py:14", "kept_loss_code": "losses.append(loss)"},
    "host_memory.shm": {},
    "gpu_memory.capacity": {"request_bytes": 1 << 30, **NUMBERS},
    "gpu_driver.unavailable": {},
    "process.fork_threads": {"start_method": "train.py:3", "start_method_code": 'mp.set_start_method("spawn")'},
    "process.stalled": {},
    "notebook.kernel_died": {},
}


def told(knowledge: Database, cause: str, facts: Fields, name: str) -> str:
    lines = [f"== {cause} | {name}"]
    for remedy in fitting_remedies(knowledge.causes[cause], facts, ENVIRONMENTS[name]):
        lines += [f"{remedy.rank} {remedy.who}: {remedy.action}", *(f"    $ {c}" for c in remedy.commands)]
    return "\n".join(lines)


@pytest.mark.seconds
def test_what_is_advised_in_each_environment(knowledge: Database, pytestconfig: pytest.Config) -> None:
    pairs = list(itertools.product(FACTS, ENVIRONMENTS))
    assert len(pairs) == 120
    text = "\n\n".join(told(knowledge, cause, FACTS[cause], name) for cause, name in pairs) + "\n"
    if pytestconfig.getoption("--update"):
        GOLD.write_text(text)
    assert text == GOLD.read_text()


@pytest.mark.seconds
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_no_remedy_of_any_cause_names_a_tool_that_is_excluded(knowledge: Database, name: str) -> None:
    environment = ENVIRONMENTS[name]
    for cause in knowledge.causes.values():
        for remedy in fitting_remedies(cause, FACTS.get(cause.id, {}), environment):
            for text in (remedy.action, *remedy.commands):
                assert tools_available(text, environment) is not False, (cause.id, text)


@pytest.mark.parametrize(
    ("cause", "name", "first"),
    [
        ("host_memory.oom_cgroup", "torch under Slurm", "Train with 96 samples a step at most, where it was 512 (train.py:7)"),
        ("host_memory.leak", "torch under Slurm", "Store a number instead of a tensor at train.py:14"),
        ("process.fork_threads", "torch on Windows", 'Put the line at train.py:3 under if __name__ == "__main__"'),
        ("gpu_driver.unavailable", "CPU build in JupyterHub", "Install a build of the framework that has code for GPUs; the one"),
    ],
)
def test_what_this_very_case_shows_comes_first(knowledge: Database, cause: str, name: str, first: str) -> None:
    assert fitting_remedies(knowledge.causes[cause], FACTS[cause], ENVIRONMENTS[name])[0].action.startswith(first)
