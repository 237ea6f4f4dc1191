"""Numbers of lines that differ in their numbers alone: the short way and the long way agree."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics import series
from forensics.advice.curves import curves
from forensics.core.shapes import zeroed
from forensics.database import Database
from forensics.model import Scan
from forensics.readers.numbers import plans
from forensics.readers.numbers.labels import MIN_COLUMN_NUMBERS, columns, number, tokens
from forensics.readers.numbers.plans import MAX_CACHED_PLANS, Plan, Value, _make_plan, _named, _only_plans, _plans

NUMBERS = [
    "7",
    "12",
    "123",
    "0.5",
    "1.",
    ".5",
    "-3",
    "1e-5",
    "2.1E+00",
    "1,234",
    "1,234.5",
    "007",
    "nan",
    "1.2.3",
    "-inf",
    "99999",
]
NUMBER = st.sampled_from(NUMBERS)
WORD = st.sampled_from(
    ["loss", "loss: ", "rss ", "=", ": ", ", ", ",", " | ", "GPU-", "s", " GB", "GB", "it/s", "(", ")", "[", "]", "/", "-", " ", "\t", "memory_allocated(",
     "'", "{'lr': ", "é", "tensor(", "ms/step - ", "samples/sec: ", "%|", "rank ", "step ", "epoch: ", "val_", "loss scale from ", " to ", "mem", "\u0663"]
)  # fmt: skip
SHAPE = st.lists(WORD | st.none(), min_size=1, max_size=14)


def forget() -> None:
    for cache in (_named, _plans, _only_plans):
        cache.clear()


def plan(text: str) -> Plan:
    return plans.plan(text, zeroed(text))


def value(of: Value, line: str) -> float:
    read = number(line[of.at]) * of.factor
    return 1 / read if of.inverse else read


@given(SHAPE, st.lists(st.lists(NUMBER, min_size=14, max_size=14), min_size=2, max_size=4))
def test_a_shape_that_was_seen_reads_like_a_new_one(shape: list[str | None], fillings: list[list[str]]) -> None:
    forget()
    for filling in fillings:
        text = "".join(filling[i] if word is None else word for i, word in enumerate(shape))
        assert repr(plan(text)) == repr(_make_plan(text).plan)


@given(SHAPE, st.lists(NUMBER, min_size=14, max_size=14), st.lists(st.integers(0, 9), min_size=40, max_size=40))
def test_lines_of_one_shape_with_other_names_read_like_new_ones(
    shape: list[str | None], filling: list[str], digits: list[int]
) -> None:
    forget()
    text = "".join(filling[i] if word is None else word for i, word in enumerate(shape))
    for by in (0, *digits):
        other = "".join(str((int(c) + by * i) % 10) if "0" <= c <= "9" else c for i, c in enumerate(text))
        assert repr(plan(other)) == repr(_make_plan(other).plan)


@pytest.mark.parametrize("written", NUMBERS)
@pytest.mark.parametrize("least", [0, 1], ids=["", "without zeros"])
@pytest.mark.parametrize("count", [MIN_COLUMN_NUMBERS - 1, 3 * MIN_COLUMN_NUMBERS])
@pytest.mark.parametrize("end", [" mem", " é"])
def test_a_column_is_read_like_each_of_its_numbers(written: str, least: int, count: int, end: str) -> None:
    rng = Random(0)
    texts = ["".join(str(rng.randint(least, 9)) if "0" <= c <= "9" else c for c in written) for _ in range(count)]
    (read,) = columns([f"step 1 loss {text}{end}" for text in texts], [slice(12, 12 + len(written))])
    assert read == pytest.approx([*map(number, texts)], rel=0, abs=0, nan_ok=True)


def test_lines_of_one_shape_share_a_plan() -> None:
    forget()
    lines = [f"2026-11-01 10:53:{i},000 INFO step {i} loss 2.{i} rss {i}.5 MB {i}.25it/s {i}/90" for i in range(10, 60)]
    read = [([value(v, line) for v in plan(line).values], plan(line).step_of_total(line)) for line in lines]
    assert read == [([float(f"2.{i}"), (i + 0.5) * 2**20, 1 / (i + 0.25)], (i, 90)) for i in range(10, 60)]
    assert len(_only_plans) == 1 and not _plans


def test_digits_of_names_are_no_numbers() -> None:
    """A plan is made for each rank and for each name, though the lines differ in digits alone."""
    forget()
    lines = [f"rank {r}: s{s}.loss 0.{s}{r}" for r in range(3) for s in range(3)]
    assert [(v.key.name, v.key.scope, value(v, line)) for line in lines for v in plan(line).values] == [
        (f"s{s} loss", f"rank {r}", float(f"0.{s}{r}")) for r in range(3) for s in range(3)
    ]


@pytest.mark.seconds
def test_plans_are_bounded() -> None:
    forget()
    for i in range(2 * MAX_CACHED_PLANS):
        plan(f"rank {i}: loss 0.5")
        plan(f"{'x' * (i % 900)} loss 0.5")
    assert len(_plans) + len(_only_plans) <= MAX_CACHED_PLANS and len(_named) <= MAX_CACHED_PLANS


def test_a_nul_in_a_line_is_not_taken_for_a_number() -> None:
    """Found by damaged logs: two lines that differ in a number and a NUL."""
    assert [[number(text[t.at]) for t in tokens(text)] for text in ("loss 1 acc 2 x", "loss \0 acc 2 x", "loss 1 acc \0 x")] == [
        [1, 2],
        [2],
        [1],
    ]
    forget()
    assert [[value(v, text) for v in plan(text).values] for text in ("loss 1 rss 2GB", "loss \0 rss 2GB")] == [
        [1, 2**31],
        [2**31],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "step 1 loss 0.5\nstep 2 loss nan\nstep 3 loss nan\n",
        "step 1 loss 0.5 grad_norm 2e9\nstep 2 loss 0.4 grad_norm 3e9\n",
        "step 1 grad_norm 2e9\rstep 1 loss 0.5\nstep 2 grad_norm 3e9\rstep 2 loss 0.4\n",
        "".join(f"file{chr(97 + i)}.bin memory: {i + 1}00 MB loss {i}\n" for i in range(20)),
        "".join(f"[rank{i % 4}]: step {i} loss {1 + i} tokens/s {900 - i}\n" for i in range(12)),
        "".join(f"step {i} loss 1 rss {i + 1} GB\n" for i in range(20)) + "val_loss 3\n",
    ],
    ids=["a loss that is lost", "norms with losses", "in frames of one line", "memory under changing names", "ranks", "memory"],
)
def test_series_of_few_readings_show_nothing(text: str, scanned: Callable[[str], Scan], knowledge: Database) -> None:
    scan = scanned(text)
    every, telling = series.gather_numbers(scan), series.gather_numbers(scan, telling=True)
    assert telling.progress.lines == every.progress.lines
    assert series.read(scan, knowledge, telling) == series.read(scan, knowledge, every)
    assert curves(scan.source, telling.series) == curves(scan.source, every.series)
    few = {(s.name, s.scope) for s in every.series} - {(s.name, s.scope) for s in telling.series}
    assert all(len(s.readings) < 3 for s in every.series if (s.name, s.scope) in few)
