"""The names that libraries no longer have, and what took their place."""

import pytest

from forensics.database import read_rows
from forensics.readers.python.failing_parts import successor_facts


@pytest.mark.parametrize(
    ("message", "old", "successor"),
    [
        ("AttributeError: module 'numpy' has no attribute 'float'.", "numpy.float", "float"),
        ("AttributeError: 'DataFrame' object has no attribute 'append'", "DataFrame.append", "pandas.concat"),
        (
            "ImportError: cannot import name 'Mapping' from 'collections' (/opt/x.py)",
            "collections.Mapping",
            "collections.abc.Mapping",
        ),
        (
            "ModuleNotFoundError: No module named 'sklearn.cross_validation'",
            "sklearn.cross_validation",
            "sklearn.model_selection",
        ),
        (
            "AttributeError: module 'tensorflow._api.v2.train' has no attribute 'Saver'",
            "tensorflow.train.Saver",
            "tf.compat.v1.train.Saver",
        ),
        (
            "TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'",
            "the argument gpus",
            'accelerator="gpu" and devices',
        ),
        (
            "TypeError: OneHotEncoder.__init__() got an unexpected keyword argument 'sparse'",
            "the argument sparse",
            "sparse_output",
        ),
    ],
)
def test_a_name_that_is_gone_has_its_successor(message: str, old: str, successor: str) -> None:
    found = successor_facts(message)
    assert (found["old_name"], found["successor"]) == (old, successor)


def test_names_that_are_there_have_none() -> None:
    assert successor_facts("AttributeError: 'list' object has no attribute 'append_all'") == {}
    assert successor_facts("TypeError: load() got an unexpected keyword argument 'sparse'") == {}


def test_each_name_has_one_row_and_a_successor_of_another_name() -> None:
    rows = read_rows("successors")
    assert len({row["name"] for row in rows}) == len(rows)
    assert not [row["name"] for row in rows if not row["successor"] or row["successor"] == row["name"]]
