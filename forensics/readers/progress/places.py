"""The step or the epoch at which a failure was printed, as a bar or a trainer's row beside it tells."""

from collections.abc import Sequence

from forensics.data_files.named_parts import first_parts, patterns_of
from forensics.model import Fields, Proof
from forensics.readers.progress.counters import bar_counter, named_counters
from forensics.readers.python.near_tracebacks import MAX_TRACEBACK_LINES, tracebacks_near
from forensics.readers.surroundings.near import NEAR, Found

PATTERNS = patterns_of("progress places")


def step_of_bar(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step of a progress bar in the evidence; the epoch, where the step is the end of each epoch's bar."""
    bar = bar_counter(proofs[0].text)
    found: Found = {"step_no": bar.now} if bar and bar.now and bar.of_steps and not any("step" in n for n in facts) else {}
    step = facts.get("step_no")
    if step is not None and f"{step}/{step}" in proofs[0].text:
        above = reversed(lines[max(0, at - NEAR) : at + 1])
        epoch = next((c.now for text in above for c in named_counters(text) if c.unit == "epoch"), None)
        found |= {"epoch": epoch} if epoch is not None else {}
    return found


def progress(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step or the epoch of the first line of evidence, as a bar or a trainer's row tells it."""
    if any("step" in n or "epoch" in n for n in facts):
        return {}
    above = lines[max(0, at - 1) : at] if PATTERNS.bare_death.fullmatch(proofs[0].text) else ()  # a shell's word: right behind
    found = first_parts("positions", (proofs[0].text, *above))
    if "epoch" in found:
        return {"epoch": found["epoch"]}
    if "step" in found:
        return {"step_no": int(found["step"])}
    return {} if bar_counter(proofs[0].text) else _printed_last(lines, at)


def _printed_last(lines: Sequence[str], at: int) -> Found:
    """The position that the program printed right before its traceback or its last word."""
    top = min((f[0] for group in tracebacks_near(lines, at) for f in group if at - f[0] < MAX_TRACEBACK_LINES), default=at)
    for text in reversed(lines[max(0, min(top, at) - NEAR - 1) : min(top, at)]):
        counted = {c.unit: c.now for c in named_counters(text) if c.total or PATTERNS.loss.search(text)}
        bar = bar_counter(text)
        if "epoch" in counted:
            return {"epoch": counted["epoch"]}
        if counted or (bar and bar.of_steps and bar.now and not bar.is_complete):
            return {"step_no": next(iter(counted.values())) if counted else bar.now if bar else 0}
    return {}
