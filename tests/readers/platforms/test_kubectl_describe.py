"""A container's end as kubectl describe lays it out. The texts are made for these tests in the layout of describe.go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.correlation import moment_of, moment_text
from forensics.readers.base import Record
from forensics.readers.platforms import kubectl_describe
from tests.readers.regions import proven, regions

POD = """Name:             train-0
Namespace:        ml
Node:             node-7/10.0.0.7
Status:           Running
Init Containers:
  fetch:
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
Containers:
  main:
    Container ID:  containerd://ab
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       {reason}
      Exit Code:    {code}
      Started:      Mon, 29 Jan 2024 10:30:00 -0500
      Finished:     Mon, 29 Jan 2024 10:30:15 -0500
    Ready:          False
    Restart Count:  5
    Limits:
      cpu:     4
      memory:  512Mi
    Requests:
      memory:  256Mi
  sidecar:
    State:          Running
    Limits:
      memory:  1Gi
Events:
  Type     Reason     Age   From     Message
{events}"""


def records(text: str) -> list[Record]:
    return [r for region in regions(text, kubectl_describe.TRIGGER) if (r := proven(kubectl_describe.read(region)))]


def pod(reason: str, code: int, events: str = "") -> list[Record]:
    return records(POD.format(reason=reason, code=code, events=events))


def test_a_memory_kill_names_container_pod_and_its_own_limit() -> None:
    (record,) = pod("OOMKilled", 137)
    assert record.cause == "host_memory.oom_cgroup"
    assert record.weight == "proof"
    wanted = {"container": "main", "pod": "train-0", "exit_code": 137, "limit_bytes": 512 << 20, "restarts": 5}
    assert {k: record.fields[k] for k in wanted} == wanted
    assert [line.text.split()[0] for line in record.quote] == ["Reason:", "Exit", "Finished:"]


def test_code_137_alone_proves_no_shortage_of_memory() -> None:
    (record,) = pod("Error", 137)
    assert (record.cause, record.weight) == ("process.worker_died", "strong")
    assert "host_memory.oom_cgroup" not in record.decides


def test_a_liveness_kill_is_told_from_the_event() -> None:
    (record,) = pod("Error", 137, "  Normal   Killing   2m   kubelet  Container main failed liveness probe, will be restarted")
    assert record.cause == "process.stalled"
    assert any("liveness" in line.text for line in record.quote)
    (other,) = pod("Error", 137, "  Normal   Killing   2m   kubelet  Container sidecar failed liveness probe, will be restarted")
    assert other.cause == "process.worker_died"


KILLED = "  Normal   Killing   2m   kubelet  Container main failed liveness probe, will be restarted"
LIVENESS = "    Liveness:  http-get http://:8080/healthz delay=5s timeout=1s period={period}s #success=1 #failure=3\n"
STARTUP = "    Startup:   exec [cat /tmp/up] delay=0s timeout=1s period=10s #success=1 #failure=120\n"


@pytest.mark.parametrize(
    ("finished", "period", "startup", "answered"),
    [
        ("10:52:40", 10, "", 1320.0),  # a container that never answers is killed after 36 s, and 30 s to end in
        ("10:30:50", 10, "", None),  # it may never have answered
        ("10:33:00", 60, "", None),
        ("10:30:50", 10, STARTUP, 50.0),  # liveness is only asked behind the first answer to the startup probe
    ],
)
def test_a_container_that_outlived_an_unanswered_probe_had_answered_it(
    finished: str, period: int, startup: str, answered: float | None
) -> None:
    text = POD.replace("10:30:15", finished).replace("  sidecar:", LIVENESS.format(period=period) + startup + "  sidecar:")
    (record,) = records(text.format(reason="Error", code=137, events=KILLED))
    assert (record.cause, record.fields.get("answered_s")) == ("process.stalled", answered)


@pytest.mark.parametrize(
    ("head", "workload"),
    [
        ("", "pod/train-0"),
        ("Controlled By:    StatefulSet/fit\n", "statefulset/fit"),
        ("Controlled By:    PyTorchJob/fit\n", None),
    ],
)
def test_a_pod_runs_itself_only_where_nothing_controls_it(head: str, workload: str | None) -> None:
    (record,) = records(POD.replace("Init ", head + "Init ").format(reason="OOMKilled", code=137, events=""))
    assert record.fields.get("workload") == workload


@pytest.mark.parametrize(
    ("code", "cause"), [(139, "process.segfault"), (134, "process.abort"), (1, "code.exception"), (127, "code.config")]
)
def test_a_signal_or_a_failure_is_read_from_the_code(code: int, cause: str) -> None:
    (record,) = pod("Error", code)
    assert (record.cause, record.quote[0].text.strip()) == (cause, f"Exit Code:    {code}")


@pytest.mark.parametrize(("reason", "code"), [("Completed", 0), ("Error", 3), ("ContainerStatusUnknown", 137)])
def test_other_ends_decide_nothing(reason: str, code: int) -> None:
    assert pod(reason, code) == []


def test_exit_0_with_a_memory_kill_is_one() -> None:
    (record,) = pod("OOMKilled", 0)
    assert record.cause == "host_memory.oom_cgroup"


@pytest.mark.parametrize(
    ("resource", "cause"),
    [("memory", "host_memory.oom_daemon"), ("ephemeral-storage", "storage.full"), ("pids", "process.resource_limit")],
)
def test_an_evicted_pod_by_resource(resource: str, cause: str) -> None:
    text = (
        "Name:             train-0\nStatus:           Failed\nReason:           Evicted\n"
        f"Message:          The node was low on resource: {resource}. Threshold quantity: 100Mi, available: 88Mi. "
        "Container main was using 1924152Ki, request is 0, has larger consumption of memory."
    )
    (record,) = records(text)
    assert record.cause == cause
    assert record.fields["usage_bytes"] == 1924152 << 10
    assert record.fields["pod"] == "train-0"
    assert "stopped.preempted" in record.decides


def test_a_pod_was_evicted_when_its_container_ended() -> None:
    text = (
        "Name:             train-0\nNode:             gke-7/10.0.0.7\nStart Time:       Sun, 29 Nov 2026 08:00:11 +0000\n"
        "Status:           Failed\nReason:           Evicted\nMessage:          The node was low on resource: memory. "
        "Container main was using 1924152Ki, request is 0, has larger consumption of memory.\nContainers:\n  main:\n"
        "    State:          Terminated\n      Started:      Sun, 29 Nov 2026 08:00:14 +0000\n"
        "      Finished:     Sun, 29 Nov 2026 09:41:55 +0000\n"
    )
    (record,) = records(text)
    assert (record.fields["node"], record.quote[-1].number) == ("gke-7", 11)
    lines = text.splitlines()
    assert moment_text(moment_of(lines, 5)) == "2026-11-29 09:41:55+00:00"
    assert moment_text(moment_of(lines[:10], 5)) == "after 2026-11-29 08:00:11+00:00"


def test_words_elsewhere_are_no_report() -> None:
    assert records("process finished, exit code: 137") == []
    assert records("      Exit Code:    137") == []


@pytest.mark.parametrize(
    ("text", "size"), [("512Mi", 512 << 20), ("1.5G", 1_500_000_000), ("1924152Ki", 1924152 << 10), ("7", 7), ("x", None)]
)
def test_a_kubernetes_quantity_is_read_as_bytes(text: str, size: int | None) -> None:
    assert kubectl_describe.quantity(text) == size


@given(st.text(alphabet="0123456789.kKMGTim", max_size=12))
def test_any_quantity_is_a_size_or_nothing(text: str) -> None:
    size = kubectl_describe.quantity(text)
    assert size is None or size >= 0
