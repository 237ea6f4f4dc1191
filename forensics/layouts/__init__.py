"""One line at a time: what its wrappers tell (time, host, pid, rank, level) and the message that is left.

    Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory: Killed process 4242 (python3)
    -> wall 08-22 03:00:07 (no year) + mono 11686.888109, host node-7, program kernel, message "Out of memory: ..."

Each module of this package is one family of formats: it exports LAYOUTS, a tuple of Layout. Being there is being
registered; a name used twice is an error. Wrappers are peeled from the outside in, and every clock that is met is kept.
"""

import functools
import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from forensics.layouts.base import MAX_PREFIX, Layout, shape
from forensics.model import Line, Prefix, Stamp

__all__ = ["Layout", "all_layouts", "count_records", "peel", "recognise"]

REMEMBERED_CHARS = 300
MAX_WRAPPERS = 6
HELPERS = {"base", "cgroup_paths", "clock", "months", "zones"}


@functools.cache
def all_layouts() -> tuple[Layout, ...]:
    """Every layout of this package, most specific first; raises ValueError for a name used twice."""
    found: list[Layout] = []
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in HELPERS):
        found += importlib.import_module(f"{__name__}.{module}").LAYOUTS
    names = Counter(layout.name for layout in found)
    if twice := [n for n, c in names.items() if c > 1]:
        raise ValueError(f"layout defined twice: {', '.join(twice)}")
    return tuple(sorted(found, key=lambda layout: layout.rank))


@functools.lru_cache(maxsize=4096)
def layouts_for(shape: str) -> tuple[Layout, ...]:
    """The layouts that a line with this shape can have; what makes peeling a line without any cheap."""
    return tuple(layout for layout in all_layouts() if layout.starts(shape))


def peel(text: str) -> Prefix:
    """What the wrappers of `text` tell. A line without any gives itself back as the message."""
    return _remembered(text) if len(text) <= REMEMBERED_CHARS else _peel(text)


def _peel(text: str) -> Prefix:
    whole = _peel_one(text)
    if whole is None:
        return Prefix(text)
    left = text
    for _ in range(MAX_WRAPPERS - 1):
        if len(whole.message) == len(left):  # it only looked ahead, and would again
            break
        left = whole.message
        inner = _peel_one(left)
        if inner is None:
            break
        whole = Prefix(
            message=inner.message,
            layouts=whole.layouts + inner.layouts,
            stamp=_both(whole.stamp, inner.stamp),
            host=whole.host or inner.host,
            program=inner.program or whole.program,
            pid=inner.pid if inner.pid is not None else whole.pid,
            rank=whole.rank if whole.rank is not None else inner.rank,
            level=inner.level or whole.level,
        )
    return whole


# The first and last lines of a source are asked for by several stages.
_remembered = functools.lru_cache(maxsize=30_000)(_peel)


def _peel_one(text: str) -> Prefix | None:
    for layout in layouts_for(shape(text)) if text else ():  # `layout.peel`, without a call for each that does not fit
        if layout.within and layout.within not in text:
            continue
        found = layout.compiled.match(text, 0, MAX_PREFIX)
        prefix = layout.read(found, text) if found else None
        if prefix:
            return prefix
    return None


def _both(outer: Stamp | None, inner: Stamp | None) -> Stamp | None:
    """One stamp with every clock met: the outer wall clock wins, a wall clock with a zone or a date wins over one without."""
    if outer is None or inner is None:
        return outer or inner
    wall, second = (outer, inner) if _worth(outer) >= _worth(inner) else (inner, outer)
    return replace(wall, mono=wall.mono if wall.mono is not None else second.mono)


def _worth(stamp: Stamp) -> int:
    if stamp.wall is None:
        return 0
    return {"": 3, "year": 2, "date": 1}[stamp.lacks] + (stamp.wall.tzinfo is not None)


def count_records(lines: Iterable[Line], form: str) -> int:
    """How many records `lines` hold: those that carry the layout `form` outermost, or every line with text where none does."""
    peeled = [peel(line.text) for line in lines if line.text.strip()]
    return sum(p.layouts[:1] == (form,) for p in peeled) or len(peeled)


def recognise(lines: Iterable[Line]) -> str:
    """The name of the layout that most of `lines` carry outermost, `plain` when fewer than a tenth carry any."""
    texts = [line.text for line in lines if line.text.strip()]
    names = Counter(p.layouts[0] for p in map(peel, texts) if p.layouts)
    if not names:
        return "plain"
    name, count = names.most_common(1)[0]
    return name if count * 10 >= len(texts) else "plain"
