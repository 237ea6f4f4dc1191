"""The extension of Jupyter Server: kernels start with a watch, and the reports on their deaths are served as pages.

    GET /forensics/deaths/NAME    the full report on one death, a page
    GET /forensics/api/deaths     the deaths of this server's kernels, the last first, as JSON

Both are below the server's base URL and need its log-in, as in a JupyterHub single-user server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import deque
from pathlib import Path
from typing import Any

from jupyter_client.provisioning import KernelProvisionerFactory
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1
from jupyter_server.utils import url_path_join
from tornado import web

from forensics.adapters.jupyter.message import facts_of_bundle
from forensics.adapters.jupyter.provisioner import PROVISIONER_NAME, ForensicsProvisioner
from forensics.capture.bundle import RUN_FILE, state_folder

PAGE = r"/forensics/deaths/([\w.-]+)"
API = "/forensics/api/deaths"
V1 = "v1.kernel.websocket.jupyter.org"  # the subprotocol of Lab and Notebook 7
PAGE_WAIT_S = 60.0  # for a report that was not ready when its death was reported
MAX_DEATHS = 100  # chosen by hand: the deaths that a page can list after a reload; the bundles have all of them
# A report needs its own styles and script, and nothing from other servers.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; sandbox allow-scripts allow-popups"
)


class Deaths:
    """The deaths that this server's provisioners reported; `last` has the newest first."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.last: deque[dict[str, Any]] = deque(maxlen=MAX_DEATHS)

    def link(self, bundle: str) -> str:
        """The URL of the report on a bundle."""
        return str(url_path_join(self.server.base_url, "forensics/deaths", bundle))

    def report_death(self, death: dict[str, Any]) -> None:
        """Record the death of a kernel; called from another thread."""
        self.server.io_loop.add_callback(self._keep, death)

    def _keep(self, death: dict[str, Any]) -> None:
        self.last.appendleft({k: v for k, v in death.items() if k not in ("html", "metadata")} | death["metadata"]["forensics"])
        self.server.log.warning("The kernel of %s died: %s", death["notebook"], death["error"])
        if death.get("fault"):
            self.server.log.warning("forensics: the report is missing: %s", death["fault"])


class DeathsHandler(APIHandler):  # type: ignore[misc]
    """The list of deaths."""

    @web.authenticated  # type: ignore[untyped-decorator]
    async def get(self) -> None:
        """Answer {"deaths": [...]}, the last first."""
        self.finish(json.dumps({"deaths": list(self.settings["forensics_deaths"].last)}))


class ReportHandler(JupyterHandler):  # type: ignore[misc]
    """One report as a page."""

    @web.authenticated  # type: ignore[untyped-decorator]
    async def get(self, name: str) -> None:
        """Answer the page; 404 if the bundle is gone."""
        bundle = Path(state_folder(), name)
        path = bundle / "report.html"
        if re.fullmatch(r"\w[\w.-]*", name) and not path.is_file() and (bundle / RUN_FILE).is_file():
            await asyncio.to_thread(ForensicsProvisioner.analysis.of, facts_of_bundle(str(bundle)), PAGE_WAIT_S)
        if not re.fullmatch(r"\w[\w.-]*", name) or not path.is_file():
            raise web.HTTPError(404, f"there is no report {name} any more; old ones are removed")
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.set_header("Content-Security-Policy", POLICY)
        self.finish(await asyncio.to_thread(path.read_bytes))


def with_request_notes(connection: Any) -> Any:
    """A subclass of the websocket class `connection` that reports each request of a browser to the kernel's watch."""

    def handle_incoming_message(self: Any, message: Any) -> None:
        """As the connection does; note the request before it goes to the kernel."""
        with contextlib.suppress(Exception):  # the connection itself reports a message that cannot be read
            watch = getattr(self.kernel_manager.provisioner, "watch", None)
            if watch is not None and (found := _request(message, self.subprotocol)):
                watch.cell.requested(*found)
        connection.handle_incoming_message(self, message)

    return type(connection.__name__, (connection,), {"handle_incoming_message": handle_incoming_message})


def _request(message: Any, subprotocol: str) -> tuple[dict[str, Any], str] | None:
    """Header and code of an execute_request; None for any other message."""
    if subprotocol == V1:
        channel, parts = deserialize_msg_from_ws_v1(message)
        if channel != "shell" or b"execute_request" not in bytes(parts[0]):
            return None
        header, content = json.loads(bytes(parts[0])), json.loads(bytes(parts[3]))
    else:
        if not isinstance(message, str) or "execute_request" not in message:
            return None
        found = json.loads(message)
        header, content = found["header"], found["content"]
    return (header, str(content["code"])) if header["msg_type"] == "execute_request" else None


def load_extension(server: Any) -> None:
    """Enable the extension in `server`, a ServerApp. Kernels whose specification names another provisioner keep that one."""
    deaths = Deaths(server)
    ForensicsProvisioner.server = deaths
    base = server.base_url
    server.web_app.settings["forensics_deaths"] = deaths
    server.web_app.add_handlers(".*$", [(url_path_join(base, PAGE), ReportHandler), (url_path_join(base, API), DeathsHandler)])
    factory = KernelProvisionerFactory.instance(parent=server.kernel_manager)
    if factory.default_provisioner_name not in ("local-provisioner", PROVISIONER_NAME):
        server.log.info("forensics: kernels are started by %s and are not watched", factory.default_provisioner_name)
        return
    factory.default_provisioner_name = PROVISIONER_NAME
    settings = server.web_app.settings
    settings["kernel_websocket_connection_class"] = with_request_notes(settings["kernel_websocket_connection_class"])
    try:
        ForensicsProvisioner.analysis.warm()
    except OSError as error:
        server.log.warning("forensics: no process for the analysis can be started: %s", error)
