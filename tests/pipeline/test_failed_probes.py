"""What a pod's events tell of a container that the kubelet ended. The texts are in the layout of kubectl's describe.go and events."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
DESCRIBED = """\
Name:             infer-6c9f7d5b4-x2xk8
Namespace:        research
Node:             gpu-node-3/10.0.3.17
Status:           Running
Controlled By:    ReplicaSet/infer-6c9f7d5b4
Containers:
  main:
    Image:          registry.example.com/research/serve:1.4.2
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Exit Code:    {code}
      Started:      Mon, 30 Nov 2026 09:56:40 +0000
      Finished:     Mon, 30 Nov 2026 09:58:05 +0000
    Ready:          False
    Restart Count:  4
Events:
  Type     Reason     Age                   From               Message
  ----     ------     ----                  ----               -------
  Normal   Started    3m (x5 over 19m)      kubelet            Started container main
{events}  Warning  BackOff    7s (x31 over 15m)     kubelet            Back-off restarting failed container main in pod infer-6c9f7d5b4-x2xk8_research(5b0b5ed2-8a5c-4b7e-8b52-2f2c4a1c9e11)
"""
UNANSWERED = '  Warning  Unhealthy  4m (x12 over 18m)     kubelet            {kind} probe failed: Get "http://10.244.3.20:8080/healthz": context deadline exceeded\n'
ENDED = "  Normal   Killing    4m (x4 over 17m)      kubelet            Container main failed {kind} probe, will be restarted\n"
WORK = "2026-11-30 09:57:21,700 INFO server: shard 1/4 loaded\n2026-11-30 09:58:02,331 INFO server: shard 2/4 loaded\n"


def described(code: int, kind: str) -> str:
    events = UNANSWERED.format(kind=kind.capitalize()) + ENDED.format(kind=kind) if kind else ""
    return DESCRIBED.format(code=code, events=events)


@pytest.mark.seconds
@pytest.mark.parametrize("kind", ["liveness", "startup"])
@pytest.mark.parametrize("code", [137, 143])
def test_the_event_tells_why_the_container_was_ended_and_its_state_when(analyze: Analyze, code: int, kind: str) -> None:
    report = analyze(describe_txt=described(code, kind), infer_log=WORK)
    first = report.causes[0]
    assert (report.verdict, first.id) == ("crash", "process.stalled")
    assert f"failed {kind} probe" in first.evidence[0].text
    assert f"{first.evidence[0].time:%H:%M:%S}" == "09:58:05"
    assert "startupProbe" in first.remediations[0].action
    assert "deployment/infer" in " ".join(first.remediations[0].commands)


@pytest.mark.seconds
def test_the_events_alone_tell_it_as_well(analyze: Analyze) -> None:
    events = (
        "LAST SEEN   TYPE      REASON      OBJECT                         MESSAGE\n"
        "4m          Warning   Unhealthy   pod/infer-6c9f7d5b4-x2xk8      Liveness probe failed: HTTP probe failed with statuscode: 503\n"
        "4m          Normal    Killing     pod/infer-6c9f7d5b4-x2xk8      Container main failed liveness probe, will be restarted\n"
    )
    report = analyze(events_txt=events)
    assert (report.verdict, report.causes[0].id) == ("crash", "process.stalled")
    assert "Read " not in report.causes[0].remediations[0].action


@pytest.mark.seconds
def test_a_pod_is_not_told_the_words_of_another_scheduler(analyze: Analyze) -> None:
    first = analyze(describe_txt=described(137, ""), infer_log=WORK).causes[0]
    assert first.id == "process.worker_died"
    told = " ".join(f"{a.action} {a.reference} {' '.join(a.commands)}" for a in first.remediations)
    assert "event" in first.remediations[0].action
    assert not [word for word in ("OUT_OF_MEMORY", "TIMEOUT", "schedmd", "sacct", "describe pod") if word in told]


@pytest.mark.seconds
def test_a_container_that_had_answered_its_probe_is_not_told_to_wait_longer_for_its_start(analyze: Analyze) -> None:
    probe = "    Liveness:       http-get http://:8080/healthz delay=30s timeout=1s period=10s #success=1 #failure=3\n"
    text = described(137, "liveness").replace("09:58:05", "10:19:00").replace("Events:", probe + "Events:")
    report = analyze(describe_txt=text)
    first = report.causes[0]
    assert "answered for 22 min" in first.remediations[0].action
    assert not [a for a in first.remediations if "startup" in f"{a.action} {a.why}".lower()]
    assert report.subject is not None
    assert report.subject.why == "what watches it ended it, because it did not answer"
