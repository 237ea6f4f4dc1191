"""Ends kernels of a real Jupyter Server in 12 ways that nobody asked for and in 8 that the user asked for, and reads the cell.

    python benchmarks/kernel_ends.py [--rounds 3] [--only NAME]

Needs training-forensics[jupyter], websocket-client, a C compiler, and root for a memory cgroup of version 1 of its own. For each
end it prints what the cell says, the seconds from the death to the message, and whether the message came before the restart.
The last lines sum up; the server's longest pause of its loop around the deaths is measured inside the server.
"""

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.request
import uuid
from pathlib import Path

import websocket

TOKEN, CGROUPS = "measured", Path("/sys/fs/cgroup/memory")
LIMIT_BYTES = 300 << 20
FILL = "x = []\nfor _ in range(10000):\n    x.append(bytearray(5 << 20))\n"
WORKERS = "import multiprocessing as m, time\nps = [m.get_context('fork').Process(target=time.sleep, args=(60,)) for _ in range(2)]\n[p.start() for p in ps]\n"
ILLEGAL = "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(b'\\x0f\\x0b')\nctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()"
TRUNCATED = "import mmap\nf = open('mapped', 'w+b'); f.truncate(8192)\nm = mmap.mmap(f.fileno(), 8192); f.truncate(0)\nm[5000]"
NESTED = "import sys\nsys.setrecursionlimit(10**9)\na = []\nfor _ in range(10**6): a = [a]\nrepr(a)"
SPIN = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (3, 9))\nwhile True: pass"
# name -> (cell, what ends it from outside, words of which one is in the cell's message)
DEATHS = {
    "os._exit": ("import os; os._exit(7)", None, ["exit status 7"]),
    "segfault": ("import ctypes; ctypes.string_at(0)", None, ["segmentation fault"]),
    "abort": ("import ctypes; ctypes.CDLL(None).abort()", None, ["aborted itself"]),
    "memory limit": (FILL, None, ["memory limit"]),
    "memory limit, forked workers": (WORKERS + FILL, None, ["memory limit"]),
    "kill -9": ("import time; time.sleep(60)", signal.SIGKILL, ["stopped it"]),
    "kill -15": ("import time; time.sleep(60)", signal.SIGTERM, ["stopped it"]),
    "truncated mapping": (TRUNCATED, None, ["bus error", "Bus error", "SIGBUS"]),
    "native recursion": (NESTED, None, ["segmentation fault"]),
    "import of a broken module": ("import broken", None, ["segmentation fault"]),
    "CPU time limit": (SPIN, None, ["resource limit", "SIGXCPU", "limit of the process"]),
    "illegal instruction": (ILLEGAL, None, ["illegal instruction", "Illegal instruction", "instruction"]),
}
ASKED = (
    "quit()",
    "exit()",
    "restart",
    "restart of a busy kernel",
    "shutdown",
    "shutdown of a busy kernel",
    "interrupt",
    "culling",
)
BROKEN = "#include <Python.h>\nPyMODINIT_FUNC PyInit_broken(void) { *(volatile int *)0 = 1; return 0; }\n"


def queued_s() -> float:
    """How long this thread was ready and had no processor, since its start (the second number of schedstat)."""
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9


def serve(folder: str, port: str, extension: str) -> None:
    """A Jupyter Server that notes, in pauses.jsonl, how long its loop did not come round, each quarter of a second."""
    import asyncio

    from jupyter_server.serverapp import ServerApp

    async def beat() -> None:
        with Path(folder, "pauses.jsonl").open("w", buffering=1) as file:
            while True:
                until, worst, held, busy = time.monotonic() + 0.25, 0.0, 0.0, 0.0
                while time.monotonic() < until:
                    before, cpu, queued = time.monotonic(), time.thread_time(), queued_s()
                    await asyncio.sleep(0.001)
                    pause = time.monotonic() - before - 0.001
                    worst, held = max(worst, pause), max(held, pause - (queued_s() - queued))
                    busy = max(busy, time.thread_time() - cpu)
                file.write(json.dumps([time.time(), worst, held, busy]) + "\n")

    app = ServerApp.instance()
    app.initialize(
        [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}", "--allow-root",
         "--no-browser", f"--ServerApp.root_dir={folder}", "--MappingKernelManager.cull_idle_timeout=60", "--MappingKernelManager.cull_interval=2",
         "--MappingKernelManager.cull_connected=True",
         f"--ServerApp.jpserver_extensions={{'forensics.adapters.jupyter': {extension}}}"],
    )  # fmt: skip
    app.io_loop.add_callback(lambda: asyncio.ensure_future(beat()))
    app.start()


