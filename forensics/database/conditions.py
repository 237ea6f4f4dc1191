"""Conditions of remedies over the facts of a case and of its environment, and the tools that commands name.

    when: [limit_bytes, scheduler=slurm]         the limit is known, and the job ran under Slurm
    unless: [framework=keras|tensorflow]         not where Keras or TensorFlow speaks
    sbatch --mem=SIZE job.sh                     a command of Slurm: tables/tools.csv says so, no remedy has to

A condition over the environment has three answers: it holds, it is excluded (the fact is known and is something else), or nothing
in the logs tells.
"""

import functools
import re
from collections.abc import Collection, Mapping

from msgspec import Struct

from forensics.database.tables import read_rows

# What the logs may tell of where a job ran, and the values that each fact can have.
ENVIRONMENT: Mapping[str, frozenset[str]] = {
    "framework": frozenset(("torch", "lightning", "transformers", "tensorflow", "keras", "jax", "sklearn", "boosting")),
    "launcher": frozenset(("torchrun", "accelerate", "deepspeed", "mpi", "spawn", "ray", "horovod", "dask")),
    "scheduler": frozenset(("slurm", "pbs", "lsf", "sge", "kubernetes", "none")),
    "container": frozenset(("docker", "podman", "apptainer", "kubernetes")),
    "notebook": frozenset(("jupyter", "jupyterhub", "colab", "kaggle", "papermill")),
    "cloud": frozenset(("colab", "kaggle", "sagemaker", "databricks", "azureml", "vertex", "aws", "gcp", "azure")),
    "device": frozenset(("cuda", "rocm", "cpu", "mps", "tpu")),
    "build": frozenset(("cpu", "cuda", "without_cuda")),  # the last: CUDA was asked for, and refused by the build
    "system": frozenset(("ubuntu", "debian", "redhat", "suse", "arch", "windows", "wsl", "macos")),
}
Environment = Mapping[str, Collection[str]]  # fact -> what the logs tell of it


class Tool(Struct, frozen=True):
    """A tool that commands and sentences name: where it exists, where it does not, and whether it is told where nobody knows."""

    name: str
    pattern: re.Pattern[str]
    when: str
    unless: tuple[str, ...]
    hidden: bool


@functools.cache
def tools() -> tuple[Tool, ...]:
    """The rows of tables/tools.csv."""
    return tuple(
        Tool(row["tool"], re.compile(row["pattern"]), row["when"], tuple(row["unless"].split()), row["unknown"] == "hide")
        for row in read_rows("tools")
    )


def fault(condition: str) -> str | None:
    """What is wrong with a condition over the environment; None for a sound one and for the name of a field."""
    fact, equals, values = condition.partition("=")
    if not equals:
        return None
    if fact not in ENVIRONMENT:
        return f"{fact} is no fact of the environment; known are {', '.join(ENVIRONMENT)}"
    if strange := set(values.split("|")) - ENVIRONMENT[fact]:
        return f"{fact} is never {min(strange)}; it is one of {', '.join(sorted(ENVIRONMENT[fact]))}"
    return None


def holds(condition: str, known: Collection[str], environment: Environment) -> bool | None:
    """Does it hold? `known`: names of the fields of the case. None: a fact of the environment that nothing tells."""
    fact, equals, values = condition.partition("=")
    if not equals:
        return fact in known
    told = environment.get(fact)
    return not set(values.split("|")).isdisjoint(told) if told else None


def fit_of(text: str, environment: Environment) -> bool | None:
    """Do the tools that `text` names exist in this environment? False: one is excluded. None: nothing tells of one that is
    hidden then. True: each of them fits, or may."""
    answer: bool | None = True
    for tool in tools():
        if not tool.pattern.search(text):
            continue
        fits = holds(tool.when, (), environment) if tool.when else True
        if fits is False or any(holds(c, (), environment) for c in tool.unless):
            return False
        if fits is None and tool.hidden:
            answer = None
    return answer


def is_confirmed(text: str, environment: Environment) -> bool:
    """Does `text` name a tool that this environment is known to have?"""
    return any(t.when and t.pattern.search(text) and holds(t.when, (), environment) for t in tools())
