"""A boot with no shutdown in front of it, in order, newest first, and where it tells nothing. Lines made for these tests."""

import pytest

from forensics.readers.base import Record
from forensics.readers.kernel import boot
from tests.readers.regions import proven, regions

BUSY = """Mar 08 10:00:01 n7 CRON[812]: (root) CMD (run-parts)
Mar 08 10:00:04 n7 sshd[900]: Accepted publickey for mara from 10.1.2.3 port 50012 ssh2"""
BOOT = """Mar 08 10:07:21 n7 kernel: Linux version 5.15.0-91-generic (buildd@example) (gcc)
Mar 08 10:07:21 n7 kernel: Command line: BOOT_IMAGE=/boot/vmlinuz"""
ORDERLY = [
    "Mar 08 10:00:05 n7 systemd[1]: Reached target System Shutdown.",
    'Mar 08 10:00:05 n7 rsyslogd[700]: [origin software="rsyslogd"] exiting on signal 15.',
    "Mar 08 10:00:05 n7 systemd-logind[650]: System is rebooting.",
    "Mar 08 10:00:05 n7 systemd-journald[400]: Journal stopped",
]


def records(text: str) -> list[Record]:
    return [r for region in regions(text, boot.TRIGGER) if (r := proven(boot.read(region)))]


@pytest.mark.parametrize("header", ["-- Reboot --\n", "-- Boot 5936b00ee7ee04cff9afb308244ef8aa --\n", ""])
def test_a_boot_behind_lines_of_programs_that_say_nothing_of_an_end_is_a_reset(header: str) -> None:
    (found,) = records(f"{BUSY}\n{header}{BOOT}")
    assert (found.cause, found.weight) == ("host_hardware.power", "hint")
    assert [line.number for line in found.quote] == [3, 2]


@pytest.mark.parametrize("said", ORDERLY)
def test_a_shutdown_in_order_is_none(said: str) -> None:
    assert records(f"{BUSY}\n{said}\n-- Reboot --\n{BOOT}") == []


MODULES = "Mar 08 10:07:21 n7 systemd-modules-load[512]: Inserted module 'lp'"


def test_a_lower_pid_after_a_silence_shows_the_boot_where_the_kernel_says_nothing() -> None:
    (found,) = records(f"{BUSY}\n{MODULES}")
    assert (found.cause, found.weight, found.fields["down_s"]) == ("host_hardware.power", "strong", 437.0)
    assert [line.number for line in found.quote] == [3, 2]


@pytest.mark.parametrize(
    "text",
    [
        f"{BUSY}\n{ORDERLY[1]}\n{MODULES}",
        f"{BUSY}\n{MODULES.replace('10:07:21', '10:00:07')}",  # the same boot: nothing was silent
        f"{BUSY}\n{MODULES.replace('512', '4096')}",  # pids go on: the service was started by hand
        f"Mar 08 10:00:01 n7 kernel: eth0: renamed from veth\n{MODULES}",
        MODULES,
    ],
)
def test_such_a_line_tells_nothing_within_a_boot_or_behind_a_shutdown(text: str) -> None:
    assert records(text) == []


def test_newest_first_is_read_from_below() -> None:
    turned = "\n".join([*BOOT.split("\n")[::-1], "-- Reboot --", *BUSY.split("\n")[::-1]])
    (found,) = records(turned)
    assert [line.number for line in found.quote] == [3, 4]
    assert records("\n".join([*BOOT.split("\n")[::-1], "-- Reboot --", ORDERLY[2], *BUSY.split("\n")[::-1]])) == []


def test_a_kernels_log_alone_or_the_first_boot_tells_nothing() -> None:
    kernel = "Mar 08 10:00:01 n7 kernel: eth0: renamed from veth\nMar 08 10:00:04 n7 kernel: IPv6: link becomes ready"
    assert records(f"{kernel}\n-- Reboot --\n{BOOT}") == []
    assert records(BOOT) == []
    assert records("the notes of Linux version 5 say nothing of it") == []
