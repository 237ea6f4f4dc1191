"""Read the summary of a model, as Keras, torchinfo or torchsummary print it; of Flax' table only the number of parameters.

    │ conv2d (Conv2D)   │ (None, 224, 224, 64)  │   1,792 │     -> Layer("conv2d", "Conv2D", 1792, 3211264)
     Total params: 2,660,000 (10.15 MB)                           -> parameters 2660000
     Total Parameters: 225,034 (900.1 KB)                         -> parameters 225034, of Flax
    ├─Conv2d: 1-1       [32, 64, 224, 224]      1,792             -> Layer("Conv2d: 1-1", "Conv2d", 1792, 3211264), batch 32

    Forward/backward pass size (MB): 1.97                        -> weighted_outputs 123,125: float32, its gradient, batch of 2
    Input size (MB): 1.20                                        -> input_bytes 600,000: of one sample, batch of 2

Rows that only group others (a Sequential, an encoder) are left out: their output is that of their last row.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from msgspec import Struct

from forensics.data_files.named_parts import patterns_of
from forensics.model import Architecture, Layer, Line, Scan, Trigger

MAX_SUMMARY_ROWS = 400  # rows of a summary
TRIGGER = Trigger("architecture", ("total params:", "total parameters:"), before=MAX_SUMMARY_ROWS, after=12)
PATTERNS = patterns_of("architecture")
INPUT_LAYER = "InputLayer"
NUMBER_BYTES = 4  # float32, or the int32 of words
TREE_CHARS = " │┃|├└─┡┩\t"
MAX_SUMMARIES = 4  # the last ones: a program that prints more builds a model again in a loop
PASS_BYTES = 8  # that torchinfo counts for each number: float32, and its gradient
SEQUENCE_SIZES = 3  # samples, sequence, width


class Row(Struct, frozen=True):
    """A row of the table. `depth`: the column at which its name begins; deeper rows are part of it. `batch`: of its shape, None
    for any."""

    layer: Layer
    depth: int
    batch: int | None


def architecture(scans: Iterable[Scan]) -> Architecture | None:
    """The last summary in the logs."""
    found: Architecture | None = None
    for scan in scans:
        for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number)[-MAX_SUMMARIES:]:
            found = read_summary(region.lines(), scan.source.name, scan.source.number_of) or found
    return found


def read_summary(lines: Sequence[Line], source: str = "", origin: Callable[[int], int] = int) -> Architecture | None:
    """The last summary in `lines`; None if there is none."""
    last = next((i for i in range(len(lines) - 1, -1, -1) if PATTERNS.total.search(lines[i].text)), None)
    if last is None:
        return None
    total = _count(PATTERNS.total, lines[last].text) or 0
    trainable = next((n for x in lines[last : last + 8] if (n := _count(PATTERNS.trainable, x.text)) is not None), total)
    rows = [] if _of_flax(lines[last].text) else _rows([line.text for line in lines[:last]])
    leaves = [r for r, after in zip_longest(rows, rows[1:]) if after is None or after.depth <= r.depth]
    batches = {r.batch for r in rows}
    batch = batches.pop() if len(batches) == 1 else None
    layers = tuple(r.layer for r in leaves)
    passed, read = (
        next((float(m[1]) for x in lines[last : last + 12] if (m := size.search(x.text))), 0.0)
        for size in (PATTERNS.pass_size, PATTERNS.input_size)
    )
    weighted = int(passed * 1e6 / PASS_BYTES / max(1, batch or 1))
    given = NUMBER_BYTES * sum(layer.outputs for layer in layers if layer.kind == INPUT_LAYER)
    given = given or int(read * 1e6 / max(1, batch or 1))
    return Architecture(source, origin(lines[last].number), total, trainable, layers, batch, weighted, given)


def _of_flax(text: str) -> bool:
    """Is it the last line of a table of Flax? That one has a row for each module, none for what functions make of its output."""
    found = PATTERNS.total.search(text)
    return bool(found and found[1])


def _rows(texts: Sequence[str]) -> list[Row]:
    """The rows of the summary that ends with the last of `texts`."""
    begin = max((i for i, text in enumerate(texts) if PATTERNS.total.search(text) or "Layer (type" in text), default=-1) + 1
    return [row for i in range(begin, len(texts)) if (row := _row(texts[i], texts[i + 1] if i + 1 < len(texts) else ""))]


def _row(text: str, after: str) -> Row | None:
    found = PATTERNS.shape.search(text)
    if found is None:
        return None
    head = text[: found.start()]
    name = head.strip(TREE_CHARS)
    # Keras writes the class in parentheses, on the next row if the column is narrow; torchinfo writes it before a colon
    named = PATTERNS.layer_class.search(head) or (
        PATTERNS.layer_class.search(after) if not PATTERNS.shape.search(after) else None
    )
    kind = named[1] if named else re.split(r"[\s:]|-\d", name, maxsplit=1)[0]
    sizes = [None if n.strip() in ("None", "-1") else int(n) for n in found[1].split(",")]
    outputs = math.prod(n or 1 for n in sizes[1:]) if len(sizes) > 1 else 0
    parameters = int(found[2].replace(",", "")) if found[2] and found[2][0].isdigit() else 0  # a narrow screen cuts them off
    depth = len(head) - len(head.lstrip(TREE_CHARS)) if ":" in name else 0
    width = sizes[-1] or 0 if len(sizes) == SEQUENCE_SIZES else 0
    return Row(Layer(PATTERNS.layer_class.sub("", name).strip(), kind, parameters, outputs, width), depth, sizes[0])


def _count(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found["count"].replace(",", "")) if found else None
