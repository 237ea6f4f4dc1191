"""The sinks themselves: each function sends one message to where people look. Their packages are imported only there.

webhook         one POST of JSON, in the form of Slack, of Teams or of our own; only the configured address is asked
prometheus      a file for node_exporter's textfile collector: forensics_deaths_total{cause,node}, which goes on counting
wandb           summary, tag and alert of the run that died; `mode: offline` writes files that `wandb sync` sends
mlflow          tags, note and an artefact of the run that died; a run of its own where the job had none
tensorboard     the reason as a text beside the curves of the run
opentelemetry   one log record, written by the SDK; `endpoint`: of a collector (OTLP over HTTP)
kubernetes      an event on the pod, beside the termination message; the pod's account must be allowed to create events

The message that sinks get: what is known of one death, in a few texts, already redacted.
"""

import json
import os
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from forensics.model import Report
from forensics.report.redaction import without_names, without_secrets

MAX_EVIDENCE = 5  # lines: an alert is read on a telephone
UNDETERMINED = "undetermined"
# What the job's own environment says about the job; the sinks of trackers and of Kubernetes need it after the job is gone.
WANTED_VARIABLES = ("WANDB_RUN_ID", "WANDB_PROJECT", "WANDB_DIR", "MLFLOW_RUN_ID", "SLURM_JOB_ID", "POD_NAME", "POD_NAMESPACE")


class Message(Struct, frozen=True):
    """One death. `id`: unique, for receivers that see a message twice. `job`: variables of the job's environment."""

    id: str
    time: float
    node: str
    case: str
    verdict: str
    cause: str
    title: str
    summary: str
    probability: float
    remedy: str = ""
    evidence: tuple[str, ...] = ()
    job: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The message in a few lines."""
        lines = [f"{self.case}: {self.title} ({self.cause}, {self.probability:.0%})", self.summary]
        lines += [f"> {line}" for line in self.evidence]
        return "\n".join([*lines, f"First step: {self.remedy}" if self.remedy else ""]).strip()


def message_of(report: Report, names: bool = True) -> Message:
    """The message about a report, without secrets; without names of people and places too unless `names`."""
    clean = without_secrets(report)
    clean = clean if names else without_names(clean)[0]
    first = clean.causes[0] if clean.causes else None
    steps = [advice.action for advice in first.remediations] if first else []
    return Message(
        id=uuid.uuid4().hex, time=time.time(), node=socket.gethostname() if names else "", case=clean.case,
        verdict=str(clean.verdict), cause=first.id if first else UNDETERMINED,
        title=first.title if first else "The cause is not known", summary=first.summary if first else "",
        probability=first.probability if first else 0.0, remedy=steps[0] if steps else "",
        evidence=tuple(proof.text for proof in first.evidence[:MAX_EVIDENCE]) if first else (),
        job={name: os.environ[name] for name in WANTED_VARIABLES if os.environ.get(name)},
    )  # fmt: skip


SINK_ANSWER_S = 10.0  # chosen by hand: a receiver of alerts that needs longer is down


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is a failure: it would carry the message to an address that nobody configured."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Never follow."""
        return


def send_webhook(message: Message, setting: Mapping[str, Any]) -> None:
    """POST the message; raises if the answer is not a success. The key tells a receiver that it has this message already."""
    url = str(setting["url"])
    if not url.startswith(("https://", "http://")):
        raise ValueError("url must begin with https:// or http://")
    head = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    request = urllib.request.Request(url, body(message, str(setting.get("form", "json"))), head)
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=SINK_ANSWER_S) as answer:
        answer.read(1 << 10)


def body(message: Message, form: str) -> bytes:
    """The message as `slack`, `teams` (an adaptive card) or `json` expects it."""
    if form == "slack":
        safe = message.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return json.dumps({"text": safe}).encode()
    if form == "teams":
        block = {"type": "TextBlock", "text": message.text, "wrap": True}
        card = {"type": "AdaptiveCard", "version": "1.4", "body": [block]}
        content = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
        return json.dumps({"type": "message", "attachments": [content]}).encode()
    return msgspec.json.encode(message)


HEAD = (
    "# HELP forensics_deaths_total Deaths of jobs, by cause and node.\n"
    "# TYPE forensics_deaths_total counter\n"
)  # fmt: skip
SAMPLE = re.compile(r'^(forensics_deaths_total\{cause="[^"\n]*",node="[^"\n]*"\}) (\d+)$', re.MULTILINE)


