"""Answer in place of a dead kernel, on its ports, until the next kernel is started.

A client's sockets reconnect by themselves within 0.2 s (ZMQ_RECONNECT_IVL, 100 ms, and a random delay of at most that). So in
every client - Lab, Notebook, a terminal, nbclient - a message that is published here appears in the cell that was running.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import zmq
from jupyter_client.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SERVED_S = 30.0  # chosen by hand: after this time without a request the client has finished
RECONNECTED_S = 0.25  # within this time every running client has reconnected
POLL_S = 0.02  # chosen by hand: a client that waits does not notice such a short time


class StandIn:
    """Sockets on the ports of `connection`, a kernel's connection_info. Raises zmq.ZMQError if they are still in use. `reach_s`:
    how long to wait for a client; one in a busy process needs some time to reconnect."""

    def __init__(self, context: Any, connection: Mapping[str, Any], reach_s: float) -> None:
        self.reach_s = reach_s
        self.session = Session(key=encoded(connection["key"]), signature_scheme=connection["signature_scheme"])
        self.started = time.monotonic()
        self._sockets: list[Any] = []
        try:
            self.publisher = self._bind(context, zmq.XPUB, connection, "iopub_port")
            self.shell = self._bind(context, zmq.ROUTER, connection, "shell_port")
        except zmq.ZMQError:
            self.close()
            raise
        self.shell.router_mandatory = 1

    def _bind(self, context: Any, kind: int, connection: Mapping[str, Any], port: str) -> Any:
        socket = context.socket(kind)
        self._sockets.append(socket)
        socket.linger = 200
        if connection.get("curve_secretkey"):
            socket.curve_server = True
            socket.curve_secretkey = encoded(connection["curve_secretkey"])
            socket.curve_publickey = encoded(connection["curve_publickey"])
        socket.bind(address(connection, port))
        return socket

    def publish(self, messages: Sequence[tuple[str, dict[str, Any], dict[str, Any]]], request: dict[str, Any]) -> None:
        """Send messages (type, content, metadata) as answers to `request`, after the clients had time to reconnect."""
        reached = self.publisher.poll(int(self.reach_s * 1000))
        rest = self.started + RECONNECTED_S - time.monotonic()
        if reached and rest > 0:
            time.sleep(rest)
        while self.publisher.poll(0):
            self.publisher.recv()
        for kind, content, metadata in messages:
            self.session.send(self.publisher, kind, content, request, metadata=metadata, ident=kind.encode())

    def reply(self, content: dict[str, Any], request: dict[str, Any]) -> None:
        """Answer the request itself with an error, and publish that the cell has ended. The answer does not reach a client that
        has not reconnected, or whose socket has another name than its session, such as VS Code's."""
        until = time.monotonic() + self.reach_s
        while time.monotonic() < until:
            with contextlib.suppress(zmq.ZMQError):
                self.session.send(self.shell, "execute_reply", content, request, ident=str(request.get("session", "")).encode())
                break
            time.sleep(POLL_S)
        self.session.send(self.publisher, "status", {"execution_state": "idle"}, request, ident=b"status")

    def serve(self, error: dict[str, Any], kernel_info: dict[str, Any], left: threading.Event) -> None:
        """Answer the client's next requests until `left` is set, or no more request comes.

        Each further cell is answered with `error`, a request for the kernel's description with `kernel_info`, if that is known.
        Papermill sends one before it reports a failure; a client that continues after errors gets to the end of the notebook.
        """
        until = time.monotonic() + SERVED_S
        while time.monotonic() < until and not left.is_set():
            if not self.shell.poll(int(POLL_S * 1000)):
                continue
            until = time.monotonic() + SERVED_S
            try:
                ident, parts = self.session.feed_identities(self.shell.recv_multipart())
                request = self.session.deserialize(parts)
                self._answer(request, ident, error, kernel_info)
            except (zmq.ZMQError, ValueError, KeyError):  # no message of this protocol: it gets no answer
                continue

    def _answer(self, request: dict[str, Any], ident: list[bytes], error: dict[str, Any], kernel_info: dict[str, Any]) -> None:
        kind = request["header"]["msg_type"]
        if kind == "execute_request":
            self.session.send(self.publisher, "error", error, request, ident=b"error")
            self.session.send(
                self.shell, "execute_reply", {"status": "error", "execution_count": None, **error}, request, ident=ident
            )
        elif kind == "kernel_info_request" and kernel_info:
            self.session.send(self.shell, "kernel_info_reply", kernel_info, request, ident=ident)
        self.session.send(self.publisher, "status", {"execution_state": "idle"}, request, ident=b"status")

    def close(self) -> None:
        """Free the ports."""
        for socket in self._sockets:
            socket.close()
        self._sockets = []


def address(connection: Mapping[str, Any], port: str) -> str:
    """tcp://127.0.0.1:50123, or ipc://PATH-3"""
    joint = ":" if connection["transport"] == "tcp" else "-"
    return f"{connection['transport']}://{connection['ip']}{joint}{connection[port]}"


def connected(context: Any, kind: int, connection: Mapping[str, Any], port: str) -> Any:
    """A socket of a client, connected to one port of the kernel of `connection`."""
    socket = context.socket(kind)
    socket.linger = 0
    if connection.get("curve_publickey"):
        socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
        socket.curve_serverkey = encoded(connection["curve_publickey"])
    socket.connect(address(connection, port))
    return socket


def subscriber(context: Any, connection: Mapping[str, Any], topics: Sequence[bytes]) -> Any:
    """A socket that receives the published messages of the kernel of `connection`."""
    socket = connected(context, zmq.SUB, connection, "iopub_port")
    for topic in topics:
        socket.subscribe(topic)
    return socket


def encoded(text: str | bytes) -> bytes:
    """A key of a connection as bytes."""
    return text if isinstance(text, bytes) else os.fsencode(text)
