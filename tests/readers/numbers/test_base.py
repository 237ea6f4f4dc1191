"""Readings as columns are the readings that they were made of."""

from hypothesis import given
from hypothesis import strategies as st

from forensics.readers.numbers.base import Reading, Readings, Series

VALUES = st.lists(st.tuples(st.integers(1, 9), st.floats(-9, 9)), min_size=1, max_size=300)


def both(rows: list[tuple[int, float]]) -> tuple[Series, Series]:
    """A series of readings in columns, and of single ones."""
    line, made = 0, []
    for gap, value in rows:
        line += gap
        made.append(Reading(line, f"line {line}", value, float(line) if gap > 1 else None))
    columns = Readings([r.line for r in made], [r.text for r in made], [r.value for r in made], [r.step for r in made])
    return tuple(Series("loss", "loss", "", "", readings) for readings in (columns, tuple(made)))  # type: ignore[return-value]


@given(VALUES, st.integers(1, 80))
def test_columns_are_sampled_and_read_as_single_readings_are(rows: list[tuple[int, float]], most: int) -> None:
    columns, single = both(rows)
    for one, other in (
        (columns, single),
        (columns.evenly_sampled(most), single.evenly_sampled(most)),
        (columns.evenly_spaced(most), single.evenly_spaced(most)),
        (columns.picked([0]), single.picked([0])),
    ):
        assert [*one.readings] == [*other.readings]
        assert one.values == other.values
        assert [*one.lines] == [*other.lines]
        assert [*one.steps] == [*other.steps]
        assert one.readings[-1] == other.readings[-1]


@given(VALUES, st.integers(1, 80))
def test_a_sample_has_both_ends(rows: list[tuple[int, float]], most: int) -> None:
    columns, _ = both(rows)
    sampled = columns.evenly_sampled(most)
    assert (sampled.lines[0], sampled.lines[-1]) == (columns.lines[0], columns.lines[-1])
    assert len(sampled.readings) <= most + 1
