"""`forensics estimate`: the memory of a training before it runs, part by part, and which batch size fits."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.output import check_choice, write
from forensics.core.errors import UsageError, files_at

if TYPE_CHECKING:
    from forensics.estimate import Need

SUMMARY_HELP = "A text with a summary of Keras or torchinfo, or memory_analysis() of JAX; - for stdin."
COUNT_OF_SUFFIX = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}


def estimate(
    summary: Annotated[Path | None, typer.Argument(help=SUMMARY_HELP)] = None,
    parameters: Annotated[str | None, typer.Option(help="Parameters of the model: 125M, 7B, 2660000.")] = None,
    batch: Annotated[int, typer.Option(help="Samples per step on one GPU.", min=1)] = 1,
    memory: Annotated[str | None, typer.Option(help="The available memory: 24GiB, 16G.")] = None,
    optimizer: Annotated[str, typer.Option(help="adam, adamw, sgd, momentum, adafactor, adam8bit, lion ...")] = "adam",
    precision: Annotated[str, typer.Option(help="fp32, mixed, bf16 or fp16.")] = "fp32",
    sequence: Annotated[int, typer.Option(help="For a transformer: tokens per sample.", min=0)] = 0,
    width: Annotated[int, typer.Option(help="For a transformer: hidden size.", min=0)] = 0,
    layers: Annotated[int, typer.Option(help="For a transformer: number of layers.", min=0)] = 0,
    heads: Annotated[int, typer.Option(help="For a transformer: attention heads (default: width / 64).", min=0)] = 0,
    vocabulary: Annotated[int, typer.Option(help="For a transformer: vocabulary size, for the logits.", min=0)] = 0,
    flash: Annotated[bool, typer.Option("--flash", help="A fused attention kernel, which stores no scores.")] = False,
    checkpointing: Annotated[bool, typer.Option("--checkpointing", help="Activation checkpointing.")] = False,
    gpu: Annotated[bool, typer.Option("--gpu", help="With a summary: the training runs on a GPU, not on a CPU.")] = False,
    gpus: Annotated[int, typer.Option(help="Number of GPUs that share the model.", min=1)] = 1,
    sharding: Annotated[str, typer.Option(help="none, ddp, zero1, zero2 or zero3 (FSDP).")] = "none",
    form: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
) -> None:
    """Estimate the memory of a training before it runs: each part with its formula, and the batch size that fits.

    \b
    Examples:
      forensics estimate summary.txt --batch 256 --memory 16GiB --gpu
      forensics estimate analysis.txt --batch 256 --memory 16GiB
      forensics estimate --parameters 125M --sequence 1024 --width 768 --layers 12 --batch 8 --memory 24GiB
      forensics estimate --parameters 7B --precision bf16 --gpus 8 --sharding zero3 --memory 80GiB
    """
    from msgspec import structs

    _check(optimizer, precision, sharding)
    check_choice(form, ("text", "json"))
    need = (
        _read(summary, heads, gpu or gpus > 1, flash, batch)
        if summary
        else _given(parameters, sequence, width, layers, heads, vocabulary, flash)
    )
    shards = {"sharding": sharding if gpus > 1 else "none", "gpus": gpus}
    need = structs.replace(need, batch=batch, optimizer=optimizer, precision=precision, checkpointing=checkpointing, **shards)
    write((as_json if form == "json" else as_text)(need, _size(memory) if memory else None), None)


def _check(optimizer: str, precision: str, sharding: str) -> None:
    """Raise UsageError for a choice that does not exist."""
    from forensics.estimate import PRECISIONS, SHARDED, STATE_BYTES

    check_choice(optimizer, STATE_BYTES, "optimizer")
    check_choice(precision, PRECISIONS, "precision")
    check_choice(sharding, SHARDED, "sharding")


def _read(path: Path, heads: int, gpu: bool, flash: bool, batch: int) -> "Need":
    """The sizes of a training from a model's summary in a file, or from XLA's plan of a step with `batch` samples, on a CPU or on
    a `gpu`."""
    from forensics.estimate import need_of, planned_need
    from forensics.model import JobContext, Line
    from forensics.readers.tensorflow.xla_plan import read_plan
    from forensics.readers.torch.architecture import read_summary

    with files_at(path):
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8", errors="replace")
    lines = [Line(n, line) for n, line in enumerate(text.splitlines(), 1)]
    if plan := read_plan(lines):
        return planned_need(plan, batch, gpu)
    found = read_summary(lines, str(path))
    if found is None or not found.parameters:
        raise UsageError("no model summary in it", str(path), "it has a table of layers and a line `Total params: 12,345`")
    of_gpu = {"total_bytes": 0} if gpu else {}
    return need_of(found, batch, {"heads": heads, **of_gpu, **({"fused_attention": 0} if flash else {})}, JobContext())


def _given(parameters: str | None, sequence: int, width: int, layers: int, heads: int, vocabulary: int, flash: bool) -> "Need":
    """The sizes of a training from the options; without the shape of a transformer there are no activations."""
    from forensics.estimate import CONTEXT_BYTES, HEAD_WIDTH, Need, Sample, transformer

    if parameters is None:
        raise UsageError("nothing to estimate", advice="give a file with a model's summary, or --parameters")
    number = parameters.strip().lower().replace(",", "").replace("_", "")
    unit = number[-1:] if number[-1:] in ("k", "m", "b") else ""
    try:
        count = int(float(number.removesuffix(unit)) * COUNT_OF_SUFFIX[unit])
    except (ValueError, OverflowError):
        count = 0
    if not 0 < count < 1 << 50:
        raise UsageError(f"{parameters[:40]!r} is not a number of parameters", advice="125M, 7B, 2660000")
    shaped = sequence and width and layers
    many = heads or max(1, width // HEAD_WIDTH)
    sample = transformer(sequence, width, layers, many, flash, vocabulary) if shaped else Sample(0, 0)
    return Need(count, count, sample, 1, runtime=CONTEXT_BYTES)


def _size(text: str) -> int:
    """Bytes of `24GiB`, `16G`, `512 MB`; powers of 1024 throughout."""
    from forensics.core.limits import size_of

    size = size_of(text) or 0
    if not 0 < size < 1 << 60:
        raise UsageError(f"{text[:40]!r} is not a size", advice="24GiB, 16G, 512MB")
    return size


def as_text(need: "Need", limit: int | None) -> str:
    """A table of the parts, the batch size that fits, and how much each measure would save."""
    from forensics.core.text import format_size
    from forensics.estimate import accumulation, estimate, largest_batch, savings

    made = estimate(need)
    rows = [(p.name, format_size(p.bytes), "counted" if p.certain else "estimated", p.formula) for p in made.parts]
    rows.append(
        ("all of it", format_size(made.total), "", "" if made.per_sample else "without activations: their sizes were not given")
    )
    lines = [f"{name:<12} {amount:>9}  {sure:<9}  {formula}".rstrip() for name, amount, sure, formula in rows]
    if limit is None:
        return "\n".join(lines) + "\n"
    fitting = largest_batch(need, limit)
    lines.append("")
    if made.per_sample and fitting:
        lines.append(f"{fitting} samples fit into {format_size(limit)} and leave {need.margin:.0%} of it free.")
        if fitting < need.batch and (kept := accumulation(need.batch, fitting)):
            lines.append(f"{kept[1]} steps of {kept[0]} samples, added up, make the batch of {need.batch}.")
    elif made.per_sample:
        lines.append(f"Not even one sample fits into {format_size(limit)}.")
    elif made.total > limit:
        lines.append(f"It does not fit into {format_size(limit)}, whatever the batch.")
    else:
        lines.append(f"{format_size(limit - made.total)} of {format_size(limit)} are left for activations.")
    for saving in savings(need, limit):
        then = f", then {saving.batch} samples fit" if made.per_sample else ""
        lines.append(f"{saving.name} would save {format_size(saving.bytes)}{then}: {saving.cost}.")
    return "\n".join(lines) + "\n"


def as_json(need: "Need", limit: int | None) -> str:
    """The estimate as a JSON document; sizes in bytes."""
    import json

    from msgspec import structs

    from forensics.estimate import estimate, largest_batch, savings

    made = estimate(need)
    document: dict[str, object] = {"parts": [structs.asdict(p) for p in made.parts], "total_bytes": made.total}
    document |= {"fixed_bytes": made.fixed, "sample_bytes": made.per_sample}
    if limit is not None:
        document["limit_bytes"] = limit
        document["largest_batch"] = largest_batch(need, limit) if made.per_sample else None
        document["savings"] = [structs.asdict(s) for s in savings(need, limit)]
    return json.dumps(document, indent=1) + "\n"
