"""A bar that is redrawn on one line is read frame by frame, as if each stood on a line of its own."""

from collections.abc import Callable

import pytest

from forensics.model import Observation
from forensics.series import Series

Told = Callable[[str], list[Observation]]


def bar(end: str, numbers: Callable[[int], str], steps: int = 300) -> str:
    """As tqdm draws it: `end` is a carriage return on a terminal, a line end where each frame was logged."""
    frames = (
        f"{i * 100 // steps:3d}%|{'#' * (i * 10 // steps):10}| {i}/{steps} [00:{i // 10:02d}<00:{(steps - i) // 10:02d}, 9.8it/s, {numbers(i)}]"
        for i in range(steps)
    )
    return "start\n" + end.join(frames) + "\nsaved\n"


@pytest.mark.parametrize(
    ("numbers", "cause"),
    [
        (lambda i: f"loss={2.3 - i / 1000:.3f}, rss={2 + i / 100:.2f}GB", "host_memory.leak"),
        (lambda i: f"loss={2.3 - i / 1000:.3f}" if i < 120 else "loss=nan", "numerics.nan"),
        (lambda i: f"loss={2.3 - i / 1000:.3f}, rss=2.31GB", None),
    ],
)
def test_frames_tell_what_lines_tell(told: Told, numbers: Callable[[int], str], cause: str | None) -> None:
    redrawn, lines = told(bar("\r", numbers)), told(bar("\n", numbers))
    assert {e.cause for e in lines} == ({cause} if cause else set())
    assert [(e.kind, e.cause, e.weight) for e in redrawn] == [(e.kind, e.cause, e.weight) for e in lines]
    assert {p.line for e in redrawn for p in e.proofs} <= {2}


def test_frames_of_two_kinds_stay_in_order(told: Told) -> None:
    """Memory stands in every second frame only; both kinds are sampled apart and come together again."""
    text = "\r".join(f"step {i} loss 2.{i:03d}" if i % 2 else f"memory: {1000 + 10 * i} MiB" for i in range(200))
    assert [e.cause for e in told(text + "\n")] == ["host_memory.leak"]


@pytest.mark.parametrize("long", [5_000, 100_000])
@pytest.mark.parametrize("place", ["middle", "end"])
def test_a_long_line_is_read_once(series_of: Callable[[str], dict[str, Series]], long: int, place: str) -> None:
    """Its kinds of numbers stand in windows of their own, and the end of the source gives one more."""
    lines = [f"step {i} loss 2.{i:03d}, memory: {1000 + i} MiB" for i in range(90)]
    lines[40 if place == "middle" else -1] += " " + "x" * long + " memory: 9 MiB"
    readings = series_of("\n".join(lines) + "\n")["loss"].readings
    assert [r.line for r in readings] == list(range(1, 91))


def test_the_last_frame_is_read_once(series_of: Callable[[str], dict[str, Series]]) -> None:
    bar = "\r".join(f"step {i} loss 2.{i:03d}" for i in range(50))
    assert [r.value for r in series_of("start\n" + bar + "\r\n")["loss"].readings] == [2 + i / 1000 for i in range(50)]
