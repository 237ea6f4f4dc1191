"""The pod that lines of Kubernetes near the evidence name: kubectl's tables, descriptions and events, the kubelet's, JSON.

fit-0   0/1   OOMKilled   0   3m      -> pod fit-0

Parts of the messages of kubelets, schedulers and container runtimes.

fit-0_ml(0a1b-...)                                          -> pod fit-0, namespace ml
Liveness probe failed: HTTP probe failed with statuscode: 503   -> HTTP probe failed with statuscode: 503
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import first_parts, part_pattern
from forensics.model import Fields, Proof, Value
from forensics.readers.surroundings.near import MAX_PROMPT_LINES, MAX_READ_PROOFS, NEAR, WIDE, Found

POD_DOCUMENT_PATTERN = part_pattern("kubernetes places", "pod document")
POD_MARKS = ('"containerStatuses"', '"kind": "Pod"', '"kind":"Pod"')
DESCRIBED_POD_PATTERN = part_pattern("kubernetes places", "described pod")  # its next rows tell namespace and node
NAMESPACE_ROW_PATTERN = part_pattern("kubernetes places", "namespace row")
STATUS_CONTAINER_PATTERN = part_pattern("kubernetes places", "status container")


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
        if found := STATUS_CONTAINER_PATTERN.search(text):
            return {"container": found["container"]}
        if found := POD_DOCUMENT_PATTERN.search(text):
            return {"pod": found["pod"]}
    return {}


def _described_pod(lines: Sequence[str], at: int) -> str:
    """The pod whose description or events the line at `at` belongs to, as the command, the heading or the scheduler names it."""
    first = max(0, at - MAX_PROMPT_LINES)
    for i in range(min(at, len(lines) - 1), first - 1, -1):
        if named := DESCRIBED_POD_PATTERN.match(lines[i]):
            space = next(filter(None, map(NAMESPACE_ROW_PATTERN.match, lines[i + 1 : i + NEAR])), None)
            return f"{space['namespace']}/{named['pod']}" if space else ""
        if found := first_parts("described pods", lines[i : i + 1]):
            return "/".join(filter(None, (found.get("namespace") or found.get("later"), found["pod"])))
    return ""


POD_ID_PATTERN = part_pattern("kubernetes places", "pod id")  # as the kubelet writes it
# why no other pod was ended for this one: the scheduler's second sentence.
PREEMPTION_PATTERN = part_pattern("kubernetes places", "preemption")
PROBE_MESSAGE_PATTERN = part_pattern("kubernetes places", "probe message")
RUNTIME_MESSAGE_PATTERN = part_pattern("kubernetes places", "runtime message")


def pod_and_namespace(written: str) -> dict[str, Value]:
    """Pod and namespace as the kubelet (`fit-0_ml(0a1b)`) and kubectl (`ml/fit-0`) write them."""
    if found := POD_ID_PATTERN.match(written):
        return dict(found.groupdict())
    namespace, slash, pod = written.rpartition("/")
    return {"pod": pod, **({"namespace": namespace} if slash else {})} if pod else {}


def without_preemption(text: str) -> str:
    """The scheduler's message without its sentence on preemption."""
    return PREEMPTION_PATTERN.sub("", text)


def probe_message(text: str) -> str:
    """What a probe that failed says; empty for other lines."""
    found = PROBE_MESSAGE_PATTERN.search(text)
    return str(found["says"]) if found else ""


def runtime_message(text: str) -> str:
    """Why a container runtime could not start the process; empty for other lines."""
    found = RUNTIME_MESSAGE_PATTERN.search(text)
    return str(found["says"]) if found else ""
