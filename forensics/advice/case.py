"""Collect the facts that remedies may name: those of the evidence, and those of programs, settings and calculations.

Habit("kept_loss", "train.py", 14, "losses.append(loss)")   -> kept_loss "train.py:14", kept_loss_code "losses.append(loss)"
Habit("batch_size", "train.py", 3, "batch_size = 64", 64)   -> batch_size 64, batch_size_place "train.py:3"
"""

from collections.abc import Iterable

from forensics.advice.amounts import AMOUNT_FACTS, amount_facts
from forensics.advice.growth import GREW_FACTS
from forensics.advice.log_facts import ACTIVATION_FACTS, DISK_FACTS, STACK_FACTS, STANDING_FACTS, STATUS_FACTS
from forensics.core import lazy
from forensics.database import read_table
from forensics.database.releases import find_release, is_older
from forensics.estimate import ESTIMATE_FACTS, memory_facts
from forensics.model import HABITS, Fields, Habit, JobContext, Value
from forensics.readers.python.failing_code import (
    CALLER_LINE,
    FAILING_FACTS,
    LIBRARY_FACTS,
    PYTHON_RELEASE,
    WRITTEN_CODE,
    WRITTEN_PLACE,
    names_in,
    root_name,
)
from forensics.readers.python.failing_parts import LOOKED_UP_IN, successor_facts
from forensics.readers.python.frames import cell_number
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.own_words import OWN_WORDS_FACTS
from forensics.readers.python.phase import EVALUATING, GENERATING, PHASE_FACTS
from forensics.readers.torch.rank_places import QUIET_RANKS

LOOP = lazy.regex(r"loop\d+(?:p\d+)?")
DRIVER_FIELDS = ("cuda_version", "driver_version", "driver_minimum", "driver_table")
# Settings of which the largest value counts, if there are several: it needs most memory.
NUMBER_FACTS = (
    "batch_size", "eval_batch_size", "accumulation", "workers", "prefetch", "sequence", "shuffle_buffer", "shuffle_filled",
    "sample_values", "heads", "address_space_mib", "open_files_limit", "process_limit", "host_free_percent",
)  # fmt: skip
RECORDED_LIMITS = ("address_space_mib", "open_files_limit", "process_limit")  # those of a captured run, which its log tells
LEARNING_RATE = "learning_rate"  # of several the last one: a fraction, of which the digits are told as they are
PLACED_FACTS = ("mixed_precision", "fused_attention")  # settings without a value: only the place is a fact

TENSOR_FRAMEWORKS = {"torch", "lightning", "transformers", "tensorflow", "keras", "jax"}
EVIDENCE_FACT = "evidence"  # the text of the evidence lines, for conditions of remedies
AROUND_FACT = "around"  # the evidence lines with the lines before and after them, for conditions of remedies
EVIDENCE_PLACE = "evidence_place"  # the place of the first line of evidence
REASON_PLACE = "reason_place"  # the place of the line that most likely says why: `build.log:12`
LINE_TO_TEACH = "line_to_teach"  # the place of a line of failure that no signature knows: `logs/build.log:12`
NAMED_PLACE = "named_place"  # a line of a program that a message names: `run.sh:3`; nothing else tells where it was
SAVED_FACTS = LAST_SAVED, LAST_SAVED_PLACE, SAVED_FILES, RESUMED_PLACE = (
    "last_saved",
    "last_saved_place",
    "saved_files",
    "resumed_place",
)
MAX_SAVED_FILES = 3  # that a sentence names; the last ones are those of the run that ended
EARLIER_CAUSES = "earlier_causes"  # causes of lines above the evidence in the same log, each with the place of its first line
INSTALLED = "installed"  # the packages that the log names with their releases, one a line: `torch 2.4.0`
UNEXPLAINED = "unexplained"  # a fact of the first cause, which no other one explains: "the given logs do not say why"
POSSIBLE_SIGN = "possible_sign"  # of a report that shows no crash: the place of the first line that could be a sign of one
READ_FACTS = (
    *ACTIVATION_FACTS, *AMOUNT_FACTS, *STACK_FACTS, *STANDING_FACTS, *STATUS_FACTS, *LIBRARY_FACTS, *FAILING_FACTS, *SAVED_FACTS,
    *DISK_FACTS, *PHASE_FACTS, *OWN_WORDS_FACTS, *GREW_FACTS,
)  # fmt: skip


