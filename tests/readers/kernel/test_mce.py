"""Machine checks decoded by bank and code: memory told from processor. Lines made for these tests in the kernel's forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.readers.base import Record
from forensics.readers.kernel import mce
from tests.readers.regions import proven, regions


def records(text: str) -> list[Record]:
    return [r for region in regions(text, mce.TRIGGER) if (r := proven(mce.read(region)))]


@pytest.mark.parametrize(
    ("status", "cause", "words", "severity"),
    [
        ("be00000001010091", "host_hardware.memory", "read, channel 1", "fatal"),
        ("8c00004f000800c2", "host_hardware.memory", "scrubbing, channel 2", "corrected"),
        ("bc0000000000009f", "host_hardware.memory", "(read)", "uncorrected"),
        ("f200004000000005", "host_hardware.cpu", "parity", "fatal"),
        ("be00000000800400", "host_hardware.cpu", "timer", "fatal"),
        ("cc59214000041152", "host_hardware.cpu", "cache", "corrected"),
        ("b200000000000115", "host_hardware.cpu", "cache", "fatal"),
        ("b200000000000014", "host_hardware.cpu", "TLB", "fatal"),
        ("b200000000000e0b", "host_hardware.pcie", "I/O", "fatal"),
        ("b20000000000080f", "host_hardware.cpu", "interconnect", "fatal"),
    ],
)
def test_the_code_names_the_part(status: str, cause: str, words: str, severity: str) -> None:
    (record,) = records(f"mce: [Hardware Error]: CPU 18: Machine Check Exception: 5 Bank 7: {status}")
    assert record.cause == cause
    assert words in str(record.fields["meaning"])
    assert record.fields["mce_severity"] == severity
    assert record.weight == ("strong" if severity == "corrected" else "proof")
    assert (record.fields["cpu"], record.fields["bank"]) == (18, 7)


def test_the_block_behind_it_gives_socket_address_time_and_module() -> None:
    text = """EDAC sbridge MC1: CPU 0: Machine Check Observation: 0 Bank 7: cc00418000010091
EDAC sbridge MC1: TSC 0
EDAC sbridge MC1: ADDR 2031c14940
EDAC sbridge MC1: PROCESSOR 0:406f1 TIME 1664823350 SOCKET 1 APIC 0
EDAC MC1: 262 CE memory read error on CPU_SrcID#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x2031c14 offset:0x940)
usb 1-1: new device"""
    (record,) = records(text)
    wanted = {"socket": 1, "address": "2031c14940", "dimm": "CPU_SrcID#0_Chan#1_DIMM#0", "fault_time": "2022-10-03 18:55:50 UTC"}
    assert {k: record.fields[k] for k in wanted} == wanted
    assert (record.first, record.last) == (1, 5)
    assert "262 CE" in record.quote[1].text


def test_amd_banks_are_read_by_vendor_and_unit() -> None:
    watchdog = """mce: [Hardware Error]: CPU 13: Machine Check: 0 Bank 5: bea0000000000108
mce: [Hardware Error]: TSC 0 ADDR 1ffffc0 MISC d012000100000000 SYND 4d000000 IPID 500b000000000
mce: [Hardware Error]: PROCESSOR 2:870f10 TIME 1600000000 SOCKET 0 APIC b microcode 8701013"""
    (record,) = records(watchdog)
    assert record.cause == "host_hardware.cpu"
    assert "watchdog" in str(record.fields["meaning"])
    memory = watchdog.replace("bea0000000000108", "dc2040000000011b").replace("500b000000000", "9600150f00")
    (other,) = records(memory)
    assert other.cause == "host_hardware.memory"
    decoded = """[Hardware Error]: CPU:2 (17:1:2) MC15_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|-|CECC]: 0xdc2040000000011b
[Hardware Error]: Error Addr: 0x0000000123456780
[Hardware Error]: Unified Memory Controller Extended Error Code: 0
[Hardware Error]: Unified Memory Controller Error: DRAM ECC error."""
    (third,) = records(decoded)
    assert (third.cause, third.fields["bank"], third.fields["cpu"]) == ("host_hardware.memory", 15, 2)


def test_mcelog_puts_the_bank_in_front() -> None:
    text = "Hardware event. This is not a software error.\nMCE 0\nCPU 0 BANK 7\nADDR 1234\nSTATUS 8c00004000010091 MCGSTATUS 0"
    (record,) = records(text)
    assert (record.fields["bank"], record.cause) == (7, "host_hardware.memory")


@pytest.mark.parametrize(
    "line",
    [
        "mce: CPU supports 32 MCE banks",
        "mce: [Hardware Error]: Machine check events logged",
        "CPU 3: Machine Check: 0 Bank 6: 0000000000000000",
    ],
)
def test_a_line_without_a_status_word_is_no_record(line: str) -> None:
    assert records(line) == []


@given(st.integers(0, (1 << 64) - 1), st.sampled_from(["", "0", "2"]), st.none() | st.integers(0, (1 << 64) - 1))
def test_every_word_decodes_to_an_outcome(status: int, vendor: str, ipid: int | None) -> None:
    decided = mce.decode_status(status, vendor, ipid)
    assert decided is None or (decided[0] in mce.OUTCOMES and decided[2])
    assert mce.severity(status) in ("corrected", "uncorrected", "fatal")
