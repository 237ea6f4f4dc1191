"""What changed between the attempts of one log, in the wording of argparse, Slurm, git, PyTorch and others."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.model.answers import Change

Analyze = Callable[..., Report]
OOM = (
    'Traceback (most recent call last):\n  File "/home/ann/run/train.py", line 40, in <module>\n    loss.backward()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {ask} GiB. GPU 0 has a total capacity of 23.65 GiB of which {free}"
    " GiB is free. Of the allocated memory 21.90 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated."
    " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
)


def attempt(says: str, epochs: int, ask: str = "2.00", free: str = "1.10") -> str:
    """A run that says some lines, counts epochs and runs out of GPU memory."""
    told = "".join(f"Epoch {n} loss {2 / n:.3f}\n" for n in range(1, epochs + 1))
    return f"Starting training run now\n{says}\n{told}{OOM.format(ask=ask, free=free)}"


def between(analyze: Analyze, then: str, last: str) -> dict[str, tuple[str, str]]:
    """By name what changed, without how far it was reached."""
    (earlier,) = analyze(slurm_out=attempt(then, 3) + attempt(last, 3)).earlier_attempts
    return {c.what: (c.then, c.last) for c in earlier.changes}


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("line", "what", "then", "last"),
    [
        ("Namespace(batch_size={}, lr=0.1)", "--batch-size", "64", "32"),
        ("+ python train.py --data /in --learning-rate={}", "--learning-rate", "0.1", "0.01"),
        ("torchrun --nproc_per_node {} train.py", "--nproc-per-node", "8", "4"),
        ("Instantaneous batch size per device = {}", "batch size", "8", "4"),
        ("SLURM_NODELIST=gpu-[{}]", "node", "gpu-[03-04]", "gpu-[05-06]"),
        ("Running on node {}", "node", "gpu-03", "gpu-07"),
        ("hostname: {}", "node", "gpu-03.cluster", "gpu-07.cluster"),
        ("CUDA_VISIBLE_DEVICES={}", "visible GPUs", "0,1", "2,3"),
        ("sbatch --mem={} train.sh", "--mem", "32G", "64G"),
        ("memory: usage 1048576kB, limit {}, failcnt 3", "memory limit", "1048576kB", "2097152kB"),
        ("PyTorch version: {}", "PyTorch", "2.3.1", "2.4.0"),
        ("| NVIDIA-SMI    Driver Version: {}    CUDA Version: 12.4 |", "driver", "550.54.15", "560.35.03"),
        ("git commit: {}", "commit", "3f2a91c", "9b1c0de"),
        ("HEAD is now at {} Longer warmup", "commit", "3f2a91c", "9b1c0de"),
        ("world_size: {}", "processes", "16", "8"),
    ],
)
def test_what_a_line_says_otherwise(analyze: Analyze, line: str, what: str, then: str, last: str) -> None:
    value = then.strip("gpu-[]") if "[{}]" in line else then
    now = last.strip("gpu-[]") if "[{}]" in line else last
    changed = between(analyze, line.format(value), line.format(now))
    assert changed == {what: (then, last)}
    assert between(analyze, line.format(value), line.format(value)) == {}


def test_how_far_it_came_and_what_stayed(analyze: Analyze) -> None:
    text = attempt("SLURM_NODELIST=gpu-03\nbatch_size=64", 3) + attempt("SLURM_NODELIST=gpu-03\nbatch_size=32", 6)
    (earlier,) = analyze(slurm_out=text).earlier_attempts
    assert (earlier.number, earlier.same_cause, earlier.line) == (1, True, 10)
    assert earlier.changes[0] == Change("reached", "epoch 3", "epoch 6", 6, 19)
    assert earlier.changes[1] == Change("batch size", "64", "32", 3, 13)
    assert "node gpu-03" in earlier.unchanged


def test_what_only_one_of_them_says_is_no_change(analyze: Analyze) -> None:
    assert between(analyze, "SLURM_NODELIST=gpu-03", "batch_size=32") == {}
    (other,) = analyze(
        slurm_out=attempt("", 3).replace(OOM.format(ask="2.00", free="1.10"), "ModuleNotFoundError: No module named 'apex'\n")
        + attempt("", 3)
    ).earlier_attempts
    assert not other.same_cause


@pytest.mark.parametrize("name", ["api_key", "password", "hf-token", "wandb_key", "auth"])
def test_an_argument_that_is_a_secret_is_not_compared(analyze: Analyze, name: str) -> None:
    line = f"+ python train.py --{name} {{}} --lr 0.1"
    assert between(analyze, line.format("hunter2x"), line.format("hunter3x")) == {}


def test_a_cells_output_is_no_run_with_settings_of_its_own(analyze: Analyze) -> None:
    assert analyze(train_log="batch_size=64\n" + OOM.format(ask="2.00", free="1.10")).earlier_attempts == ()


def test_of_one_cause_in_two_attempts_the_last_one_is_told(analyze: Analyze) -> None:
    text = attempt("batch_size=64", 3) + attempt("batch_size=32", 6, "1.00", "0.50")
    first = analyze(slurm_out=text).causes[0]
    assert first.facts["request_bytes"] == 1 << 30
    assert first.evidence[0].line > text[: text.index("batch_size=32")].count("\n")
    assert "in place of 32" in first.remediations[0].action
