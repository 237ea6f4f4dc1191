"""Read processes from /proc, and the exit status of any process with an open pidfd.

/proc/4711/stat   4711 (python train) S 4700 4711 ... -> Stat(comm="python train", state="S", ppid=4700, rss_bytes=...)

Number the processes that Python's multiprocessing started, in the order of their start: in many programs they are the ranks.

4711 python train.py, 4713 python ... --multiprocessing-fork, 4714 the same     -> 4713: child 0 of 4711, 4714: child 1 of 4711
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import time
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# ioctl PIDFD_GET_INFO (include/uapi/linux/pidfd.h): mask in, mask out; PIDFD_INFO_EXIT is known from Linux 6.15 on.
INFO_BYTES = 64
PIDFD_GET_INFO = 0xC0000000 | INFO_BYTES << 16 | 0xFF << 8 | 11
PIDFD_INFO_EXIT = 1 << 3  # the same header
EXIT_CODE_OFFSET_BYTES = 60  # in struct pidfd_info, after two fields of 8 bytes and eleven of 4


class Stat:
    """The fields of /proc/PID/stat. `start_ticks` since boot distinguishes two processes with the same pid."""

    __slots__ = ("comm", "cpu_s", "exit_status", "pid", "ppid", "rss_bytes", "start_ticks", "state")

    def __init__(self, pid: int, text: str) -> None:
        head, _, rest = text.rpartition(")")
        fields = rest.split()
        self.pid = pid
        self.comm = head.partition("(")[2]
        self.state, self.ppid = fields[0], int(fields[1])
        self.cpu_s = (int(fields[11]) + int(fields[12])) / TICKS
        self.start_ticks = int(fields[19])
        self.rss_bytes = int(fields[21]) * PAGE_BYTES
        self.exit_status = int(fields[49]) if len(fields) > 49 else 0


def read(path: str, most: int = 65536) -> str:
    """The text of a small file of /proc or /sys, at most `most` bytes; empty if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, most).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(fd)


def stat(pid: int) -> Stat | None:
    """The process `pid`; None if there is none."""
    text = read(f"/proc/{pid}/stat", 4096)
    try:
        return Stat(pid, text) if text else None
    except (ValueError, IndexError):
        return None


def age_s(found: Stat) -> float:
    """How long ago the process started; 0 where the system has no such clock."""
    try:
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - found.start_ticks / TICKS)
    except (AttributeError, OSError):
        return 0.0


def pids() -> list[int]:
    """The pids of all visible processes."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def command_line(pid: int) -> str:
    """Its arguments, joined by spaces, at most 400 characters; empty if unknown."""
    text = read(f"/proc/{pid}/cmdline", 4096).rstrip("\0").replace("\0", " ")[:400]
    return "".join(c if c.isprintable() else " " for c in text)


def environment(pid: int, names: tuple[str, ...]) -> dict[str, str]:
    """The variables `names` in the environment of `pid` when it began; empty if that may not be read."""
    found: dict[str, str] = {}
    for entry in read(f"/proc/{pid}/environ", 1 << 18).split("\0"):
        name, _, value = entry.partition("=")
        if name in names:
            found[name] = value
    return found


def cpu_limit_s(pid: int) -> int:
    """Its limit of processor time in seconds (RLIMIT_CPU, soft); 0 if it has none."""
    for line in read(f"/proc/{pid}/limits").splitlines():
        if line.startswith("Max cpu time"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else 0
    return 0


def protect_from_memory_killer() -> None:
    """Ask the kernel to kill other processes first when memory runs out; refused without CAP_SYS_RESOURCE."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("-900")


def open_pidfd(pid: int) -> int:
    """A pidfd of `pid`; -1 if the system has none or the process is gone."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def send_signal(pidfd: int, pid: int, number: int) -> None:
    """Send a signal to a process by its pidfd, which can never be another one with the same pid. Raises OSError if it is gone."""
    if pidfd >= 0:
        signal.pidfd_send_signal(pidfd, number)
    else:
        os.kill(pid, number)  # only before Linux 5.3; the caller has not reaped it


def readable(fd: int, timeout_s: float | None = 0.0) -> bool:
    """Wait until something can be read, or the other end is closed; of a pidfd: until the process has ended, which is not reaped.

    With poll, since select() takes no descriptor above 1023, and a program may have many files open. None: without a limit.
    """
    found = select.poll()
    found.register(fd, select.POLLIN)
    return bool(found.poll(None if timeout_s is None else timeout_s * 1000))


def exit_status(pidfd: int) -> int | None:
    """The wait status of a process that ended and was reaped, child or not; None before that, or before Linux 6.15."""
    import fcntl  # not on every system

    buffer = bytearray(INFO_BYTES)
    struct.pack_into("Q", buffer, 0, PIDFD_INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, PIDFD_GET_INFO, buffer)
    except OSError:
        return None
    known = struct.unpack_from("Q", buffer, 0)[0]
    return int(struct.unpack_from("i", buffer, EXIT_CODE_OFFSET_BYTES)[0]) if known & PIDFD_INFO_EXIT else None


def boot_id() -> str:
    """The kernel's name for this boot."""
    return read("/proc/sys/kernel/random/boot_id").strip()


def parse_counters(text: str) -> dict[str, int]:
    """`oom 1\\noom_kill 1` or `MemTotal:  24684376 kB` as numbers by name; sizes in kB become bytes."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        words = line.replace(":", " ").split()
        if len(words) >= 2 and words[1].isdigit():
            found[words[0]] = int(words[1]) * (1024 if words[2:] == ["kB"] else 1)
    return found


def memory() -> dict[str, int]:
    """/proc/meminfo in bytes."""
    return parse_counters(read("/proc/meminfo"))


def host_kills() -> int | None:
    """How many processes of the whole host the kernel has killed for memory since boot; None if it does not count them."""
    text = read("/proc/vmstat")
    at = text.find("oom_kill ")
    return int(text[at:].split(None, 2)[1]) if at >= 0 else None


def pressure(path: str = "/proc/pressure/memory") -> dict[str, float]:
    """`some avg10=0.00 ...` and `full ...` as {"some_avg10": 0.0, "full_avg10": ...} in percent of time; empty if unknown."""
    found: dict[str, float] = {}
    for line in read(path).splitlines():
        kind, *pairs = line.split()
        for pair in pairs:
            name, _, value = pair.partition("=")
            if name == "avg10":
                with contextlib.suppress(ValueError):
                    found[f"{kind}_avg10"] = float(value)
    return found


STARTED_AFRESH = "--multiprocessing-fork"  # in the command of a child that does not go on in a copy of its parent


def child_numbers(processes: Iterable[tuple[int, int, str]]) -> dict[int, tuple[int, int]]:
    """By pid: its number among its siblings, and the pid of the parent. `processes`: pid, parent and command of each, in the
    order of their start, those that ended, too."""
    known = list(processes)
    commands = {pid: command for pid, _, command in known}
    count, found = Counter[int](), dict[int, tuple[int, int]]()
    for pid, parent, command in known:
        if STARTED_AFRESH in command or (command and command == commands.get(parent)):
            found[pid] = count[parent], parent
            count[parent] += 1
    return found


def child_text(numbered: tuple[int, int] | None) -> str:
    """`, child 1 of pid 4711`; empty for a process without a number."""
    return f", child {numbered[0]} of pid {numbered[1]}" if numbered else ""
