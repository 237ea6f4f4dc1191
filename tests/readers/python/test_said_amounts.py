"""Amounts that a message compares, and what follows from them."""

import pytest

from forensics.readers.python.said import said_amounts


@pytest.mark.parametrize(
    ("message", "larger", "smaller"),
    [
        ("max_tokens (2496) is larger than max_batched (2048).", ("max_tokens", "2496"), ("max_batched", "2048")),
        ("max_batched (512) is smaller than max_len (2048).", ("max_len", "2048"), ("max_batched", "512")),
    ],
)
def test_one_is_to_be_raised_or_the_other_lowered(message: str, larger: tuple[str, str], smaller: tuple[str, str]) -> None:
    found = said_amounts(message)
    assert (found["larger_name"], found["larger_amount"]) == larger
    assert (found["smaller_name"], found["smaller_amount"]) == smaller


@pytest.mark.parametrize(
    ("message", "name", "amount", "most"),
    [
        ("User-specified max_len (999) is greater than the derived max_len (embeddings=20.0 or none)", "max_len", "999", "20"),
        ("n_samples=5 should be >= n_clusters=8.", "n_clusters", "8", "5"),
        ("Expected n_neighbors <= n_samples_fit, but n_neighbors = 5, n_samples_fit = 3, n_samples = 3", "n_neighbors", "5", "3"),
        ("Cannot have number of splits n_splits=5 greater than the number of samples: n_samples=3.", "n_splits", "5", "3"),
        ("world size (8) is greater than number of GPUs (4)", "world size", "8", "4"),
    ],
)
def test_what_there_is_cannot_be_raised(message: str, name: str, amount: str, most: str) -> None:
    found = said_amounts(message)
    assert (found["larger_name"], found["larger_amount"], found["fixed_amount"]) == (name, amount, most)
    assert "smaller_name" not in found


def test_divisors_are_listed_for_a_size_of_the_model_and_multiples_for_others() -> None:
    heads = said_amounts("Total number of attention heads (32) must be divisible by tensor parallel size (3).")
    assert heads["divisor_choices"] == "1, 2, 4, 8, 16 or 32"
    assert "multiple_choices" not in heads
    batch = said_amounts("batch_size 10 is not divisible by num_gpus 4")
    assert (batch["divisor_choices"], batch["multiple_choices"]) == ("1, 2, 5 or 10", "8 or 12")
    behind = said_amounts("the global size of its dimension 0 should be divisible by 8, but it is equal to 12")
    assert behind["multiple_choices"] == "8 or 16"


def test_numbers_that_divide_each_other_ask_for_nothing() -> None:
    assert said_amounts("batch_size 12 must be divisible by num_gpus 4") == {}


@pytest.mark.parametrize(
    ("message", "name", "allowed", "refused"),
    [
        ("num must be 1 <= num <= 4, not 5", "num", "1 to 4", "5"),
        ("dropout probability has to be between 0 and 1, but got 1.2", "dropout probability", "0 to 1", "1.2"),
        ("alpha must be in [0, 1]", "alpha", "0 to 1", None),
    ],
)
def test_the_range_of_a_value(message: str, name: str, allowed: str, refused: str | None) -> None:
    found = said_amounts(message)
    assert (found["ranged_name"], found["allowed_range"], found.get("refused_amount")) == (name, allowed, refused)


def test_more_was_asked_for_than_there_is() -> None:
    found = said_amounts("compiling computation requires 8 logical devices, but only 4 XLA devices are available")
    assert (found["asked_amount"], found["asked_things"], found["offered_amount"]) == ("8", "logical devices", "4")


@pytest.mark.parametrize("message", ["perplexity must be less than n_samples", "loss is larger than 3", "no such file", ""])
def test_a_message_without_two_amounts_has_none(message: str) -> None:
    assert said_amounts(message) == {}


def test_two_amounts_that_have_to_be_equal() -> None:
    found = said_amounts("The `classes` (10) in Head of Model does not match the length of `NAMES` (8)")
    assert [found[n] for n in ("equal_name", "equal_amount", "other_name", "other_amount")] == [
        "classes",
        "10",
        "length of NAMES",
        "8",
    ]
    assert said_amounts("The size of tensor a (129) must match the size of tensor b (193)") == {}


def test_a_device_that_is_not_there_and_a_number_of_inputs() -> None:
    found = said_amounts("You requested gpu: [1]\n But your machine only has: [0]")
    assert (found["asked_choice"], found["offered_choice"]) == ("[1]", "[0]")
    found = said_amounts("X has 10 features, but LinearRegression is expecting 12 features as input.")
    assert (found["expected_amount"], found["got_amount"]) == ("12", "10")
