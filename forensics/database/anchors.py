r"""The anchors of a pattern: plain texts, one of which is in every line that the pattern matches. The scanner searches for them.

'(?:CUDA|HIP) out of memory\. Tried to allocate (?P<request_size>[\d.]+ \w+)'   ->   {'out of memory. tried to allocate '}

Of all sets of texts that would do, the rarest in logs is taken: common.json, made by `scripts/common_text.py`, says how often a
text occurs per megabyte of logs (see `common`). A pattern without such a set cannot be scanned for, and `check` reports it.

How often a text occurs in logs, in occurrences per megabyte, from common.json (made by `scripts/common_text.py`).

'error: '  ->  172      'flurble quota'  ->  0

The table holds common texts of GRAM bytes; a longer text is no more common than the rarest part of it.
"""

import functools
import importlib
import json
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.core.errors import DatabaseError
from forensics.core.text import ascii_lower

COMMON_FILE = Path(__file__).with_name("common.json")
GRAM = 6  # bytes of a text that is counted
SHORT_COST = 20.0  # of each byte that a text is shorter than GRAM, on top of what is known of it


@functools.cache
def text_frequency(text: str) -> float:
    """The occurrences of `text` (lower case) per megabyte of logs, at most; 0 for a text that is not common."""
    common = _common()
    if len(text) < GRAM:
        return SHORT_COST * (GRAM - len(text)) + _short_frequency(text)
    return min(common.get(text[i : i + GRAM], 0.0) for i in range(len(text) - GRAM + 1))


@functools.cache
def _common() -> dict[str, float]:
    try:
        rates: dict[str, float] = json.loads(COMMON_FILE.read_bytes())
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", str(COMMON_FILE), "reinstall the package") from error
    return rates


@functools.cache
def _short_frequency(text: str) -> float:
    """The occurrences per megabyte of a text shorter than GRAM, of those that common texts begin with."""
    texts, rates = _sorted_common()
    return sum(rates[bisect_left(texts, text) : bisect_left(texts, text + chr(sys.maxunicode))])


@functools.cache
def _sorted_common() -> tuple[list[str], list[float]]:
    """The common texts in order, and the rate of each."""
    found = sorted(_common().items())
    return [text for text, _ in found], [rate for _, rate in found]


MIN_ANCHOR_BYTES = 4  # a shorter text is in so many lines that confirming them would cost too much
MAX_ANCHOR_CHARS = 120  # the rest of a longer text is left to the pattern
MAX_PRODUCT = 64  # texts that neighbouring alternatives are multiplied out to
MAX_WAYS = 64  # ways through a pattern that are looked at one by one
CHEAP_COST = 2.0  # a set of one or two rare texts: no better one is sought
MAX_CLASS = 8  # letters of a character class that are listed one by one
LITERAL_COST = 1.0  # of one more text to scan for, in occurrences per megabyte: a larger set of literals scans more slowly
THREE_WORD_CHARS_PATTERN = lazy.regex(r"\w{3}")
NAMED_GROUP_PATTERN = lazy.regex(r"\(\?P<\w+>")
NAMED_AGAIN = lazy.regex(r"\(\?P=\w+\)")
PROPERTY = lazy.regex(r"\\[pP]\{\w+\}")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")

Texts = frozenset[str]
Item = tuple[str, Any]
EMPTY_TEXT: Texts = frozenset(("",))
BLANKS: Texts = frozenset((" ", "\t"))  # what logs hold of \\s


class NoAnchorError(ValueError):
    """A pattern has no set of texts that can be scanned for."""


class _Need(Struct, frozen=True):
    """The texts that a part of a pattern needs. `exact`: all texts that it can match, in lower case; None if there are too many.

    `sets`: every match contains a text of each of these sets. `edge`: every match begins and ends with one of these.
    """

    exact: Texts | None
    sets: tuple[Texts, ...] = ()
    edge: Texts = EMPTY_TEXT


NO_NEED = _Need(None)


