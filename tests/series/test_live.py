"""Losses are read while a run prints them: what the report would find is said once, as soon as it is certain."""

import pytest

from forensics.series import live
from forensics.series.live import LiveNumbers

WELL = "".join(f"step {i} loss {2.3 - i / 100:.2f}\n" for i in range(20))
LOST = "".join(f"step {i} loss nan\n" for i in range(20, 23))
GROWN = "".join(f"step {i} loss {2 * 1.5 ** (i - 20):.2f}\n" for i in range(20, 60))


def said(text: str, size: int = 1 << 20) -> list[str]:
    """The warnings on a log that grows by `size` bytes at a time."""
    numbers = LiveNumbers()
    warned = []
    for at in range(0, len(text), size):
        if numbers.take(text[at : at + size].encode()):
            warned += numbers.warnings()
    return warned


@pytest.mark.parametrize("size", [7, 100, 1 << 20])
def test_a_loss_that_is_lost_is_said_once_with_its_step_however_the_bytes_come(size: int) -> None:
    assert said(WELL + LOST + LOST, size) == ["loss: NaN or infinite since step 20, 2.11 before"]


def test_frames_of_a_progress_bar_are_lines() -> None:
    bar = "".join(f"\r{i}%|##| {i}/100 [00:01<00:09, 9.1it/s, loss={'nan' if i > 19 else 2.5 - i / 100:.5}]" for i in range(30))
    assert len(said(bar, 50)) == 1


def test_a_loss_that_diverges_is_said_once_and_before_the_end() -> None:
    first = next(i for i in range(1, 41) if said(WELL + "".join(GROWN.splitlines(keepends=True)[:i])))
    assert first < 20
    assert [line.split(":")[0] for line in said(WELL + GROWN, 40)] == ["loss diverges since step 23"]


@pytest.mark.parametrize(
    "text",
    [
        WELL + "step 20 loss nan\nstep 21 loss nan\n" + WELL,  # steps that mixed precision skips
        "step 0 loss nan\nstep 1 loss 2.0\n" + WELL,
        WELL.replace("loss 2", "loss 0.002") + WELL,  # another training in the same log
        "".join(f"step {i} loss {i / (i + 100):.4f}\n" for i in range(1, 90)) * 2,  # a mean over an epoch that is not over
        "".join(f"step {i} loss {2.3 - i / 100:.2f} kl loss {2**i}\n" for i in range(60)),  # one term of it
        WELL,
    ],
    ids=["skipped", "before the first step", "the next training", "a mean that grows", "one term", "well"],
)
def test_what_healthy_runs_print_is_not_said(text: str) -> None:
    assert said(text, 30) == []


def test_what_is_kept_of_a_long_run_has_a_bound_and_the_loss_is_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_LIVE_LINES", 100)
    numbers = LiveNumbers()
    numbers.take(b"".join(b"step %d loss 1.5\n" % i for i in range(5000)) + b"x" * 10_000)
    assert len(numbers._kept) < 100
    assert len(numbers._rest) <= live.MAX_LIVE_LINE_BYTES
    numbers.take(b"\n" + LOST.replace("step 2", "step 50").encode())
    assert numbers.warnings() == ["loss: NaN or infinite since step 500, 1.5 before"]
