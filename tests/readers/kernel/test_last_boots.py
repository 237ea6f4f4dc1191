"""Boots that no shutdown stands between, in tables of last(1) made for these tests."""

from forensics.readers.base import Record
from forensics.readers.kernel import last_boots
from tests.readers.regions import proven, regions

NEWER = "reboot   system boot  5.15.0-91-generi Fri Mar  8 09:12   still running"
OLDER = "reboot   system boot  5.15.0-91-generi Thu Mar  7 07:45 - 08:59  (01:14)"
DOWN = "shutdown system down  5.15.0-91-generi Fri Mar  8 08:59 - 09:12  (00:13)"
USER = "mara     pts/0        10.1.2.3         Thu Mar  7 08:01 - 08:40  (00:39)"


def records(*lines: str) -> list[Record]:
    return [r for region in regions("\n".join(lines), last_boots.TRIGGER) if (r := proven(last_boots.read(region)))]


def test_a_boot_still_running_below_a_newer_one_was_never_shut_down() -> None:
    (found,) = records(NEWER, USER, NEWER.replace("Fri Mar  8", "Mon Mar  4"))
    assert (found.cause, found.weight) == ("host_hardware.power", "strong")
    assert [line.number for line in found.quote] == [3, 1]


def test_two_boots_without_a_shutdown_where_shutdowns_are_listed() -> None:
    assert len(records(NEWER, OLDER, DOWN, OLDER)) == 1


def test_shutdowns_in_order_and_lists_without_any_tell_nothing() -> None:
    assert records(NEWER, DOWN, USER, OLDER) == []
    assert records(NEWER, USER, OLDER) == []
    assert records(NEWER) == []