def anchors_of(pattern: str) -> tuple[str, ...]:
    """The anchors of `pattern` (syntax of `regex`), in lower case and sorted; raises NoAnchorError if it has none."""
    try:
        tree = _simple(_parser().parse(_plain(pattern)))
    except (re.error, RecursionError) as error:
        raise NoAnchorError(f"cannot be read for its texts: {error}") from error
    best = _cheapest(_sets(_sequence(tree)))
    if best is None or _cost(best)[0] > CHEAP_COST:
        best = _cheapest([*_by_ways(tree), *([best] if best else [])])
    if best is None:
        raise NoAnchorError(f"no text of {MIN_ANCHOR_BYTES} bytes or more is in every line that it matches")
    return tuple(sorted(best))


def parsed(pattern: str) -> Sequence[Any]:
    """`pattern` (syntax of `regex`), parsed by the standard library: items of (kind, argument); empty if it cannot parse it."""
    try:
        tree: Sequence[Any] = _parser().parse(_plain(pattern))
    except (re.error, RecursionError):
        return ()
    return tree


def _cheapest(sets: Iterable[Texts]) -> Texts | None:
    """The rarest of `sets` that can be scanned for."""
    usable = [s for s in map(_essential, sets) if s and all(map(scannable, s))]
    return min(usable, key=_cost) if usable else None


def _simple(items: Iterable[Any]) -> list[Item]:
    """A parsed pattern with the names of its kinds, and with consecutive letters as one TEXT."""
    made: list[Item] = []
    for kind, what in items:
        name = str(kind)
        if name == "LITERAL":
            letter = ascii_lower(chr(what))
            if made and made[-1][0] == "TEXT":
                made[-1] = ("TEXT", made[-1][1] + letter)
            else:
                made.append(("TEXT", letter))
        elif name == "BRANCH":
            made.append((name, [_simple(b) for b in what[1]]))
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            made.append(("GROUP", _simple(what[-1] if name == "SUBPATTERN" else what)))
        elif name in REPEATS:
            made.append(("REPEAT", (what[0], what[1], _simple(what[2]))))
        elif name == "ASSERT":
            made.append(("AHEAD" if what[0] > 0 else "BEHIND", _simple(what[1])))
        else:
            made.append((name, what))
    return made


def plain_texts(pattern: str) -> list[str]:
    """The literal texts in `pattern`, in lower case."""
    found: list[str] = []

    def gather(items: Sequence[Item]) -> None:
        for name, what in items:
            if name == "TEXT":
                found.append(what)
            elif name == "BRANCH":
                for branch in what:
                    gather(branch)
            elif name in ("GROUP", "REPEAT"):
                gather(what if name == "GROUP" else what[2])

    gather(_simple(_parser().parse(_plain(pattern))))
    return found


@functools.cache
def scannable(text: str) -> bool:
    """Is `text` long enough to scan for, with three letters or digits in a row?"""
    return len(text.encode()) >= MIN_ANCHOR_BYTES and THREE_WORD_CHARS_PATTERN.search(text) is not None


@functools.cache
def _cost(texts: Texts) -> tuple[float, int, tuple[str, ...]]:
    return sum(LITERAL_COST + text_frequency(t) for t in texts), -min(map(len, texts)), tuple(sorted(texts))


@functools.cache
def _parser() -> Any:
    return importlib.import_module("re._parser")  # the standard library's own; it has no public one


def _plain(pattern: str) -> str:
    """`pattern` without syntax that only `regex` knows: two groups of one name, references to them, Unicode properties."""
    return PROPERTY.sub(r"\\w", NAMED_AGAIN.sub("(?:.*)", NAMED_GROUP_PATTERN.sub("(", pattern)))


def _sets(need: _Need) -> list[Texts]:
    return [*need.sets, *([need.exact] if need.exact is not None else [])]


@functools.cache
def _essential(texts: Texts) -> Texts:
    """`texts`, shortened to MAX_ANCHOR_CHARS, without those that contain another one."""
    cut = {t[:MAX_ANCHOR_CHARS] for t in texts}
    return frozenset(t for t in cut if not any(o != t and o in t for o in cut))


def _by_ways(tree: Sequence[Item]) -> list[Texts]:
    """The set of the rarest text of each way through the pattern's alternatives; none if there are too many ways."""
    ways = _ways(tree)
    if ways is None or len(ways) < 2:
        return []
    taken: set[str] = set()
    for way in ways:
        best = _cheapest(_sets(_sequence(way)))
        if best is None:
            return []
        taken |= best
    return [frozenset(taken)]


