"""The largest batch size that fits into a memory limit with a margin, and how much memory each measure would save.

largest_batch(need, 8 GiB)   ->  48: 12 % of the 8 GiB stay free
"""

from msgspec import Struct
from msgspec.structs import replace

from forensics.estimate.needs import MAPPED_BYTES, Need, estimate

MAX_UNUSED = 4  # times: chosen by hand; a step that uses less of what fits wastes the device
MIN_SAVED_SHARE = 0.01  # of the memory before: what saves less is lost in the error of the estimate


class Saving(Struct, frozen=True):
    """A measure that saves memory: `bytes` saved at the same batch size, the `batch` size that would fit then, and its cost."""

    name: str
    bytes: int
    batch: int
    cost: str


def largest_batch(need: Need, limit_bytes: int) -> int:
    """The largest batch size whose estimate leaves the margin of the limit free; 0 if not even one sample fits."""
    room = limit_bytes * (1 - need.margin) - estimate(need).fixed
    if room <= 0 or not estimate(need).per_sample:
        return 0
    # the memory for a sample changes at a batch size where a tensor becomes too large for the heap, and is constant in between
    turns = sorted({(MAPPED_BYTES - 1) // made for made, _ in need.sample.tensors}) if need.heap else []
    for below, last in reversed([*zip([0, *turns], [*turns, None], strict=True)]):
        fitting = int(room // estimate(replace(need, batch=below + 1)).per_sample)
        fitting = fitting if last is None else min(fitting, last)
        if fitting > below:
            return fitting
    return 0


def savings(need: Need, limit_bytes: int) -> tuple[Saving, ...]:
    """The measures that save more than 1 percent of the memory here, the largest saving first."""
    before = estimate(need).total
    ways: list[tuple[str, Need, str]] = [
        (
            "mixed precision",
            replace(need, precision="mixed"),
            "GPUs since Volta, on CPUs bfloat16 alone; float16 needs a loss scale",
        ),
        ("activation checkpointing", replace(need, checkpointing=True), "about a third more time for each step"),
        ("an 8-bit optimizer", replace(need, optimizer="adam8bit"), "bitsandbytes, on GPUs"),
        ("Adafactor in place of Adam", replace(need, optimizer="adafactor"), "another learning rate has to be found"),
        ("SGD without momentum", replace(need, optimizer="sgd"), "slower to converge on most transformers"),
    ]
    if need.heap:
        ways.append(
            (
                "giving freed tensors back at once (MALLOC_MMAP_THRESHOLD_=65536)",
                replace(need, heap=False),
                "fresh pages for each tensor, so slower steps",
            )
        )
    if need.gpus > 1:
        ways.append(
            (f"sharding over {need.gpus} GPUs (FSDP, ZeRO-3)", replace(need, sharding="zero3"), "more traffic between GPUs")
        )
    found = [Saving(name, before - estimate(way).total, largest_batch(way, limit_bytes), cost) for name, way, cost in ways]
    return tuple(sorted((s for s in found if s.bytes > before * MIN_SAVED_SHARE), key=lambda s: -s.bytes))


def accumulation(batch: int, fitting: int) -> tuple[int, int] | None:
    """(batch size of one step, number of steps whose gradients are accumulated) for exactly `batch` samples, with the largest
    step that is at most `fitting`: 12800, 2100 -> (1600, 8).

    None if the only such steps are far smaller than what fits, as for a prime number: then another batch is the better choice."""
    step = next(size for size in range(min(batch, fitting), 0, -1) if batch % size == 0)
    return (step, batch // step) if step * MAX_UNUSED >= min(batch, fitting) else None
