"""A plan says where the numbers of a line are and to which series they belong. Lines that differ only in numbers share a plan.

step 4012 loss 2.31 mem 61.2GB    -> 2.31 to the series "loss", 61.2 GiB to "mem", both at step 4012
step 4013 loss 2.29 mem 61.2GB    -> the same positions

Two lines have the same shape if they are equal except for their digits: `step 0000 loss 0.00 mem 00.0GB`. Digits that are part of
a name (`rank 3`, `s0.loss`) select a plan of the shape, because each such name is another series.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.shapes import shapes_of
from forensics.data_files.named_parts import patterns_of
from forensics.readers.numbers.labels import Meaning, Token, columns, label_meaning, number, tokens
from forensics.readers.words import words

MAX_CACHED_LINE_CHARS = 1000  # the plans of longer lines are not cached: they hardly ever occur twice
MAX_CACHED_PLANS = 4096  # a log has some dozen shapes of lines with numbers; a few megabytes when full
# Plain texts, searched in the line in lower case: much faster than a pattern, and most lines have none of them.
MEMORY_TEXTS = ("mem", "rss", "ram", "alloc", "reserved", "gb_free", "heap", " ma ", "cached", "bytes_in_use", "'peak': ")
OOM_MESSAGES = (  # what they tell is of that moment, and of whichever process or group it hit
    *("out of memory", "tried to allocate", "failed to allocate", "oom-kill", "trying to allocate", "killed process"),
    "kb, failcnt ",  # the kernel, of the group at its limit
)
PROGRESS_QUANTITIES = ("loss", "rate", "step_time", "grad_norm")
PATTERNS = patterns_of("plans")
DIGITS_PATTERN = lazy.regex(r"\d+")


class Key(Struct, frozen=True, cache_hash=True):
    """What readings of one series have in common; see Series."""

    quantity: str
    name: str
    unit: str
    scope: str
    sense: str
    gpu: bool


class Value(NamedTuple):
    """One number of a plan: its position, the key of its series, the factor to the series' unit; `inverse` as in Meaning."""

    at: slice
    key: Key
    factor: float
    inverse: bool


