"""The step or the epoch at which a failure was printed, as a bar or a trainer's row beside it tells."""

from collections.abc import Sequence

from forensics.data_files.named_parts import first_parts, patterns_of
from forensics.model import Fields, Proof
from forensics.readers.progress.counters import OF_EPOCH, bar_counter, named_counters, positions
from forensics.readers.python.near_tracebacks import MAX_TRACEBACK_LINES, tracebacks_near
from forensics.readers.surroundings.near import NEAR, Found

JOB_STEP = "step"
PATTERNS = patterns_of("progress places")


def step_of_bar(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step of a progress bar in the evidence; the epoch, where the step is the end of each epoch's bar."""
    bar = bar_counter(proofs[0].text)
    found: Found = {"step_no": bar.now} if bar and bar.now and bar.of_steps and not _tells_step(facts) else {}
    step = facts.get("step_no")
    if step is not None and f"{step}/{step}" in proofs[0].text:
        above = reversed(lines[max(0, at - NEAR) : at + 1])
        epoch = next((c.now for text in above for c in named_counters(text) if c.unit == "epoch"), None)
        found |= {"epoch": epoch} if epoch is not None else {}
    return found


def progress(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step or the epoch of the first line of evidence, as a bar or a trainer's row tells it."""
    if _tells_step(facts) or any("epoch" in n for n in facts):
        return {}
    above = lines[max(0, at - 1) : at] if PATTERNS.bare_death.fullmatch(proofs[0].text) else ()  # a shell's word: right behind
    texts = (proofs[0].text, *above)
    found = first_parts("positions", texts)
    if "epoch" in found:
        return next((told for t in texts if "step_no" in (told := _counted(t))), {}) | {"epoch": found["epoch"]}
    if "step" in found:
        return {"step_no": int(found["step"])}
    return {} if bar_counter(proofs[0].text) else _printed_last(lines, at)


def _tells_step(facts: Fields) -> bool:
    """Is a step of the training known? A scheduler's `step` is a part of its job."""
    return any("step" in name and name != JOB_STEP for name in facts)


def _printed_last(lines: Sequence[str], at: int) -> Found:
    """The position that the program printed right before its traceback or its last word."""
    top = min((f[0] for group in tracebacks_near(lines, at) for f in group if at - f[0] < MAX_TRACEBACK_LINES), default=at)
    above = reversed(lines[max(0, min(top, at) - NEAR - 1) : min(top, at)])
    return next(filter(None, map(_counted, above)), {})


def _counted(text: str) -> Found:
    """The epoch and the step that a line of a training counts: `Epoch 2 step 500 loss 1.9`, `Epoch: [2][128/500]`."""
    of_samples = PATTERNS.share_of_epoch.search(text)
    told = [c for c in positions(text) if (c.total or PATTERNS.loss.search(text)) and not (of_samples and c.unit == OF_EPOCH)]
    epochs = [c for c in told if c.unit == "epoch"]
    steps = [c for c in told if c.unit != "epoch" and (c.unit or epochs or (c.now and not c.is_complete))]
    found: Found = {"epoch": epochs[0].now} if epochs else {}
    return found | ({"step_no": steps[0].now} if steps else {})
