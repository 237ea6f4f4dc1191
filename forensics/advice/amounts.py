"""How much to ask for the next time, from what the job asked for, what it used and how far it had come.

    #SBATCH --time=12:00:00, epoch 34 of 100 at the limit  -> needed_time "36 h", needed_slurm_time "1-12:00:00"
    epoch 34 of 100 at a limit that nothing tells          -> times_needed "3.0"
    epoch 3 of 50, from 11:00:00 to 15:00:21               -> ran_time "4 h", needed_time "67 h", times_needed "17"
    a limit of 01:00:00                                    -> longer_time "02:00:00", a first try where nothing tells the rest
    limit_bytes 419430400                                  -> more_memory "800M"
    a limit of 8Gi                                         -> more_quantity "16Gi"
    batch_size 64                                          -> half_batch 32, twice_accumulation 2

What a run needs in memory at its peak shows only once it is not stopped; twice the limit is a first try.
"""

import math

from forensics.advice.wording import duration_text
from forensics.model import Fields, JobContext, Value
from forensics.readers.platforms.job_limits import ASKED_MEMORY, ASKED_TIME, USED_MEMORY, USED_TIME
from forensics.readers.platforms.kubectl_describe import BYTES_PER_QUANTITY_UNIT

AMOUNT_FACTS = (
    "asked_time_s", "used_time_s", "asked_memory_bytes", "used_memory_bytes", "reached", "reached_place", "times_needed",
    "ran_time", "needed_time", "needed_slurm_time", "rest_time", "rest_slurm_time", "more_memory", "more_quantity", "half_batch",
    "twice_accumulation", "limit_unit", "longer_time",
)  # fmt: skip
MIN_SHARE = 0.02  # of the run; from less of it nobody can tell how long the rest takes
EXACT_TIMES = 10  # chosen by hand: a tenth of more than this is beyond what a count of epochs measures
WHOLE_HOURS_FROM_S = 2 * 3600  # chosen by hand: below it an hour is half of the time
WHOLE_MINUTES_FROM_S = 90  # chosen by hand: below it a minute says little
TENS_OF_MINUTES_FROM_S = 20 * 60  # chosen by hand: below it ten minutes are half of the time
MEMORY_STEP = 100 << 20  # what is asked for is rounded up to whole hundreds of MiB, and above the next one to whole GiB
MAX_MEMORY_IN_MIB = 4 << 30  # chosen by hand: above it a hundred MiB more or less change nothing
SYSTEMD_SUFFIXES = (".service", ".slice", ".scope")  # of units of systemd, whose limit can be set
SESSION_PREFIX = "session-"  # of a login's scope, which is gone with the login


def amount_facts(facts: Fields, context: JobContext) -> dict[str, Value]:
    """The amounts that this case tells and those that follow from them; see AMOUNT_FACTS."""
    asked = {
        kind: value for kind in (ASKED_TIME, USED_TIME, ASKED_MEMORY, USED_MEMORY) if (value := _limit(kind, facts, context))
    }
    found: dict[str, Value] = {k: round(v) for k, v in asked.items()}
    if ASKED_TIME in asked:
        found["longer_time"] = _slurm_time(_rounded_up(2 * asked[ASKED_TIME]))
    return found | _times(found | dict(facts), context) | _memory(found | dict(facts)) | _batches(facts)


def _limit(kind: str, facts: Fields, context: JobContext) -> float:
    """The one value of `kind` that the case's job has, or the largest that it used; 0 where none or several are told."""
    job = str(facts.get("job", "")).partition(".")[0].partition("_")[0]
    values = {h.value or 0 for h in context.limits if h.kind == kind and (h.text == job or not (h.text and job))}
    if kind in (USED_MEMORY, USED_TIME) or len(values) == 1:
        return max(values, default=0)
    return 0


def _times(facts: Fields, context: JobContext) -> dict[str, Value]:
    """How far the run had come, and how long all of it takes by that."""
    reached = context.reached
    if reached is None or reached.value is None or reached.value < MIN_SHARE:
        return {}
    told: dict[str, Value] = {"reached": reached.text, "reached_place": reached.place}
    if context.resumed:  # how much of that this run did itself is not told
        return told
    times = 1 / reached.value
    told["times_needed"] = f"{math.ceil(10 * times) / 10:.1f}" if times < EXACT_TIMES else str(math.ceil(times))
    limit = facts.get(ASKED_TIME) or facts.get("timeout_s") or facts.get(USED_TIME) or context.elapsed_s
    if not isinstance(limit, (int, float)) or limit <= 0:
        return told
    needed = _rounded_up(limit / reached.value)
    left = _rounded_up(needed - limit)
    told["ran_time"] = _about(limit)
    told |= {"needed_time": duration_text(needed), "needed_slurm_time": _slurm_time(needed)}
    return told | {"rest_time": duration_text(left), "rest_slurm_time": _slurm_time(left)}


def _about(seconds: float) -> str:
    """A time that was measured by the stamps of a log: `4 h`, `95 min`, `62 s`."""
    return duration_text(60 * max(1, round(seconds / 60))) if seconds > WHOLE_MINUTES_FROM_S else duration_text(round(seconds))


def _slurm_time(seconds: int) -> str:
    """`1-12:00:00`, `07:30:00`."""
    days, rest = divmod(seconds, 24 * 3600)
    clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:00"
    return f"{days}-{clock}" if days else clock


def _rounded_up(seconds: float) -> int:
    """To whole hours from two hours on, else to tens of minutes, and to minutes below twenty."""
    step = 3600 if seconds > WHOLE_HOURS_FROM_S else 600 if seconds > TENS_OF_MINUTES_FROM_S else 60
    return math.ceil(seconds / step) * step


def _memory(facts: Fields) -> dict[str, Value]:
    """Twice the limit, as schedulers, containers and systemd take it, and the unit of systemd that has the limit."""
    limit = facts.get("limit_bytes") or facts.get(ASKED_MEMORY)
    if not isinstance(limit, int) or limit <= 0:
        return {}
    most = 2 * limit
    text = f"{math.ceil(most / MEMORY_STEP) * 100}M" if most < MAX_MEMORY_IN_MIB else f"{math.ceil(most / (1 << 30))}G"
    unit = str(facts.get("limit_path", "")).rpartition("/")[2]
    settable = unit.endswith(SYSTEMD_SUFFIXES) and not unit.startswith(SESSION_PREFIX)
    known: dict[str, Value] = {"more_memory": text, "more_quantity": _quantity(most, str(facts.get("limit_unit_k8s", "")))}
    return known | ({"limit_unit": unit} if settable else {})


def _quantity(most: int, unit: str) -> str:
    """An amount of memory as Kubernetes takes it: in the unit of the limit that it had, else in whole GiB or MiB."""
    size = BYTES_PER_QUANTITY_UNIT.get(unit, 0)
    if unit and size > 1 and most % size == 0:
        return f"{int(most // size)}{unit}"
    return f"{math.ceil(most / (1 << 30))}Gi" if most >= MAX_MEMORY_IN_MIB else f"{math.ceil(most / MEMORY_STEP) * 100}Mi"


def _batches(facts: Fields) -> dict[str, Value]:
    """Half of the batch, and twice as many batches to a step of the optimizer."""
    batch, steps = facts.get("batch_size"), facts.get("accumulation", 1)
    if not isinstance(batch, int) or not isinstance(steps, int) or batch < 2:
        return {}
    return {"half_batch": batch // 2, "twice_accumulation": 2 * max(1, steps)}
