"""Starts a Jupyter server, runs cells in a session through its websocket as a browser does, and leaves jupyter.log.

Usage: notebook_driver.py CELLS.json SECONDS KERNEL [idle|restart|shutdown]. Waits SECONDS after a
cell that got no answer, or at the end when `idle`; `restart` restarts the kernel before it shuts down.
"""

import json
import pathlib
import subprocess
import sys
import time
import urllib.request
import uuid

import websocket

ROOT = "http://127.0.0.1:8888"
TOKEN = "0" * 48


def call(method: str, path: str, body: object = None) -> dict:
    """Call the server's REST interface."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(ROOT + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.loads(answer.read() or b"{}")


def execute(socket: websocket.WebSocket, code: str, seconds: float) -> bool:
    """Execute a cell; True when the kernel answered within `seconds`, False when it is gone."""
    names = {"username": "user", "session": "s", "version": "5.3"}
    header = names | {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request"}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    socket.send(json.dumps(message))
    socket.settimeout(seconds)
    try:
        while True:
            reply = json.loads(socket.recv())
            if reply["msg_type"] == "execute_reply":
                return True
            if reply["msg_type"] == "status" and reply["content"]["execution_state"] in ("restarting", "dead"):
                return False
    except websocket.WebSocketException:
        return False


def main() -> None:
    """Run the cells of sys.argv[1]."""
    cells, seconds = json.loads(pathlib.Path(sys.argv[1]).read_text()), float(sys.argv[2])
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    made = [empty | {"id": f"c{number}", "source": cell} for number, cell in enumerate(cells)]
    metadata = {"kernelspec": {"name": sys.argv[3], "display_name": "Python 3"}}
    notebook = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    pathlib.Path("train.ipynb").write_text(json.dumps(notebook))
    with open("jupyter.log", "wb") as log:  # noqa: PTH123
        command = ["jupyter", "server", "--no-browser", "--port=8888", f"--IdentityProvider.token={TOKEN}"]
        server = subprocess.Popen(command, stdout=log, stderr=log)
    for _ in range(200):
        try:
            call("GET", "/api/status")
            break
        except OSError:
            time.sleep(0.1)
    call("GET", "/api/contents/train.ipynb")
    wanted = {"name": "train.ipynb", "path": "train.ipynb", "type": "notebook", "kernel": {"name": sys.argv[3]}}
    try:
        kernel = call("POST", "/api/sessions", wanted)["kernel"]["id"]
        address = ROOT.replace("http", "ws") + f"/api/kernels/{kernel}/channels?session_id=s"
        socket = websocket.create_connection(address, header=[f"Authorization: token {TOKEN}"], timeout=60)
        for cell in cells:
            if not execute(socket, cell, 60):
                time.sleep(seconds)
                break
            call("PUT", "/api/contents/train.ipynb", {"type": "notebook", "content": notebook})
    except OSError as trouble:
        print("the server answered:", trouble)
        time.sleep(seconds)
    if "idle" in sys.argv:
        time.sleep(seconds)
    if "restart" in sys.argv:
        call("POST", f"/api/kernels/{kernel}/interrupt")
        call("POST", f"/api/kernels/{kernel}/restart")
        time.sleep(2)
    if "shutdown" in sys.argv or "restart" in sys.argv:
        socket.close()
        call("POST", "/api/shutdown")
        server.wait(30)
    else:
        pathlib.Path("jupyter.log").rename("jupyter-crash.log")
        pathlib.Path("jupyter.log").write_bytes(pathlib.Path("jupyter-crash.log").read_bytes())
        server.kill()


if __name__ == "__main__":
    main()
