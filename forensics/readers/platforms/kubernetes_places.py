"""The pod that lines of Kubernetes near the evidence name: kubectl's tables, descriptions and events, the kubelet's, JSON.

fit-0   0/1   OOMKilled   0   3m      -> pod fit-0

Parts of the messages of kubelets, schedulers and container runtimes.

fit-0_ml(0a1b-...)                                          -> pod fit-0, namespace ml
Liveness probe failed: HTTP probe failed with statuscode: 503   -> HTTP probe failed with statuscode: 503
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import first_parts, patterns_of
from forensics.model import Fields, Proof, Value
from forensics.readers.surroundings.near import MAX_PROMPT_LINES, MAX_READ_PROOFS, NEAR, WIDE, Found

PATTERNS = patterns_of("kubernetes places")
POD_MARKS = ('"containerStatuses"', '"kind": "Pod"', '"kind":"Pod"')


def pod(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The pod, with its namespace if that is told."""
    if "pod" in facts:
        return {}
    if named := first_parts("pods", (*(p.text for p in proofs[:MAX_READ_PROOFS]), *lines[max(0, at - NEAR) : at + NEAR])):
        return {"pod": "/".join(filter(None, (named.get("namespace"), named["pod"])))}
    near = lines[max(0, at - WIDE) : at + WIDE]
    if described := _described_pod(lines, at):
        return {"pod": described}
    if not any(mark in text for text in near for mark in (*POD_MARKS, '"containerID"')):
        return {}
    for text in reversed(lines[max(0, at - WIDE) : at + 1]):
        if found := PATTERNS.status_container.search(text):
            return {"container": found["container"]}
        if found := PATTERNS.pod_document.search(text):
            return {"pod": found["pod"]}
    return {}


def _described_pod(lines: Sequence[str], at: int) -> str:
    """The pod whose description or events the line at `at` belongs to, as the command, the heading or the scheduler names it."""
    first = max(0, at - MAX_PROMPT_LINES)
    for i in range(min(at, len(lines) - 1), first - 1, -1):
        if named := PATTERNS.described_pod.match(lines[i]):
            space = next(filter(None, map(PATTERNS.namespace_row.match, lines[i + 1 : i + NEAR])), None)
            return f"{space['namespace']}/{named['pod']}" if space else ""
        if found := first_parts("described pods", lines[i : i + 1]):
            return "/".join(filter(None, (found.get("namespace") or found.get("later"), found["pod"])))
    return ""


def pod_and_namespace(written: str) -> dict[str, Value]:
    """Pod and namespace as the kubelet (`fit-0_ml(0a1b)`) and kubectl (`ml/fit-0`) write them."""
    if found := PATTERNS.pod_id.match(written):
        return dict(found.groupdict())
    namespace, slash, pod = written.rpartition("/")
    return {"pod": pod, **({"namespace": namespace} if slash else {})} if pod else {}


def workload_of(pod: str) -> str:
    """What runs a pod, as far as its name shows it: `fit-7f9c6d5b8-x2x4k` -> deployment/fit, `fit-0` -> statefulset/fit."""
    for pattern in (PATTERNS.pod_of_a_deployment, PATTERNS.pod_of_a_job, PATTERNS.pod_of_a_set):
        if found := pattern.match(pod):
            return "/".join(next((kind, name) for kind, name in found.groupdict().items()))
    return ""


def without_preemption(text: str) -> str:
    """The scheduler's message without its sentence on preemption."""
    return PATTERNS.preemption.sub("", text)


def probe_message(text: str) -> str:
    """What a probe that failed says; empty for other lines."""
    found = PATTERNS.probe_message.search(text)
    return str(found["says"]) if found else ""


def runtime_message(text: str) -> str:
    """Why a container runtime could not start the process; empty for other lines."""
    found = PATTERNS.runtime_message.search(text)
    return str(found["says"]) if found else ""
