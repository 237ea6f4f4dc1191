"""The size of one unit of a number of memory that was printed without its unit."""

import pytest

from forensics.readers.numbers.labels import factor_of_unknown_unit


@pytest.mark.parametrize(
    ("value", "unit_bytes"), [(0.35, 1 << 30), (2345.0, 1 << 20), (8_388_608.0, 1 << 10), (2_147_483_648.0, 1)]
)
def test_a_unit_is_guessed_from_the_size_of_the_number(value: float, unit_bytes: int) -> None:
    assert factor_of_unknown_unit(value) == unit_bytes
