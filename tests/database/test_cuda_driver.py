"""Which driver each CUDA release needs: the table is in order, and each number names the page of NVIDIA that tells it."""

from itertools import pairwise

import pytest

from forensics.database.releases import find_release, is_older, releases


def test_drivers_rise_with_the_releases_and_no_minimum_is_above_its_driver() -> None:
    found = list(releases().values())
    assert [r.cuda for r in found] == sorted((r.cuda for r in found), key=lambda v: [int(n) for n in v.split(".")])
    assert all(is_older(a.driver, b.driver) for a, b in pairwise(found))
    assert not any(is_older(r.driver, r.minimum) for r in found)
    assert all(r.source.startswith("https://docs.nvidia.com/") for r in found)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("12.4.127", "CUDA 12.4 came with driver 550.54.14 and runs on 525.60.13 or newer"),
        ("12040", "CUDA 12.4 came with driver 550.54.14 and runs on 525.60.13 or newer"),
        ("11.8", "CUDA 11.8 came with driver 520.61.05 and runs on 450.80.02 or newer"),
        ("10.2", "CUDA 10.2 needs driver 440.33 or newer"),
        ("13.2", "CUDA 13.2 came with driver 595.45.04 and runs on 580 or newer"),
    ],
)
def test_a_release_is_found_by_any_of_its_numbers(asked: str, told: str) -> None:
    found = find_release(asked)
    assert found is not None
    assert found.sentence == told


def test_a_release_that_the_table_lacks_is_none() -> None:
    assert find_release("99.9") is None