def _ways(items: Sequence[Item]) -> list[list[Item]] | None:
    """Each way through the alternatives of `items`; None if there are more than MAX_WAYS."""
    ways: list[list[Item]] = [[]]
    for name, what in items:
        choices: list[list[Item]] | None = [[(name, what)]]
        if name == "BRANCH":
            choices = []
            for branch in what:
                inner = _ways(branch)
                if inner is None:
                    return None
                choices += inner
        elif name == "GROUP":
            choices = _ways(what)
        if choices is None or len(ways) * len(choices) > MAX_WAYS:
            return None
        ways = [[*way, *choice] for way in ways for choice in choices]
    return ways


def _sequence(items: Iterable[Item]) -> _Need:
    """The texts that a sequence of parts needs."""
    sets: list[Texts] = []
    run = EMPTY_TEXT
    plain = ""  # of the run, what is the same whatever is chosen
    whole = True
    for name, what in items:
        need = _item(name, what)
        if need.exact is not None and len(need.exact) == 1:
            plain += next(iter(need.exact))
        else:
            sets.append(frozenset((plain,)))
            plain = ""
        if need.exact is not None and len(run) * len(need.exact) <= MAX_PRODUCT:
            run = frozenset(a + b for a in run for b in need.exact)
            sets += need.sets  # of a look ahead
            continue
        whole = False
        sets += [*_closed(run, need.edge), *need.sets]
        run = need.exact if need.exact is not None else need.edge
    sets.append(frozenset((plain,)))
    if whole:
        return _Need(run, tuple(s for s in sets if "" not in s))
    return _Need(None, tuple(s for s in (*sets, *_closed(run, EMPTY_TEXT)) if "" not in s))


def _closed(run: Texts, edge: Texts) -> Iterator[Texts]:
    """The sets of a run of plain texts: unchanged, without blanks around it, and with the text that follows it."""
    yield run
    yield frozenset(t.strip() for t in run)
    if edge != EMPTY_TEXT and len(run) * len(edge) <= MAX_PRODUCT:
        yield frozenset(a + b for a in run for b in edge)


def _item(name: str, what: Any) -> _Need:
    """The texts that one item of a pattern needs."""
    if name == "TEXT":
        return _Need(frozenset((what,)))
    if name == "BRANCH":
        return _branch([_sequence(b) for b in what])
    if name == "GROUP":
        return _sequence(what)
    if name == "REPEAT":
        return _repeat(*what)
    if name == "IN":
        return _class(what)
    if name == "AHEAD":
        return _Need(EMPTY_TEXT, tuple(s for s in _sets(_sequence(what)) if "" not in s))
    if name == "BEHIND":
        return _Need(None, (), _sequence(what).exact or EMPTY_TEXT)
    if name in ("AT", "ASSERT_NOT"):
        return _Need(EMPTY_TEXT)
    return NO_NEED


def _class(what: Sequence[Any]) -> _Need:
    if len(what) > MAX_CLASS:
        return NO_NEED
    letters: set[str] = set()
    for kind, code in what:
        if str(kind) == "LITERAL":
            letters.add(ascii_lower(chr(code)))
        elif str(code) == "CATEGORY_SPACE":
            letters |= BLANKS
        else:
            return NO_NEED
    blank = len(letters) > len(what)
    return _Need(None, (), frozenset(letters)) if blank else _Need(frozenset(letters))


def _repeat(least: int, most: Any, inside: Any) -> _Need:
    inner = _sequence(inside)
    if (least, most) == (0, 1) and inner.exact is not None:
        return _Need(inner.exact | EMPTY_TEXT)
    if least == 0:
        return NO_NEED
    if least == most and inner.exact is not None and len(inner.exact) == 1:
        return _Need(frozenset(t * least for t in inner.exact))
    edge = inner.edge if inner.exact is None else inner.exact if len(inner.exact) <= MAX_CLASS else EMPTY_TEXT
    return _Need(None, tuple(s for s in _sets(inner) if "" not in s), edge)


def _branch(needs: Sequence[_Need]) -> _Need:
    if all(n.exact is not None for n in needs):
        return _Need(frozenset(t for n in needs if n.exact is not None for t in n.exact))
    taken: set[str] = set()
    for need in needs:
        best = _cheapest(_sets(need))
        if best is None:
            return NO_NEED
        taken |= best
    return _Need(None, (frozenset(taken),))