def send_prometheus(message: Message, setting: Mapping[str, Any]) -> None:
    """Count one death more. The new file takes the place of the old one in one step."""
    path = Path(setting["path"])
    counts = {key: int(value) for key, value in SAMPLE.findall(path.read_text(encoding="utf-8"))} if path.exists() else {}
    label = f'forensics_deaths_total{{cause="{_plain_label(message.cause)}",node="{_plain_label(message.node)}"}}'
    counts[label] = counts.get(label, 0) + 1
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"{key} {value}\n" for key, value in sorted(counts.items())))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _plain_label(text: str) -> str:
    return re.sub(r'["\\\n]', "_", text)


def send_wandb(message: Message, setting: Mapping[str, Any]) -> None:
    """Resume the run, or begin one of its own where the job had none."""
    import wandb

    run = wandb.init(
        id=message.job.get("WANDB_RUN_ID"), project=setting.get("project") or message.job.get("WANDB_PROJECT") or "forensics",
        dir=setting.get("folder") or message.job.get("WANDB_DIR"), mode=setting.get("mode", "online"), resume="allow",
        settings=wandb.Settings(silent=True, console="off"),
    )  # fmt: skip
    run.tags = (*(run.tags or ()), f"died:{message.cause}"[:64])  # W&B takes 64 characters
    run.summary["forensics/cause"] = message.cause
    run.summary["forensics/reason"] = message.text
    run.summary["forensics/probability"] = message.probability
    run.alert(title=f"Died: {message.cause}", text=message.text, level="ERROR")
    run.finish(exit_code=1)


NOTE_TAG = "mlflow.note.content"  # what MLflow's page shows as the description of a run
EXPERIMENT = "forensics"


def send_mlflow(message: Message, setting: Mapping[str, Any]) -> None:
    """Write to the tracking store `uri`."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=str(setting["uri"]))
    run = message.job.get("MLFLOW_RUN_ID") or ""
    if not run:
        name = str(setting.get("experiment", EXPERIMENT))
        known = client.get_experiment_by_name(name)
        run = client.create_run(known.experiment_id if known else client.create_experiment(name)).info.run_id
    client.log_text(run, message.text, "forensics/reason.txt")
    client.set_tag(run, "forensics.cause", message.cause)
    client.set_tag(run, "forensics.probability", f"{message.probability:.2f}")
    client.set_tag(run, NOTE_TAG, message.text)
    client.set_terminated(run, status="FAILED")


def send_tensorboard(message: Message, setting: Mapping[str, Any]) -> None:
    """Write one event file into `folder`."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.text.metadata import create_summary_metadata
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    tensor = make_tensor_proto([message.text.encode()])
    value = Summary.Value(tag="forensics/reason", metadata=create_summary_metadata("forensics", ""), tensor=tensor)
    writer = EventFileWriter(str(setting["folder"]), filename_suffix=f".{message.id}")
    writer.add_event(Event(wall_time=message.time, step=0, summary=Summary(value=[value])))
    writer.close()


def send_opentelemetry(message: Message, setting: Mapping[str, Any], exporter: Any = None) -> None:
    """Export one record; raises if the exporter does not take it. `exporter`: another one than that of `endpoint`."""
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk._logs.export import LogRecordExportResult
    from opentelemetry.sdk.resources import Resource

    if exporter is None:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

        exporter = OTLPLogExporter(endpoint=str(setting["endpoint"]), timeout=SINK_ANSWER_S)
    at = int(message.time * 1e9)
    attributes: dict[str, Any] = {
        "forensics.cause": message.cause,
        "forensics.id": message.id,
        "forensics.probability": message.probability,
    }
    record = LogRecord(
        timestamp=at, observed_timestamp=at, severity_text="ERROR", severity_number=SeverityNumber.ERROR,
        body=message.text, attributes=attributes, event_name="forensics.death",
    )  # fmt: skip
    resource = Resource({"service.name": "forensics", "host.name": message.node})
    if exporter.export([ReadableLogRecord(record, resource)]) is not LogRecordExportResult.SUCCESS:
        raise ConnectionError("the exporter did not take the record")


ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")  # where Kubernetes mounts what a pod may use
EVENT_MESSAGE_CHARS = 1024  # of an event's message (k8s.io/api/core/v1)


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


def send_kubernetes(message: Message, setting: Mapping[str, Any]) -> None:
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


DESTINATIONS: Mapping[str, Callable[[Message, Mapping[str, Any]], None]] = {
    "webhook": send_webhook,
    "prometheus": send_prometheus,
    "wandb": send_wandb,
    "mlflow": send_mlflow,
    "tensorboard": send_tensorboard,
    "opentelemetry": send_opentelemetry,
    "kubernetes": send_kubernetes,
}
