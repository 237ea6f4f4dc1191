"""Opens kernels of the server, runs cells that work, raise and warn, restarts one kernel and leaves both."""

import json
import time
import urllib.request

from jupyter_client import BlockingKernelClient

BASE, KEY = "http://127.0.0.1:8888/api", {"Authorization": "token x", "Content-Type": "application/json"}


def ask(path: str, method: str = "GET", data: object = None) -> object:
    request = urllib.request.Request(f"{BASE}{path}", json.dumps(data).encode() if data else None, KEY, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


kernels = [ask("/kernels", "POST", {"name": "python3"})["id"] for _ in range(2)]  # type: ignore[index]
for kernel in kernels:
    client = BlockingKernelClient()
    import glob

    client.load_connection_file(glob.glob(f"/home/user/.local/share/jupyter/runtime/kernel-{kernel}.json")[0])
    client.start_channels()
    client.wait_for_ready(timeout=30)
    for cell in (
        "import numpy as np; print(np.ones(3))",
        "1/0",
        "import warnings; warnings.warn('old')",
        "undefined_name",
        "print('done')",
    ):
        client.execute_interactive(cell, timeout=30, allow_stdin=False, output_hook=lambda _message: None)
ask(f"/kernels/{kernels[0]}/interrupt", "POST")
ask(f"/kernels/{kernels[0]}/restart", "POST")
time.sleep(2)
ask(f"/kernels/{kernels[1]}", "DELETE")
