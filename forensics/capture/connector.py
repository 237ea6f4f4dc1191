"""Receive the kernel's process events, as root: the ends of processes that are too short-lived to be found otherwise.

A filter in the kernel passes only ends with a status other than 0, so a host that starts thousands of processes costs
nothing. (include/uapi/linux/cn_proc.h: struct proc_event, PROC_EVENT_EXIT; parent fields since Linux 4.18.)
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct

# Include/uapi/linux/netlink.h, connector.h, cn_proc.h.
NETLINK_CONNECTOR, CN_IDX_PROC, CN_VAL_PROC, PROC_CN_MCAST_LISTEN = 11, 1, 1, 1
PROC_EVENT_EXIT = 0x80000000  # the same cn_proc.h
SO_ATTACH_FILTER = 26  # include/uapi/asm-generic/socket.h; Python's `socket` does not have it
HEADER_BYTES = 16 + 20  # nlmsghdr, cn_msg
EVENT_AT, EXIT_CODE_OFFSET = (
    HEADER_BYTES,
    HEADER_BYTES + 16 + 8,
)  # proc_event: what, cpu, timestamp (8), then pid, tgid, exit_code, signal, ppid, ptgid


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
