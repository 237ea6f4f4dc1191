"""Gather the files of one pod, and make the report on them.

describe.txt               kubectl describe pod: states, exit codes, limits, termination messages
CONTAINER.log              kubectl logs -c CONTAINER;    CONTAINER.previous.log  of the container before its last restart
events.json                the pod's events with full times (describe has only ages)
node.json, node-events.json   the node's conditions and its events, if the user may read them
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from forensics.api import Report, analyze
from forensics.capture.asked import Answer, ask, last_error, refusal
from forensics.core.errors import UsageError, or_the_path
from forensics.model import Notice, OpenQuestion

KUBECTL_TIMEOUT_S = 60.0  # chosen by hand: a server that does not answer in a minute will not; kubectl itself waits for ever
MAX_CONTAINER_LOG_BYTES = 256 << 20  # of one container; kubelet keeps 10 MiB of each unless configured otherwise


class Kubectl:
    """`context`, `namespace`: empty for those of the user's configuration."""

    def __init__(self, context: str = "", namespace: str = "", program: str = "kubectl") -> None:
        self.command = [program, *([f"--context={context}"] if context else [])]
        self.namespace = [f"--namespace={namespace}"] if namespace else []

    def ask(self, *words: str, everywhere: bool = False) -> Answer:
        """The output of `kubectl WORDS...`. `everywhere`: leave out the namespace, for objects that have none."""
        return ask([*self.command, *([] if everywhere else self.namespace), *words], KUBECTL_TIMEOUT_S)

    def save(self, target: Path, *words: str) -> str:
        """Write the output to a file, for logs, which are large. Returns the error in one line, empty for none."""
        command = [*self.command, *self.namespace, *words]
        try:
            with target.open("wb") as file:
                # Safe: as in `ask`; kubectl writes to the file itself, so nothing is lost where it is ended.
                done = subprocess.run(
                    command, stdout=file, stderr=subprocess.PIPE, timeout=KUBECTL_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
                )
        except subprocess.TimeoutExpired:
            return f"kubectl did not end within {KUBECTL_TIMEOUT_S:.0f} s; what came until then is read"
        except OSError as error:
            return refusal("kubectl", error, KUBECTL_TIMEOUT_S)
        return last_error(done.returncode, done.stderr)


POD_ARGUMENT_PATTERN = re.compile(r"(?:pods?/)?(?P<pod>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)")
STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
NO_PREVIOUS_ERROR = "previous terminated container"
DESCRIBE = "describe.txt"


class PodAnswer(NamedTuple):
    """The report, and the states of pod and containers according to Kubernetes, a sentence each."""

    sentences: tuple[str, ...]
    report: Report


def answer_about_pod(asked: str, kubectl: Kubectl) -> PodAnswer:
    """Why the pod died. Raises UsageError if `asked` is no name of a pod, and if kubectl shows nothing about it."""
    found = POD_ARGUMENT_PATTERN.fullmatch(asked)
    if found is None:
        raise UsageError(
            f"{asked!r} is not the name of a pod", advice=or_the_path(asked, "write the name that `kubectl get pods` shows")
        )
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        ours = Path(folder)
        pod, missing = gather_pod(found["pod"], kubectl, ours)
        with contextlib.chdir(ours):  # so that the report has the bare names of the files
            report = analyze(sorted(p.name for p in ours.iterdir()))
        sentences = tuple(status_sentences(pod))
        notices = tuple(_notices(sentences, ours / DESCRIBE)) + report.notices
        report = replace(report, case=f"pod {found['pod']}", notices=notices, missing=(*report.missing, *missing))
        return PodAnswer(sentences, report)


