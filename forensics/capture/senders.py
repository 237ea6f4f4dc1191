"""Find the senders of signals. As root, the kernel's tracing shows every signal; else only those that this process receives.

    bash-880     [001] d..1.  1234.567890: signal_generate: sig=9 errno=0 code=0 comm=python pid=4711 grp=1 res=0
    -> pid 880 (bash) sent SIGKILL to pid 4711

It makes an instance of its own in tracefs, with a filter, and removes it at the end. `code`: 0 is kill(), -6 tgkill(), 128 the
kernel itself (include/uapi/asm-generic/siginfo.h). (kernel: Documentation/trace/events.rst.)

Receive the kernel's process events, as root: the ends of processes that are too short-lived to be found otherwise.

A filter in the kernel passes only ends with a status other than 0, so a host that starts thousands of processes costs
nothing. (include/uapi/linux/cn_proc.h: struct proc_event, PROC_EVENT_EXIT; parent fields since Linux 4.18.)
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import time

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROOTS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
# Signals that end a process or stop it for a while, on Linux; without SIGCHLD, SIGALRM and SIGURG, which are frequent.
SIGNALS = (1, 2, 3, 6, 9, 10, 12, 15, 19, 24)
FILTER = "(" + " || ".join(f"sig == {n}" for n in SIGNALS) + ") && result == 0"
LINE = re.compile(
    r"^\s*(?P<comm>\S.*)-(?P<pid>\d+)\s+\[\d+\]\s+\S+\s+(?P<time>\d+\.\d+): signal_generate: "
    r"sig=(?P<sig>\d+) errno=-?\d+ code=(?P<code>-?\d+) comm=(?P<to_comm>.*) pid=(?P<to>\d+) grp=(?P<grp>\d+)"
)
# System calls of Linux 5.2, the same number on every kind of machine; FSCONFIG_CMD_CREATE of include/uapi/linux/mount.h.
FSOPEN, FSCONFIG, FSMOUNT, CREATE = 430, 431, 432, 6
MAX_SIGNALS_SENT = 2000  # chosen by hand: bounds memory if a program sends signals all the time
PREFIX = "forensics-"


class SignalTrace:
    """The signals that were sent to any process. `unavailable`: why the kernel's tracing cannot be used, empty if it can."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.unavailable = ""
        self._top, self._folder, self._fd, self._rest = -1, "", -1, ""
        try:
            self._top = _opened()
            self._open()
        except OSError as error:
            self.unavailable = f"tracing: {error.strerror}"
            self.close()

    def _open(self) -> None:
        _remove_leftovers(self._top)
        folder = f"instances/{PREFIX}{os.getpid()}"
        os.mkdir(folder, dir_fd=self._top)
        self._folder = folder
        self._write("buffer_size_kb", "64")
        self._write("trace_clock", "mono")
        self._write("events/signal/signal_generate/filter", FILTER)
        self._write("events/signal/signal_generate/enable", "1")
        self._fd = os.open(f"{folder}/trace_pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._top)

    def _write(self, name: str, text: str) -> None:
        fd = os.open(f"{self._folder}/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._top)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    def read(self) -> None:
        """Read the signals sent since the last call."""
        while self._fd >= 0:
            try:
                block = os.read(self._fd, 65536)
            except OSError:
                return
            if not block:
                return
            lines = (self._rest + block.decode("utf-8", "replace")).split("\n")
            self._rest = lines.pop()
            for line in lines:
                found = LINE.match(line)
                if found and len(self.sent) < MAX_SIGNALS_SENT:
                    self.sent.append(_signal_record(found))

    def close(self) -> None:
        """Remove the tracing instance."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._folder:
            with contextlib.suppress(OSError):
                self._write("events/signal/signal_generate/enable", "0")
                os.rmdir(self._folder, dir_fd=self._top)
            self._folder = ""
        if self._top >= 0:
            os.close(self._top)
            self._top = -1


def _signal_record(found: re.Match[str]) -> dict[str, Any]:
    sender = int(found["pid"])
    moment = time.time() - (time.monotonic() - float(found["time"]))
    numbers = {"time": moment, "signal": int(found["sig"]), "code": int(found["code"]), "to": int(found["to"]), "from": sender}
    names = {"to_comm": found["to_comm"], "from_comm": found["comm"].strip(), "group": found["grp"] == "1"}
    command = proc.command_line(sender)
    return {**numbers, **names, **({"from_command": command} if command else {})}


def _opened() -> int:
    """An open descriptor of tracefs' top folder; if it is not mounted, of a private mount that no other process sees.

    Raises OSError if neither is allowed. The private mount needs Linux 5.2 and CAP_SYS_ADMIN; it ends with the last file that is
    open in it (fsopen(2), fsmount(2): a mount that is attached to no folder).
    """
    for root in ROOTS:
        if os.path.isdir(f"{root}/instances"):
            return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).syscall

    def made(*arguments: object) -> int:
        done = int(call(*arguments))
        if done < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"not mounted, and may not be: {os.strerror(number)}")
        return done

    request = made(FSOPEN, b"tracefs", 1)
    try:
        made(FSCONFIG, request, CREATE, None, None, 0)
        return made(FSMOUNT, request, 1, 0)
    finally:
        os.close(request)


def _remove_leftovers(top: int) -> None:
    """Remove the instances of captures that were killed."""
    folder = os.open("instances", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=top)
    try:
        for name in os.listdir(folder):
            pid = name[len(PREFIX) :]
            if name.startswith(PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=folder)
    finally:
        os.close(folder)


# Include/uapi/linux/netlink.h, connector.h, cn_proc.h.
NETLINK_CONNECTOR, CN_IDX_PROC, CN_VAL_PROC, PROC_CN_MCAST_LISTEN = 11, 1, 1, 1
PROC_EVENT_EXIT = 0x80000000  # the same cn_proc.h
SO_ATTACH_FILTER = 26  # include/uapi/asm-generic/socket.h; Python's `socket` does not have it
HEADER_BYTES = 16 + 20  # nlmsghdr, cn_msg
EVENT_AT = HEADER_BYTES  # proc_event: what, cpu, timestamp (8), then pid, tgid, exit_code, signal, ppid, ptgid
EXIT_CODE_OFFSET = EVENT_AT + 16 + 8


def _filter() -> bytes:
    """Classic BPF: what == PROC_EVENT_EXIT and exit_code != 0. Loads are big-endian, constants are swapped to fit."""
    swapped = struct.unpack(">I", struct.pack("=I", PROC_EVENT_EXIT))[0]
    load, jeq, ret = 0x20, 0x15, 0x06
    rows = (
        (load, 0, 0, EVENT_AT),
        (jeq, 0, 3, swapped),
        (load, 0, 0, EXIT_CODE_OFFSET),
        (jeq, 1, 0, 0),
        (ret, 0, 0, 0xFFFFFFFF),
        (ret, 0, 0, 0),
    )
    return b"".join(struct.pack("=HBBI", *row) for row in rows)


class ProcessEvents:
    """Ends of processes as reported by the kernel. `unavailable`: the reason if it reports none."""

    def __init__(self) -> None:
        self.unavailable = ""
        self._socket: socket.socket | None = None
        if not hasattr(socket, "AF_NETLINK"):
            self.unavailable = "no process events on this system"
            return
        try:
            made = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, NETLINK_CONNECTOR)
            self._socket = made
            made.bind((0, CN_IDX_PROC))
            self._attach(made)
            made.setblocking(False)
            request = struct.pack("=I", PROC_CN_MCAST_LISTEN)
            message = struct.pack("=IIIIHH", CN_IDX_PROC, CN_VAL_PROC, 0, 0, len(request), 0) + request
            made.send(struct.pack("=IHHII", 16 + len(message), 3, 0, 0, os.getpid()) + message)
        except OSError as error:
            self.unavailable = f"process events: {error.strerror}"
            self.close()

    def _attach(self, made: socket.socket) -> None:
        import ctypes

        program = ctypes.create_string_buffer(_filter())
        described = struct.pack("@HP", 6, ctypes.addressof(program))
        made.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, described)

    def read(self) -> list[tuple[int, int, int]]:
        """(pid, pid of its parent or 0, wait status) of each process that ended since the last call."""
        found = []
        while self._socket is not None:
            try:
                data = self._socket.recv(4096)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:  # there were more than fit
                continue
            if len(data) < EXIT_CODE_OFFSET + 4 or struct.unpack_from("=I", data, EVENT_AT)[0] != PROC_EVENT_EXIT:
                continue
            pid, group, status = struct.unpack_from("=iiI", data, EVENT_AT + 16)
            parent = struct.unpack_from("=i", data, EVENT_AT + 16 + 20)[0] if len(data) >= EVENT_AT + 16 + 24 else 0
            if pid == group and status:
                found.append((pid, parent, status))
        return found

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None
