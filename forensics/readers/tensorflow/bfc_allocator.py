"""Reads the allocation summary of TensorFlow and JAX. The limit, usage and request of the process tell the kind of shortage.

    Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested by op Conv2D
    Next region of size 72080128
    Sum Total of in-use chunks: 542.02MiB
    total_region_allocated_bytes_: 568350976 memory_limit_: 568351129 available bytes: 153 ...
    Limit:                   568351129
    InUse:                   568350976
    MaxInUse:                568350976

From bfc_allocator.cc and allocator.cc (tensorflow/core/common_runtime up to 2.x, tsl and xla later; the statistics have no
prefix of their own). At its start, TensorFlow takes the free GPU memory as its limit. So if the limit is far below the size of
the GPU memory, another process held memory before. If the regions together are far below the limit, the GPU memory was full
before the process reached its limit. All sizes are in bytes.
"""

from collections.abc import Iterable

from forensics.core import lazy
from forensics.data_files.named_parts import every_value, patterns_of
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record, size_bytes

TRIGGER = Trigger("bfc_allocator", of="bfc allocator", before=2, after=6)
BFC_SIZE_PATTERN = r"([\d.]{1,40} ?[KMGT]?i?B)"
PATTERNS = patterns_of("bfc allocator")
IN_USE_TOTAL_PATTERN = lazy.regex(rf"Sum Total of in-use chunks: {BFC_SIZE_PATTERN}")
CARD_MEMORY_PATTERN = lazy.regex(rf"totalMemory: {BFC_SIZE_PATTERN}")
MODERN_CAPABILITY = 6  # compute capability of Pascal, 2016
MIN_MODERN_CARD_BYTES = 2 << 30  # no GPU since then has less; TensorFlow tells only the name of a card, and not its size
CARD_FIELDS = {"total_bytes", "card_least_bytes"}
BENIGN_MESSAGE = "this is not a failure"
TOO_SMALL, IN_PIECES, HELD_BY_ANOTHER = "too_small", "in_pieces", "held_by_another"
OUTCOMES = (TOO_SMALL, IN_PIECES, HELD_BY_ANOTHER)
MAX_BFC_SUMMARY_LINES = 20_000  # the summary of a big model can list so many chunks
MIN_CARD_BYTES = 256 << 20  # no GPU for training has so little memory, and no model needs so little
MIN_LIMIT_SHARE_OF_CARD = 0.6  # TensorFlow takes more than 90 % of the memory of a free GPU
MIN_GROWN_SHARE_OF_LIMIT = 0.9  # a process whose regions reach this share got all of its memory


def read(region: Region) -> Record | None:
    """The raw numbers of one place in the log, for `join`. None for the warning that "is not a failure"."""
    text = region.text
    fields: dict[str, Value] = {}
    if asked := PATTERNS.refused_size.search(text):
        if BENIGN_MESSAGE in text:
            return None
        fields |= {"allocator": asked["name"], "request_bytes": size_bytes(asked[2]) or 0}
        if rounded := PATTERNS.rounded_size.search(text):
            fields["request_bytes"] = int(rounded[1][:18])
    if found := PATTERNS.region_size.search(text):
        fields["region_bytes"] = int(found[1][:18])
    if found := IN_USE_TOTAL_PATTERN.search(text):
        fields["allocated_bytes"] = size_bytes(found[1]) or 0
    if found := PATTERNS.bfc_totals.search(text):
        fields |= {"regions_bytes": int(found[1][:18]), "limit_bytes": int(found[2][:18])}
    if found := CARD_MEMORY_PATTERN.search(text):
        fields["total_bytes"] = size_bytes(found[1]) or 0
    if (device := PATTERNS.device.search(text)) and int(device[1]) >= MODERN_CAPABILITY:
        fields["card_least_bytes"] = MIN_MODERN_CARD_BYTES
    last = region.number
    if "MaxInUse" in text:
        for line in region.lines():
            for name, value in every_value("TensorFlow memory statistics", line.text):
                fields[name] = int(value[:18])
                last = max(last, line.number)
    if not fields:
        return None
    line = Line(region.number, text)
    return Record("bfc_allocator", region.number, last, None, "hint", (line,), fields)


