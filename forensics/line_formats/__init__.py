"""Parse the prefixes of one line (time, host, pid, rank, level); the rest of the line is the message.

    Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory: Killed process 4242 (python3)
    -> wall 08-22 03:00:07 (no year) + mono 11686.888109, host node-7, program kernel, message "Out of memory: ..."

The formats are data: signatures/line_formats/<family>.yaml. A line may have several prefixes: they are parsed from left to right.
A wall clock and an uptime are both kept.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress, product

from msgspec.structs import replace

from forensics.core.recent import Recent
from forensics.core.shapes import MAX_SHAPES, shapes_of, zeroed
from forensics.line_formats.base import EXACT_CHARS, MAX_PREFIX_CHARS, SHAPE_CHARS, LineFormat, shape
from forensics.line_formats.read_formats import load_formats
from forensics.line_formats.recipes import WITHOUT_PREFIX, Recipe, recipe
from forensics.model import Line, Prefix, Stamp

MAX_CACHED_CHARS = 300  # longer lines are not cached: they hardly ever occur twice
MAX_PREFIXES = 6  # of one line
MIN_ASKED = 8  # chosen by hand: bars of many lengths begin alike, and to try all digits takes as long as reading some thousand
HOST_FORMATS = ("dmesg", "syslog", "journal", "kmsg", "pstore", "vmcore", "kernel", "talos")
MIN_SHARE_OF_FORMAT = 0.1  # chosen by hand: of the lines of a program's log, that have its format
MIN_SHARE_OF_HOST = 0.4  # of 292 hosts' logs all have 0.5 or more, a workflow's log with a few such lines has 0.15
MAX_KEPT_LINES = 4096  # whose prefixes are kept: the ends of the sources that are read in turns


@functools.cache
def all_formats() -> tuple[LineFormat, ...]:
    """All formats, the most specific first. Raises DatabaseError for a fault in their files."""
    return tuple(sorted(load_formats(), key=lambda form: form.rank))


@functools.lru_cache(maxsize=4096)
def formats_for(shape: str) -> tuple[LineFormat, ...]:
    """The formats that are possible for a line with this shape: usually none or a few, so most patterns need not be tried."""
    return tuple(form for form in all_formats() if form.starts(shape))


@functools.lru_cache(maxsize=4096)
def _formats_of(start: str, line: bytes) -> tuple[tuple[LineFormat, ...], tuple[LineFormat, ...]]:
    """The formats that a line may have which starts with `start` and whose shape is `line`; those of labels.

    Lines that differ only in digits share an entry, in which formats that depend on no digit are tried once for all of them."""
    text = line.decode("utf-8", "surrogatepass")
    of_start = formats_for(shape(start + text[EXACT_CHARS:SHAPE_CHARS]))
    found = tuple(form for form in of_start if form.within_zeroed in text and (form.asks_digits or form.matches(text)))
    return found, tuple(form for form in found if form.labels)


def _possible(text: str) -> tuple[tuple[LineFormat, ...], tuple[LineFormat, ...]]:
    """The formats that `text` may have, without many that it cannot have, and those of labels among them."""
    if not text:
        return (), ()
    if len(text) > MAX_CACHED_CHARS:
        every = tuple(form for form in formats_for(shape(text)) if form.within in text)
        return every, tuple(form for form in every if form.labels)
    return _formats_of(text[:EXACT_CHARS], zeroed(text))


def may_have_prefix(shape: str) -> bool:
    """May a line have a prefix that is `shape` with zeros for its digits? If not, no such line has one."""
    if len(shape) > MAX_CACHED_CHARS:
        return any(map(str.isdigit, shape[:EXACT_CHARS])) or bool(_possible(shape)[0])
    return _may_have_prefix(shape)


@functools.lru_cache(maxsize=MAX_SHAPES)
def _may_have_prefix(shape: str) -> bool:
    if not any(map(str.isdigit, shape[:EXACT_CHARS])):
        return any(form.may_have_shape(shape) for form in _possible(shape)[0])
    start = shape[:SHAPE_CHARS]
    _asked[start] += 1
    if _asked[start] < MIN_ASKED:
        return True
    return any(form.within_zeroed in shape and form.may_have_shape(shape) for form in _of_any_digits(start))


_asked: Counter[str] = Counter()  # of how many shapes with digits in front it was asked, by how they begin


@functools.lru_cache(maxsize=256)
def _of_any_digits(start: str) -> tuple[LineFormat, ...]:
    """The formats that a line may have which begins with `start`, or with other digits."""
    fronts = product(*("0123456789" if c.isdigit() else c for c in start[:EXACT_CHARS]))
    shapes = [shape("".join(front) + start[EXACT_CHARS:]) for front in fronts]
    return tuple(form for form in all_formats() if any(map(form.starts, shapes)))


def parse_prefix(text: str) -> Prefix:
    """All prefixes of `text` as one Prefix. A line without a prefix is its own message."""
    return _of_text.get(text) or (_parse_cached(text) if len(text) <= MAX_CACHED_CHARS else _parse(text))


_parsed: Recent[list[Prefix]] = Recent(MAX_KEPT_LINES)
_of_text: dict[str, Prefix] = {}  # the same, by the texts of the lines


def prefixes(lines: Sequence[Line]) -> list[Prefix]:
    """The prefixes of each of `lines`, kept for the next stages that ask for them, or for one of them."""
    known = _parsed.get(lines)
    if known is None:
        parse_together([lines])
        known = _parsed.get(lines)
        assert known is not None
    return known


WITHOUT = Prefix("")


def parse_together(several: Sequence[Sequence[Line]]) -> None:
    """Parse the prefixes of lines of several sources, those of one shape together, and keep them."""
    texts = [line.text for lines in several for line in lines]
    alike: dict[tuple[str, bytes], list[int]] = defaultdict(list)
    for place, of_shape in enumerate(zip([text[:EXACT_CHARS] for text in texts], shapes_of(texts), strict=True)):
        alike[of_shape].append(place)
    made = [WITHOUT] * len(texts)
    for of_shape, places in alike.items():
        for place, prefix in zip(places, _parsed_alike([*map(texts.__getitem__, places)], of_shape), strict=True):
            made[place] = prefix
    if len(_of_text) >= MAX_KEPT_LINES:
        _of_text.clear()
    _of_text.update(zip(texts, made, strict=True))
    begin = 0
    for lines in several:
        _parsed.keep(lines, made[begin : begin + len(lines)], len(lines))
        begin += len(lines)


def _parsed_alike(texts: Sequence[str], shape: tuple[str, bytes]) -> Sequence[Prefix]:
    """The prefixes of lines of one shape, which begin with the same characters."""
    if len(texts[0]) > MAX_CACHED_CHARS:
        return [*map(_parse, texts)]
    first: list[Prefix] = []
    while len(first) < len(texts) and shape not in _recipes:  # the first ones, of which a recipe is made
        first.append(_recipes.parse_new(texts[len(first)], shape))
    known, rest = _recipes.get(shape), texts[len(first) :] if first else texts
    if known is None:
        return [*first, *map(_parse, rest)]
    read = known.read_all(rest)
    return [*first, *(read if all(read) else (prefix or _parse(text) for text, prefix in zip(rest, read, strict=True)))]


class _Recipes(dict[tuple[str, bytes], Recipe | None]):
    """The recipes of lines, by their first characters and their shape; None where there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.seen_once: set[tuple[str, bytes]] = set()

    def parse(self, text: str) -> Prefix:
        """As _parse(), of a line that is not long."""
        shape = text[:EXACT_CHARS], zeroed(text)
        known = self.get(shape)
        return (known and known.read(text)) or self.parse_new(text, shape)

    def parse_new(self, text: str, shape: tuple[str, bytes]) -> Prefix:
        """The same, of a line whose shape has no recipe, or one that does not hold for it."""
        if shape in self:
            return _parse(text)
        possible = _formats_of(*shape)[0]
        if not possible:
            self._add(shape, WITHOUT_PREFIX)
            return Prefix(text)
        parsed = _parse(text)
        if not parsed.formats and not any(form.may_have_shape(text) for form in possible):
            self._add(shape, WITHOUT_PREFIX)
        if parsed.formats and shape in self.seen_once:  # a line that is alone needs no recipe
            self._add(shape, recipe(text, parsed, lambda rest: _possible(rest)[0]))
        elif parsed.formats:
            self.seen_once.add(shape)
        return parsed

    def _add(self, shape: tuple[str, bytes], made: Recipe | None) -> None:
        if len(self) >= MAX_SHAPES or len(self.seen_once) >= MAX_SHAPES:
            self.clear()
            self.seen_once.clear()
        self[shape] = made


