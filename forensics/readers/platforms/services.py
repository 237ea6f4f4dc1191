"""Parts of the messages of kubelets, schedulers and container runtimes.

fit-0_ml(0a1b-...)                                          -> pod fit-0, namespace ml
Liveness probe failed: HTTP probe failed with statuscode: 503   -> HTTP probe failed with statuscode: 503
"""

from forensics.core import lazy
from forensics.model import Value

POD_ID_PATTERN = lazy.regex(r"(?P<pod>[a-z0-9][\w.-]*?)_(?P<namespace>[a-z0-9][a-z0-9-]*)\b")  # as the kubelet writes it
PREEMPTION_PATTERN = lazy.regex(r" preemption: .*")  # why no other pod was ended for this one: the scheduler's second sentence
PROBE_MESSAGE_PATTERN = lazy.regex(r"(?:Liveness|Startup) probe (?:failed|errored): (?P<says>\S[^\n]{0,200})")
RUNTIME_MESSAGE_PATTERN = lazy.regex(
    r"(?:unable to start container process|starting container process caused|container create failed|Error):? "
    r"(?P<says>\S[^\n]{0,200})"
)


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
