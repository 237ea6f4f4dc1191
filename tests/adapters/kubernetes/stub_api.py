"""A server that answers what kubectl asks of pods, their logs, events and nodes, as an API server does; and a kubectl that replays.

The objects are made by hand after the API's reference (kubernetes.io, Pod v1 core), for no cluster runs here; what kubectl makes of
them is kubectl's. The answers in recorded.json are those of kubectl 1.32 to this server.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

NODE, SPACE = "gpu-node-3", "research"
TRACEBACK = """2026-11-22T09:58:01.100000000Z epoch 1 loss 2.31
2026-11-22T09:58:04.200000000Z Traceback (most recent call last):
2026-11-22T09:58:04.200100000Z   File "/app/train.py", line 12, in <module>
2026-11-22T09:58:04.200200000Z     main()
2026-11-22T09:58:04.200300000Z   File "/app/train.py", line 7, in main
2026-11-22T09:58:04.200400000Z     rate = config["learning_rate"]
2026-11-22T09:58:04.200500000Z KeyError: 'learning_rate'
"""
STEPS = "".join(f"2026-11-22T09:5{i % 10}:00.000000000Z step {i} loss {3 / (i + 1):.3f}\n" for i in range(40))
LIMITS = {"limits": {"memory": "512Mi", "nvidia.com/gpu": "1"}, "requests": {"memory": "512Mi", "nvidia.com/gpu": "1"}}


def terminated(reason: str, code: int, message: str = "") -> dict[str, Any]:
    """A container's state."""
    ended = {"exitCode": code, "reason": reason, "startedAt": "2026-11-22T09:50:00Z", "finishedAt": "2026-11-22T09:58:05Z"}
    return {"terminated": ended | ({"message": message} if message else {}) | {"containerID": "containerd://" + "ab" * 32}}


def pod(
    name: str, state: dict[str, Any], last: dict[str, Any] | None = None, restarts: int = 0, node: str = NODE, **status: Any
) -> dict[str, Any]:
    """A pod of one container, `main`."""
    container = {"name": "main", "state": state, "lastState": last or {}, "ready": False, "restartCount": restarts}
    container |= {"image": "registry.example.com/train:1", "imageID": "", "containerID": "containerd://" + "ab" * 32}
    started = status.get("phase") != "Pending"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": SPACE, "uid": f"00000000-0000-4000-8000-{sum(name.encode()):012d}"},
        "spec": {
            "containers": [{"name": "main", "image": "registry.example.com/train:1", "resources": LIMITS}],
            **({"nodeName": node} if started else {}),
        },
        "status": {
            "phase": "Running",
            "qosClass": "Guaranteed",
            "startTime": "2026-11-22T09:50:00Z",
            "containerStatuses": [container] if started else [],
            **status,
        },
    }


