"""SXid lines of the driver and the fabric manager, by the table. Lines made for these tests in the driver's forms."""

import pytest

from forensics.database import HEALTHY, read_table
from forensics.model import Region
from forensics.readers.base import Record
from forensics.readers.gpu import sxid
from tests.readers.regions import proven

SWITCH = "nvidia-nvswitch3: SXid (PCI:0000:c3:00.0): "


def only(line: str) -> Record | None:
    return proven(sxid.read(Region("dmesg", 4, line)))


@pytest.mark.parametrize(
    ("line", "weight", "link"),
    [
        (f"{SWITCH}20034, Fatal, Link 30 LTSSM Fault Up (First)", "proof", "30"),
        (f"{SWITCH}12028, Non-fatal, Link 32 egress non-posted PRIV error (First)", "strong", "32"),
        (f"{SWITCH}26006, SOE HALTED", "strong", None),
        (f"{SWITCH}12028, Data {{0x00000180, 0x00000000}}", "strong", None),
        (f"{SWITCH}22013, Non-fatal, Link 30 Minion Link DLREQ interrupt", "hint", "30"),
        (
            "[ERROR] [tid 12] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:85:00.0 physical id 2 port 31",
            "proof",
            "31",
        ),
    ],
)
def test_the_lines_own_severity_and_link(line: str, weight: str, link: str | None) -> None:
    record = only(line)
    assert record is not None
    assert (record.cause, record.weight, record.fields.get("link")) == ("gpu_hardware.nvlink", weight, link)
    assert record.fields["sxid_meaning"] == read_table("sxid")[str(record.fields["sxid"])]["meaning"]


def test_every_code_of_the_table_is_read() -> None:
    table = read_table("sxid")
    assert len(table) == 399
    for code, row in table.items():
        record = only(f"{SWITCH}{code}, Fatal, Link 01 words")
        assert record is not None, code
        assert record.cause == (None if row["cause"] == HEALTHY else row["cause"]), code
        assert record.fields["sxid_name"] == row["name"], code


def test_an_unknown_code_is_told_as_unknown() -> None:
    record = only(f"{SWITCH}99999, Non-fatal, Link 3 something new")
    assert record is not None
    assert "unknown" in str(record.fields["sxid_name"])
    assert record.weight == "hint"


def test_corrected_errors_and_other_lines_speak_for_nothing() -> None:
    record = only(f"{SWITCH}20009, Correctable, Link 04 RX Short Error Rate")
    assert record is not None
    assert record.cause is None
    assert only("regex: 'SXid.*?: (\\d+),'") is None
    assert only("a fatal error occurred") is None
