"""A learning rate far above all usual ones, where the log or its command tells it, is what to lower when the numbers are lost."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
LOST = (
    "".join(
        f"2026-12-01 04:37:3{n},961 INFO train: epoch 0 step {8 * n} loss {v} lr 1\n"
        for n, v in enumerate(["2.3", "91.7", "nan", "nan"])
    )
    + 'Traceback (most recent call last):\n  File "/work/train.py", line 35, in <module>\n'
    '    assert torch.isfinite(loss), "loss is not finite"\nAssertionError: loss is not finite\n'
)


@pytest.mark.parametrize(
    ("told", "rate"),
    [
        ("2026-12-01 04:37:29,179 INFO train: args: Namespace(lr=300.0, batch_size=64, epochs=5)", "300"),
        ("+ python train.py --lr 12.5 --epochs 3", "12.5"),
        ('{"epochs": 5, "learning_rate": 1e3, "width": 64}', "1000"),
    ],
)
def test_an_unusual_rate_is_named_first(analyze: Analyze, told: str, rate: str) -> None:
    first = analyze(job_log=f"{told}\n{LOST}").causes[0]
    assert first.id == "numerics.nan"
    assert first.remediations[0].action.startswith(f"Lower the learning rate of {rate} (")


@pytest.mark.parametrize(
    "told", ["args: Namespace(lr=0.0003)", "+ python train.py --lr 1e-3", "lr=cosine", "learning_rate=2e-05"]
)
def test_a_usual_one_is_not(analyze: Analyze, told: str) -> None:
    first = analyze(job_log=f"{told}\n{LOST}").causes[0]
    assert not any("Lower the learning rate of" in a.action for a in first.remediations)
    assert "float16" not in first.remediations[0].action  # nothing shows half precision
