r"""Conditions of remedies over the facts of a case and of its environment, and the tools that commands name.

    when: [limit_bytes, scheduler=slurm]         the limit is known, and the job ran under Slurm
    unless: [framework=keras|tensorflow]         not if the job used Keras or TensorFlow
    when: ['evidence~divisible|multiple of']         a fact, here the evidence lines, has such words in it
    when: ["exc_message~name '(?P<name>\w+)' is"]    as above; {name} of the remedy's texts is what the group found
    unless: [earlier_remedy]                     another remedy of the cause, above this one, is shown
    when: [signature=ena|efa]                    a line of the evidence matched one of these signatures of the cause
    sbatch --mem=SIZE job.sh                     a command of Slurm, by tables/tools.csv; the remedy needs no condition for it
    Use fewer loader workers                     names a data loader: needs a condition, by tables/needs.csv

A condition over the environment has three results: it holds, it is excluded (the fact is known with another value), or it is
unknown. A remedy is shown only if all its conditions hold.
"""

import contextlib
import functools
import re
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from forensics.core import lazy
from forensics.database.tables import read_rows
from forensics.model import Fields
from forensics.model.answers import OUTCOME_LINE, REASON_LINE

# The facts of the environment in which a job ran, and the possible values of each.
ENVIRONMENT: Mapping[str, frozenset[str]] = {
    "framework": frozenset(("torch", "lightning", "transformers", "tensorflow", "keras", "jax", "sklearn", "boosting")),
    "launcher": frozenset(("torchrun", "accelerate", "deepspeed", "mpi", "spawn", "ray", "horovod", "dask")),
    "scheduler": frozenset(("slurm", "pbs", "lsf", "sge", "kubernetes", "none")),
    "container": frozenset(("docker", "podman", "apptainer", "kubernetes")),
    "notebook": frozenset(("jupyter", "jupyterhub", "colab", "kaggle", "papermill")),
    "cloud": frozenset(("colab", "kaggle", "sagemaker", "databricks", "azureml", "vertex", "aws", "gcp", "azure")),
    "device": frozenset(("cuda", "rocm", "intel", "cpu", "mps", "tpu")),
    "backend": frozenset(("gloo",)),
    "build": frozenset(("cpu", "cuda", "without_cuda")),  # the last: CUDA was asked for, and refused by the build
    "loader": frozenset(("workers", "none")),  # none: the program that was given has no loader with workers
    "ranks": frozenset(("several",)),
    "hosts": frozenset(("one", "several")),  # of a job with several ranks
    "allocator": frozenset(("expandable",)),  # PyTorch's, with segments that grow
    "weights": frozenset(("quantised",)),
    "precision": frozenset(("half",)),  # of the numbers in a step
    "machine": frozenset(("server",)),  # with a management controller
    "work": frozenset(("training", "serving")),
    "language": frozenset(("python", "javascript", "julia", "java", "go", "c")),
    "system": frozenset(("ubuntu", "debian", "redhat", "suse", "arch", "windows", "wsl", "macos", "android")),
}
SIGNATURE_FACT = "signature"  # the ids of the signatures of the evidence, one a line
LINES_WITHOUT_SIGNATURE = (OUTCOME_LINE, REASON_LINE)  # evidence that no signature matched; conditions name it alike
EARLIER_REMEDY = "earlier_remedy"  # an earlier remedy of the same cause is shown; for one that is only a last resort
Environment = Mapping[str, Collection[str]]  # fact -> what the logs tell of it


class Tool(Struct, frozen=True):
    """A tool that commands and sentences name: where it exists, where it does not, and whether it is shown if the environment is
    unknown."""

    name: str
    pattern: re.Pattern[str]
    when: str
    unless: tuple[str, ...]
    hidden: bool
    setting: str = ""  # where such a command is typed, told beside it if nothing shows the setting


@functools.cache
def tools() -> tuple[Tool, ...]:
    """The rows of tables/tools.csv."""
    return tuple(
        Tool(
            row["tool"],
            lazy.regex(row["pattern"]),
            row["when"],
            tuple(row["unless"].split()),
            row["unknown"] == "hide",
            row["setting"],
        )
        for row in read_rows("tools")
    )


class Need(Struct, frozen=True):
    """A need of a remedy, by its words, and the condition that shows it.

    `shown_by`: causes that show it by themselves, as GPU causes show a GPU.
    """

    name: str
    pattern: re.Pattern[str]
    when: str
    shown_by: re.Pattern[str] | None


@functools.cache
def needs() -> tuple[Need, ...]:
    """The rows of tables/needs.csv."""
    return tuple(
        Need(r["need"], lazy.regex(r["pattern"]), r["when"], lazy.regex(r["shown_by"]) if r["shown_by"] else None)
        for r in read_rows("needs")
    )


