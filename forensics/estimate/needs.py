"""The memory of a training part by part, each with its formula, and whether it is counted or estimated.

    weights      4 B x 25,600,000 parameters                   98 MiB   counted
    gradients    4 B x 25,600,000 trainable parameters         98 MiB   counted
    optimizer    adam: 2 x 4 B x 25,600,000                   195 MiB   counted
    activations  64 samples x 82 MiB                          5.1 GiB   estimated

Bytes of weights, gradients and states by precision: Rajbhandari et al. 2020 (ZeRO), section 3; sharding by the same paper.

The largest batch size that fits into a memory limit with a margin, and how much memory each measure would save.

largest_batch(need, 8 GiB)   ->  48: 12 % of the 8 GiB stay free
"""

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.limits import MIB
from forensics.core.text import format_size
from forensics.estimate.activations import Sample
from forensics.model import StepPlan

# Bytes of optimizer state a trainable parameter, in float32.
STATE_BYTES = {
    "sgd": 0.0, "momentum": 4.0, "nesterov": 4.0, "adam": 8.0, "adamw": 8.0, "nadam": 8.0, "radam": 8.0, "lamb": 8.0,
    "adamax": 8.0, "rmsprop": 4.0, "adagrad": 4.0, "lion": 4.0, "adafactor": 0.1, "adam8bit": 2.0, "adamw8bit": 2.0,
}  # fmt: skip
# (bytes a weight, bytes a gradient, copies of the weights in float32 for the optimizer, share of activations)
PRECISIONS = {"fp32": (4, 4, 0, 1.0), "mixed": (4, 4, 0, 0.6), "bf16": (2, 2, 0, 0.5), "fp16": (2, 2, 4, 0.5)}
SHARDED = {
    "none": (),
    "ddp": (),
    "zero1": ("state",),
    "zero2": ("state", "gradients"),
    "zero3": ("state", "gradients", "weights"),
}
# What the libraries themselves need of a limit, with CPU builds: the least one under which a training of a tiny model ran
# (PyTorch 2.13: 283 MiB; TensorFlow 2.21 under Keras' fit: 236 MiB, with few of its file pages left, and up to 60 more for a
# larger graph; JAX 0.10 with Flax: 260 MiB); a CUDA context as in PyTorch's own messages (memory of the process that is not
# PyTorch's).
RUNTIME_BYTES = {"torch": 290 * MIB, "keras": 330 * MIB, "tensorflow": 330 * MIB, "jax": 260 * MIB, "": 350 * MIB}
# What trainings of JAX 0.10 on a CPU held beyond what XLA planned as in work: 1.06 to 1.63 times, in five nets of two sizes.
PLAN_WORK_SHARE = 1.4
CONTEXT_BYTES = 500 * MIB
# What of a limit stays free: a GPU's allocator rounds blocks; on a CPU nets differ in the gaps that they leave in the heap.
FREE_MEMORY_MARGIN = 0.1
HOST_MEMORY_MARGIN = 0.15  # more than a GPU's: the gaps in the heap differ from net to net
# What lies unused in the heap between tensors that were freed, for each byte in use: the middle of 0.4 to 0.85 in ten nets.
# glibc maps a block of 32 MiB and more by itself and gives it back at once; smaller ones, once one was freed, come from the
# heap (mallopt(3), M_MMAP_THRESHOLD). With that threshold held at 64 KiB the same trainings needed what is alive and no more.
HEAP_GAPS = 0.6
MAPPED_BYTES = 32 * MIB
CHECKPOINTED = 0.25  # of the activations, where one of four layers keeps its input and the others are computed again


class Need(Struct, frozen=True):
    """The known sizes of a training. `sample`: memory for one sample in float32. `runtime`: bytes that the libraries need.
    `margin`: share of the limit that must stay free. `heap`: tensors are in the heap of the C library (PyTorch on a CPU).
    `plan`: what XLA planned for `planned_batch` samples, in place of all that is counted here."""

    parameters: int
    trainable: int
    sample: Sample
    batch: int
    optimizer: str = "adam"
    precision: str = "fp32"
    checkpointing: bool = False
    sharding: str = "none"
    gpus: int = 1
    runtime: int = 0
    margin: float = FREE_MEMORY_MARGIN
    heap: bool = False
    plan: StepPlan | None = None
    planned_batch: int = 1