def join(records: list[Record]) -> list[Record]:
    """One record for each failed request with the summary after it. A summary whose first lines are missing counts as well."""
    card = least = 0
    joined: list[Record] = []
    group: list[Record] = []
    for record in records:
        card = int(record.fields.get("total_bytes", 0)) or card
        least = int(record.fields.get("card_least_bytes", 0)) or least
        if record.fields.keys() <= CARD_FIELDS:
            continue
        if group and ("request_bytes" in record.fields or record.first - group[-1].last > MAX_BFC_SUMMARY_LINES):
            joined += _summary(group, card, least)
            group = []
        group.append(record)
    return [*joined, *_summary(group, card, least)]


def _summary(group: list[Record], card: int, least: int) -> Iterable[Record]:
    fields: dict[str, Value] = {}
    for record in group:
        fields |= {k: v for k, v in record.fields.items() if k != "region_bytes"}
    regions = [int(r.fields["region_bytes"]) for r in group if "region_bytes" in r.fields]
    if regions:
        fields.setdefault("regions_bytes", sum(regions))
    allocator = str(fields.get("allocator", "gpu"))
    if card:
        fields["total_bytes"] = card
    if gpu := PATTERNS.gpu_device.search(allocator):
        fields["gpu"] = int(gpu[1][:4])
    # Without the statistics there is no outcome; then only the signature of the line counts.
    if ("limit_bytes" not in fields and not regions) or "gpu" not in allocator.lower() or not group:
        return
    decided = classify_bfc_shortage({"total_bytes": least} | {k: int(v) for k, v in fields.items() if k.endswith("_bytes")})
    if decided is None:
        return
    outcome, weight, reason = decided
    quote = sorted(group, key=lambda r: _worth(r, outcome))
    yield Record(
        kind="bfc_allocator",
        first=group[0].first,
        last=max(r.last for r in group),
        outcome=outcome,
        weight=weight,
        quote=tuple(r.quote[0] for r in quote[:5]),
        fields={**fields, **({"reason": reason} if reason else {})},
    )


def classify_bfc_shortage(sizes: dict[str, int]) -> tuple[str, Weight, str] | None:
    """The kind of shortage, its weight, and the reason. None if the sizes do not tell it.

    `sizes`: in bytes, by name: request, limit, regions (taken from the GPU), allocated (in use), largest (free block), total (GPU
    memory, or the least that such a card has), each with `_bytes` at its end. Unknown sizes are missing.
    """
    limit, regions, total = (sizes.get(f"{n}_bytes") for n in ("limit", "regions", "total"))
    request, used = sizes.get("request_bytes"), sizes.get("allocated_bytes")
    if limit is not None and total and limit < total * MIN_LIMIT_SHARE_OF_CARD:
        return (
            HELD_BY_ANOTHER,
            "strong",
            "the limit taken at the start is far below the card's memory, so another process held the rest",
        )
    if limit is not None and limit < MIN_CARD_BYTES:
        return HELD_BY_ANOTHER, "strong", "almost nothing of the card was free at the start, so another process held it"
    if (
        regions is not None
        and limit is not None
        and regions < limit * MIN_GROWN_SHARE_OF_LIMIT
        and (request or 0) <= limit - regions
    ):
        return HELD_BY_ANOTHER, "strong", "the card refused memory well below the limit, so something else held it"
    if regions is not None and limit is None and regions < MIN_CARD_BYTES and request is not None and request > regions:
        return HELD_BY_ANOTHER, "strong", "the card gave this process almost nothing, so something else held it"
    if regions is not None and limit is None and regions < MIN_CARD_BYTES and not used and request is None:
        return HELD_BY_ANOTHER, "strong", "the card gave this process almost nothing, so something else held it"
    if limit is None or request is None:
        full = limit is not None and used is not None and used >= limit * MIN_GROWN_SHARE_OF_LIMIT
        return (TOO_SMALL, "strong", "") if request is not None or full else None
    largest = sizes.get("largest_bytes", 0)
    if used is not None and limit - used >= 2 * request and largest < request:
        return IN_PIECES, "strong", "enough was free in all, but in no piece as large as the request"
    return TOO_SMALL, "proof", "what the process holds and the request together exceed its limit"


def _worth(record: Record, outcome: str) -> int:
    """The order in which records are quoted, smallest first."""
    order = ("request_bytes", "limit_bytes", "region_bytes", "allocated_bytes")
    if outcome == HELD_BY_ANOTHER:
        order = ("limit_bytes", "request_bytes", "region_bytes", "allocated_bytes")
    return next((i for i, name in enumerate(order) if name in record.fields), len(order))
