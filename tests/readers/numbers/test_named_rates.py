"""Where a rate is the name of the number behind it, the number in front keeps its own name."""

import pytest

from forensics.core.shapes import zeroed
from forensics.readers.numbers.plans import plan


def read(text: str) -> dict[str, str]:
    made = plan(text, zeroed(text))
    return {f"{value.key[0]} {value.key[2]}".strip(): text[value.at] for value in made.values}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("step 7 loss 1.5604 tokens/s 41000 mem 52.3 GiB", {"loss": "1.5604", "rate /s": "41000", "memory bytes": "52.3"}),
        ("step 7 loss nan tokens/s 2.1e4", {"loss": "nan", "rate /s": "2.1e4"}),
        ("step 7 lr 0.0003 samples/sec 204.1", {"lr": "0.0003", "rate /s": "204.1"}),
        (
            "step 7 loss 1.5 throughput 204.1 samples/s 3.2 ms/step",
            {"loss": "1.5", "rate samples/s": "204.1", "step_time s": "3.2"},
        ),
        ("step 7 loss 1.5 204.1 samples/s", {"loss": "1.5", "rate samples/s": "204.1"}),
        ("step 7 loss 1.5 speed 204.1 samples/s 61.2 GB", {"loss": "1.5", "rate samples/s": "204.1"}),
    ],
)
def test_a_rate_takes_the_number_that_it_names(text: str, found: dict[str, str]) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("caching dataset in memory: 702/812 files", {}),
        ("images held in memory: 702 / 812 images", {}),
        ("gpu memory: 702/812 MiB", {"memory unknown": "702"}),
        ("memory used 702 MiB", {"memory bytes": "702"}),
    ],
)
def test_files_counted_in_memory_are_no_amount_of_it(text: str, found: dict[str, str]) -> None:
    assert {k: v for k, v in read(text).items() if k.startswith("memory")} == found
