"""A GPU lost without an Xid: one sentence over lines. Made for these tests from the driver's words."""

import pytest

from forensics.readers.base import Record
from forensics.readers.gpu import fallen_gpu
from tests.readers.regions import proven, regions

THREE = """[14387.209961] NVRM: The NVIDIA GPU 0000:5d:00.0
               NVRM: (PCI ID: 10de:2330) installed in this system has
               NVRM: fallen off the bus and is not responding to commands.
[14387.210134] nvidia: probe of 0000:5d:00.0 failed with error -1"""


def records(text: str) -> list[Record]:
    return [r for region in regions(text, fallen_gpu.TRIGGER) if (r := proven(fallen_gpu.read(region)))]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (THREE, 3),
        (
            "NVRM: The NVIDIA GPU 0000:5d:00.0 (PCI ID: 10de:2330)\nNVRM: installed in this system has\nNVRM: fallen off the bus and is not",
            3,
        ),
        ("NVRM: The NVIDIA GPU 0000:5d:00.0 (PCI ID: 10de:2330) installed in this system has\nNVRM: fallen off the bus and", 2),
        ("NVRM: The NVIDIA GPU 0000:5d:00.0 NVRM: (PCI ID: 10de:2330) installed in this system has NVRM: fallen off the bus", 1),
    ],
)
def test_the_sentence_is_joined_from_its_lines(text: str, lines: int) -> None:
    (record,) = records(text)
    assert (record.cause, record.weight) == ("gpu_hardware.fallen_off_bus", "proof")
    assert record.fields == {"pci": "0000:5d:00.0", "device": "10de:2330"}
    assert (record.first, record.last) == (1, lines)


def test_another_end_of_the_sentence_is_another_story() -> None:
    unsupported = THREE.replace("fallen off the bus and is not responding to commands", "is not supported by the driver")
    assert records(unsupported) == []
    assert records("the GPU installed in this system has\nfallen off the bus") == []
