"""How the two shapes of a message differ, for the step that makes them fit.

could not be broadcast together with shapes (32,10) (32,)       -> long_shape "(32, 10)", short_shape "(32,)", extra_axis 1
expected [8, 3, 224, 225] and got [8, 224, 225, 3]              -> axis_order "0, 2, 3, 1"
size of tensor a (8100) must match the size of tensor b (4050)  -> size_ratio 2
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Value

SAID_SHAPES = "long_shape", "short_shape", "extra_axis", "extra_size", "axis_order", "size_ratio"
SHAPE_PATTERN = lazy.regex(r"[\[(](?P<sizes>\d{1,9}(?:, ?\d{1,9})*),?[\])]")
TWO_SIZES_PATTERN = lazy.regex(r"tensor a \((?P<a>\d{1,9})\) must match the size of tensor b \((?P<b>\d{1,9})\)")
MAX_SHAPES_CHARS = 600  # of a message: its shapes stand at its beginning
MAX_RATIO = 64  # chosen by hand: a larger quotient of two sizes is by chance
Shape = tuple[int, ...]


def said_shapes(text: str) -> dict[str, Value]:
    """The facts of SAID_SHAPES for the first two different shapes of a message."""
    if two := TWO_SIZES_PATTERN.search(text):
        small, large = sorted((int(two["a"]), int(two["b"])))
        whole = 1 < small < large and large % small == 0 and large // small <= MAX_RATIO
        return {"size_ratio": large // small} if whole else {}
    told = (tuple(map(int, m["sizes"].split(","))) for m in SHAPE_PATTERN.finditer(text[:MAX_SHAPES_CHARS]))
    shapes = list(dict.fromkeys(told))[:2]
    if len(shapes) < 2:
        return {}
    first, second = shapes
    if len(first) == len(second):
        return _reordered(first, second)
    return _with_extra_axis(*sorted(shapes, key=len, reverse=True))


def _reordered(first: Shape, second: Shape) -> dict[str, Value]:
    """The order of the axes of one that makes the other, where it is the only one."""
    unique = len(set(first)) == len(first)
    if sorted(first) != sorted(second) or not unique:
        return {}
    return {"axis_order": ", ".join(str(first.index(size)) for size in second)}


def _with_extra_axis(long: Shape, short: Shape) -> dict[str, Value]:
    """The axis that the longer shape has besides those of the shorter one: the last of those that it may be."""
    axis = next((i for i in reversed(range(len(long))) if long[:i] + long[i + 1 :] == short), None)
    if axis is None:
        return {}
    return {"long_shape": _text(long), "short_shape": _text(short), "extra_axis": axis, "extra_size": long[axis]}


def _text(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
