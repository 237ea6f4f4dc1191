"""AER reports in their three wordings: device, severity, errors, and whether a GPU is concerned. Lines made for these tests."""

import pytest

from forensics.readers.base import Record
from forensics.readers.kernel import aer
from tests.readers.regions import proven, regions

OLD = """[1] pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010
[1] pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=0010(Receiver ID)
[1] pcieport 0000:00:02.0:   device [8086:6f04] error status/mask=00000020/00000000
[1] pcieport 0000:00:02.0:    [ 5] Surprise Down Error    (First)
[1] pcieport 0000:00:02.0: broadcast error_detected message
[1] {driver} 0000:02:00.0: device has no AER-aware driver"""
MIDDLE = """pcieport 0000:00:03.0: AER: Multiple Uncorrected (Non-Fatal) error received: 0000:00:03.0
pcieport 0000:00:03.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)
pcieport 0000:00:03.0: AER:   device [8086:6f08] error status/mask=00004020/00000000
pcieport 0000:00:03.0: AER:    [ 5] SDES
pcieport 0000:00:03.0: AER:    [14] CmpltTO                (First)
{driver} 0000:03:00.0: AER: can't recover (no error_detected callback)"""
NEW = """pcieport 0000:80:1b.4: AER: Uncorrectable (Non-Fatal) error message received from 0000:80:1b.4
pcieport 0000:80:1b.4: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Receiver ID)
pcieport 0000:80:1b.4:   device [8086:7f44] error status/mask=00200000/00000000
pcieport 0000:80:1b.4:    [21] ACSViol                (First)
{driver} 0000:84:00.0: AER: can't recover (no error_detected callback)"""


def records(text: str) -> list[Record]:
    return [r for region in regions(text, aer.TRIGGER) if (r := proven(aer.read(region)))]


@pytest.mark.parametrize(
    ("text", "errors", "last"), [(OLD, "Surprise Down Error", 6), (MIDDLE, "SDES, CmpltTO", 6), (NEW, "ACSViol", 5)]
)
def test_every_wording_is_read_and_the_driver_behind_the_port_tells_a_gpu(text: str, errors: str, last: int) -> None:
    (gpu,) = records(text.format(driver="nvidia"))
    assert (gpu.cause, gpu.weight) == ("gpu_hardware.pcie", "proof")
    assert (gpu.first, gpu.last) == (1, last)
    assert gpu.fields["errors"] == errors
    assert str(gpu.fields["pci"]).endswith(":00.0")
    assert gpu.fields["pci"] != gpu.fields["port"]
    (disk,) = records(text.format(driver="nvme"))
    assert (disk.cause, disk.weight) == ("host_hardware.pcie", "strong")


def test_a_port_alone_decides_nothing_and_lends_what_it_knows() -> None:
    (record,) = records("\n".join(OLD.split("\n")[:4]))
    assert (record.cause, record.lends) == (None, True)
    assert record.fields["severity"] == "Uncorrected (Fatal)"


def test_a_vendor_number_tells_a_gpu_where_the_driver_does_not() -> None:
    text = "PCIe Bus Error: severity=Uncorrected (Fatal), type=Physical Layer, (Receiver ID)"
    vendor = "   device [10de:2330] error status/mask=00000020/00000000"
    (record,) = records(f"pcieport 0000:00:02.0: {text}\npcieport 0000:00:02.0: {vendor}")
    assert record.cause == "gpu_hardware.pcie"
    (disk,) = records(f"nvme 0000:01:00.0: {text}\nnvme 0000:01:00.0: {vendor.replace('10de', '144d')}")
    assert disk.cause == "host_hardware.pcie"


def test_corrected_errors_are_only_a_hint() -> None:
    (record,) = records("nvidia 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)")
    assert (record.cause, record.weight) == ("gpu_hardware.pcie", "hint")


def test_a_report_ends_where_the_next_begins() -> None:
    found = records(f"{OLD.format(driver='nvidia')}\n{OLD.format(driver='nvme')}")
    assert [(r.cause, r.first, r.last) for r in found] == [("gpu_hardware.pcie", 1, 6), ("host_hardware.pcie", 7, 12)]