class Server:
    """A server of its own folder, cgroup and state folder."""

    def __init__(self, port: int, extension: bool = True) -> None:
        self.extension = extension
        self.folder = Path(tempfile.mkdtemp(prefix="kernel_ends"))
        self.url = f"http://127.0.0.1:{port}"
        self.group = CGROUPS / f"kernel-ends-{os.getpid()}"
        self._kernels()
        self.state = self.folder / "state"
        environment = os.environ | {"XDG_STATE_HOME": str(self.state), "JUPYTER_PATH": str(self.folder / "jupyter")}
        self.log = (self.folder / "server.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(self.folder), str(port), str(extension)],
            env=environment,
            stdout=self.log,
            stderr=self.log,
        )
        until = time.monotonic() + 500
        while time.monotonic() < until:
            try:
                self.ask("GET", "/api/status")
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit(f"no server; see {self.folder}/server.log")

    def _kernels(self) -> None:
        """A kernel in a memory cgroup of its own, and a module whose import crashes."""
        spec = self.folder / "jupyter" / "kernels" / "limited"
        spec.mkdir(parents=True)
        if os.geteuid() == 0 and CGROUPS.is_dir():
            self.group.mkdir()
            (self.group / "memory.limit_in_bytes").write_text(str(LIMIT_BYTES))
        script = f"echo $$ > {self.group}/cgroup.procs && exec {sys.executable} -m ipykernel_launcher -f $0"
        spec.joinpath("kernel.json").write_text(
            json.dumps({"argv": ["sh", "-c", script, "{connection_file}"], "display_name": "limited", "language": "python"})
        )
        source = self.folder / "broken.c"
        source.write_text(BROKEN)
        subprocess.run(
            ["cc", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}", source, "-o", self.folder / "broken.so"],
            check=True,
        )

    def ask(self, method: str, path: str, body: object = None) -> object:
        """An answer of the server's interface."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=200) as answer:
            data = answer.read()
        return json.loads(data) if data else None

    def deaths(self) -> list:
        """What the server told of."""
        if not self.extension:
            return []
        return self.ask("GET", "/forensics/api/deaths")["deaths"]

    def pauses(self, moments: list[float]) -> list[list[float]]:
        """The loop's pauses: seconds by the clock, without what it waited for a processor, and on one; in the 2 s behind each of `moments`; all where there are none."""
        rows = [json.loads(line) for line in (self.folder / "pauses.jsonl").read_text().splitlines()]
        return [r for r in rows if not moments or any(m - 0.3 < r[0] < m + 2 for m in moments)]

    def close(self) -> None:
        """End it and clean up."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.group.is_dir():
            time.sleep(0.5)
            self.group.rmdir()


class Kernel:
    """A kernel with a notebook's session and a browser's websocket."""

    def __init__(self, server: Server, spec: str) -> None:
        self.server = server
        name = f"{uuid.uuid4().hex[:6]}.ipynb"
        session = server.ask("POST", "/api/sessions", {"path": name, "name": name, "type": "notebook", "kernel": {"name": spec}})
        self.id, self.client = session["kernel"]["id"], uuid.uuid4().hex
        address = server.url.replace("http", "ws") + f"/api/kernels/{self.id}/channels?session_id={self.client}"
        self.socket = websocket.create_connection(address, header=[f"Authorization: token {TOKEN}"], timeout=200)
        self.messages: list[tuple[float, dict]] = []
        threading.Thread(target=self._read, daemon=True).start()
        self.run("import os; print(os.getpid())")
        found = self.wait(lambda m: m["msg_type"] == "stream", 60)
        self.pid = int(found[1]["content"]["text"])
        self.wait(
            lambda m: (
                m["msg_type"] == "status"
                and m["content"]["execution_state"] == "idle"
                and m["parent_header"].get("msg_type") == "execute_request"
            ),
            30,
        )

    def _read(self) -> None:
        try:
            while text := self.socket.recv():
                self.messages.append((time.monotonic(), json.loads(text)))
        except (OSError, websocket.WebSocketException):
            return

    def run(self, code: str) -> str:
        """Ask for a cell to be run; its message."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": "execute_request",
            "username": "",
            "session": self.client,
            "version": "5.3",
            "date": "",
        }
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        self.socket.send(
            json.dumps(
                {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content, "buffers": []}
            )
        )
        return header["msg_id"]

    def wait(self, wanted, seconds: float):
        """The first message that is `wanted`, with its moment; None where none came."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for at, message in list(self.messages):
                if wanted(message):
                    return at, message
            time.sleep(0.01)
        return None

    def close(self) -> None:
        """Be done with it."""
        for _ in range(60):  # a kernel that is just being restarted cannot be shut down
            with contextlib.suppress(OSError):
                if any(k["id"] == self.id for k in self.server.ask("GET", "/api/kernels")):
                    self.server.ask("DELETE", f"/api/kernels/{self.id}")
                break
            time.sleep(0.5)
        self.socket.close()


def started(server: Server, spec: str) -> Kernel:
    """A kernel that runs. Jupyter gives a kernel ports that another process may take before it, and then tries the same again."""
    for _ in range(3):
        with contextlib.suppress(TypeError, OSError, websocket.WebSocketException):
            return Kernel(server, spec)
    raise SystemExit(f"no kernel starts; see {server.folder}/server.log")


def death_of(pid: int, found: list[float]) -> None:
    """Note the moment at which a process ends."""
    fd = os.pidfd_open(pid)
    select.select([fd], [], [], 300)
    found += [time.monotonic(), time.time()]
    os.close(fd)


def said(message: dict) -> bool:
    """Is it the message on a death?"""
    return message["msg_type"] == "display_data" and "forensics" in message["content"].get("metadata", {})


def restarting(message: dict) -> bool:
    """Is it the notice of the restart, or that there is none?"""
    return message["msg_type"] == "status" and message["content"]["execution_state"] in ("restarting", "dead")


def die(server: Server, name: str) -> dict:
    """One death that nobody asked for."""
    code, number, words = DEATHS[name]
    kernel = started(server, "limited" if name.startswith("memory") else "python3")
    moment: list[float] = []
    watcher = threading.Thread(target=death_of, args=(kernel.pid, moment))
    watcher.start()
    cell = kernel.run(code)
    if number:
        time.sleep(1)
        subprocess.run(["sh", "-c", f"kill -{int(number)} {kernel.pid}"], check=True)
    watcher.join()
    restarted = kernel.wait(restarting, 60)
    found = kernel.wait(said, 2)
    text = found[1]["content"]["data"]["text/plain"] if found else ""
    kernel.close()
    return {
        "name": name,
        "right": any(w in text for w in words),
        "in_cell": bool(found) and found[1]["parent_header"].get("msg_id") == cell,
        "before_restart": bool(found and restarted) and found[0] < restarted[0],
        "seconds": round(found[0] - moment[0], 3) if found else None,
        "text": text,
        "moment": moment[1],
    }


def ask_to_end(server: Server, name: str) -> bool:
    """One end that the user asks for; True where nothing is said."""
    before = len(server.deaths())
    kernel = started(server, "python3")
    if name in ("quit()", "exit()"):
        kernel.run(name)
        kernel.wait(restarting, 20)
    elif name == "culling":
        until = time.monotonic() + 200
        while any(k["id"] == kernel.id for k in server.ask("GET", "/api/kernels")) and time.monotonic() < until:
            time.sleep(1)
    else:
        if "busy" in name or name == "interrupt":
            kernel.run("import time; time.sleep(30)")
            time.sleep(0.7)
        path = f"/api/kernels/{kernel.id}"
        server.ask("DELETE", path) if name.startswith("shutdown") else server.ask("POST", f"{path}/{name.split()[0]}")
        time.sleep(3)
    silent = kernel.wait(said, 0.1) is None and len(server.deaths()) == before
    kernel.close()
    return silent


def main() -> None:
    """Measure."""
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--port", type=int, default=18924)
    parser.add_argument("--without", action="store_true", help="without the extension: what the server's own work takes")
    parser.add_argument("--warm", type=float, default=10)
    asked = parser.parse_args()
    server = Server(asked.port, not asked.without)
    rows, silent = [], []
    try:
        time.sleep(asked.warm)  # until the knowledge is loaded
        for _ in range(asked.rounds):
            for name in DEATHS:
                if asked.only in name:
                    rows.append(die(server, name))
                    print(json.dumps(rows[-1]), flush=True)
        for _ in range(0 if asked.without else asked.rounds):
            for name in ASKED:
                if asked.only in name:
                    silent.append(ask_to_end(server, name))
                    print(json.dumps({"asked": name, "silent": silent[-1]}), flush=True)
        spans = sorted(r["seconds"] for r in rows if r["seconds"] is not None)
        print(
            "right",
            sum(r["right"] and r["in_cell"] for r in rows),
            "of",
            len(rows),
            "| before the restart",
            sum(r["before_restart"] for r in rows),
        )
        print("silent", sum(silent), "of", len(silent), "| load", os.getloadavg())
        if spans:
            print(
                "seconds from death to message: median",
                statistics.median(spans),
                "most",
                spans[-1],
                "within 1 s",
                sum(s <= 1 for s in spans),
            )
        for title, moments in (("around deaths", [r["moment"] for r in rows]), ("at any time", [])):
            pauses = server.pauses(moments)
            if pauses:
                for at, what in enumerate(("by the clock", "without what it waited for a processor", "on a processor"), 1):
                    found = sorted(p[at] * 1000 for p in pauses)
                    print(
                        f"longest pause of the loop {title}, {what}: {found[-1]:.1f} ms; of 100 the second {found[int(len(found) * 0.98)]:.1f}, "
                        f"median {statistics.median(found):.1f}; over 10 ms {sum(f > 10 for f in found)} of {len(found)}"
                    )
    except BaseException:
        print((server.folder / "server.log").read_text()[-4000:], file=sys.stderr)
        raise
    finally:
        server.close()


if __name__ == "__main__":
    main()
