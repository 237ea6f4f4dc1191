"""PyTorch's CUDA or HIP out-of-memory message: the sizes in it are compared to find the kind of shortage.

    CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.15 GiB is free. Process
    4711 has 20.31 GiB memory in use. Including non-PyTorch memory, this process has 2.10 GiB memory in use. Of the allocated
    memory 1.50 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.

The wordings are from c10/cuda/CUDACachingAllocator.cpp, PyTorch 0.4 to 2.13. The advice at the end of the message is not read.
Where `CUDA out of memory.` was cut off or wrapped onto a line of its own, the sizes of the GPU behind the request identify it.
"""

import re

from forensics.core import lazy
from forensics.data_files.named_parts import every_value, patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Region, Trigger, Value
from forensics.readers.base import Record, size_bytes

TRIGGER = Trigger("cuda_oom", ("Tried to allocate ",), after=6)
CUDA_SIZE_PATTERN = r"([\d.]{1,40} (?:[KMGT]i?B|bytes))"
MESSAGE_START_PATTERN = lazy.regex(
    r"out of memory\. Tried to allocate|"
    rf"Tried to allocate {CUDA_SIZE_PATTERN}(?: \(GPU \d+; {CUDA_SIZE_PATTERN} total cap|\. GPU \d+ has a total capaci?ty of )"
)
OTHER_PROCESS_PATTERN = lazy.regex(rf"Process (\d+) has {CUDA_SIZE_PATTERN} memory in use")
PATTERNS = patterns_of("cuda oom")
HEADROOM_BYTES = 1 << 30  # for the CUDA context and libraries of the process, which no PyTorch counter includes
NEGLIGIBLE = 0.1  # share of the GPU's memory that desktop programs and rounding may take up
MAX_CACHE_ROUNDING_SHARE = 0.05  # share of reserved memory; sizes are rounded up, so even a full cache has this unallocated
SLACK_BYTES = 2 << 30  # upper limit of that rounding, for GPUs of any size
MAX_LISTED_PROCESSES = 3  # from this many on, similar processes are taken for ranks of one job on one GPU
TOO_SMALL, IN_PIECES, HELD_BY_ANOTHER = "too_small", "in_pieces", "held_by_another"
OWN_LIMIT, TOO_MANY_RANKS = "own_limit", "too_many_ranks"
OUTCOMES = (TOO_SMALL, IN_PIECES, HELD_BY_ANOTHER, OWN_LIMIT, TOO_MANY_RANKS)


def read(region: Region) -> Record | None:
    """The message that starts on the region's line, joined with the lines it may have been broken over."""
    lines = region.lines()
    start = MESSAGE_START_PATTERN.search(region.text)
    if not start:
        return None
    text = region.text[start.start() :]
    last = region.number
    for line in region.lines_after():
        if "PYTORCH_" in text or not line.text.strip() or "Traceback" in line.text:
            break
        if not re.match(r"\s*[\w(;.]", line.text) or _begins_record(line.text):
            break
        text += " " + line.text.strip()
        last = line.number
        if not any(word in text for word in ("GPU", "total")):
            break
    sizes = _sizes(text)
    if "request_bytes" not in sizes:
        return None
    outcome = classify_shortage(sizes, [size for _, size in _others(text)])
    fields: dict[str, Value] = dict(sizes)
    if gpu := PATTERNS.gpu_index.search(text):
        fields["gpu"] = int(gpu[1][:18])
    if others := _others(text):
        pid, size = max(others, key=lambda o: o[1])
        fields |= {"other_pid": pid, "other_bytes": size}
    quote = tuple(x for x in lines if region.number <= x.number <= last)
    return Record("cuda_oom", region.number, last, outcome, "proof" if len(sizes) > 1 else "strong", quote, fields)


def _begins_record(text: str) -> bool:
    """Is it the first line of a logger's record, and so not the continuation of the line before it?"""
    prefix = parse_prefix(text)
    return prefix.stamp is not None and prefix.level is not None


def classify_shortage(sizes: dict[str, int], others: list[int]) -> str:
    """The kind of shortage. All sizes in bytes; unknown ones are missing from `sizes`. `others`: memory of each other process.

    The first rule that applies decides. OWN_LIMIT: `allowed_bytes` is below 95 % of the GPU's memory, and the request would fit
    into the free memory. TOO_MANY_RANKS: several other processes of similar size. HELD_BY_ANOTHER: the memory in use
    that this process does not hold is at least the shortfall, HEADROOM_BYTES and the share NEGLIGIBLE of the GPU's memory.
    IN_PIECES (fragmentation): reserved but unallocated memory is at least the request, and at least what rounding leaves in a
    full cache. TOO_SMALL: in all other cases, the GPU is too small for the job.
    """
    request = sizes["request_bytes"]
    total, free, allowed = (sizes.get(f"{name}_bytes") for name in ("total", "free", "allowed"))
    allocated = sizes.get("allocated_bytes", 0)
    reserved = sizes.get("reserved_bytes", allocated + sizes.get("unused_bytes", 0))
    if total is not None and free is not None and "allocated_bytes" in sizes:
        if allowed is not None and allowed < total * 0.95 and free >= request:
            return OWN_LIMIT
        if len(others) >= MAX_LISTED_PROCESSES and max(others) < 2 * min(others):
            return TOO_MANY_RANKS
        foreign = total - free - _own(sizes.get("own_bytes"), reserved, others)
        if foreign >= max(request - free, HEADROOM_BYTES, total * NEGLIGIBLE):
            return HELD_BY_ANOTHER
    if reserved - allocated >= max(request, min(reserved * MAX_CACHE_ROUNDING_SHARE, SLACK_BYTES)):
        return IN_PIECES
    return TOO_SMALL


def _own(printed: int | None, reserved: int, others: list[int]) -> int:
    """Bytes of the GPU's memory that this process holds: the printed size, or what it reserved plus its context if that is more.

    In a container PyTorch does not find its own pid and lists itself as another process. If no own size is printed, the largest
    listed process is taken for this one, if it holds at least what is reserved.
    """
    itself = max(others, default=0) if printed is None else 0
    return max(printed or 0, reserved + HEADROOM_BYTES, itself if itself >= reserved else 0)


def _sizes(text: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, text_of_size in every_value("PyTorch memory sizes", text):
        if (size := size_bytes(text_of_size)) is not None:
            sizes.setdefault(name, size)
    return sizes


def _others(text: str) -> list[tuple[int, int]]:
    return [(int(pid[:18]), size_bytes(size) or 0) for pid, size in OTHER_PROCESS_PATTERN.findall(text)]
