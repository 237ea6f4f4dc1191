"""The memory arithmetic of one case: its model summary, batch size and limit, or its allocator's own message, to facts.

    Total params: 2,660,000, batch_size=12800, limit 4 GiB   -> fitting_batch 256, memory_told "weights 10 MiB + ..."
    Tried to allocate 2.00 GiB, 22 GiB allocated, of 24 GiB, batch 64 -> most_batch 61: more cannot fit, whatever the model

The summary is counted, the libraries and activations are estimated; a message of an allocator gives a bound that is certain.
"""

from collections.abc import Mapping

from forensics.advice.memory.activations import kind_of, sample_of
from forensics.advice.memory.estimate import (
    CONTEXT_BYTES,
    FREE_MEMORY_MARGIN,
    HOST_MEMORY_MARGIN,
    RUNTIME_BYTES,
    STATE_BYTES,
    Estimate,
    Need,
    estimate,
)
from forensics.advice.memory.fit import accumulation, largest_batch, savings
from forensics.core.text import format_size
from forensics.model import Architecture, Fields, JobContext, Value

ESTIMATE_FACTS = (
    "fitting_batch", "most_batch", "accumulation_steps", "step_batch", "memory_told", "needed_at_least_bytes", "savings_told",
    "state_told", "margin_told", "shuffle_bytes", "shuffle_told", "sample_bytes",
)  # fmt: skip
MAX_SAVINGS = 3  # chosen by hand: the largest ones; more advice is read less
FLOAT_BYTES = 4  # float32, what frameworks compute with unless a program says otherwise


def memory_facts(facts: Fields, around: JobContext) -> dict[str, Value]:
    """The facts that arithmetic adds to those of the case."""
    shuffle_facts = _shuffle(facts)
    batch = facts.get("batch_size")
    limit = facts.get("total_bytes") or facts.get("limit_bytes")
    if not isinstance(batch, int) or batch < 1 or not isinstance(limit, int):
        return shuffle_facts
    counted = _of_model(around.architecture, batch, limit, facts, around) if around.architecture else {}
    return shuffle_facts | (counted or _of_message(batch, limit, facts))


def _of_model(model: Architecture, batch: int, limit: int, facts: Fields, around: JobContext) -> dict[str, Value]:
    """From a summary: what each part holds, which batch fits, what else would help."""
    need = need_of(model, batch, facts, around)
    made = estimate(need)
    if made.total <= limit or not made.per_sample:
        return {}  # the arithmetic does not explain the death: nothing is advised by it
    fitting = largest_batch(need, limit)
    free = f"{need.margin:.0%} of it stays free"
    assumed = f" (where {need.sample.assumed})" if need.sample.assumed else ""
    facts_of_model: dict[str, Value] = {
        "margin_told": free,
        "memory_told": f"{_sum(made)} for {batch} samples{assumed}, and the limit is {format_size(limit)}",
    }
    facts_of_model["savings_told"] = "; ".join(
        f"{s.name} would save {format_size(s.bytes)} and make room for {s.batch} samples ({s.cost})"
        for s in savings(need, limit)[:MAX_SAVINGS]
    )
    state = next(p for p in made.parts if p.name == "optimizer")
    if state.bytes:
        facts_of_model["state_told"] = f"{format_size(state.bytes)} ({state.formula})"
    return facts_of_model | _batches(batch, fitting)


def need_of(model: Architecture, batch: int, facts: Fields, around: JobContext) -> Need:
    """What a training of `model` needs, in this case's settings; Adam where nothing tells the optimizer."""
    kinds = kind_of(" ".join(layer.kind for layer in model.layers))
    frameworks = around.environment.get("framework", set())
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
    """From what the allocator held and was asked for when it failed: a batch above which nothing can fit."""
    held, asked = facts.get("allocated_bytes"), facts.get("request_bytes")
    if not isinstance(held, int) or not isinstance(asked, int) or held + asked <= 0:
        return {}
    needed = held + asked
    most = int(batch * min(1.0, max(0, limit - CONTEXT_BYTES) / needed))
    return {"needed_at_least_bytes": needed, "most_batch": most} | _batches(batch, min(most, batch // 2))


def _batches(batch: int, fitting: int) -> dict[str, Value]:
    if fitting < 1 or fitting >= batch:
        return {}
    step, times = accumulation(batch, fitting)
    return {"fitting_batch": fitting, "step_batch": step, "accumulation_steps": times}


def _shuffle(facts: Mapping[str, Value]) -> dict[str, Value]:
    """What a full shuffle buffer holds: its elements times the bytes of one."""
    count, numbers = facts.get("shuffle_buffer"), facts.get("sample_values")
    if not isinstance(count, int) or not isinstance(numbers, int):
        return {}
    whole = count * numbers * FLOAT_BYTES
    calculation = f"{count:,} elements x {format_size(numbers * FLOAT_BYTES)} = {format_size(whole)}"
    return {"shuffle_bytes": whole, "shuffle_told": calculation}


def _sum(made: Estimate) -> str:
    """`weights 98 MiB + gradients 98 MiB + ... = 5.3 GiB`."""
    parts = " + ".join(f"{p.name} {format_size(p.bytes)}{'' if p.certain else ' (estimated)'}" for p in made.parts if p.bytes)
    return f"{parts} = {format_size(made.total)}"