def case_fields() -> set[str]:
    """The names of all facts that are added to those of the evidence."""
    numbers = {n for name in NUMBER_FACTS for n in (name, f"{name}_place")}
    own = {
        EVIDENCE_FACT, AROUND_FACT, EVIDENCE_PLACE, REASON_PLACE, LINE_TO_TEACH, NAMED_PLACE, QUIET_RANKS, UNEXPLAINED,
        EARLIER_CAUSES, "long_run", "profiled", "profiled_code", "profiled_bytes", "optimizer", "allocated_percent", "machine",
        "shm_space", "loop_device", "own_folder", "package", "distribution", "old_name", "successor", "gone_in", "lock_holder",
        "held_lock", "lock_threads", "lock_circle", POSSIBLE_SIGN, LEARNING_RATE, f"{LEARNING_RATE}_place", *PLACED_FACTS,
    }  # fmt: skip
    return {*own, *numbers, *READ_FACTS, *ESTIMATE_FACTS, *DRIVER_FIELDS, *HABITS, *(f"{h}_code" for h in HABITS)}


def case_facts(facts: Fields, context: JobContext) -> dict[str, Value]:
    """The facts of the job's context and `facts` of the evidence; if both give a fact, the evidence counts."""
    known = {**_settings(context), **_habits(context), **facts}
    if context.last_reading:
        known["long_run"] = context.last_reading.place
    if context.saved:
        last = context.saved[-1]
        known |= {LAST_SAVED: last.text, LAST_SAVED_PLACE: last.place}
        known |= {SAVED_FILES: ", ".join(h.text for h in context.saved[-MAX_SAVED_FILES:])}
        if (begun := context.resumed) and begun.source == last.source and begun.line < last.line:
            known[RESUMED_PLACE] = begun.place
    if context.profiled:
        known |= {"profiled": context.profiled.place, "profiled_code": context.profiled.text}
        known["profiled_bytes"] = int(context.profiled.value or 0)
    if holder := context.lock_holder:
        known |= {"lock_holder": holder.place, "held_lock": holder.lock, "lock_threads": holder.threads}
        known |= {"lock_circle": f"{holder.lock} and {holder.waits_for}"} if holder.circle else {}
    return {
        **(memory_facts(known, context) if not {EVALUATING, GENERATING} & known.keys() else {}),  # they are about a training step
        **_driver(known, context),
        **amount_facts(known, context),
        **_allocated(known),
        **_machine(context),
        **_shm_space(context),
        **_loop_device(known),
        **_own_folder(known),
        **_package(known),
        **_written(known, context),
        **_distribution(known),
        **_installed(known, context),
        **successor_facts(str(known.get(EVIDENCE_FACT, ""))),
        **known,
    }


def _allocated(facts: Fields) -> dict[str, Value]:
    """How much of a GPU the framework's allocator had given out, in percent of its memory."""
    given, total = facts.get("allocated_bytes"), facts.get("total_bytes")
    if not isinstance(given, int) or not isinstance(total, int) or total <= 0:
        return {}
    return {"allocated_percent": round(100 * given / total)}


def _loop_device(facts: Fields) -> dict[str, Value]:
    """The device if it is a file: such a device has no health record of its own."""
    device = str(facts.get("device", ""))
    return {"loop_device": device} if LOOP.fullmatch(device) else {}


def _own_folder(facts: Fields) -> dict[str, Value]:
    """The folder with a package that could not be imported: a folder above the importing file has the package's name. Not where
    the message tells that the package was found there: `cannot import name 'x' from 'app.api' (/w/app/api.py)`."""
    folder, found, _ = str(facts.get("file", "")).rpartition(f"/{str(facts.get('module', '')).split('.')[0]}/")
    own = found != "//" and folder and not is_library_file(f"{folder}/")
    own = own and f"({folder}/" not in str(facts.get("exc_message", ""))
    return {"own_folder": folder} if own else {}


def _package(facts: Fields) -> dict[str, Value]:
    """The package of which a part could not be imported: Python names the whole where that is what it lacks."""
    package, dot, part = str(facts.get("module", "")).partition(".")
    return {"package": package} if dot and part and package.isidentifier() else {}