def gather_pod(name: str, kubectl: Kubectl, folder: Path) -> tuple[dict[str, Any], list[OpenQuestion]]:
    """Fill `folder`. Returns the pod's API object, and what could not be read. Raises UsageError if there is no such pod."""
    shown = kubectl.ask("get", "pod", name, "-o", "json")
    if shown.fault:
        advice = or_the_path(name, "-n NAMESPACE and --context are passed on")
        raise UsageError(f"kubectl shows nothing about pod {name} ({shown.fault})", advice=advice)
    try:
        pod: dict[str, Any] = json.loads(shown.text)
    except ValueError as error:
        raise UsageError(f"kubectl's answer on pod {name} is not JSON") from error
    missing: list[OpenQuestion] = []

    def keep(target: str, what: str, *words: str, everywhere: bool = False) -> None:
        found = kubectl.ask(*words, everywhere=everywhere)
        if found.fault:
            missing.append(OpenQuestion(what, found.fault, " ".join([*kubectl.command, *words])))
        elif found.text.strip():
            (folder / target).write_text(found.text, encoding="utf-8")

    keep(DESCRIBE, "what kubectl describes of the pod", "describe", "pod", name)
    keep("events.json", "the pod's events", "get", "events", f"--field-selector=involvedObject.name={name}", "-o", "json")
    _logs(name, pod, kubectl, folder, missing)
    if node := str(pod.get("spec", {}).get("nodeName", "")):
        keep("node.json", f"the state of node {node}", "get", "node", node, "-o", "json", everywhere=True)
        chosen = f"--field-selector=involvedObject.kind=Node,involvedObject.name={node}"
        keep("node-events.json", f"the events of node {node}", "get", "events", "-A", chosen, "-o", "json", everywhere=True)
        command = f"kubectl debug node/{node} -it --image=busybox -- chroot /host journalctl -k --since -2h > kernel.log"
        missing.append(OpenQuestion(f"the kernel's log of node {node}", "Kubernetes does not hand it out", command))
    return pod, missing


def _logs(name: str, pod: dict[str, Any], kubectl: Kubectl, folder: Path, missing: list[OpenQuestion]) -> None:
    """The log of each container that started, and of the one before its last restart."""
    for status in _statuses(pod):
        container = status["name"]
        words = ["logs", name, f"--container={container}", "--timestamps", f"--limit-bytes={MAX_CONTAINER_LOG_BYTES}"]
        wanted = [(f"{container}.log", words)] if _started(status) else []
        wanted += [(f"{container}.previous.log", [*words, "--previous"])] if status.get("restartCount", 0) else []
        for target, command in wanted:
            fault = kubectl.save(folder / target, *command)
            if fault and NO_PREVIOUS_ERROR not in fault:
                missing.append(OpenQuestion(f"the log of container {container}", fault, " ".join([*kubectl.command, *command])))
            if (folder / target).exists() and not (folder / target).stat().st_size:
                (folder / target).unlink()


def _statuses(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [s for key in STATUSES for s in pod.get("status", {}).get(key) or []]


def _started(status: dict[str, Any]) -> bool:
    return bool({"running", "terminated"} & set(status.get("state") or {})) or bool(status.get("lastState"))


def status_sentences(pod: dict[str, Any]) -> Iterator[str]:
    """The pod and each of its containers in a sentence."""
    meta, status = pod.get("metadata", {}), pod.get("status", {})
    where = f" on {pod['spec']['nodeName']}" if pod.get("spec", {}).get("nodeName") else ", on no node yet"
    why = ", ".join(filter(None, (status.get("reason", ""), status.get("message", ""))))
    yield f"pod {meta.get('namespace', 'default')}/{meta.get('name', '')}: {status.get('phase', 'Unknown')}{where}" + (
        f" ({why})" if why else ""
    )
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            yield f"not scheduled: {condition.get('message') or condition.get('reason')}"
    for found in _statuses(pod):
        restarts = found.get("restartCount", 0)
        now, last = _state(found.get("state") or {}), _state(found.get("lastState") or {})
        before = f"; before that {last}" if last else ""
        often = f", restarted {restarts} time{'s' if restarts != 1 else ''}" if restarts else ""
        yield f"container {found['name']}: {now or 'no state'}{before}{often}"


def _state(state: dict[str, Any]) -> str:
    for kind, about in state.items():
        reason = about.get("reason", "")
        if kind == "terminated":
            code = about.get("exitCode")
            ended = f"ended {about['finishedAt']}" if about.get("finishedAt") else "ended"
            return f"{ended}, {reason or 'no reason given'}, exit code {code}" + _signal(code)
        message = (about.get("message") or "").split("\n")[0][:200]
        return ", ".join(filter(None, (kind, reason, message)))
    return ""


def _signal(code: Any) -> str:
    return f" (signal {code - 128})" if isinstance(code, int) and 128 < code < 160 else ""


def _notices(sentences: tuple[str, ...], describe: Path) -> Iterator[Notice]:
    """A notice for each sentence, with its line in describe.txt: the container's own, else the first."""
    lines = describe.read_text(encoding="utf-8").splitlines() if describe.exists() else []
    for text in sentences:
        name = text.removeprefix("container ").partition(":")[0] if text.startswith("container ") else ""
        at = next((n for n, line in enumerate(lines, 1) if name and line.strip() == f"{name}:"), 1)
        if lines:
            yield Notice(DESCRIBE, at, lines[at - 1], None, "subject", text)
