"""Find patterns that may take seconds on one line, by their form, and by their time on lines that are made to be slow.

(\\w+\\s?)+:      nests unbounded repeats: exponential on a line of letters without a colon
a.*b.*c.*d       polynomial: slow on a long line full of `a b c` without a `d`
"""

import time
from collections.abc import Iterator

from forensics.core.limits import Limits
from forensics.database.confirm import compiled
from forensics.database.entries import Signature

TEXT_BYTES = Limits().text  # of a line, at most, are looked at
SLOW_S = 0.1  # of processor time on a line of TEXT_BYTES: half the limit at which confirmation gives up
FIRST_LOOK = 4  # a line of a quarter of that length tells first: quadratic time is SLOW_S / 16 there, linear time far less
MAX_TRIAL_S = 0.5  # five times SLOW_S: how much slower a slow pattern is need not be known
TRIALS = 3  # chosen by hand: one of three finds the processor free
PATTERN_SHOWN = 80  # characters
UNMATCHED_END = "\x01"  # no class of a pattern takes it, so whole lines fail at their very end


def nests_repeats(pattern: str) -> bool:
    """Does `pattern` repeat a group without bound that itself ends in an unbounded repeat, as in `(a+)+` or `(?:x|(.*y*))*`?"""
    open_groups: list[bool] = []  # of each open group: does what was read of it last repeat without bound?
    loose = False  # the same of the item just read
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at, loose = at + 2, False
        elif char == "[":
            at, loose = _past_class(pattern, at), False
        elif char == "(":
            open_groups.append(False)
            at, loose = at + 1, False
        elif char == "|" and open_groups:
            open_groups[-1] = open_groups[-1] or loose
            at, loose = at + 1, False
        elif char == ")" and open_groups:
            loose = open_groups.pop() or loose
            at += 1
            if loose and _unbounded(pattern, at) and not pattern.startswith("+", at + 1):
                return True
        elif _unbounded(pattern, at):
            at, loose = at + 1 if char in "+*" else pattern.index("}", at) + 1, True
            if pattern.startswith("+", at):  # possessive: gives nothing back
                at, loose = at + 1, False
        elif char == "?" and loose:
            at += 1  # a lazy repeat is still one
        else:
            at, loose = at + 1, False
    return False


def _past_class(pattern: str, at: int) -> int:
    at += 2 if pattern.startswith("[^", at) else 1
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _unbounded(pattern: str, at: int) -> bool:
    """Does an unbounded repeat stand at `at`: `+`, `*` or `{3,}`?"""
    if pattern.startswith(("+", "*"), at):
        return True
    head, comma, rest = pattern[at + 1 : at + 12].partition(",")
    return pattern.startswith("{", at) and bool(comma) and rest.startswith("}") and head.isdigit()


def slow_pattern_faults(signature: Signature) -> Iterator[str]:
    """A message for each pattern of the signature that takes too long."""
    lines = list(probe_lines(signature))
    for pattern in (signature.pattern, *signature.unless):
        costs = (_long_cost(pattern, line) for line in lines)
        cost = next((c for c in costs if c > SLOW_S), 0.0)
        if cost:
            duration = f"{cost * 1000:.0f} ms" if cost < MAX_TRIAL_S else f"more than {MAX_TRIAL_S * 1000:.0f} ms"
            yield f"pattern {pattern[:PATTERN_SHOWN]!r} takes {duration} on a line of {TEXT_BYTES >> 10} KiB; bound its repeats"


def _long_cost(pattern: str, line: str) -> float:
    """Seconds on `line`; 0 if its last quarter already shows that it is fast."""
    quick = SLOW_S / FIRST_LOOK**2
    if _cost(pattern, line[-(len(line) // FIRST_LOOK) :], quick) < quick:
        return 0.0
    return _cost(pattern, line, SLOW_S)


def probe_lines(signature: Signature) -> Iterator[str]:
    """Long lines that nearly match, with an anchor at the end: an example or its beginning repeated, or one character
    repeated."""
    parts = ["a", "0", " ", "/", ".", "("]
    for example in signature.match[:3]:
        text = example.text[:2000]
        parts += [text + " ", text[: len(text) * 2 // 3] + " ", text[: len(text) // 3] + " "]
    for part in parts:
        yield part * (TEXT_BYTES // len(part)) + " " + "".join(signature.anchors[:1]) + UNMATCHED_END


def _cost(pattern: str, line: str, enough: float) -> float:
    """Seconds of processor time of one search, the best of a few: the machine may be busy. Under `enough`, one trial does."""
    best = MAX_TRIAL_S
    for _ in range(TRIALS):
        start = time.thread_time()
        try:
            compiled(pattern).search(line, timeout=MAX_TRIAL_S)
        except TimeoutError:
            if time.thread_time() - start > MAX_TRIAL_S / 2:
                return MAX_TRIAL_S
            continue
        best = min(best, time.thread_time() - start)
        if best < enough:
            break
    return best
