"""Kernels of a kernel.json that `python -m forensics.adapters.jupyter install` writes, started as VS Code starts them.

Its client uses nothing of Jupyter's: it fills the ports into a connection file, starts `argv`, speaks ZMQ under a routing id that
is not its session, and ends a kernel by SIGTERM to the descendants of the process, and then to the process.
"""

import hashlib
import hmac
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipykernel", reason="needs ipykernel")
zmq = pytest.importorskip("zmq", reason="needs pyzmq")

from forensics.adapters.jupyter.__main__ import install, wrapped  # noqa: E402

pytestmark = [pytest.mark.seconds, pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")]
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
WAIT_S = 200


class Raw:
    """A kernel of the specification in `folder` and a client on its ports."""

    def __init__(self, folder: Path, work: Path) -> None:
        held = [socket.create_server(("127.0.0.1", 0)) for _ in CHANNELS]
        ports = {f"{name}_port": one.getsockname()[1] for name, one in zip(CHANNELS, held, strict=True)}
        for one in held:
            one.close()
        self.connection = {
            "ip": "127.0.0.1",
            "transport": "tcp",
            "key": uuid.uuid4().hex,
            "signature_scheme": "hmac-sha256",
            **ports,
        }
        path = work / f"kernel-v3{uuid.uuid4().hex}.json"
        path.write_text(json.dumps(self.connection))
        argv: list[str] = json.loads((folder / "kernel.json").read_text())["argv"]
        at = next(i for i, word in enumerate(argv) if "{connection_file}" in word)
        argv[at] = argv[at].replace("{connection_file}", str(path))
        self.process = subprocess.Popen(argv, cwd=work, stdout=subprocess.DEVNULL, stderr=(work / "stderr").open("ab"))
        self.context, self.session = zmq.Context(), uuid.uuid4().hex
        self.sockets = {
            name: self.context.socket(zmq.SUB if name == "iopub" else zmq.DEALER) for name in ("shell", "control", "iopub")
        }
        routing_id = uuid.uuid4().hex.encode()
        for name, one in self.sockets.items():
            one.linger = 0
            if name == "iopub":
                one.subscribe(b"")
            else:
                one.routing_id = routing_id
            one.connect(f"tcp://127.0.0.1:{ports[f'{name}_port']}")
        until = time.monotonic() + WAIT_S
        while (
            self.wait(
                lambda m: m["parent"].get("msg_type") == "kernel_info_request", 0.5, send=("shell", "kernel_info_request", {})
            )
            is None
        ):
            assert time.monotonic() < until

    def send(self, channel: str, kind: str, content: dict[str, Any]) -> str:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "username": "",
            "session": self.session,
            "version": "5.3",
            "date": "",
        }
        parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        signature = hmac.new(self.connection["key"].encode(), b"".join(parts), hashlib.sha256).hexdigest()
        self.sockets[channel].send_multipart([b"<IDS|MSG>", signature.encode(), *parts])
        return str(header["msg_id"])

    def run(self, code: str) -> str:
        more = {"silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": False}
        return self.send("shell", "execute_request", {"code": code, **more})

    def wait(
        self,
        wanted: Callable[[dict[str, Any]], bool],
        within_s: float = WAIT_S,
        send: tuple[str, str, dict[str, Any]] | None = None,
    ) -> dict[str, Any] | None:
        """The next published message that is `wanted`."""
        if send:
            self.send(*send)
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            if self.sockets["iopub"].poll(100):
                frames = self.sockets["iopub"].recv_multipart()
                header, parent, metadata, content = (json.loads(f) for f in frames[frames.index(b"<IDS|MSG>") + 2 :][:4])
                message = {"type": header["msg_type"], "parent": parent, "metadata": metadata, "content": content}
                if wanted(message):
                    return message
        return None

    def busy(self, code: str) -> str:
        """Run a cell; its message, as soon as it runs."""
        cell = self.run(code + "\n")
        assert self.wait(lambda m: m["type"] == "stream" and m["parent"]["msg_id"] == cell)
        return cell

    def dispose(self) -> None:
        """As VS Code ends a kernel."""
        for pid in self.descendants():
            os.kill(pid, signal.SIGTERM)
        self.process.terminate()

    def descendants(self) -> list[int]:
        """The processes that this one started, and theirs."""
        found = [self.process.pid]
        for pid in found:
            found += [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return found[1:]

    def close(self) -> None:
        if self.process.poll() is None:
            self.dispose()
            self.process.wait(WAIT_S)
        self.context.destroy(linger=0)


@pytest.fixture(scope="module")
def specification(_own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that `install` writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield Path(install("python3", False))


@pytest.fixture
def kernel(specification: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Raw]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    raw = Raw(specification, tmp_path)
    yield raw
    raw.close()


def test_a_client_that_only_starts_argv_reads_in_the_cell_why_its_kernel_died(kernel: Raw, tmp_path: Path) -> None:
    wait = f"import os, time\nprint(1, flush=True)\nwhile not os.path.exists('{tmp_path}/go'):\n    time.sleep(0.05)\n"
    cell = kernel.busy(f"# load\nimport ctypes\n{wait}ctypes.string_at(0)")
    (tmp_path / "go").touch()
    shown = kernel.wait(lambda m: m["type"] == "display_data")
    assert shown is not None
    assert shown["parent"]["msg_id"] == cell
    told = shown["content"]["metadata"]["forensics"]
    assert (told["cause"], told["line"], told["code"]) == ("process.segfault", 7, "ctypes.string_at(0)")
    failed = kernel.wait(lambda m: m["type"] == "error")
    assert failed is not None
    assert (failed["parent"]["msg_id"], failed["content"]["ename"]) == (cell, "KernelDied")
    assert kernel.wait(lambda m: m["type"] == "status" and m["content"]["execution_state"] == "idle") is not None
    assert kernel.process.wait(WAIT_S) == 128 + signal.SIGSEGV
    assert Path(told["bundle"], "report.html").is_file()
    assert "Fatal Python error" in Path(told["bundle"], "job.log").read_text()


def test_an_interrupt_is_a_message_and_the_kernel_goes_on(kernel: Raw, tmp_path: Path) -> None:
    kernel.busy("import time; print(1, flush=True); time.sleep(600)")
    kernel.send("control", "interrupt_request", {})
    failed = kernel.wait(lambda m: m["type"] == "error")
    assert failed is not None
    assert failed["content"]["ename"] == "KeyboardInterrupt"
    kernel.run("from forensics.capture.guard import default_name\nprint(default_name())")
    named = kernel.wait(lambda m: m["type"] == "stream")
    assert named is not None
    (told,) = (tmp_path / "state" / "forensics").iterdir()
    assert (
        json.loads((told / "run.json").read_text())["command"]["name"] == named["content"]["text"].strip()
    )  # what %why asks for


@pytest.mark.parametrize("end", ["disposed", "asked by message", "terminated"])
def test_an_end_that_the_user_requested_is_not_reported_and_leaves_no_bundle(end: str, kernel: Raw, tmp_path: Path) -> None:
    kernel.busy("print(1)" if end == "asked by message" else "import time; print(1, flush=True); time.sleep(600)")
    if end == "disposed":
        kernel.dispose()
    elif end == "terminated":
        kernel.process.terminate()
    else:
        kernel.send("control", "shutdown_request", {"restart": False})
    kernel.process.wait(WAIT_S)
    assert kernel.wait(lambda m: m["type"] == "display_data", 0.1) is None
    folder, until = tmp_path / "state" / "forensics", time.monotonic() + WAIT_S
    while list(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list(folder.iterdir())


def test_a_kernel_does_not_outlive_its_launcher(kernel: Raw) -> None:
    (pidfd,) = (os.pidfd_open(pid) for pid in kernel.descendants() if b"ipykernel" in Path(f"/proc/{pid}/cmdline").read_bytes())
    kernel.process.kill()
    assert select.select([pidfd], [], [], WAIT_S)[0]
    os.close(pidfd)


def test_a_kernel_of_another_language_keeps_its_interrupt_mode() -> None:
    kernel = {
        "argv": ["R", "-e", "start({resource_dir})", "{connection_file}"], "display_name": "R", "language": "R", "interrupt_mode": "signal",
        "metadata": {"kernel_provisioner": {"provisioner_name": "forensics-provisioner"}, "x": 1},
    }  # fmt: skip
    found = wrapped(kernel, "/kernels/ir")
    assert found["argv"][:4] == [sys.executable, "-m", "forensics.adapters.jupyter.launcher", "{connection_file}"]
    assert found["argv"][4:] == ["R", "-e", "start(/kernels/ir)", "@connection_file@"]
    assert found["metadata"] == {"kernel_provisioner": {"provisioner_name": "local-provisioner"}, "x": 1}
    assert found["interrupt_mode"] == "signal"
