"""Installs each adapter in an environment of its own, as its page in docs/ says, asks it for a first answer, and removes it again.

    python benchmarks/fresh_installs.py [--only NAME] [--slurm FOLDER] [--work FOLDER] [--wheel FILE]

For each: a virtual environment with what its user has already (Jupyter, pytest, a framework), the `pip install` line read from the
page, the first answer with nothing set but what that page says, `pip uninstall training-forensics`, and what is then still there: in
the environment, in the home folder, in the temporary one. Prints a table. It needs the package index, and for frameworks some
gigabytes; Kubernetes needs kubectl, Slurm a cluster that `benchmarks/slurm_cluster.sh up FOLDER WORK` started (WORK: the folder
given by --work), else they are left out and said so.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.adapters.frameworks.test_frameworks import DASK, LIGHTNING, RAY, SEGFAULT, TRANSFORMERS  # noqa: E402
from tests.adapters.kubernetes import stub_api  # noqa: E402

LINE = re.compile(r'\bpip install "(training-forensics(?:\[\w+\])?) @ \$FORENSICS"(?=\s|$)', re.M)
CRASH = "import ctypes\nctypes.string_at(0)"
# Speaks with a server as a browser does, with what Jupyter Server itself brings.
BROWSER = """
import asyncio, json, sys, uuid
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect
url, code = sys.argv[1:]
signed = {"Authorization": "token fresh"}
async def main():
    made = await AsyncHTTPClient().fetch(HTTPRequest(url + "/api/kernels", "POST", signed, "{}", request_timeout=100))
    kernel = json.loads(made.body)["id"]
    socket = await websocket_connect(HTTPRequest(url.replace("http", "ws", 1) + f"/api/kernels/{kernel}/channels", headers=signed))
    header = {"msg_id": "cell", "msg_type": "execute_request", "username": "", "session": uuid.uuid4().hex, "version": "5.3", "date": ""}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
    await socket.write_message(json.dumps({"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}))
    while text := await asyncio.wait_for(socket.read_message(), 100):
        message = json.loads(text)
        if message["msg_type"] == "display_data" and message["parent_header"].get("msg_id") == "cell":
            print(message["content"]["data"]["text/plain"])
            return
asyncio.run(main())
"""
MAGICS = r"""
import sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel()
def run(code):
    shown = []
    client.execute_interactive(code, timeout=100, output_hook=lambda m: shown.append(m["content"]))
    return " ".join(str(c.get("data", {}).get("text/plain", c.get("text", c.get("evalue", "")))) for c in shown)
run("%load_ext forensics")
print(run("%%guard\nraise RuntimeError('mat1 and mat2 shapes cannot be multiplied (4x5 and 6x7)')"))
manager.shutdown_kernel()
"""
AGENT = """
import anyio, sys
from mcp import Client, StdioServerParameters
async def main():
    async with Client(StdioServerParameters(command=sys.argv[1], args=["mcp", "--root", sys.argv[2]])) as client:
        print((await client.call_tool("analyze", {"paths": [sys.argv[2]]})).structured_content["cause"])
anyio.run(main)
"""
CRASHES = "import ctypes\n\ndef test_well():\n    pass\n\ndef test_crash():\n    ctypes.string_at(0)\n"


class Place(NamedTuple):
    """An environment, a home, a folder to work in and one for temporary files, all new. The last has a short path: Ray's sockets lie
    below it, and the path of a socket has at most 107 bytes."""

    folder: Path
    temporary: Path
    environment: dict[str, str]

    def run(self, *command: str | Path, within_s: float = 600, **more: str) -> str:
        """What a command writes to stdout and stderr, with programs of the environment first."""
        done = subprocess.run(
            [str(word) for word in command], cwd=self.folder / "work", env=self.environment | more, timeout=within_s, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return done.stdout

    def program(self, code: str) -> Path:
        """A file of Python."""
        handle, path = tempfile.mkstemp(suffix=".py", dir=self.folder / "work")
        os.write(handle, code.encode())
        os.close(handle)
        return Path(path)

    def why(self) -> str:
        """What `forensics why` says, as soon as the report of the last death is there."""
        until = time.monotonic() + 600
        while time.monotonic() < until:
            if list(self.folder.glob("home/.local/state/forensics/*/report.json")):
                return self.run("forensics", "why")
            time.sleep(0.2)
        return "no report: " + " ".join(str(p) for p in self.folder.glob("home/.local/state/forensics/*"))


def jupyter(place: Place) -> str:
    """The message in the cell of a kernel that crashed, by a server that is started plainly."""
    log = (place.folder / "server.log").open("wb")
    command = ["jupyter", "lab", "--no-browser", "--port=18933", "--allow-root", "--IdentityProvider.token=fresh"]
    server = subprocess.Popen(command, cwd=place.folder / "work", env=place.environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 600
        while "is running at" not in (place.folder / "server.log").read_text() and time.monotonic() < until:
            time.sleep(0.2)
        while not any(place.folder.glob("home/.cache/forensics/*.db")) and time.monotonic() < until:
            time.sleep(0.2)  # until the signatures are compiled, which is done once
        return place.run("python", place.program(BROWSER), "http://127.0.0.1:18933", CRASH)
    finally:
        server.terminate()
        server.wait(60)


def notebook(place: Place) -> Path:
    """A notebook whose second cell crashes."""
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": s} for s in ("x = 1", CRASH)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path = place.folder / "work" / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}))
    return path


def executing(*command: str) -> Callable[[Place], str]:
    """What a program that executes notebooks says at the crash, and what is then in the notebook that it wrote."""

    def ask(place: Place) -> str:
        path = notebook(place)
        said = place.run(*command, JUPYTER_DEFAULT_PROVISIONER_NAME="forensics-provisioner")
        kept = place.folder / "work" / "out.ipynb"
        outputs = json.loads((kept if kept.is_file() else path).read_text())["cells"]
        found = [
            o["metadata"]["forensics"]["cause"]
            for c in outputs
            for o in c.get("outputs", ())
            if "forensics" in o.get("metadata", {})
        ]
        return f"{said}\nin the notebook: {found}"

    return ask


def pytests(place: Place) -> str:
    """The terminal's summary of a session that crashed."""
    (place.folder / "work" / "test_some.py").write_text(CRASHES)
    return place.run("pytest", "--forensics")


def training(code: str, *command: str) -> Callable[[Place], str]:
    """What `forensics why` says of a program that crashed in native code."""

    def ask(place: Place) -> str:
        place.run(*(command or ("python",)), place.program(f"END = {SEGFAULT!r}\n{code}"), RAY_AUTH_MODE="disabled")
        return place.why()

    return ask


def agent(place: Place) -> str:
    """The first cause that the server for agents names, asked by the protocol's client."""
    return place.run("python", place.program(AGENT), "forensics", ROOT / "sample_logs" / "nan_loss")


def kubernetes(place: Place) -> str:
    """The report on a pod, by a real kubectl from a stub of the API server."""
    with stub_api.serving(place.folder) as config:
        return place.run("forensics", "k8s", "oom-0", "-n", "research", "--context", "stub", KUBECONFIG=str(config))


class Adapter(NamedTuple):
    """`page`: of docs/; `beside`: what its user has already; `answers`: words that the first answer has."""

    page: str
    beside: tuple[str, ...]
    ask: Callable[[Place], str]
    answers: tuple[str, ...]


TORCH = ("torch", "numpy")
CRASHED = ("segmentation fault",)
ADAPTERS = {
    "jupyter": Adapter("jupyter", ("jupyterlab",), jupyter, ("The kernel died: Native code crashed with a segmentation fault",)),
    "papermill": Adapter("jupyter", ("papermill", "ipykernel"), executing("papermill", "train.ipynb", "out.ipynb"),
                         ("segmentation fault", "in the notebook: ['process.segfault']")),
    "nbconvert": Adapter("jupyter", ("nbconvert", "ipykernel"),
                         executing("jupyter", "nbconvert", "--to", "notebook", "--execute", "train.ipynb", "--output", "out.ipynb"),
                         ("segmentation fault",)),
    "nbclient": Adapter("jupyter", ("nbclient", "ipykernel"), executing("jupyter", "execute", "--allow-errors", "--inplace", "train.ipynb"),
                        ("in the notebook: ['process.segfault']",)),
    "ipython": Adapter("jupyter", ("ipykernel",), lambda place: place.run("python", place.program(MAGICS)), ("shape",)),
    "pytest": Adapter("pytest", ("pytest>=8",), pytests, ("test_crash ran", "process.segfault")),
    "lightning": Adapter("frameworks", (*TORCH, "lightning"), training(LIGHTNING), CRASHED),
    "transformers": Adapter("frameworks", (*TORCH, "transformers", "accelerate"), training(TRANSFORMERS), CRASHED),
    "torchrun": Adapter("frameworks", TORCH, training("exec(END)", "python", "-m", "torch.distributed.run", "--logs-specs", "forensics", "--nproc-per-node", "2"), CRASHED),
    "ray": Adapter("frameworks", ("ray",), training(RAY), CRASHED),
    "dask": Adapter("frameworks", ("distributed",), training(DASK), CRASHED),
    "mcp": Adapter("mcp", (), agent, ("numerics.nan",)),
    "kubernetes": Adapter("kubernetes", (), kubernetes, ("host_memory.oom_cgroup", "OOMKilled")),
}  # fmt: skip


def slurm(folder: str) -> Adapter:
    """The adapter for a cluster in `folder`: a job that crashes, then `forensics slurm JOBID`."""

    def ask(place: Place) -> str:
        cluster = [str(ROOT / "benchmarks" / "slurm_cluster.sh"), "run", folder]
        crash = f"python3 -X faulthandler -c {shlex.quote(SEGFAULT)}"
        number = subprocess.run(
            [*cluster, f"sbatch --parsable -W --wrap {shlex.quote(crash)}"], capture_output=True, text=True, check=False
        )
        command = f"{place.folder}/v/bin/forensics slurm {number.stdout.strip()}"
        return subprocess.run([*cluster, command], capture_output=True, text=True, check=False).stdout

    return Adapter("slurm", (), ask, ("segmentation fault",))


def line(page: str) -> str:
    """What the page has its reader install."""
    found = LINE.search((ROOT / "docs" / f"{page}.md").read_text())
    if not found:
        raise SystemExit(f"docs/{page}.md installs nothing from $FORENSICS")
    return found[1]


def files(folder: Path) -> set[str]:
    """All below it but compiled Python."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.suffix != ".pyc" and p.is_file()}


def of_dependencies(place: Place) -> set[str]:
    """The files that other installed distributions tell of."""
    code = "import importlib.metadata as m, json, os, sys\nprint(json.dumps([os.path.relpath(f.locate().resolve(), sys.prefix) for d in m.distributions() for f in d.files or ()]))"
    return set(json.loads(place.run("python", "-c", code)))


def measure(name: str, adapter: Adapter, wheel: Path, work: Path, torch: str) -> None:
    """Install, ask, uninstall, look."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=work))
    folder.chmod(0o755)
    temporary = Path(tempfile.mkdtemp(prefix="f"))
    for part in ("home", "work"):
        (folder / part).mkdir()
    kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_", "LANG")) or k.endswith("_proxy")}
    programs = f"{folder}/v/bin:/usr/local/bin:/usr/bin:/bin"
    place = Place(
        folder,
        temporary,
        kept | {"HOME": str(folder / "home"), "TMPDIR": str(temporary), "PATH": programs, "PIP_CACHE_DIR": str(work / "pip")},
    )
    subprocess.run([sys.executable, "-m", "venv", folder / "v"], check=True)
    if adapter.beside:
        place.run("pip", "install", "-q", *(torch if word == "torch" else word for word in adapter.beside), within_s=1500)
    before = files(folder / "v")
    asked = line(adapter.page)
    started = time.monotonic()
    installed = place.run("pip", "install", "-q", f"{asked} @ {wheel.as_uri()}", within_s=1500)
    seconds = time.monotonic() - started
    started = time.monotonic()
    answer = adapter.ask(place)
    answered = time.monotonic() - started
    (folder / "answer.txt").write_text(answer)
    uninstalled = place.run("pip", "uninstall", "-q", "-y", "training-forensics")
    left = files(folder / "v") - before - of_dependencies(place)
    places = {"home": folder / "home", "work": folder / "work", "tmp": temporary}
    left_behind = {f"{name}/{file}" for name, path in places.items() for file in files(path)}
    named = [Path(p).parts for p in left_behind if "forensics" in p]
    folders = sorted({"/".join(p[: p.index("forensics") + 1] if "forensics" in p else p) for p in named})
    row = {
        "name": name, "line": f"pip install '{asked}'", "right": all(words in answer for words in adapter.answers),
        "install_s": round(seconds, 1), "answer_s": round(answered, 1), "load": round(os.getloadavg()[0], 1),
        "left_in_environment": sorted(left), "left_elsewhere": folders,
        "pip_said": (installed + uninstalled)[-300:],
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    shutil.rmtree(temporary)
    if row["right"]:
        shutil.rmtree(folder)
    else:
        print(f"  not the answer expected; see {folder}/answer.txt", flush=True)
        shutil.rmtree(folder / "v")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--slurm", default="", help="a running cluster of slurm_cluster.sh")
    parser.add_argument("--work", type=Path, help="where environments are made, and removed")
    parser.add_argument("--wheel", type=Path, help="instead of one built now")
    parser.add_argument("--torch", default="torch", help="what to install for it, for example a wheel without CUDA")
    asked = parser.parse_args()
    adapters = dict(ADAPTERS)
    if asked.slurm:
        adapters["slurm"] = slurm(asked.slurm)
    with ExitStack() as stack:
        work = asked.work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fresh-installs-")))
        wheel = asked.wheel
        if wheel is None:
            subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", work / "dist", ROOT], check=True)
            wheel = next((work / "dist").glob("*.whl"))
        for name, adapter in adapters.items():
            if not asked.only or name in asked.only:
                measure(name, adapter, wheel.resolve(), work.resolve(), asked.torch)


if __name__ == "__main__":
    main()