RUNNING = {"running": {"startedAt": "2026-11-22T09:58:20Z"}}
UNSCHEDULED = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available."
WAITS = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": UNSCHEDULED}
LOW = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 88Mi. Container main was using 1924152Ki, request is 0."
PODS = {
    p["metadata"]["name"]: p
    for p in (
        pod("oom-0", RUNNING, terminated("OOMKilled", 137), restarts=2),
        pod("exception-0", terminated("Error", 1), phase="Failed", node="forbidden-node"),
        pod("waiting-0", {}, phase="Pending", conditions=[WAITS]),
        pod("evicted-0", terminated("Error", 137), phase="Failed", reason="Evicted", message=LOW),
        pod("healthy-0", terminated("Completed", 0), phase="Succeeded"),
    )
}
LOGS = {
    ("oom-0", False): STEPS[: len(STEPS) // 4],
    ("oom-0", True): STEPS,
    ("exception-0", False): TRACEBACK,
    ("evicted-0", False): STEPS,
    ("healthy-0", False): STEPS + "2026-11-22T09:58:04.000000000Z training finished, model saved\n",
}


def event(kind: str, name: str, reason: str, message: str, level: str = "Warning") -> dict[str, Any]:
    """An event on a pod or a node."""
    about = {"kind": kind, "name": name, "namespace": SPACE if kind == "Pod" else "", "apiVersion": "v1"}
    times = {"firstTimestamp": "2026-11-22T09:57:00Z", "lastTimestamp": "2026-11-22T09:58:05Z", "count": 2, "type": level}
    meta = {"name": f"{name}.{reason.lower()}", "namespace": SPACE if kind == "Pod" else "default"}
    source = {"component": "kubelet", "host": NODE}
    base = {"apiVersion": "v1", "kind": "Event", "metadata": meta, "involvedObject": about, "reason": reason}
    return base | {"message": message, "source": source, **times}


EVENTS = [
    event("Pod", "oom-0", "BackOff", "Back-off restarting failed container main in pod oom-0_research"),
    event("Pod", "waiting-0", "FailedScheduling", UNSCHEDULED),
    event("Pod", "evicted-0", "Evicted", LOW),
    event("Pod", "healthy-0", "Started", "Started container main", "Normal"),
]
CONDITIONS = [
    {
        "type": "MemoryPressure",
        "status": "False",
        "reason": "KubeletHasSufficientMemory",
        "message": "kubelet has sufficient memory available",
    },
    {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"},
]
CONDITIONS = [c | {"lastHeartbeatTime": "2026-11-22T09:58:00Z", "lastTransitionTime": "2026-11-20T08:00:00Z"} for c in CONDITIONS]
NODES = {NODE: {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "spec": {}, "status": {"conditions": CONDITIONS}}}
VERBS = ["get", "list"]
RESOURCES = [
    {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": VERBS, "shortNames": ["po"]},
    {"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]},
    {"name": "events", "singularName": "event", "namespaced": True, "kind": "Event", "verbs": VERBS},
    {"name": "nodes", "singularName": "node", "namespaced": False, "kind": "Node", "verbs": VERBS},
]
DISCOVERY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": RESOURCES},
    "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
}


def failure(code: int, reason: str, message: str) -> tuple[int, Any]:
    """A Status object."""
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}


def respond(path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
    """Status and body, a text for logs."""
    if path in DISCOVERY:
        return 200, DISCOVERY[path]
    parts = path.removeprefix("/api/v1/").split("/")
    if parts[0] == "namespaces":
        if len(parts) < 3:
            return 200, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": parts[-1]}}
        parts = parts[2:]
    if parts[0] == "pods" and len(parts) > 1:
        name = parts[1]
        if name not in PODS:
            return failure(404, "NotFound", f'pods "{name}" not found')
        if parts[2:] == ["log"]:
            previous = query.get("previous") == ["true"]
            text = LOGS.get((name, previous))
            if text is None:
                return failure(400, "BadRequest", f'previous terminated container "main" in pod "{name}" not found')
            return 200, text
        return 200, PODS[name]
    if parts[0] == "nodes" and len(parts) > 1:
        if parts[1] not in NODES:
            return failure(403, "Forbidden", f'nodes "{parts[1]}" is forbidden: User "alice" cannot get resource "nodes"')
        return 200, NODES[parts[1]]
    if parts[0] == "events":
        chosen = dict(part.split("=", 1) for part in query.get("fieldSelector", [""])[0].split(",") if "=" in part)
        found = [e for e in EVENTS if all(e["involvedObject"].get(k.rpartition(".")[2], v) == v for k, v in chosen.items())]
        return 200, {"apiVersion": "v1", "kind": "EventList", "metadata": {}, "items": found}
    return failure(404, "NotFound", f"the server could not find {path}")


class Handler(BaseHTTPRequestHandler):
    """GET alone."""

    def do_GET(self) -> None:
        """Answer from the tables above."""
        asked = urlsplit(self.path)
        status, body = respond(asked.path, parse_qs(asked.query))
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[Path]:
    """A kubeconfig in `folder` whose context `stub` leads to the server, which runs until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    cluster = {"name": "stub", "cluster": {"server": f"http://127.0.0.1:{server.server_address[1]}"}}
    context = {"name": "stub", "context": {"cluster": "stub", "user": "alice", "namespace": "default"}}
    told = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context]}
    config = folder / "kubeconfig"
    config.write_text(json.dumps(told | {"users": [{"name": "alice", "user": {}}]}))
    try:
        yield config
    finally:
        server.shutdown()
        server.server_close()


def replaying(folder: Path, recorded: Path) -> Path:
    """A folder for PATH with a `kubectl` that answers as the real one did to the same words."""
    program = folder / "kubectl"
    program.write_text(
        f"#!{sys.executable} -SE\n"
        "import json, sys\n"
        f"known = json.load(open({str(recorded)!r}))\n"
        "status, out, err = known.get(' '.join(sys.argv[1:]), [1, '', 'not recorded: ' + ' '.join(sys.argv[1:])])\n"
        "sys.stdout.write(out)\nsys.stderr.write(err)\nsys.exit(status)\n"
    )
    program.chmod(0o755)
    return folder


def record(target: Path, kubectl: str = "kubectl") -> None:
    """Ask a real kubectl all that `forensics k8s` asks of every pod here, and keep its answers."""
    from forensics.adapters.kubernetes import answer
    from forensics.adapters.kubernetes.answer import Kubectl
    from forensics.core.errors import UsageError

    kept: dict[str, list[Any]] = {}
    real = subprocess.run

    def recording(command: list[str], **how: Any) -> Any:
        done = real(command, **{**how, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "capture_output": False})
        kept[" ".join(command[1:])] = [done.returncode, done.stdout.decode(), done.stderr.decode()]
        if "stdout" in how:
            how["stdout"].write(done.stdout)
        return done

    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as config:
        environment = {"KUBECONFIG": str(config), "HOME": folder}
        with mock.patch.dict(os.environ, environment), mock.patch.object(subprocess, "run", recording):
            for name in [*PODS, "absent-0"]:
                place = Path(folder, name)
                place.mkdir()
                with contextlib.suppress(UsageError):
                    answer.gather_pod(name, Kubectl("stub", SPACE, kubectl), place)
    target.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    record(Path(__file__).with_name("recorded.json"))