def needs_of(text: str, cause: str) -> list[str]:
    """The needs of a remedy of `cause` that the cause itself does not show, with tools: `data loader`, `slurm`."""
    words = [n.name for n in needs() if n.pattern.search(text) and not (n.shown_by and n.shown_by.match(cause))]
    return words + [t.name for t in tools() if t.when and t.pattern.search(text)]


def condition_fault(condition: str) -> str | None:
    """The fault of a condition over the environment; None for a correct one and for the name of a field."""
    if "~" in condition:
        try:
            re.compile(condition.partition("~")[2])
        except re.error as error:
            return f"{condition!r} does not compile: {error}"
        return None
    fact, equals, values = condition.partition("=")
    if not equals or fact == SIGNATURE_FACT:
        return None
    if fact not in ENVIRONMENT:
        return f"{fact} is no fact of the environment; known are {', '.join(ENVIRONMENT)}"
    if strange := set(values.split("|")) - ENVIRONMENT[fact]:
        return f"{fact} is never {min(strange)}; it is one of {', '.join(sorted(ENVIRONMENT[fact]))}"
    return None


@functools.cache
def condition_terms(pattern: str) -> re.Pattern[str]:
    """The pattern that a condition searches in a fact, ignoring case."""
    return lazy.regex(pattern, re.IGNORECASE)


def condition_field(condition: str) -> str | None:
    """The field of the case that a condition needs; None for a fact of the environment."""
    if condition.startswith(f"{SIGNATURE_FACT}="):
        return SIGNATURE_FACT
    field, about, _ = condition.partition("~")
    return field if about or "=" not in condition else None


def condition_groups(conditions: Iterable[str], known: Fields) -> dict[str, str]:
    """What the named groups of the conditions find in the facts that they search."""
    found: dict[str, str] = {}
    for field, about, pattern in (c.partition("~") for c in conditions):
        if about and (match := condition_terms(pattern).search(str(known.get(field, "")))):
            found |= {name: text for name, text in match.groupdict().items() if text}
    return found


def group_names_of(conditions: Iterable[str]) -> set[str]:
    """The names of the groups in the patterns of the conditions; none of a pattern that does not compile."""
    names: set[str] = set()
    for condition in conditions:
        with contextlib.suppress(re.error):
            names |= set(condition_terms(condition.partition("~")[2]).groupindex)
    return names


def condition_holds(condition: str, known: Fields, environment: Environment) -> bool | None:
    """Does the condition hold? `known`: the fields of the case. None: the fact of the environment is unknown."""
    field, about, pattern = condition.partition("~")
    if about:
        return bool(condition_terms(pattern).search(str(known.get(field, ""))))
    fact, equals, values = condition.partition("=")
    if not equals:
        return fact in known
    if fact == SIGNATURE_FACT:
        return not set(values.split("|")).isdisjoint(str(known.get(fact, "")).splitlines())
    value = environment.get(fact)
    return not set(values.split("|")).isdisjoint(value) if value else None


@functools.lru_cache(maxsize=1024)  # chosen by hand: the commands of all questions, and of the remedies of some causes
def tools_in(text: str) -> tuple[Tool, ...]:
    """The tools that `text` names."""
    return tuple(tool for tool in tools() if tool.pattern.search(text))


def tools_available(text: str, environment: Environment) -> bool | None:
    """Do the tools that `text` names exist in this environment? False: one is excluded. None: nothing tells of one that is
    hidden then. True: each of them fits, or may."""
    answer: bool | None = True
    for tool in tools_in(text):
        fits = condition_holds(tool.when, {}, environment) if tool.when else True
        if fits is False or any(condition_holds(c, {}, environment) for c in tool.unless):
            return False
        if fits is None and tool.hidden:
            answer = None
    return answer


def open_setting(text: str, environment: Environment) -> str:
    """In which setting a command is typed, if nothing shows or excludes that setting: `in a container`.
    Empty if its tools are known to exist or not to, or if it needs others that nothing shows."""
    if tools_available(text, environment) is not None:
        return ""
    unknown = [t for t in tools_in(text) if t.hidden and condition_holds(t.when, {}, environment) is None]
    return unknown[0].setting if all(t.setting for t in unknown) else ""


def is_confirmed(text: str, environment: Environment) -> bool:
    """Does `text` name a tool that this environment is known to have?"""
    return any(t.when and condition_holds(t.when, {}, environment) for t in tools_in(text))


class WordRule(Struct, frozen=True):
    """A rule on remedies and commands with certain words; `settled`: words beside which it does not apply."""

    words: re.Pattern[str]
    settled: re.Pattern[str] | None

    def is_about(self, text: str, *beside: str) -> bool:
        """Are its words in `text`, and none that settles it, there or in the texts `beside`?"""
        return bool(self.words.search(text)) and not (self.settled and any(map(self.settled.search, (text, *beside))))


def rule_words(row: Mapping[str, str]) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """The words of a WordRule in a row of a table."""
    return lazy.regex(row["words"]), lazy.regex(row["settled"]) if row["settled"] else None
