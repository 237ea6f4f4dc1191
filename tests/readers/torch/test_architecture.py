"""Summaries of models as Keras 3.15 and torchinfo 1.8 printed them."""

from forensics.model import Line
from forensics.readers.torch.architecture import read_summary

KERAS = """\
Model: "sequential"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ conv2d (Conv2D)                 │ (None, 62, 62, 32)     │           896 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ batch_normalization             │ (None, 62, 62, 32)     │           128 │
│ (BatchNormalization)            │                        │               │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ dense (Dense)                   │ (None, 10)             │       307,530 │
└─────────────────────────────────┴────────────────────────┴───────────────┘
 Total params: 308,554 (1.18 MB)
 Trainable params: 308,490 (1.18 MB)
 Non-trainable params: 64 (256.00 B)
"""
TORCHINFO = """\
==========================================================================================
Layer (type:depth-idx)                   Output Shape              Param #
==========================================================================================
Sequential                               [8, 10]                   --
├─Conv2d: 1-1                            [8, 16, 30, 30]           448
├─Block: 1-2                             [8, 16, 30, 30]           --
│    └─ReLU: 2-1                         [8, 16, 30, 30]           --
├─Linear: 1-5                            [8, 10]                   144,010
==========================================================================================
Total params: 144,490
Trainable params: 144,490
"""
OLD_KERAS = """\
 Layer (type)                Output Shape              Param #
=================================================================
 conv2d (Conv2D)             (None, 30, 30, 16)        448
 dense (Dense)               (None, 10)                144010
=================================================================
Total params: 144458 (564.29 KB)
"""


def lines(text: str) -> list[Line]:
    return [Line(n, line) for n, line in enumerate(text.splitlines(), 1)]


def test_a_table_of_keras_gives_its_layers_with_their_classes() -> None:
    found = read_summary(lines(KERAS))
    assert found is not None
    assert (found.parameters, found.trainable, found.batch) == (308_554, 308_490, None)
    assert [(x.name, x.kind, x.parameters, x.outputs) for x in found.layers] == [
        ("conv2d", "Conv2D", 896, 62 * 62 * 32),
        ("batch_normalization", "BatchNormalization", 128, 62 * 62 * 32),
        ("dense", "Dense", 307_530, 10),
    ]


def test_of_torchinfo_only_the_rows_that_hold_no_others_count() -> None:
    found = read_summary(lines(TORCHINFO))
    assert found is not None
    assert [(x.kind, x.outputs) for x in found.layers] == [("Conv2d", 14400), ("ReLU", 14400), ("Linear", 10)]
    assert (found.parameters, found.batch) == (144_490, 8)


def test_a_table_without_frames_is_read_too() -> None:
    found = read_summary(lines(OLD_KERAS))
    assert found is not None
    assert [x.kind for x in found.layers] == ["Conv2D", "Dense"]


def test_of_two_summaries_the_last_one_counts() -> None:
    found = read_summary(lines(KERAS + TORCHINFO))
    assert found is not None
    assert [x.kind for x in found.layers] == ["Conv2d", "ReLU", "Linear"]


def test_a_count_without_a_table_is_a_model_without_layers() -> None:
    found = read_summary(lines("Total params: 1,234\n"))
    assert found is not None
    assert (found.parameters, found.layers) == (1234, ())


def test_what_is_no_summary_is_none() -> None:
    assert read_summary(lines("epoch 1 loss 2.3\n")) is None


def test_the_table_of_flax_gives_the_parameters_alone() -> None:
    """flax 0.12, module.tabulate(): it colours its text, and cuts the shapes to the width of the screen."""
    text = "│ Conv_0  │ Conv   │ float32[64,28,28… │ float32[64,26,26… │\n  [1m   Total Parameters: 225,034 \x1b[0m\x1b[1;2m(900.1 KB)\x1b[0m\n"
    found = read_summary([Line(n, line) for n, line in enumerate(text.splitlines(), 1)])
    assert found is not None
    assert (found.parameters, found.layers) == (225_034, ())