def _parse(text: str) -> Prefix:
    whole = _parse_one(text)
    if whole is None:
        return Prefix(text)
    rest = text
    for _ in range(MAX_PREFIXES - 1):
        if len(whole.message) == len(rest):  # the format is a look-ahead without text of its own and would match again
            break
        rest = whole.message
        inner = _parse_one(rest)
        if inner is None:
            break
        whole = Prefix(
            message=inner.message,
            formats=whole.formats + inner.formats,
            stamp=_merge_stamps(whole.stamp, inner.stamp),
            host=whole.host or inner.host,
            program=inner.program or whole.program,
            pid=inner.pid if inner.pid is not None else whole.pid,
            rank=whole.rank if whole.rank is not None else inner.rank,
            level=inner.level or whole.level,
        )
    return whole


_recipes = _Recipes()
_parse_cached = functools.lru_cache(maxsize=4096)(_recipes.parse)


@functools.cache
def _labels() -> frozenset[str]:
    return frozenset(form.name for form in all_formats() if form.labels)


def unlabelled(text: str) -> str:
    """`text` as the program wrote it: without what a launcher or a collector writes in front of a line (`0: `, `web-1  | `)."""
    return _unlabelled_cached(text) if len(text) <= MAX_CACHED_CHARS else _unlabelled(text)


