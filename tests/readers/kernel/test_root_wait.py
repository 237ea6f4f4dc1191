"""A kernel that waits for its root device to the end of its log, in consoles made for these tests."""

from forensics.readers.base import Record
from forensics.readers.kernel import root_wait
from tests.readers.regions import proven, regions

WAITS = "[    2.104711] Waiting for root device /dev/mmcblk1p2..."
LATER = "[   12.208133] platform feb10000.mmc: deferred probe pending"
SOON = "[    2.310022] mmc1: new high speed SDHC card at address 59b4"
MOUNTED = "[   12.410022] VFS: Mounted root (ext4 filesystem) readonly on device 179:2."


def records(*lines: str) -> list[Record]:
    return [r for region in regions("\n".join(lines), root_wait.TRIGGER) if (r := proven(root_wait.read(region)))]


def test_a_wait_for_the_root_device_to_the_end_of_the_log() -> None:
    (found,) = records("[    2.090001] clk: Disabling unused clocks", WAITS, SOON, LATER)
    assert (found.cause, found.quote[0].number, found.fields) == ("process.stalled", 2, {"root_device": "/dev/mmcblk1p2"})


def test_a_device_that_was_found_and_a_log_that_goes_on_tell_nothing() -> None:
    assert records(WAITS, SOON, MOUNTED) == []
    assert records(WAITS, SOON) == []


def test_a_console_that_ends_with_the_wait_hints_at_it() -> None:
    for line in (WAITS, "Waiting for root device /dev/mmcblk0p2..."):
        (found,) = records("ALSA device list:", line, "")
        assert (found.cause, found.weight, found.quote[0].number) == ("process.stalled", "hint", 2)
