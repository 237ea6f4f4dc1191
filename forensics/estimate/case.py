"""The memory arithmetic of one case: computes facts from the model summary, batch size and limit, or an allocator's message.

    Total params: 2,660,000, batch_size=12800, limit 4 GiB   -> fitting_batch 256, memory_estimate "weights 10 MiB + ..."
    CompiledMemoryStats(... temp_size_in_bytes=...), batch_size=2048, limit 1.5 GiB -> the same, by XLA's plan of a JAX step
    Tried to allocate 2.00 GiB, 22 GiB allocated, of 24 GiB, batch 64 -> most_batch 61: more cannot fit, whatever the model

Weights, gradients and optimizer states are counted; activations and libraries are estimated. An allocator's message gives a
certain upper bound of the batch size.
"""

from collections.abc import Mapping

from forensics.core.text import format_size
from forensics.estimate.activations import FLOAT_BYTES, Sample, kind_of, sample_of
from forensics.estimate.needs import (
    CONTEXT_BYTES,
    FREE_MEMORY_MARGIN,
    HOST_MEMORY_MARGIN,
    RUNTIME_BYTES,
    STATE_BYTES,
    Estimate,
    Need,
    accumulation,
    estimate,
    largest_batch,
    savings,
)
from forensics.model import Architecture, Fields, JobContext, StepPlan, Value
from forensics.readers.python.library_files import is_library_file

ESTIMATE_FACTS = (
    "fitting_batch", "most_batch", "accumulation_steps", "step_batch", "memory_estimate", "memory_savings",
    "needed_at_least_bytes", "optimizer_memory", "memory_margin", "shuffle_bytes", "shuffle_estimate", "sample_bytes",
    "largest_buffer", "largest_buffer_bytes",
)  # fmt: skip
MAX_SAVINGS = 3  # chosen by hand: the largest ones; more advice is read less


def memory_facts(facts: Fields, context: JobContext) -> dict[str, Value]:
    """Facts about the memory of a shuffle buffer and, if batch size and limit are known, of the whole training."""
    shuffle_facts = _shuffle(facts) | _largest(context)
    batch = facts.get("batch_size")
    limit = facts.get("total_bytes") or facts.get("limit_bytes")
    if not isinstance(batch, int) or batch < 1 or not isinstance(limit, int):
        return shuffle_facts
    need = _need(batch, facts, context)
    counted = _of_need(need, batch, limit) if need else {}
    return shuffle_facts | (counted or _of_message(batch, limit, facts))


def _need(batch: int, facts: Fields, context: JobContext) -> Need | None:
    """The sizes of this training; None if nothing gives them. JAX's are XLA's own: layers counted from a summary were 2.3 to 6
    times too few on a CPU, where convolutions and attention are computed in other steps than they are written."""
    if "jax" in context.environment.get("framework", set()):
        return planned_need(context.plan, batch, "total_bytes" in facts) if context.plan else None
    return need_of(context.architecture, batch, facts, context) if context.architecture else None


def planned_need(plan: StepPlan, batch: int, gpu: bool) -> Need:
    """The sizes of a training of JAX by XLA's plan of a step with `batch` samples, on a CPU or on a `gpu`."""
    runtime, margin = (0, FREE_MEMORY_MARGIN) if gpu else (RUNTIME_BYTES["jax"], HOST_MEMORY_MARGIN)
    return Need(0, 0, Sample(0, 0), batch, runtime=runtime, margin=margin, plan=plan, planned_batch=batch)


def _of_need(need: Need, batch: int, limit: int) -> dict[str, Value]:
    """The memory of each part, the batch size that fits, and other measures."""
    made = estimate(need)
    if made.total <= limit or not made.per_sample:
        return {}  # the estimate does not explain the crash, so it gives no advice
    fitting = largest_batch(need, limit)
    free = f"{need.margin:.0%} of it stays free"
    assumed = f" (where {need.sample.assumed})" if need.sample.assumed else ""
    planned = "By what XLA planned: " if need.plan else ""
    facts_of_model: dict[str, Value] = {
        "memory_margin": free,
        "memory_estimate": f"{planned}{_sum(made)} for {batch} samples{assumed}, and the limit is {format_size(limit)}",
    }
    saved = "; ".join(
        f"{s.name} would save {format_size(s.bytes)} and make room for {s.batch} samples ({s.cost})"
        for s in savings(need, limit)[:MAX_SAVINGS]
    )
    facts_of_model |= {"memory_savings": saved} if saved else {}
    state = next((p for p in made.parts if p.name == "optimizer"), None)
    if state and state.bytes:
        facts_of_model["optimizer_memory"] = f"{format_size(state.bytes)} ({state.formula})"
    return facts_of_model | _batches(batch, fitting)


