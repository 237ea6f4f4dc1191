"""The extension of Jupyter Server, with a server that is set up and not started. Skipped where there is none."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("jupyter_server", reason="needs jupyter_server")

from forensics.adapters.jupyter import _jupyter_server_extension_points, server


def test_the_extension_is_the_one_that_the_configuration_names(pytestconfig: pytest.Config) -> None:
    path = pytestconfig.rootpath / "etc" / "jupyter" / "jupyter_server_config.d" / "forensics.json"
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
