"""One line to the numbers in it, each with the label in front of it and the unit behind it.

Epoch 3  loss: 0.25, rss 1.5 GB -> (3, "Epoch"), (0.25, "loss:"), (1.5, "rss", "GB")
"""

import functools
import itertools
import math
import re
from collections.abc import Iterator

from msgspec import Struct

from forensics import lazy

MOST = 60  # numbers of one line that are looked at
LABEL = 48  # characters of a label that are kept

# A number does not begin inside a word (GPU-0, s0.loss) nor as the argument of a call: memory_allocated(1).
NUMBER = lazy.regex(
    r"(?<![\w.\-])(?<!\w\()(?:(?P<number>[-+]?(?:\d{1,3}(?:,\d{3})++(?:\.\d++)?|\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d+)?)"
    r"|(?P<odd>[-+]?(?:nan|inf|infinity))\b)"
    r"(?P<unit> ?(?:[KMGT]i?B?(?:ytes)?|bytes|B|%|percent|ms/(?:step|batch|it)|[mu]?s/(?:step|batch|it|iter)|"
    r"(?:it|iters?|steps?|samples?|examples?|tokens?|tok|imgs?|images?|batch|batches|sequences|seqs?)/s(?:ec)?(?! ?[:=])|"
    r"ms|secs?|seconds|s|C|MHz|W)(?![\w/]))?",
    re.IGNORECASE,
)
CALLS = lazy.regex(r"\b(?:tensor|array|float|np\.float(?:16|32|64)|tf\.Tensor)\(")
# What looks like a number from its first character on; NUMBER looks at each character of a line, this only behind these. It
# begins with what a number begins with, and looks behind itself only then: twice as fast as the other way around.
PLAIN = lazy.regex(
    r"([-+\d](?<![^\s<=:\['\",|/].)(?:(?<=\d)(?:\d{0,2}(?:,\d{3})++|\d*+)|(?<=[-+])(?:\d{1,3}(?:,\d{3})++|\d++))"
    r"(?:\.\d++)?+(?:[eE][-+]?\d++)?+)"
)
MOST_PLANS = 4096
LONG = 1000  # characters of a line from which on it is read for itself
CUT = lazy.regex(r"[,;|{}\t\r]|\s-\s")


class Token(Struct, frozen=True):
    """A number of a line. `label`: what stands in front of it, up to the number before it. `at`: its first character."""

    value: float
    label: str
    unit: str
    at: int


def tokens(text: str) -> list[Token]:
    """The numbers of a line that have a label or a unit, in order, NaN and infinities among them.

    Most lines of a log differ in their numbers alone, so where the numbers stand and what they are called is worked out once
    for each text without its numbers.
    """
    text = CALLS.sub(" ", text) if "(" in text else text
    if len(text) > LONG:
        return list(_tokens(text))
    parts = PLAIN.split(text)
    shape = tuple(parts[::2])
    plan = _plans.get(shape)
    if plan is None:
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        found = list(_tokens(text))
        _plans[shape] = _plan(text, parts, found)
        return found
    if not plan:
        return list(_tokens(text))
    at, ends = -1, []
    for part in parts:
        at += len(part)
        ends.append(at + 1)
    return [Token(float(parts[i].replace(",", "")), label, unit, ends[i - 1]) for i, label, unit in plan]


Plan = tuple[tuple[int, str, str], ...]
_plans: dict[tuple[str, ...], Plan] = {}


def _plan(text: str, parts: list[str], found: list[Token]) -> Plan:
    """Which of `parts` is which token: (index, label, unit); empty where the text without its numbers does not decide it."""
    starts, at = {}, 0
    for i, part in enumerate(parts):
        if i % 2:
            starts[at] = i
        at += len(part)
    numbers = list(itertools.islice(NUMBER.finditer(text), MOST + 1))
    if len(numbers) > MOST or any(m["odd"] for m in numbers) or {m.start() for m in numbers} != set(starts):
        return ()
    if any(parts[starts[m.start()]] != m["number"] for m in numbers):
        return ()
    return tuple((starts[x.at], x.label, x.unit) for x in found)


def _tokens(text: str) -> Iterator[Token]:
    """As `tokens`, of a line that is like no other."""
    past = 0
    for found in itertools.islice(NUMBER.finditer(text), MOST):
        start = found.start()
        label, unit = _label(text[max(past, start - LABEL) : start]), found["unit"]
        past = found.end()
        if label or unit:
            yield Token(_value(found), label, unit.strip() if unit else "", start)


@functools.lru_cache(maxsize=8192)
def _label(front: str) -> str:
    """What is left of the text in front of a number: behind its last comma, bar or tab; empty without a letter."""
    if not any(c.isalpha() for c in front):
        return ""
    cuts = [m.end() for m in CUT.finditer(front) if front[m.end() :].strip(" \"':=|")]
    return front[cuts[-1] :].strip() if cuts else front.strip()


def _value(found: re.Match[str]) -> float:
    if found["odd"]:
        odd = found["odd"].lower()
        return math.nan if "nan" in odd else -math.inf if odd[0] == "-" else math.inf
    try:
        return float(found["number"].replace(",", ""))
    except ValueError:
        return math.nan


def words(label: str) -> list[str]:
    """A label's words in lower case: `MemAllocated=` -> mem, allocated; `s0.loss_cls:` -> s0, loss, cls."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label.replace("kB", "kb"))
    return re.findall(r"[a-z%][a-z0-9]*|\d+", spaced.lower().replace("_", " "))
