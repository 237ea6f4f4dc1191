"""Kubernetes: an event on the pod, beside the termination message. The pod's account must be allowed to create events."""

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensics.sinks.message import Message

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")  # where Kubernetes mounts what a pod may use
EVENT_MESSAGE_CHARS = 1024  # of an event's message (k8s.io/api/core/v1)
SINK_ANSWER_S = 10.0  # chosen by hand, as that of a webhook


def event(message: Message, pod: str, namespace: str) -> dict[str, Any]:
    """The Event; its name is that of the message, so that a second delivery changes nothing."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(message.time))
    return {
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "JobDied",
        "message": message.text[:EVENT_MESSAGE_CHARS],
        "metadata": {"name": f"forensics-{message.id[:16]}", "namespace": namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": pod, "namespace": namespace},
        "source": {"component": "forensics", "host": message.node}, "firstTimestamp": moment, "lastTimestamp": moment, "count": 1,
    }  # fmt: skip


def send(message: Message, setting: Mapping[str, Any]) -> None:
    """Create the event at `server`, by default that of the cluster."""
    account = Path(setting.get("account", ACCOUNT))
    space = account / "namespace"
    named = message.job.get("POD_NAMESPACE") or (space.read_text(encoding="utf-8").strip() if space.exists() else "default")
    server = str(setting.get("server", "https://kubernetes.default.svc")).rstrip("/")
    head = {"Content-Type": "application/json"}
    if (account / "token").exists():
        head["Authorization"] = "Bearer " + (account / "token").read_text(encoding="utf-8").strip()
    made = event(message, message.job.get("POD_NAME") or message.node, named)
    request = urllib.request.Request(f"{server}/api/v1/namespaces/{named}/events", json.dumps(made).encode(), head)
    trust = ssl.create_default_context(cafile=str(account / "ca.crt") if (account / "ca.crt").exists() else None)
    try:
        urllib.request.urlopen(request, timeout=SINK_ANSWER_S, context=trust if server.startswith("https") else None).close()
    except urllib.error.HTTPError as error:
        if error.code != 409:  # it is there already
            raise
