"""What is to be read from a line, worked out once for all lines that differ in their numbers alone.

step 4012 loss 2.31 mem 61.2GB    -> 2.31 to the series "loss", 61.2 GiB to "mem", both at step 4012
step 4013 loss 2.29 mem 61.2GB    -> the same places

Lines are of one shape if they are equal but for their digits: `step 0000 loss 0.00 mem 00.0GB`. Digits that belong to a name
(`rank 3`, `s0.loss`) are part of what is worked out, so that a shape has a plan for each of their values.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from forensics.core import lazy
from forensics.series.epoch_time import LAPS
from forensics.series.labels import Meaning, label_meaning
from forensics.series.numbers import Token, number, tokens

MIN_UNCACHED_CHARS = 1000  # characters of a line from which on its plan is not kept
MAX_CACHED_PLANS = 4096  # plans that are kept
DIGITS_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")
# Plain texts, looked for in the line in lower case: much faster than a pattern, and most lines have none of them.
OF_MEMORY = ("mem", "rss", "ram", "alloc", "reserved", "gb_free", "heap", " ma ", "cached", "bytes_in_use", "'peak': ")
MESSAGES = ("out of memory", "tried to allocate", "failed to allocate", "oom-kill", "trying to allocate", "killed process")
SIDELESS = {"memory", "mem", "memory used", "mem used", "used memory", "memory usage", "memory use", "used", "memory allocated"}
PROGRESS = ("loss", "rate", "step_time", "grad_norm")
MEMORY_ROW_PATTERN = lazy.regex(
    r"^\s*(?:[kmgt]ib )?mem ?: +[\d.]+\S* +(?:\d|total)", re.IGNORECASE
)  # of free and top, which tables.py reads
FROM_TO = lazy.regex(r"\bloss scale (from \S{1,24} )(?=to )", re.IGNORECASE)
SCOPE = lazy.regex(r"(?<![\w/-])(?:local_)?(rank|gpu|cuda|device|worker|pid|node|host)[ :=#_\[\-]{0,3}(\d{1,7})\b", re.IGNORECASE)
DEFAULT = lazy.regex(r"^\[default(\d{1,5})\]:|^\[\d+,(\d{1,5})\]<std|^ {0,4}(\d{1,4}): ")
OF_TOTAL = lazy.regex(r"(?<![\w/.:-])(\d{1,9}) ?/ *(\d{1,9})(?![\w/.:-]| \d\d:)")
HELD_OUT = lazy.regex(r"\b(?:valid|validation|val|eval|evaluation|test|testing|evaluate|validating)\b", re.IGNORECASE)
DIGITS_PATTERN = lazy.regex(r"\d+")

Key = tuple[str, str, str, str, str, bool]  # quantity, name, unit, scope, sense, of a GPU


class Value(Struct, frozen=True):
    """One number of a series: where it stands, its series, and what it is multiplied by; `inverse`: one over it counts."""

    at: slice
    key: Key
    factor: float
    inverse: bool

    def read(self, text: str) -> float | None:
        """The value in plain units; None for a rate of nothing, which is no time."""
        value = number(text[self.at]) * self.factor
        if not self.inverse:
            return value
        return 1 / value if value > 0 else None


class Plan(Struct, frozen=True):
    """Where the numbers stand in lines of one shape.

    `steps`, `epochs`: those that count the run's steps; `pairs`: steps of a total, as in 840/1352. `scope`: who wrote the line.
    `laps`: pairs that are equal where an epoch ends; `of_epoch`: the line may say how long one took. `is_progress`: it shows
    that the run moves.
    """

    values: tuple[Value, ...] = ()
    steps: tuple[slice, ...] = ()
    epochs: tuple[slice, ...] = ()
    pairs: tuple[tuple[slice, slice], ...] = ()
    scope: str = ""
    laps: tuple[tuple[slice, slice], ...] = ()
    of_epoch: bool = False
    is_progress: bool = False

    def ends_epoch(self, text: str) -> bool:
        """May the line tell the time of an epoch?"""
        return self.of_epoch or any(text[at] == text[of] for at, of in self.laps)

    def step_of_total(self, text: str) -> tuple[float | None, float | None]:
        """The step that a line names, or that its `840/1352` tells, else its epoch; the total where it belongs to that step."""
        pairs = [(a, b) for at, of in self.pairs if (a := number(text[at])) <= (b := number(text[of]))]
        if self.steps:
            steps = [number(text[at]) for at in self.steps]
            step = next((s for s in steps if s.is_integer()), steps[0])  # whole ones before parts of an epoch (fairseq)
            return step, next((b for a, b in pairs if a == step), None)
        if pairs:
            return pairs[-1]
        return (number(text[self.epochs[0]]) if self.epochs else None), None


_names: dict[bytes, tuple[slice, ...]] = {}  # of a shape, where digits of names stand
_plans: dict[tuple[bytes, tuple[str, ...]], Plan] = {}  # of a shape with these digits


def plan(text: str) -> Plan:
    """The plan of a line: O(length), and a quick one for a shape that was seen."""
    if len(text) > MIN_UNCACHED_CHARS:
        return _worked_out(text)[0]
    shape = text.encode("utf-8", "surrogatepass").translate(DIGITS_TO_ZEROS)
    names = _names.get(shape)
    if names is not None and (known := _plans.get((shape, tuple([text[at] for at in names])))):
        return known
    made, names = _worked_out(text)
    if len(_plans) >= MAX_CACHED_PLANS:
        _plans.clear()
        _names.clear()
    _names[shape] = names
    _plans[shape, tuple([text[at] for at in names])] = made
    return made


def _worked_out(text: str) -> tuple[Plan, tuple[slice, ...]]:
    """The plan of one line, and where it has digits of which the plan depends."""
    low = text.lower()
    of_memory = any(w in low for w in OF_MEMORY) and not any(m in low for m in MESSAGES)
    if of_memory and MEMORY_ROW_PATTERN.match(text):
        return Plan(), ()
    plain = FROM_TO.sub(_blank, text) if "loss scale from" in low else text
    found = list(tokens(plain))
    known = [(t, m) for t in found if (m := label_meaning(t.label, t.unit, of_memory))]
    scopes = list(_scopes(text))
    counted = {q: tuple(t.at for t, m in known if m.quantity == q) for q in ("step", "epoch")}
    held_out = HELD_OUT.search(text)
    made = Plan(
        values=tuple(_value(text, t, m, scopes, held_out) for t, m in known if m.quantity not in counted),
        steps=counted["step"],
        epochs=counted["epoch"],
        pairs=_pairs(OF_TOTAL, text) if known else (),
        scope=_joined(scopes, len(text)),
        laps=_pairs(LAPS, text) if "<" in text or "s/" in text else (),
        of_epoch="epoch" in low,
        is_progress=not held_out and any(m.quantity in PROGRESS for _, m in known),
    )
    names = [*(at for at, _ in scopes), *(t.labelled for t in found)]
    digits = {m.span() for at in names for m in DIGITS_PATTERN.finditer(text, at.start, at.stop)}
    return made, tuple(slice(*at) for at in sorted(digits))


def _pairs(pattern: re.Pattern[str], text: str) -> tuple[tuple[slice, slice], ...]:
    return tuple((slice(*m.span(1)), slice(*m.span(2))) for m in pattern.finditer(text))


def _blank(found: re.Match[str]) -> str:
    return found[0].replace(found[1], " " * len(found[1]))


def _value(text: str, token: Token, what: Meaning, scopes: Iterable[tuple[slice, str]], held_out: re.Match[str] | None) -> Value:
    evaluated = what.evaluated or (held_out is not None and held_out.start() < token.at.start and what.quantity != "memory")
    name = f"held-out {what.name}" if evaluated else what.name
    scope = _joined(scopes, token.at.start)
    unsaid = what.name in SIDELESS and not what.gpu
    of_gpu = what.gpu or (unsaid and ("gpu " in scope or "cuda " in scope))
    kept = unsaid and "tflops" in text  # torchtitan's `memory:` is the most that PyTorch has reserved
    key = (what.quantity, name, what.unit, scope, "peak" if kept else what.sense, of_gpu or kept)
    return Value(token.at, key, what.factor, what.inverse)


def _scopes(text: str) -> Iterator[tuple[slice, str]]:
    """Who a line says it is of, and where the number of that stands."""
    if found := DEFAULT.match(text):
        group = found.lastindex or 0
        yield slice(*found.span(group)), f"rank {found[group]}"
    for m in SCOPE.finditer(text):
        yield slice(*m.span(2)), f"{m[1].lower()} {m[2]}"


def _joined(scopes: Iterable[tuple[slice, str]], before: int) -> str:
    return ", ".join(dict.fromkeys(s for at, s in scopes if at.stop <= before))