def _written(facts: Fields, context: JobContext) -> dict[str, Value]:
    """The statement in which the program itself writes out the mapping that lacks a key, or the one that the caller passes."""
    name, file = root_name(str(facts.get(LOOKED_UP_IN, ""))), str(facts.get("file", "")).replace("\\", "/")
    wanted = ".ipynb" if cell_number(file) else file.rpartition("/")[2]
    every = [m for p in context.programs if p.name.endswith(wanted) for m in p.maps] if name and wanted else []
    called = str(facts.get(CALLER_LINE, ""))
    maps = [m for m in every if m.name == name] or [
        m for m in every if m.name in names_in(called) and name not in names_in(called)
    ]
    return {WRITTEN_PLACE: maps[0].place, WRITTEN_CODE: maps[0].statement} if len(maps) == 1 else {}


def _distribution(facts: Fields) -> dict[str, Value]:
    """By which name a module that could not be imported is installed, if it is one of the widely used ones: `sklearn` is a part
    of `scikit-learn`. Any other one may be a file of the user's own."""
    module = str(facts.get("module", ""))
    known = read_table("import_names")
    row = known.get(module) or known.get(module.partition(".")[0])
    return {"distribution": row["distribution"]} if row else {}


def _installed(facts: Fields, context: JobContext) -> dict[str, Value]:
    """The packages with their releases; Python's own release is that of the folder in which the packages of the traceback lie."""
    told = dict(context.packages) | ({"python": str(facts[PYTHON_RELEASE])} if PYTHON_RELEASE in facts else {})
    return {INSTALLED: "\n".join(f"{name} {release}" for name, release in told.items())} if told else {}


def _shm_space(context: JobContext) -> dict[str, Value]:
    """The line of `df` about the file system for shared memory: size, used, free, share."""
    columns = [s.value for s in context.settings if s.name == "/dev/shm"]
    return {"shm_space": columns[-1]} if columns else {}


def _machine(context: JobContext) -> dict[str, Value]:
    """The hardware's name as the kernel prints it: `QEMU Standard PC (i440FX + PIIX, 1996)` for a virtual machine."""
    return {s.name: s.value for s in context.settings if s.name == "machine"}


def _driver(facts: Fields, context: JobContext) -> dict[str, Value]:
    """The driver that the CUDA release needs, if both are known and this driver is older."""
    known_settings = {s.name: s.value for s in reversed(context.settings)}
    asked = str(facts.get("cuda_needed") or facts.get("torch_cuda") or known_settings.get("CUDA runtime") or "")
    driver = str(facts.get("driver_version") or known_settings.get("driver") or "")
    found = find_release(asked) if asked else None
    if found is None or not driver or not is_older(driver, found.driver):
        return {}
    needed = found.minimum if is_older(driver, found.minimum) else found.driver
    return {"cuda_version": found.cuda, "driver_version": driver, "driver_minimum": needed, "driver_table": found.sentence}


def recorded_limits(context: JobContext) -> dict[str, Value]:
    """The limits that a captured run had: `address_space_mib` 2929. The sentences of its cause may name them."""
    return {name: value for name, value in _settings(context).items() if name in RECORDED_LIMITS}


def settings_of(context: JobContext) -> list[Habit]:
    """The run's settings in the log, and those of the given programs that the log does not have: it may override defaults."""
    said = {r.kind for r in context.run}
    return [*context.run, *(r for p in context.programs for r in p.settings if r.kind not in said)]


def _settings(context: JobContext) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    every = settings_of(context)
    for name in NUMBER_FACTS:
        if most := max((r for r in every if r.kind == name), key=lambda r: r.value or 0, default=None):
            facts |= {name: int(most.value or 0), f"{name}_place": most.place}
    for remark in every:
        if remark.kind == LEARNING_RATE:
            facts |= {LEARNING_RATE: f"{remark.value or 0:g}", f"{LEARNING_RATE}_place": remark.place}
        elif remark.kind.startswith("optimizer "):
            facts.setdefault("optimizer", remark.kind.removeprefix("optimizer "))
        elif remark.kind in PLACED_FACTS:
            facts.setdefault(remark.kind, remark.place)
    return facts


def _habits(context: JobContext) -> dict[str, Value]:
    """The first habit of each kind, its place and its code. A loss is a tensor only where a framework makes it one."""
    tensors = TENSOR_FRAMEWORKS & context.environment.get("framework", set())
    return _places(h for p in context.programs for h in p.habits if tensors or h.kind != "kept_loss")


def _places(habits: Iterable[Habit]) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    for habit in habits:
        if habit.kind not in facts:
            facts |= {habit.kind: habit.place, f"{habit.kind}_code": habit.text}
    return facts