class Part(Struct, frozen=True):
    """One part of the memory, with its formula. `certain`: counted, not estimated."""

    name: str
    bytes: int
    formula: str
    certain: bool


class Estimate(Struct, frozen=True):
    """The parts of one process's memory. `fixed`: bytes that do not depend on the batch size. `per_sample`: bytes for each
    sample of this batch."""

    parts: tuple[Part, ...]
    fixed: int
    per_sample: int

    @property
    def total(self) -> int:
        """All parts together, in bytes."""
        return sum(p.bytes for p in self.parts)


def estimate(need: Need) -> Estimate:
    """The memory of one process of a training, in bytes."""
    if need.plan:
        return _planned(need, need.plan)
    states = "fp16" if need.precision == "bf16" and SHARDED[need.sharding] else need.precision  # ZeRO keeps them in float32
    weight, gradient, master, share = PRECISIONS[states]
    each = {name: need.gpus if name in SHARDED[need.sharding] else 1 for name in ("weights", "gradients", "state")}
    state = STATE_BYTES.get(need.optimizer, STATE_BYTES["adam"]) * (
        0.5 if states == "bf16" else 1.0
    )  # of the type of the weights
    over = {name: f" / {n} GPUs" if n > 1 else "" for name, n in each.items()}
    alive = need.sample.peak * share * (CHECKPOINTED if need.checkpointing else 1.0)
    per_sample = round(alive * (1 + HEAP_GAPS * _in_heap(need))) + _holes(need) + need.sample.input
    count, trained = f"{need.parameters:,} parameters", f"{need.trainable:,} trainable parameters"
    parts = [
        Part("weights", need.parameters * weight // each["weights"], f"{weight} B x {count}{over['weights']}", True),
        Part("gradients", need.trainable * gradient // each["gradients"], f"{gradient} B x {trained}{over['gradients']}", True),
        Part(
            "optimizer",
            round(need.trainable * (state + master)) // each["state"],
            f"{need.optimizer}: {state + master:g} B x {trained}{over['state']}",
            True,
        ),
        Part("activations", need.batch * per_sample, f"{need.batch} samples x {format_size(per_sample)}{_assumed(need)}", False),
        Part("libraries", need.runtime, "the framework itself, before anything is trained", False),
    ]
    kept = tuple(p for p in parts if p.bytes or p.name in ("gradients", "optimizer"))
    return Estimate(kept, sum(p.bytes for p in kept if p.name != "activations"), per_sample)


def _planned(need: Need, plan: StepPlan) -> Estimate:
    """By XLA's plan. Its arguments hold weights, optimizer states and a batch, its results the new ones of them."""
    on_gpu = need.margin == FREE_MEMORY_MARGIN
    per_sample = round(plan.in_work * (1.0 if on_gpu else PLAN_WORK_SHARE) / need.planned_batch)
    beyond = "" if on_gpu else f" x {PLAN_WORK_SHARE:g}, what the libraries add on a CPU"
    planned = f"{need.batch} samples x {format_size(plan.in_work / need.planned_batch)} as XLA planned it{beyond}"
    parts = (
        Part("arguments", plan.arguments, "weights, optimizer states and a batch, as XLA planned them", True),
        Part("results", plan.results, "their new values, as XLA planned them", True),
        Part("work", need.batch * per_sample, planned, False),
        Part("libraries", need.runtime, "the framework itself, before anything is trained", False),
    )
    return Estimate(parts, plan.arguments + plan.results + need.runtime, per_sample)


def _assumed(need: Need) -> str:
    return f", where {need.sample.assumed}" if need.sample.assumed else ""


def _holes(need: Need) -> int:
    """The bytes for each sample that remain unused in the heap where tensors were freed at once: smaller tensors take a part of
    their place, so the tensors of the next layer do not fit there."""
    return sum(dropped for made, dropped in need.sample.dropped if made * need.batch < MAPPED_BYTES) if need.heap else 0


def _in_heap(need: Need) -> float:
    """The share of the stored bytes that is in the heap at this batch size: tensors smaller than MAPPED_BYTES."""
    if not need.heap or not need.sample.tensors:
        return 0.0
    held = sum(kept for made, kept in need.sample.tensors if made * need.batch < MAPPED_BYTES)
    return held / sum(kept for _, kept in need.sample.tensors)


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
