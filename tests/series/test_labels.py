"""The size of one unit of a number of memory that was printed without its unit."""

import pytest

from forensics.readers.numbers.labels import factor_of_unknown_unit, label_meaning


@pytest.mark.parametrize(
    ("value", "unit_bytes"), [(0.35, 1 << 30), (2345.0, 1 << 20), (8_388_608.0, 1 << 10), (2_147_483_648.0, 1)]
)
def test_a_unit_is_guessed_from_the_size_of_the_number(value: float, unit_bytes: int) -> None:
    assert factor_of_unknown_unit(value) == unit_bytes


@pytest.mark.parametrize(
    "label",
    ["tokens_per_s", "it_per_s=", "tok_s=", "samples_per_second", "tokens/s:", "imgs/sec", "throughput=", "steps per s"],
)
def test_the_ways_to_write_a_rate(label: str) -> None:
    found = label_meaning(label, "", of_memory=False)
    assert found is not None and found.quantity == "rate"


@pytest.mark.parametrize("label", ["lr", "time per step", "last_s", "loss_s", "wall_s"])
def test_other_labels_are_no_rate(label: str) -> None:
    found = label_meaning(label, "", of_memory=False)
    assert found is None or found.quantity != "rate"