def need_of(model: Architecture, batch: int, facts: Fields, context: JobContext) -> Need:
    """The sizes of a training of `model` with the settings of this case; Adam if the optimizer is unknown."""
    kinds = kind_of(" ".join(layer.kind for layer in model.layers))
    frameworks = context.environment.get("framework", set())
    name = next((n for n in ("tensorflow", "jax", "torch") if n in frameworks), kinds)
    optimizer = str(facts.get("optimizer", "adam"))
    runtime = CONTEXT_BYTES if "total_bytes" in facts else RUNTIME_BYTES["keras" if kinds == "keras" else name]
    return Need(
        parameters=model.parameters,
        trainable=model.trainable,
        sample=sample_of(
            model.layers,
            kinds,
            int(facts.get("heads", 0)),
            model.weighted_outputs,
            gpu="total_bytes" in facts,
            input_bytes=model.input_bytes,
            fused="fused_attention" in facts,
        ),
        batch=batch,
        optimizer=optimizer if optimizer in STATE_BYTES else "adam",
        precision="mixed" if "mixed_precision" in facts else "fp32",
        runtime=runtime,
        margin=FREE_MEMORY_MARGIN if "total_bytes" in facts else HOST_MEMORY_MARGIN,
        heap="total_bytes" not in facts and kinds == "torch",
    )


def _of_message(batch: int, limit: int, facts: Fields) -> dict[str, Value]:
    """Facts from the allocated and requested bytes of a failed allocation: the batch size above which nothing can fit."""
    held, requested = facts.get("allocated_bytes"), facts.get("request_bytes")
    if not isinstance(held, int) or not isinstance(requested, int) or held + requested <= 0:
        return {}
    needed = held + requested
    most = int(batch * min(1.0, max(0, limit - CONTEXT_BYTES) / needed))
    return {"needed_at_least_bytes": needed, "most_batch": most} | _batches(batch, min(most, batch // 2))


def _batches(batch: int, fitting: int) -> dict[str, Value]:
    if fitting < 1 or fitting >= batch:
        return {}
    found: dict[str, Value] = {"fitting_batch": fitting}
    if kept := accumulation(batch, fitting):
        found |= {"step_batch": kept[0], "accumulation_steps": kept[1]}
    return found


def _largest(context: JobContext) -> dict[str, Value]:
    """The largest buffer that XLA lists, and the line that asks for it, if it is one of the user's own program."""
    plan = context.plan
    if plan is None or plan.largest is None or is_library_file(plan.largest.source):
        return {}
    return {"largest_buffer": plan.largest.place, "largest_buffer_bytes": plan.largest_bytes}


def _shuffle(facts: Mapping[str, Value]) -> dict[str, Value]:
    """Facts about the memory of a full shuffle buffer: number of elements times bytes of one element."""
    count, numbers = facts.get("shuffle_buffer"), facts.get("sample_values")
    if not isinstance(count, int) or not isinstance(numbers, int):
        return {}
    whole = count * numbers * FLOAT_BYTES
    calculation = f"{count:,} elements x {format_size(numbers * FLOAT_BYTES)} = {format_size(whole)}"
    return {"shuffle_bytes": whole, "shuffle_estimate": calculation}


def _sum(made: Estimate) -> str:
    """`weights 98 MiB + gradients 98 MiB + ... = 5.3 GiB`."""
    parts = " + ".join(f"{p.name} {format_size(p.bytes)}{'' if p.certain else ' (estimated)'}" for p in made.parts if p.bytes)
    return f"{parts} = {format_size(made.total)}"