def _unlabelled(text: str) -> str:
    for said in peeled(text):
        text = said
    return text


_unlabelled_cached = functools.lru_cache(maxsize=4096)(_unlabelled)


def peeled(text: str) -> Iterator[str]:
    """`text` without its outermost label, without its two outermost ones, and so on."""
    for _ in range(MAX_PREFIXES):
        end = next((found.end() for form in label_formats(text) if (found := form.compiled.match(text, 0, MAX_PREFIX_CHARS))), 0)
        if not end:
            return
        yield (text := text[end:])


def own_format(formats: Sequence[str]) -> str:
    """Of the formats of a line, the one that the program chose: the outermost one that is no label, else the outermost one; empty
    without a prefix."""
    return next((name for name in formats if name not in _labels()), formats[0] if formats else "")


def label_formats(text: str) -> tuple[LineFormat, ...]:
    """The formats of labels that `text` may begin with."""
    return _possible(text)[1]


def labels_of(texts: Sequence[str]) -> list[tuple[LineFormat, ...]]:
    """label_formats() of each of `texts`, whose shapes are made together."""
    return [
        _formats_of(text[:EXACT_CHARS], shape)[1] if text and len(text) <= MAX_CACHED_CHARS else label_formats(text)
        for text, shape in zip(texts, shapes_of(texts), strict=True)
    ]


def first_format(text: str) -> LineFormat | None:
    """The format of the outermost prefix of `text`; None without a prefix."""
    return next((form for form in _possible(text)[0] if form.parse(text) is not None), None)


def _parse_one(text: str) -> Prefix | None:
    # The same as LineFormat.parse, without a call per format (faster).
    for form in _possible(text)[0]:
        found = form.compiled.match(text, 0, MAX_PREFIX_CHARS)
        prefix = form.read(found, text) if found else None
        if prefix:
            return prefix
    return None


def _merge_stamps(outer: Stamp | None, inner: Stamp | None) -> Stamp | None:
    """One stamp of both: the outer wall clock is used, unless the inner one has a zone or a date that the outer one lacks."""
    if outer is None or inner is None:
        return outer or inner
    wall, second = (outer, inner) if _completeness(outer) >= _completeness(inner) else (inner, outer)
    return replace(wall, mono=wall.mono if wall.mono is not None else second.mono)


def _completeness(stamp: Stamp) -> int:
    if stamp.wall is None:
        return 0
    return {"": 3, "year": 2, "date": 1}[stamp.lacks] + (stamp.wall.tzinfo is not None)


def recognise(lines: Sequence[Line]) -> tuple[str, int]:
    """The name of the most frequent own format of `lines`, `plain` if too few have it; and the number of records: of lines
    of that format, or of non-empty lines if none has it.

    A tenth is enough for a program's format: its other lines are printed without one. A host's log has its format in nearly every
    line that is not indented; fewer lines were pasted into something else.
    """
    with_text = [bool(line.text) and not line.text.isspace() for line in lines]
    parsed = [prefix.formats for prefix in compress(prefixes(lines), with_text)]
    names: Counter[str] = Counter()
    for formats in dict.fromkeys(parsed):
        names[own_format(formats)] += parsed.count(formats)
    continued = names[""] and sum(1 for line in lines if line.text[:1] in (" ", "\t") and not line.text.isspace())
    begun = len(parsed) - min(continued, names.pop("", 0))
    is_host = sum(c for name, c in names.items() if name.startswith(HOST_FORMATS)) >= begun * MIN_SHARE_OF_HOST
    frequent = (name for name, c in names.most_common() if c >= len(parsed) * MIN_SHARE_OF_FORMAT)
    found = next((name for name in frequent if is_host or not name.startswith(HOST_FORMATS)), "plain")
    return found, names[found] or len(parsed)