class Plan(Struct, frozen=True, dict=True):
    """The positions of the numbers in lines of one shape.

    `steps`, `epochs`: numbers of the current step or epoch. `pairs`: a step and the total, as in 840/1352. `scope`: the rank or
    device of the line. `is_progress`: the line shows that training proceeds.
    """

    values: tuple[Value, ...] = ()
    steps: tuple[slice, ...] = ()
    epochs: tuple[slice, ...] = ()
    pairs: tuple[tuple[slice, slice], ...] = ()
    scope: str = ""
    is_progress: bool = False

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The key of each of its values."""
        return tuple([value.key for value in self.values])

    @cached_property
    def layout(self) -> object:
        """Where its numbers stand: plans of other scopes have the same layout."""
        return repr((tuple([value.at for value in self.values]), self.steps, self.epochs, self.pairs))

    @cached_property
    def has_norm(self) -> bool:
        """Is one of the values the norm of a gradient?"""
        return any(key.quantity == "grad_norm" for key in self.keys)

    def step_of_total(self, text: str) -> tuple[float | None, float | None]:
        """(step, total) of a line: a named step, else that of a pair `840/1352`, else the epoch; None for what is unknown."""
        if not self.pairs and len(self.steps) == 1:
            return number(text[self.steps[0]]), None
        pairs = [(a, b) for at, of in self.pairs if (a := number(text[at])) <= (b := number(text[of]))]
        if self.steps:
            steps = [number(text[at]) for at in self.steps]
            step = next((s for s in steps if s.is_integer()), steps[0])  # fairseq also prints a fraction of an epoch
            return step, next((b for a, b in pairs if a == step), None)
        if pairs:
            return pairs[-1]
        return (number(text[self.epochs[0]]) if self.epochs else None), None

    def columns(self, texts: Sequence[str], asked: Sequence[Value]) -> tuple[list[list[float]], list[float | None]]:
        """The numbers of `texts` by columns: those of the values that are `asked`, and the steps of step_of_total()."""
        places = [value.at for value in asked]
        if self.pairs or len(self.steps) != 1:
            return columns(texts, places), [self.step_of_total(text)[0] for text in texts]
        *values, own = columns(texts, [*places, *self.steps])
        return values, [*own]


class _Named(Struct, frozen=True):
    """Where lines of a shape have digits that are part of names, and of these the digits of labels; one such line, its plan."""

    digits: tuple[slice, ...]
    of_labels: tuple[slice, ...]
    text: str
    plan: Plan


_named: dict[bytes, _Named] = {}  # by shape
_plans: dict[tuple[bytes, tuple[str, ...]], Plan] = {}  # (shape, these digits) -> its plan
_only_plans: dict[bytes, Plan] = {}  # shape without such digits -> its plan


def plan(text: str, shape: bytes) -> Plan:
    """The plan of a line, in O(length); cached by its shape."""
    if len(text) > MAX_CACHED_LINE_CHARS:
        return _make_plan(text).plan
    if known := _only_plans.get(shape):
        return known
    named = _named.get(shape)
    if named and (known := _plans.get((shape, tuple([text[at] for at in named.digits])))):
        return known
    if named and all(text[at] == named.text[at] for at in named.of_labels):
        made = _of_scopes(named.plan, text)
    else:
        named = _make_plan(text)
        made = named.plan
    if len(_plans) + len(_only_plans) >= MAX_CACHED_PLANS:
        for cache in (_only_plans, _plans, _named):
            cache.clear()
    if named.digits:
        _named[shape] = named
        _plans[shape, tuple([text[at] for at in named.digits])] = made
    else:
        _only_plans[shape] = made
    return made


def _of_scopes(known: Plan, text: str) -> Plan:
    """The plan of a line with the shape and the labels of one whose plan is known: only the scopes have other numbers."""
    scopes = list(_scopes(text))
    values = (value._replace(key=replace(value.key, scope=_joined(scopes, value.at.start))) for value in known.values)
    return replace(known, values=tuple(values), scope=_joined(scopes, len(text)))


def plans_of(texts: Sequence[str]) -> Iterator[list[tuple[Plan, list[int]]]]:
    """For each shape the plans of its lines, each with the places of its lines among `texts`, in order."""
    if not texts:
        return
    of_shape: dict[bytes, list[int]] = defaultdict(list)
    for place, shape in enumerate(shapes_of(texts)):
        of_shape[shape].append(place)
    for shape, places in of_shape.items():
        several = _with_names(texts, places, shape) if len(shape) <= MAX_CACHED_LINE_CHARS else ([p] for p in places)
        yield [(plan(texts[alike[0]], shape), alike) for alike in several]


def _with_names(texts: Sequence[str], places: list[int], shape: bytes) -> Iterable[list[int]]:
    """`places` of lines of one shape, divided by the digits that are part of names."""
    if len(places) == 1:
        return (places,)
    plan(texts[places[0]], shape)  # so that it is known where such digits are
    named = _named.get(shape)
    own = [*map(texts.__getitem__, places)]
    varying = [at for at in (named.digits if named else ()) if len({*map(itemgetter(at), own)}) > 1]
    if not varying:
        return (places,)
    divided: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, text in zip(places, own, strict=True):
        divided[tuple([text[at] for at in varying])].append(place)
    return divided.values()


def _make_plan(text: str) -> _Named:
    """The plan of one line, with the positions of the digits on which the plan depends."""
    lower = text.lower()
    of_memory = any(w in lower for w in MEMORY_TEXTS) and not any(m in lower for m in OOM_MESSAGES)
    if of_memory and PATTERNS.memory_row.match(text):
        return _Named((), (), text, Plan())
    plain = PATTERNS.loss_scale_from.sub(_blank, text) if "loss scale from" in lower else text
    found = list(tokens(plain))
    known = [(t, m) for t in found if (m := label_meaning(t.label, t.unit, of_memory))]
    known = [(t, m) for t, m in known if m.quantity != "memory" or not PATTERNS.of_things.match(plain, t.at.stop)]
    scopes = list(_scopes(text))
    counted = {q: tuple(t.at for t, m in known if m.quantity == q) for q in ("step", "epoch")}
    held_out = PATTERNS.held_out.search(text)
    made = Plan(
        values=tuple(_value(text, t, m, scopes, held_out) for t, m in known if m.quantity not in counted),
        steps=counted["step"],
        epochs=counted["epoch"],
        pairs=tuple((slice(*m.span(1)), slice(*m.span(2))) for m in PATTERNS.of_total.finditer(text)) if known else (),
        scope=_joined(scopes, len(text)),
        is_progress=not held_out and any(m.quantity in PROGRESS_QUANTITIES for _, m in known),
    )
    of_labels = _digits(text, (t.labelled for t in found))
    of_scopes = _digits(text, (at for at, _ in scopes))
    return _Named(tuple(slice(*at) for at in sorted(of_labels | of_scopes)), tuple(slice(*at) for at in of_labels), text, made)


def _digits(text: str, places: Iterable[slice]) -> set[tuple[int, int]]:
    """Where digits stand at these places."""
    return {m.span() for at in places for m in DIGITS_PATTERN.finditer(text, at.start, at.stop)}


def _blank(found: re.Match[str]) -> str:
    return found[0].replace(found[1], " " * len(found[1]))


def _value(text: str, token: Token, what: Meaning, scopes: Iterable[tuple[slice, str]], held_out: re.Match[str] | None) -> Value:
    evaluated = what.evaluated or (held_out is not None and held_out.start() < token.at.start and what.quantity != "memory")
    name = f"held-out {what.name}" if evaluated else what.name
    scope = _joined(scopes, token.at.start)
    no_device = what.name in words("no_device_names") and not what.gpu
    of_gpu = what.gpu or (no_device and ("gpu " in scope or "cuda " in scope))
    of_torchtitan = no_device and "tflops" in text  # its `memory:` is the peak that PyTorch reserved
    key = Key(what.quantity, name, what.unit, scope, "peak" if of_torchtitan else what.sense, of_gpu or of_torchtitan)
    return Value(token.at, key, what.factor, what.inverse)


def _scopes(text: str) -> Iterator[tuple[slice, str]]:
    """The rank, device or process that a line names, with the position of its number: `rank 3`."""
    if found := PATTERNS.rank_prefix.match(text):
        group = found.lastindex or 0
        yield slice(*found.span(group)), f"rank {found[group]}"
    if found := PATTERNS.process_prefix.match(text):
        yield slice(*found.span(1)), f"pid {found[1]}"
    for m in PATTERNS.scope.finditer(text):
        yield slice(*m.span(2)), f"{m[1].lower()} {m[2]}"


def _joined(scopes: Iterable[tuple[slice, str]], before: int) -> str:
    return ", ".join(dict.fromkeys(s for at, s in scopes if at.stop <= before))
