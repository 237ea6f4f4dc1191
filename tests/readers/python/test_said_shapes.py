"""How the two shapes of a message differ."""

import pytest

from forensics.model import Value
from forensics.readers.python.said import said_shapes


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "operands could not be broadcast together with shapes (32,10) (32,)",
            {"long_shape": "(32, 10)", "short_shape": "(32,)", "extra_axis": 1, "extra_size": 10},
        ),
        (
            "could not broadcast input array from shape (224,224) into shape (224,224,3)",
            {"long_shape": "(224, 224, 3)", "short_shape": "(224, 224)", "extra_axis": 2, "extra_size": 3},
        ),
        ("expected [8, 3, 224, 225] and got [8, 224, 225, 3]", {"axis_order": "0, 2, 3, 1"}),
        ("The size of tensor a (8100) must match the size of tensor b (4050) at dimension 0", {"size_ratio": 2}),
        ("The size of tensor a (129) must match the size of tensor b (193) at dimension 1", {}),
        ("got [3, 480, 640] at entry 0 and [3, 427, 640] at entry 1", {}),
        ("expected [4, 4, 8] and got [4, 8, 4]", {}),
        ("no shape", {}),
    ],
)
def test_how_two_shapes_differ(message: str, expected: dict[str, Value]) -> None:
    assert said_shapes(message) == expected
