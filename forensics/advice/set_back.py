"""The remedy that a good run shows: what the run that failed sets otherwise is set back.

--lr 0.05 -> 0.4, a loss that is NaN  ->  Set --lr back to 0.05, as the good run had it; this one had 0.4
"""

from msgspec.structs import replace

from forensics.model import Advice, Finding
from forensics.model.answers import Change

MAX_SET_BACK = 3  # chosen by hand: where more differs, the two are other experiments, and a list of all is no first step
PRINTED_SETTINGS = ("batch size", "processes")  # settings that are printed in words and not as arguments
HARMLESS_SETTINGS = (
    "seed",
    "port",
    "rank",
    "epochs",
    "interval",
    "every",
    "version",
)  # they name or count; none makes a loss diverge
WORDS_OF_FAMILY: dict[str, tuple[str, ...]] = {  # by family of causes the settings that lead to them; nothing: each
    "numerics": (),
    "gpu_memory": ("batch", "len", "size", "dim", "layers", "tokens", "resolution", "beam"),
    "host_memory": ("batch", "len", "size", "workers", "tokens", "cache", "buffer", "prefetch", "processes"),
}


def set_back_first(findings: tuple[Finding, ...], changes: tuple[Change, ...]) -> tuple[Finding, ...]:
    """`findings`, of which the first has as its first remedy to set back what `changes` since a good run."""
    first = findings[0]
    words = WORDS_OF_FAMILY.get(first.id.partition(".")[0])
    if words is None:
        return findings
    other = [c for c in changes if _is_setting(c) and (not words or any(word in c.what for word in words))]
    if not 0 < len(other) <= MAX_SET_BACK:
        return findings
    set_back = " and ".join(f"{c.what} to {c.then} ({c.last} here)" for c in other)
    remedy = Advice(
        1, "user", f"Restore the values of the good run: {set_back}", "This is how it differs from a run that went well", (), None
    )
    rest = (replace(a, rank=a.rank + 1) for a in first.remediations)
    return (replace(first, remediations=(remedy, *rest)), *findings[1:])


def _is_setting(change: Change) -> bool:
    """Is it a number that somebody chose and that may lead to the cause?"""
    named = change.what.startswith("--") or change.what in PRINTED_SETTINGS
    return (
        named
        and not any(word in change.what for word in HARMLESS_SETTINGS)
        and _is_number(change.then)
        and _is_number(change.last)
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
