"""Start a kernel as jupyter_client does, with a watch that reports why it died.

Requested ends of a kernel - shutdown, restart, culling, the server's end - pass through this class, so they are known and not
reported. After a death `poll` returns "alive" until the reason is shown, so that the message comes before the restart, or before
nbclient gives up. (jupyter_client: "Customizing the kernel's runtime environment".)
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_client.provisioning import LocalProvisioner

from forensics.adapters.jupyter.kernel_watch import STDERR, DeathReporter, Kernel, KernelWatch, Timeouts, new_bundle
from forensics.adapters.jupyter.message import Analysis

if TYPE_CHECKING:
    from collections.abc import Callable

SERVER_AGAIN = "Run the cells above this one again (Run > Run All Above Selected Cell)"  # the server restarts the kernel
PROVISIONER_NAME = "forensics-provisioner"
SERVER_WAITS = Timeouts(capture_s=5, report_s=15, clients_s=5)  # a user waits for the restart: after that, less is shown
PIPELINE_WAITS = Timeouts(capture_s=60, report_s=20, clients_s=60)  # what runs the notebook waits for it
MAX_REPORTING_S = sum(PIPELINE_WAITS)  # a death that was not reported by then is never reported


class ForensicsProvisioner(LocalProvisioner):  # type: ignore[misc]
    """A LocalProvisioner that reports the death of its kernels. `server`: set by the extension of Jupyter Server, else None."""

    analysis: ClassVar[Analysis] = Analysis()
    server: ClassVar[Any] = None
    watch: KernelWatch | None = None
    _dead_since: float | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start the kernel. Its stderr goes through a file, which gets the stacks of a crash."""
        self._set_left()
        if self.server is None and self.parent is not None:
            self.parent.client_factory = _noting(self.parent.client_factory, lambda: self.watch)
        try:
            bundle = await asyncio.to_thread(new_bundle, self._name(kwargs), self.kernel_id or "")
        except OSError as error:
            print(f"forensics: kernels are not watched: {error.filename}: {error.strerror}", file=sys.stderr)
            return await super().launch_kernel(cmd, **kwargs)
        kwargs["env"] = {"PYTHONFAULTHANDLER": "1", **(kwargs.get("env") or os.environ)}
        with Path(bundle, STDERR).open("ab") as file:
            connection = await super().launch_kernel(cmd, **({"stderr": file} | kwargs))
        if hasattr(os, "pidfd_open"):
            kernel = Kernel(self.process, dict(connection), bundle, self._name(kwargs), self.pgid)
            self.watch = KernelWatch(kernel, self._reporter())
            self.watch.start()
        return connection

    def _name(self, kwargs: dict[str, Any]) -> str:
        """The path of the notebook, if known, else the kernel's working directory."""
        given = (kwargs.get("env") or {}).get("JPY_SESSION_NAME", "")
        return str(given or kwargs.get("cwd") or Path.cwd())

    def _reporter(self) -> DeathReporter:
        restarts = getattr(self.parent, "_restarter", None) is not None or self.server is not None
        link = self.server.link if self.server is not None else lambda _: ""
        notify = self.server.report_death if self.server is not None else lambda _: None
        again = SERVER_AGAIN if self.server is not None else ""
        return DeathReporter(self.analysis, SERVER_WAITS if restarts else PIPELINE_WAITS, link, not restarts, again, notify)

    async def poll(self) -> int | None:
        """The exit status; None while it lives, and while its death is being reported."""
        if self.watch is not None and not self.watch.captures.is_set():
            return None  # the capture needs the process until it has read its status
        status: int | None = await super().poll()  # safe: reaps the kernel alone, and only when its watch has its status
        if status is None or self.watch is None or self.watch.done.is_set():
            return status
        self._dead_since = self._dead_since or time.monotonic()
        return None if time.monotonic() - self._dead_since < MAX_REPORTING_S else status

    async def shutdown_requested(self, restart: bool = False) -> None:
        """Note that a message asked the kernel to end."""
        self._ask(signal.SIGTERM)
        await super().shutdown_requested(restart=restart)

    async def send_signal(self, signum: int) -> None:
        """Send a signal for the user or the server."""
        self._ask(signum)
        await super().send_signal(signum)  # safe: jupyter_client sends it to the kernel that it started, if it still runs

    async def kill(self, restart: bool = False) -> None:
        """End the kernel at once."""
        self._ask(signal.SIGKILL)
        await super().kill(restart=restart)

    async def terminate(self, restart: bool = False) -> None:
        """Ask the kernel to end by a signal."""
        self._ask(signal.SIGTERM)
        await super().terminate(restart=restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Clean up after the kernel has ended."""
        self._set_left()
        await super().cleanup(restart=restart)

    def _ask(self, signum: int) -> None:
        if self.watch is not None:
            self.watch.ask(signum)

    def _set_left(self) -> None:
        if self.watch is not None:
            self.watch.left.set()
        self.watch, self._dead_since = None, None


def _noting(client: Any, watch: Callable[[], KernelWatch | None]) -> Any:
    """A subclass of the client class `client` that reports each request, and the kernel's info, to the kernel's watch."""
    if hasattr(client, "forensics_watch"):
        client.forensics_watch = staticmethod(watch)
        return client

    def execute(self: Any, code: str, *args: Any, **kwargs: Any) -> Any:
        """As the client does; note the request."""
        found = client.execute(self, code, *args, **kwargs)
        if isinstance(found, str) and (now := self.forensics_watch()) is not None:
            header = self.session.msg_header("execute_request") | {"msg_id": found}
            now.cell.requested(json.loads(json.dumps(header, default=str)), code)
        return found

    def _handle_kernel_info_reply(self: Any, message: dict[str, Any]) -> None:
        """As the client does; keep the answer."""
        client._handle_kernel_info_reply(self, message)
        if (now := self.forensics_watch()) is not None:
            now.kernel_info = dict(message["content"])

    members = {"execute": execute, "_handle_kernel_info_reply": _handle_kernel_info_reply, "forensics_watch": staticmethod(watch)}
    return type(client.__name__, (client,), members)
