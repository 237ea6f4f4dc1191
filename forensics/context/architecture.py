"""A model's summary as Keras, torchinfo or torchsummary print it, to an Architecture.

│ conv2d (Conv2D)   │ (None, 224, 224, 64)  │   1,792 │     -> Layer("conv2d", 1792, 3211264)
 Total params: 2,660,000 (10.15 MB)                           -> parameters 2660000
├─Conv2d: 1-1       [32, 64, 224, 224]      1,792             -> Layer("Conv2d: 1-1", 1792, 3211264), batch 32
"""

import math
import re
from collections.abc import Iterable, Sequence

from forensics import lazy
from forensics.model import Architecture, Layer, Line, Scan, Trigger

REACH = 400  # rows of a summary
TRIGGER = Trigger("architecture", ("total params:", "trainable params:"), before=REACH, after=8)
TOTAL = lazy.regex(r"(?i)\btotal params:\s*([\d,]+)(?:\.\d+)?")
TRAINABLE = lazy.regex(r"(?i)(?<!non-)(?<!non)\btrainable params:\s*([\d,]+)")
ROW = lazy.regex(
    r"(?P<name>\S[^│┃|\[(]{0,80}?\S?)\s*(?:\([A-Za-z_]\w*[^)]*\))?\s*[│┃|]?\s*[\[(]+(?P<shape>(?:None|-?\d+)(?:,\s*(?:None|-?\d+))*),?[\])]+\s*[│┃|]?\s*(?P<count>[\d,]+|--)(?:\s|[│┃|]|$)"
)
RULE = lazy.regex(r"^[\s=_─━┄┏┓┗┛├┤└┘┡┩┢┪╇┴┬┼╋╀╁-]*$")
OPTIMIZER = lazy.regex(r"(?i)optimizer params:")
MAX_SUMMARIES = 4


def architecture(scans: Iterable[Scan]) -> Architecture | None:
    """The last summary that the logs print."""
    found: Architecture | None = None
    for scan in scans:
        origin = scan.source.origin or int
        for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number)[-MAX_SUMMARIES:]:
            if TOTAL.search(region.text):
                read = read_summary([*region.lines()])
                if read:
                    found = Architecture(scan.source.name, origin(region.number), *read)
    return found


def read_summary(lines: Sequence[Line]) -> tuple[int, int, tuple[Layer, ...], int | None] | None:
    """(parameters, trainable ones, layers, batch of the shapes) of the last summary in `lines`; None where there is none."""
    last = next((i for i in range(len(lines) - 1, -1, -1) if TOTAL.search(lines[i].text)), None)
    if last is None:
        return None
    total = _count(TOTAL, lines[last].text)
    trainable = next((n for x in lines[last : last + 8] if (n := _count(TRAINABLE, x.text)) is not None), total)
    layers: list[Layer] = []
    batches: set[int] = set()
    for line in reversed(lines[:last]):
        text = line.text
        row = ROW.search(text)
        if row is None:
            if TOTAL.search(text) or "Model:" in text or "Layer (type" in text:
                break
            continue
        shape = [None if n.strip() in ("None", "-1") else int(n) for n in row["shape"].split(",")]
        if shape[0] is not None:
            batches.add(shape[0])
        outputs = math.prod(n or 1 for n in shape[1:]) if len(shape) > 1 else 0
        parameters = int(row["count"].replace(",", "")) if row["count"] != "--" else 0
        layers.append(Layer(row["name"].strip(" │├└─┃|"), parameters, outputs))
    batch = next(iter(batches)) if len(batches) == 1 else None
    return total or 0, trainable if trainable is not None else total or 0, tuple(reversed(layers)), batch


def _count(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1].replace(",", "")) if found else None
