"""Lines that are made from a signature's own examples to cost much, and what its patterns cost on them.

NVRM: GPU 0000:01:00.0 failed   ->   NVRM: NVRM: NVRM: ...      NVRM: GPU 1111111...      failed failed ... NVRM: NVRM: ...

A stranger who knows the signatures can write such lines; no pattern may take long on one.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from forensics.core import lazy
from forensics.database.confirm import Allowance, Clock, Confirmer, compiled
from forensics.database.entries import Signature
from forensics.database.validate import PATTERN_SHOWN, UNMATCHED_END, cost

Search = Callable[[str, Allowance], object]
LINE_CHARS = 8000  # chosen by hand: longer than any message, shorter than the text that is confirmed
COSTLY_S = 0.01  # of processor time for one pattern on one line: a fifth of `limits.confirm`, for a slow or busy machine
FIRST_LOOK = 4  # a line of a quarter of that length tells first
FIRST_SHARE = 8  # of COSTLY_S on the shorter line: of a long line no more than a few parts of that length are searched
MAX_HOSTILE_TRIAL_S = 0.1  # chosen by hand: a pattern that takes longer has failed by far
HOSTILE_TRIALS = 5  # chosen by hand: one of five finds the processor free
MAX_EXAMPLES = 3  # chosen by hand: the first examples show the forms of a message
MAX_PIECE_CHARS = 2000  # of an example: a quarter of a line
MAX_TOKENS = 10  # chosen by hand: of an example, each repeated in a line of its own
MAX_RUNS = 24  # chosen by hand: of an example, each made long in a line of its own
VETO_CHARS = 3000  # around a match, in which its vetoes are searched for
TOKEN = lazy.regex(r"\S+\s*")
RUN = lazy.regex(r"\d+|[A-Za-z]+| +|[^\w\s]")


def hostile_lines(signature: Signature, size: int = LINE_CHARS) -> Iterator[str]:
    """Lines of about `size` characters: parts of the examples repeated, their runs made long, their halves crossed."""
    texts = [e.text[:MAX_PIECE_CHARS] for e in signature.match[:MAX_EXAMPLES]]
    end = f" {''.join(signature.anchors[:1])}{UNMATCHED_END}"
    units = dict.fromkeys(unit for text in texts for unit in _units(text))
    units |= dict.fromkeys(f"{anchor}{blank}" for anchor in signature.anchors[:2] for blank in ("", " "))
    for unit in (*units, "a", "0", " ", "/", ".", "(", ":"):
        yield (unit * (size // len(unit) + 1))[:size] + end
    for text in texts:
        yield from _crossed(text, size, end)
    for text in texts[:1]:
        yield from _stretched(text, size)


def _units(text: str) -> Iterator[str]:
    tokens = TOKEN.findall(text)
    third = max(1, len(text) // 3)
    yield from (f"{text} ", f"{text[:third]} ", f"{text[: 2 * third]} ", f"{text[third:]} ", f"{text[2 * third :]} ")
    yield from ("".join(tokens[:i]) for i in range(1, min(5, len(tokens) + 1)))
    yield from tokens[1:MAX_TOKENS]
    yield from ("".join(tokens[i : i + 2]) for i in range(1, min(MAX_TOKENS, len(tokens) - 1)))


def _stretched(text: str, size: int) -> Iterator[str]:
    """`text` with one of its runs of digits, letters, blanks or marks made long, and with all its numbers long."""
    room = max(1, size - len(text))
    for run in list(RUN.finditer(text))[:MAX_RUNS]:
        yield text[: run.start()] + (run[0] * room)[:room] + text[run.end() : -1] + UNMATCHED_END
    count = len(re.findall(r"\d+", text))
    if count:
        yield re.sub(r"\d+", "1" * (size // count), text)[:-1] + UNMATCHED_END


def _crossed(text: str, size: int, end: str) -> Iterator[str]:
    tokens = TOKEN.findall(text)
    half = len(tokens) // 2
    if half:
        one, two = "".join(tokens[:half]), "".join(tokens[half:])
        times = size // (2 * max(len(one), len(two)))
        yield one * times + f"{two[:-1]}{UNMATCHED_END} " * times
        yield f"{two} " * times + one * times + end


def costly_pattern_faults(signature: Signature) -> Iterator[str]:
    """A message for each pattern of the signature that costs too much on one of its hostile lines."""
    lines, long_lines = list(hostile_lines(signature, LINE_CHARS // FIRST_LOOK)), list(hostile_lines(signature))
    quick = COSTLY_S / FIRST_SHARE
    for pattern, search in _searches(signature):
        for short, line in zip(lines, long_lines, strict=True):
            if _cost(search, short, quick) < quick:
                continue
            took = _cost(search, line, COSTLY_S)
            if took >= COSTLY_S:
                yield (
                    f"pattern {pattern[:PATTERN_SHOWN]!r} takes {took * 1000:.1f} ms on a line of {len(line):,} characters"
                    f" such as {line[:30]!r}: bound its repeats, begin them at a word"
                )
                break


def _searches(signature: Signature) -> Iterator[tuple[str, Search]]:
    """Each pattern of the signature, with the search for it in a line that is made in a scan."""
    confirmer = Confirmer(signature)
    yield signature.pattern, confirmer.first
    for veto in signature.unless:
        yield veto, partial(_search_veto, compiled(veto))


def _search_veto(veto: Any, line: str, allowance: Allowance) -> object:
    return allowance.search(veto, line[:VETO_CHARS])


def _cost(search: Search, line: str, enough: float) -> float:
    def once() -> object:
        return search(line, Allowance(MAX_HOSTILE_TRIAL_S, Clock()))

    return cost(once, enough, MAX_HOSTILE_TRIAL_S, HOSTILE_TRIALS)
