"""The extension of Jupyter Server, and a server that runs with it. Skipped where there is none."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jupyter_server", reason="needs jupyter_server")

from forensics.adapters.jupyter import _jupyter_server_extension_points, server


def test_the_extension_is_the_one_that_the_configuration_names(pytestconfig: pytest.Config) -> None:
    """The file has the name to which `jupyter server extension disable` writes: in another one the setting would stay."""
    [path] = (pytestconfig.rootpath / "etc" / "jupyter" / "jupyter_server_config.d").iterdir()
    assert [path.stem] == [point["module"] for point in _jupyter_server_extension_points()]
    named = json.loads(path.read_text())["ServerApp"]["jpserver_extensions"]
    assert named == {point["module"]: True for point in _jupyter_server_extension_points()}


@pytest.mark.parametrize("subprotocol", ["", server.V1])
def test_a_browsers_request_is_noted_and_passed_on(subprotocol: str) -> None:
    from jupyter_server.services.kernels.connection.base import serialize_msg_to_ws_v1

    noted, passed = [], []

    class Connection:
        def handle_incoming_message(self, message: object) -> None:
            passed.append(message)

    connection = server.with_request_notes(Connection)()
    cell = SimpleNamespace(requested=lambda header, code: noted.append((header["msg_id"], code)))
    connection.kernel_manager = SimpleNamespace(provisioner=SimpleNamespace(watch=SimpleNamespace(cell=cell)))
    connection.subprotocol = subprotocol
    header, content = {"msg_id": "1", "msg_type": "execute_request"}, {"code": "f()"}
    parts = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
    text = json.dumps({"channel": "shell", **parts})
    packed = serialize_msg_to_ws_v1(parts, "shell", lambda part: json.dumps(part).encode())
    messages = [packed if subprotocol else text, b"\x00" if subprotocol else "nonsense"]
    for message in messages:
        connection.handle_incoming_message(message)
    assert noted == [("1", "f()")]
    assert passed == messages


TOKEN = "a-token-of-the-tests"
BASE = "/user/ada/"  # as a Hub has it for each user


def free_port() -> int:
    """A port that nobody has at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


class Running:
    """A Jupyter server with the extension, and requests to it."""

    def __init__(self, folder: Path) -> None:
        env = os.environ | {"XDG_STATE_HOME": str(folder), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
        extension = '--ServerApp.jpserver_extensions={"forensics.adapters.jupyter": True}'
        # With --port=0 servers up to 2.14 at least write `localhost:0` down as their address, whatever port they have.
        options = [
            "--no-browser",
            "--allow-root",
            f"--port={free_port()}",
            f"--IdentityProvider.token={TOKEN}",
            extension,
            f"--ServerApp.base_url={BASE}",
        ]
        self.log, self.runtime = folder / "server.log", folder / "runtime"
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "jupyter_server", *options]
            self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        self.url = str(self.until(self._started))

    def _started(self) -> str:
        return next((json.loads(p.read_text())["url"] for p in self.runtime.glob("jpserver-*.json")), "")

    def until(self, found: Any) -> Any:
        last = time.monotonic() + 200
        while not (answer := found()):
            assert time.monotonic() < last and self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        return answer

    def ask(self, path: str, data: bytes | None = None, token: str = TOKEN) -> tuple[int, dict[str, str], str]:
        request = urllib.request.Request(f"{self.url}{path}", data, {"Authorization": f"token {token}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, {}, error.read().decode()

    @contextlib.contextmanager
    def executing(self, code: str) -> Iterator[None]:
        """Run `code` in the kernel that there is, as a client beside the browser does."""
        from jupyter_client.blocking.client import BlockingKernelClient

        (connection,) = self.runtime.glob("kernel-*.json")
        client = BlockingKernelClient(connection_file=str(connection))
        client.load_connection_file()
        client.start_channels()
        client.execute(code)  # waits in the client until the kernel is there
        yield
        client.stop_channels()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.process.terminate()
    made.process.wait(60)


@pytest.mark.seconds
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_server_tells_of_a_kernels_death_and_shows_the_report_to_who_is_logged_in(running: Running) -> None:
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    assert running.ask("forensics/api/deaths")[::2] == (200, '{"deaths": []}')
    assert running.ask("api/kernels", b'{"name": "python3"}')[0] == 201
    with running.executing("import ctypes; ctypes.string_at(0)"):
        (death,) = running.until(lambda: json.loads(running.ask("forensics/api/deaths")[2])["deaths"])
    assert "signal 11 (SIGSEGV)" in json.dumps(death)
    assert death["link"] == f"{BASE}forensics/deaths/{Path(death['bundle']).name}"
    assert "died:" in running.log.read_text()
    status, headers, page = running.ask(death["link"].removeprefix(BASE))
    assert (status, page[:15]) == (200, "<!DOCTYPE html>")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert running.ask("forensics/deaths/..%2F..%2Fetc")[0] == 404
    assert running.ask("forensics/deaths/gone")[0] == 404
    assert running.ask("forensics/api/deaths", token="wrong")[0] == 403
