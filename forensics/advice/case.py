"""The facts that remedies may speak of: those of the evidence, and what programs, settings and arithmetic add.

Habit("kept_loss", "train.py", 14, "losses.append(loss)")   -> kept_loss "train.py:14", kept_loss_code "losses.append(loss)"
Habit("batch_size", "train.py", 3, "batch_size = 64", 64)   -> batch_size 64, batch_size_place "train.py:3"
"""

import re
from collections.abc import Iterable

from forensics.advice.memory.case import ESTIMATE_FACTS, memory_facts
from forensics.advice.whereabouts import LIBRARY_PATH_PATTERN
from forensics.database.releases import find_release, is_older
from forensics.model import HABITS, Fields, Habit, JobContext, Value

LOOP = re.compile(r"loop\d+(?:p\d+)?")
DRIVER_FIELDS = ("cuda_version", "driver_version", "driver_minimum", "driver_table")
# Settings whose largest value counts where there are several: it needs most memory.
NUMBER_FACTS = (
    "batch_size",
    "accumulation",
    "workers",
    "prefetch",
    "sequence",
    "shuffle_buffer",
    "shuffle_filled",
    "sample_values",
    "heads",
)
PLACED_FACTS = ("mixed_precision", "fused_attention")  # settings whose place is all that they tell

TENSOR_FRAMEWORKS = {"torch", "lightning", "transformers", "tensorflow", "keras", "jax"}
SAID_FACT = "said"  # the text of the evidence lines
REASON_PLACE = "reason_place"  # the place of the line that most likely says why: `build.log:12`
UNEXPLAINED = "unexplained"  # of a first cause that no other one explains: "nothing given says why"


def case_fields() -> set[str]:
    """The names of all facts that are added to those of the evidence."""
    numbers = {n for name in NUMBER_FACTS for n in (name, f"{name}_place")}
    own = {
        SAID_FACT,
        REASON_PLACE,
        UNEXPLAINED,
        "long_run",
        "profiled",
        "profiled_code",
        "profiled_bytes",
        "optimizer",
        *PLACED_FACTS,
    }
    own |= {"shm_space", "loop_device", "own_folder", "lock_holder", "held_lock", "lock_threads", "lock_circle"}
    return {*own, *numbers, *ESTIMATE_FACTS, *DRIVER_FIELDS, *HABITS, *(f"{h}_code" for h in HABITS)}


def case_facts(facts: Fields, around: JobContext) -> dict[str, Value]:
    """`facts` of the evidence over those of what is `around` the job: evidence has the last word."""
    known = {**_settings(around), **_habits(around), **facts}
    if around.last_reading:
        known["long_run"] = around.last_reading.place
    if around.profiled:
        known |= {"profiled": around.profiled.place, "profiled_code": around.profiled.text}
        known["profiled_bytes"] = int(around.profiled.value or 0)
    if holder := around.lock_holder:
        known |= {"lock_holder": holder.place, "held_lock": holder.lock, "lock_threads": holder.threads}
        known |= {"lock_circle": f"{holder.lock} and {holder.waits_for}"} if holder.circle else {}
    return {
        **memory_facts(known, around),
        **_driver(known, around),
        **_shm_space(around),
        **_loop_device(known),
        **_own_folder(known),
        **known,
    }


def _loop_device(facts: Fields) -> dict[str, Value]:
    """A device that is a file: it has no health record of its own."""
    device = str(facts.get("device", ""))
    return {"loop_device": device} if LOOP.fullmatch(device) else {}


def _own_folder(facts: Fields) -> dict[str, Value]:
    """The folder that holds a package which could not be imported: one of those above the importing file is called like it."""
    folder, found, _ = str(facts.get("file", "")).rpartition(f"/{str(facts.get('module', '')).split('.')[0]}/")
    own = found != "//" and folder and not LIBRARY_PATH_PATTERN.search(f"{folder}/")
    return {"own_folder": folder} if own else {}


def _shm_space(around: JobContext) -> dict[str, Value]:
    """What `df` says of the file system for shared memory: size, used, free, share."""
    columns = [s.value for s in around.settings if s.name == "/dev/shm"]
    return {"shm_space": columns[-1]} if columns else {}


def _driver(facts: Fields, around: JobContext) -> dict[str, Value]:
    """Where both the CUDA release and the driver are known: which driver the release needs, if this one is older."""
    known_settings = {s.name: s.value for s in reversed(around.settings)}
    asked = str(facts.get("cuda_needed") or facts.get("torch_cuda") or known_settings.get("CUDA runtime") or "")
    driver = str(facts.get("driver_version") or known_settings.get("driver") or "")
    found = find_release(asked) if asked else None
    if found is None or not driver or not is_older(driver, found.driver):
        return {}
    needed = found.minimum if is_older(driver, found.minimum) else found.driver
    return {"cuda_version": found.cuda, "driver_version": driver, "driver_minimum": needed, "driver_table": found.sentence}


def settings_of(around: JobContext) -> list[Habit]:
    """What the log says of the run's settings, else what the programs beside it do: defaults there may have been overridden."""
    said = {r.kind for r in around.run}
    return [*around.run, *(r for p in around.programs for r in p.settings if r.kind not in said)]


def _settings(around: JobContext) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    every = settings_of(around)
    for name in NUMBER_FACTS:
        if most := max((r for r in every if r.kind == name), key=lambda r: r.value or 0, default=None):
            facts |= {name: int(most.value or 0), f"{name}_place": most.place}
    for remark in every:
        if remark.kind.startswith("optimizer "):
            facts.setdefault("optimizer", remark.kind.removeprefix("optimizer "))
        elif remark.kind in PLACED_FACTS:
            facts.setdefault(remark.kind, remark.place)
    return facts


def _habits(around: JobContext) -> dict[str, Value]:
    """The first habit of each kind, its place and its code. A loss is a tensor only where a framework makes it one."""
    tensors = TENSOR_FRAMEWORKS & around.environment.get("framework", set())
    return _places(h for p in around.programs for h in p.habits if tensors or h.kind != "kept_loss")


def _places(habits: Iterable[Habit]) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    for habit in habits:
        if habit.kind not in facts:
            facts |= {habit.kind: habit.place, f"{habit.kind}_code": habit.text}
    return facts
