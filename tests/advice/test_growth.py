"""Memory that grew until it ran out is told first, and the batch is not the first step then, whatever the failing call."""

from collections.abc import Callable

import pytest

from forensics.model import Report

CUDA = (
    "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 79.25 GiB total capacity; 76.90 GiB already allocated; "
    "300.00 MiB free; 77.50 GiB reserved in total by PyTorch)\n"
)


REFUSED = "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 512. MiB for an array with shape (8192, 8192) and data type float64\n"


def log(name: str, values: list[float], end: str) -> str:
    return "".join(f"step {100 * (i + 1)} loss 2.{i} {name} {value:.1f} GiB\n" for i, value in enumerate(values)) + end


GROWN = [30.2 + 3.4 * i for i in range(14)]


@pytest.mark.parametrize(
    ("name", "end"), [("gpu mem", CUDA), ("mem", CUDA), ("rss", REFUSED)], ids=["of the GPU", "of either", "of the host"]
)
def test_growth_to_the_end_is_told_first(analyze: Callable[..., Report], name: str, end: str) -> None:
    first = analyze(train_log=log(name, GROWN, end)).causes[0]
    assert first.summary.startswith("Memory grew to the end: ")
    assert "30.2 GiB to 74.4 GiB" in first.summary
    assert first.remediations[0].action.startswith("Find what each step keeps")


@pytest.mark.parametrize(
    "text",
    [
        log("gpu mem", [74.0 + i % 2 for i in range(14)], CUDA),
        log("rss", GROWN, CUDA),
        log("gpu mem", [v / 10 for v in GROWN], CUDA),
        log("gpu mem", GROWN, "") + log("gpu mem", [74.4] * 14, CUDA),
    ],
    ids=["level", "of the host", "a small part of what was held", "an attempt before"],
)
def test_other_growth_explains_nothing(analyze: Callable[..., Report], text: str) -> None:
    first = analyze(train_log=text).causes[0]
    assert first.id.startswith("gpu_memory.")
    assert "grew to the end" not in first.summary
    assert not any("each step keeps" in r.action for r in first.remediations)


KILLED = "slurmstepd: error: Detected 1 oom_kill event in StepId=8812.0. Some of the step tasks have been OOM Killed.\n"


@pytest.mark.parametrize(
    ("steps", "is_long"),
    [
        (range(0, 220, 20), True),  # two hundred steps, of which eleven were told
        (range(11), False),
        ([*range(0, 220, 20), *range(11)], True),  # it was told often enough
        ([*range(0, 160, 20), *range(11)], False),  # the steps began anew
    ],
)
def test_steps_that_were_done_count_and_not_only_those_that_were_told(
    analyze: Callable[..., Report], steps: list[int], is_long: bool
) -> None:
    text = "".join(f"step {step} loss {3 - i / 100:.4f}\n" for i, step in enumerate(steps))
    told = analyze(train_log=f"loading data\n{text}{KILLED}").causes[0].remediations
    assert told[0].action.startswith("Look for what grows from step to step") == is_long
