"""The arithmetic against numbers that can be computed by hand, and against what papers print."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from forensics.cli.app import build
from forensics.estimate import Need, Sample, accumulation, estimate, largest_batch, savings, transformer
from forensics.estimate.activations import kind_of, sample_of
from forensics.model import Layer
from tests.readers.torch.test_architecture import KERAS

MIB, GIB = 1 << 20, 1 << 30
NEED = Need(1 * MIB, 1 * MIB, Sample(8 * MIB, 10 * MIB), 64, runtime=100 * MIB)


def test_weights_gradients_and_states_are_counted() -> None:
    parts = {p.name: (p.bytes // MIB, p.certain) for p in estimate(NEED).parts}
    assert parts == {
        "weights": (4, True),
        "gradients": (4, True),
        "optimizer": (8, True),
        "activations": (640, False),
        "libraries": (100, False),
    }


@pytest.mark.parametrize(
    ("change", "part", "mib"),
    [
        ({"optimizer": "sgd"}, "optimizer", 0),
        ({"optimizer": "momentum"}, "optimizer", 4),
        ({"optimizer": "adam8bit"}, "optimizer", 2),
        ({"precision": "bf16"}, "weights", 2),
        ({"precision": "bf16"}, "optimizer", 4),
        ({"precision": "bf16", "sharding": "zero3", "gpus": 2}, "optimizer", 6),
        ({"precision": "fp16"}, "optimizer", 12),
        ({"sharding": "zero3", "gpus": 4}, "weights", 1),
        ({"sharding": "zero1", "gpus": 4}, "weights", 4),
        ({"sharding": "zero1", "gpus": 4}, "optimizer", 2),
        ({"checkpointing": True}, "activations", 160),
    ],
)
def test_what_each_choice_changes(change: dict[str, object], part: str, mib: int) -> None:
    parts = {p.name: p.bytes // MIB for p in estimate(replace(NEED, **change)).parts}  # type: ignore[arg-type]
    assert parts[part] == mib


def test_the_batch_that_fits_fits_and_one_more_does_not() -> None:
    batch = largest_batch(NEED, GIB)
    assert estimate(replace(NEED, batch=batch)).total <= GIB * 0.9 < estimate(replace(NEED, batch=batch + 1)).total


def test_small_tensors_leave_gaps_in_the_heap_and_large_ones_do_not() -> None:
    """glibc maps blocks of 32 MiB and more by themselves, mallopt(3): with 8 samples a tensor of 4 MiB each has just that size."""
    need = replace(NEED, sample=Sample(8 * MIB, 10 * MIB, tensors=((4 * MIB, 8 * MIB),)), heap=True)
    assert estimate(replace(need, batch=7)).per_sample == 16 * MIB
    assert estimate(replace(need, batch=8)).per_sample == 10 * MIB
    assert estimate(replace(need, batch=7, heap=False)).per_sample == 10 * MIB


@pytest.mark.parametrize(("limit", "fitting"), [(300, 12), (400, 20), (200, 3)])
def test_the_batch_that_fits_is_sought_on_both_sides_of_a_mapped_block(limit: int, fitting: int) -> None:
    sample = Sample(8 * MIB, 10 * MIB, tensors=((4 * MIB, 8 * MIB),))
    need = Need(MIB, MIB, sample, 1, optimizer="sgd", runtime=92 * MIB, margin=0.25, heap=True)  # 100 MiB beside the batch
    assert largest_batch(need, limit * MIB) == fitting


@pytest.mark.parametrize(("kinds", "framework"), [("Conv2D BatchNormalization ReLU Dense", "keras"), ("Linear ReLU", "torch")])
def test_a_relu_tells_no_framework(kinds: str, framework: str) -> None:
    assert kind_of(kinds) == framework


def test_the_batch_itself_is_held_beside_its_successor() -> None:
    rows = [Layer("a", "Linear", 0, 100)]
    assert sample_of(rows, "torch", input_bytes=MIB).input == 3 * MIB


PLANNED = (
    "CompiledMemoryStats(generated_code_size_in_bytes=0, argument_size_in_bytes=17921148, output_size_in_bytes=5059920, "
    "alias_size_in_bytes=0, temp_size_in_bytes=4534321384, host_temp_size_in_bytes=0)\n"
)


def test_a_plan_of_xla_gives_the_batch_that_fits(tmp_path: Path) -> None:
    """Captured (sample_logs/jax_planned_batch): 4,096 samples in 1500 MiB died; 671 ran there, and 1,342 died too."""
    given = tmp_path / "plan.txt"
    given.write_text(PLANNED)
    run = CliRunner().invoke(build(), ["estimate", str(given), "--batch", "4096", "--memory", "1500MiB", "-f", "json"])
    made = json.loads(run.stdout)
    assert [p["name"] for p in made["parts"]] == ["arguments", "results", "work", "libraries"]
    assert made["largest_batch"] == 671
    text = CliRunner().invoke(build(), ["estimate", str(given), "--batch", "4096", "--memory", "1500MiB"]).stdout
    assert "8 steps of 512 samples, added up, make the batch of 4096" in text
    assert "would save" not in text  # the plan does not tell what precision or checkpoints change


def test_where_the_model_alone_is_too_large_no_batch_fits() -> None:
    assert largest_batch(NEED, 100 * MIB) == 0


def test_savings_are_those_of_this_case_largest_first() -> None:
    found = savings(NEED, GIB)
    assert [s.name for s in found][:2] == ["activation checkpointing", "mixed precision"]
    assert [s.bytes for s in found] == sorted((s.bytes for s in found), reverse=True)
    assert not [s for s in found if "sharding" in s.name]
    assert [s for s in savings(replace(NEED, gpus=2, parameters=999 * MIB), GIB) if "sharding" in s.name]


@pytest.mark.parametrize(
    ("batch", "fitting", "expected"),
    [(64, 20, (16, 4)), (64, 1, (1, 64)), (48, 47, (24, 2)), (12800, 2100, (1600, 8)), (509, 100, None)],
)
def test_accumulation_makes_the_same_batch_again(batch: int, fitting: int, expected: tuple[int, int] | None) -> None:
    kept = accumulation(batch, fitting)
    assert kept == expected
    assert kept is None or kept[0] * kept[1] == batch


def test_a_norm_keeps_its_input_and_not_its_output() -> None:
    rows = [Layer("a", kind, 0, 100) for kind in ("Conv2d", "BatchNorm2d", "ReLU", "Linear")]
    assert sample_of(rows, "torch").kept == 2 * 100 * 4  # the conv's output and the ReLU's


def test_a_view_is_no_tensor_of_its_own() -> None:
    rows = [Layer("a", kind, 0, 100) for kind in ("Conv2d", "Flatten", "Linear")]
    assert sample_of(rows, "torch").kept == 100 * 4


def test_a_transformer_as_the_paper_counts_it() -> None:
    """Korthikanti et al. 2022, table 1: s b h (34 + 5 a s / h) bytes a layer in half precision; GPT-3 175B, s 2048, a 96."""
    sequence, width, heads = 2048, 12288, 96
    paper = sequence * width * (34 + 5 * heads * sequence / width)
    assert transformer(sequence, width, 1, heads, False, 0).kept == pytest.approx(2 * paper)


ATTENTION = Layer("Attention: 3-2", "Attention", 16_640, 128 * 64, 64)
SQUARE = 4 * 128**2 * 4  # bytes of the scores of 4 heads


@pytest.mark.parametrize(
    ("kind", "gpu", "fused", "squares", "assumed"),
    [
        ("Attention", False, False, 1, "keeps the scores"),
        ("Attention", False, True, 0, "keeps no scores"),
        ("MultiheadAttention", False, True, 3, "keeps the scores"),
        ("MultiheadAttention", True, False, 2.25, "keeps the scores"),
        ("TransformerEncoderLayer", False, False, 3, "keeps the scores"),
        ("TransformerEncoderLayer", True, False, 0, "keeps no scores"),
    ],
)
def test_attention_keeps_its_scores_unless_a_fused_kernel_computes_it(
    kind: str, gpu: bool, fused: bool, squares: float, assumed: str
) -> None:
    layer = replace(ATTENTION, kind=kind, parameters=49_984 if kind.startswith("Transformer") else 16_640)
    found = sample_of([layer], "torch", heads=4, gpu=gpu, fused=fused)
    assert sum(kept for made, kept in found.tensors if made == SQUARE) == squares * SQUARE
    assert assumed in found.assumed
    assert assumed in estimate(replace(NEED, sample=found)).parts[3].formula


def test_scores_that_are_dropped_leave_holes_in_the_heap() -> None:
    found = sample_of([ATTENTION], "torch", heads=4)
    assert found.dropped == ((SQUARE, 2 * SQUARE),)
    small, large = (replace(NEED, sample=found, batch=b, heap=True) for b in (8, (32 * MIB) // SQUARE))
    assert estimate(small).per_sample > estimate(replace(small, heap=False)).per_sample + 2 * SQUARE
    assert estimate(large).per_sample < estimate(small).per_sample - 2 * SQUARE


SHAPE = ("--parameters", "125M", "--sequence", "1024", "--width", "768", "--layers", "12", "--vocabulary", "50257")


def run(*arguments: str, text: str | None = None) -> tuple[int, str]:
    found = CliRunner().invoke(build(), ["estimate", *arguments], input=text)
    return found.exit_code, found.output


def test_a_summary_that_is_pasted_is_estimated() -> None:
    status, told = run("-", "--batch", "64", "--memory", "1GiB", text=KERAS)
    assert status == 0
    assert "4 B x 308,490 trainable parameters" in told
    assert "fit into 1 GiB" in told


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--parameters", "7B", "--memory", "24GiB"), "It does not fit into 24 GiB, whatever the batch."),
        (("--parameters", "125M", "--memory", "24GiB"), "of 24 GiB are left for activations."),
        (("--parameters", "125M"), "without activations: their sizes were not given"),
        ((*SHAPE, "--memory", "2GiB"), "Not even one sample fits into 2 GiB."),
        ((*SHAPE, "--memory", "16GiB", "--batch", "64"), "added up, make the batch of 64."),
    ],
)
def test_what_fits_is_said_in_a_sentence(arguments: tuple[str, ...], line: str) -> None:
    status, told = run(*arguments)
    assert status == 0
    assert line in told


@pytest.mark.seconds
def test_json_tells_bytes() -> None:
    status, told = run("--parameters", "7B", "--precision", "bf16", "--memory", "80GiB", "--format", "json")
    document = json.loads(told)
    assert status == 0
    assert {p["name"]: p["bytes"] for p in document["parts"]}["weights"] == 14_000_000_000
    assert document["largest_batch"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--parameters", "x"),
        ("--parameters", "1B", "--memory", "lots"),
        ("--parameters", "1B", "--optimizer", "magic"),
        ("/nowhere",),
        (__file__,),
    ],
)
def test_wrong_usage_is_refused(arguments: tuple[str, ...]) -> None:
    status, _ = run(*arguments)
    assert status != 0
