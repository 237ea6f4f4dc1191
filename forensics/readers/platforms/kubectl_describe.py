"""Reads the end of a container in the output of `kubectl describe`: container, pod, reason and memory limit.

    Name:             train-0
    Containers:
      main:
        Last State:     Terminated
          Reason:       OOMKilled
          Exit Code:    137
        Limits:
          memory:  512Mi

and a pod that was evicted:

    Message:          The node was low on resource: memory. Threshold quantity: 100Mi, available: 88Mi. Container main was using
                      1924152Ki, which exceeds its request of 0.

The layout is that of kubectl's describe.go in all versions. The eviction texts are those of kubelet's eviction manager ("request
of" up to 1.25, "request is" later). OOMKilled proves that the memory limit was reached. Exit code 137 with the reason Error does
not prove it: a liveness probe, a drained node or a person also kills with SIGKILL.
"""

import re
from itertools import takewhile
from math import inf

from forensics.data_files.named_parts import patterns_of
from forensics.database import signal_outcome
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record
from forensics.readers.stamps.moment import Moment, moment_of, seconds_between

TRIGGER = Trigger("kubectl_describe", ("Exit Code: ", "The node was low on resource: "), before=90, after=70)
FOLDS = True
PATTERNS = patterns_of("kubectl describe")
NO_REASONS = ("Error", "")  # of a container that ended with a status: it tells no more than that
OOM_KILLED, FAILED_PROBE, PROGRAM_FAILED, NEVER_STARTED = "OOMKilled", "failed_probe", "failed", "not_started"
BY_RESOURCE = {
    "memory": "evicted_memory",
    "ephemeral-storage": "evicted_disk",
    "nodefs": "evicted_disk",
    "imagefs": "evicted_disk",
    "inodes": "evicted_disk",
    "pids": "evicted_pids",
}
# The meaning of an exit code with the reason Error: the program failed, it was never started, or a signal ended it (128 + n).
BY_CODE = {
    1: PROGRAM_FAILED,
    2: PROGRAM_FAILED,
    126: NEVER_STARTED,
    127: NEVER_STARTED,
    **{128 + n: signal_outcome(n) for n in (4, 6, 7, 9, 11)},
}
KILLING_PROBES = ("liveness", "startup")
GRACE_S = 30  # Kubernetes: the time between SIGTERM and SIGKILL, unless the pod sets another one
KUBELET_CODES = (137, 143)  # the kubelet asks with SIGTERM, and kills what does not end in time
OUTCOMES = (OOM_KILLED, FAILED_PROBE, *BY_RESOURCE.values(), *BY_CODE.values())
DECIMAL_UNITS = {unit: 1000.0**power for power, unit in enumerate("kMGT", 1)}
BINARY_UNITS = {f"{unit}i": 1024.0**power for power, unit in enumerate("KMGT", 1)}
BYTES_PER_QUANTITY_UNIT = {"": 1.0, "m": 0.001, **DECIMAL_UNITS, **BINARY_UNITS}
MAX_STATE_ROWS = 14  # rows of one state: Reason, Message of several lines, Exit Code, Signal, Started, Finished


def read(region: Region) -> Record | None:
    """A container that ended badly, or a pod that was evicted. None for any other line that contains the same words."""
    if PATTERNS.exit_code.match(region.text):
        return _terminated(region)
    evicted = PATTERNS.eviction.search(region.text)
    return _evicted(region, evicted) if evicted else None


def quantity(text: str) -> int | None:
    """A Kubernetes quantity, converted to bytes: `512Mi`, `1.5G`, `1924152Ki`, `2147483648`."""
    found = re.fullmatch(r"([\d.]+)(m|k|M|G|T|Ki|Mi|Gi|Ti)?", text)
    try:
        return round(float(found[1]) * BYTES_PER_QUANTITY_UNIT[found[2] or ""]) if found else None
    except ValueError:
        return None


def _terminated(region: Region) -> Record | None:
    before, after = region.lines_before(), region.lines_after()
    ended = PATTERNS.exit_code.match(region.text)
    above = ((i, PATTERNS.terminated.match(before[i].text)) for i in range(len(before) - 1, -1, -1)[: MAX_STATE_ROWS - 1])
    at, state = next(((i, found) for i, found in above if found), (0, None))
    if ended is None or state is None:
        return None
    code, indent = int(ended["code"]), len(state["indent"])
    own = _deeper(after, indent)
    rows = [*before[at:], region.line, *own]
    fields: dict[str, Value] = {"exit_code": code, **_names(before[:at], indent), **_container(after[len(own) :], indent)}
    fields |= _owner(before[:at]) | _waiting(before[:at], indent) | _ids(before[:at], after, state["name"] == "State")
    reason = next((m["reason"] for row in rows if (m := PATTERNS.reason.match(row.text))), "")
    if reason:
        fields["reason"] = reason
    if message := next((m["message"] for row in rows if (m := PATTERNS.pod_message.match(row.text))), ""):
        fields["message"] = message[:300]
    decided = _decide(code, reason, str(fields.get("container", "")), after)
    if decided is None:
        return None
    outcome, weight, telling = decided
    if outcome == FAILED_PROBE:
        fields |= _answered(own, after[len(own) :], indent)
    quote = [
        row
        for row in rows
        if PATTERNS.reason.match(row.text) or PATTERNS.exit_code.match(row.text) or PATTERNS.finished_row.match(row.text)
    ]
    if reason in NO_REASONS:
        quote.remove(region.line)
        quote.insert(0, region.line)
    quote = [*(row for row in after if row.number in telling), *quote]
    return Record("kubectl_describe", rows[0].number, rows[-1].number, outcome, weight, tuple(quote), fields)


def _decide(code: int, reason: str, container: str, after: list[Line]) -> tuple[str, Weight, set[int]] | None:
    """The outcome, its weight, and the numbers of more lines that show it."""
    if reason == OOM_KILLED:
        return OOM_KILLED, "proof", set()
    probes = tuple(f"Container {container} failed {probe} probe" for probe in KILLING_PROBES)
    telling = {line.number for line in after if container and any(probe in line.text for probe in probes)}
    if code in KUBELET_CODES and telling:
        return FAILED_PROBE, "proof", telling
    if code in BY_CODE and reason in NO_REASONS:
        return BY_CODE[code], "strong", set()
    return None


def _answered(state: list[Line], below: list[Line], indent: int) -> dict[str, Value]:
    """How long, in full minutes, a container had run that answered its liveness probe before: it ran longer than a probe waits
    that is never answered, or passed a startup probe first."""
    own = list(takewhile(lambda line: len(line.text) - len(line.text.lstrip()) >= indent, below))
    probe = next(filter(None, (PATTERNS.liveness_row.match(line.text) for line in own)), None)
    lived = seconds_between(*(_moment(state, row) for row in (PATTERNS.started_row, PATTERNS.finished_row)))
    if probe is None or not 0 < lived < inf:
        return {}
    delay, timeout, period, failures = (int(probe[name]) for name in ("delay", "timeout", "period", "failures"))
    unanswered = delay + timeout + failures * max(period, timeout) + GRACE_S
    passed = any(PATTERNS.startup_row.match(line.text) for line in own)
    return {"answered_s": lived // 60 * 60 or lived} if passed or lived > unanswered else {}


def _moment(state: list[Line], row: re.Pattern[str]) -> Moment:
    """The time in a row of a state: `Started:      Mon, 29 Jan 2024 10:30:00 -0500`."""
    texts = [line.text for line in state if row.match(line.text)]
    return moment_of(texts, 0) if texts else Moment()


def _names(before: list[Line], indent: int) -> dict[str, Value]:
    """Container: the nearest name above, indented less than the state. Pod: the nearest `Name:` row without indentation."""
    names: dict[str, Value] = {}
    for line in reversed(before):
        found = PATTERNS.container_name.match(line.text)
        if found and len(found["indent"]) < indent and "container" not in names:
            names["container"] = found["name"]
        if pod := PATTERNS.pod_name.match(line.text):
            names["pod"] = pod["pod"]
            break
    return names


def _owner(before: list[Line]) -> dict[str, Value]:
    """What runs the pod, as kubectl takes it (`deployment/train`), and its namespace. A pod that nothing controls runs itself."""
    found: dict[str, Value] = {}
    controlled = any(PATTERNS.controlled.match(line.text) for line in before)
    for line in reversed(before):
        if owner := PATTERNS.owner_row.match(line.text):
            name, of_replicas = owner["name"], owner["kind"] == "ReplicaSet"
            bare = PATTERNS.replica_hash.sub("", name)
            found["workload"] = f"deployment/{bare}" if of_replicas and bare != name else f"{owner['kind'].lower()}/{name}"
        elif label := PATTERNS.label_row.search(line.text):
            found.setdefault("workload", f"job/{label['job']}")
        if space := PATTERNS.own_namespace.match(line.text):
            found["namespace"] = space["namespace"]
        if named := PATTERNS.pod_name.match(line.text):
            if not controlled:
                found.setdefault("workload", f"pod/{named['pod']}")
            break
    return found


def _waiting(before: list[Line], indent: int) -> dict[str, Value]:
    """Why the container of a `Last State` waits now: `CrashLoopBackOff`."""
    above = before[-2:]
    waits = len(above) == 2 and (state := PATTERNS.waiting_row.match(above[0].text)) and len(state["indent"]) == indent
    reason = PATTERNS.reason.match(above[1].text) if waits else None
    return {"waits_for": reason["reason"]} if reason else {}


def _ids(before: list[Line], after: list[Line], is_current: bool) -> dict[str, Value]:
    """The node, the pod's UID and the container's ID. A restarted container has a new ID: only a current state's ID counts."""
    ids: dict[str, Value] = {}
    for line in reversed(before):
        if is_current and "container_id" not in ids and (found := PATTERNS.container_id_row.match(line.text)):
            ids["container_id"] = found["id"]
        if PATTERNS.container_name.match(line.text):
            is_current = False  # rows further up belong to another container
        if found := PATTERNS.node_row.match(line.text):
            ids["node"] = found["node"]
            break
    uid = next((m["uid"] for line in after if (m := PATTERNS.pod_uid_in_event.search(line.text))), "")
    return {**ids, "pod_uid": uid} if uid else ids


def _deeper(after: list[Line], indent: int) -> list[Line]:
    """The rows of the same state: those that are indented more than its first row."""
    rows: list[Line] = []
    for line in after[:MAX_STATE_ROWS]:
        if len(line.text) - len(line.text.lstrip()) <= indent or not line.text.strip():
            break
        rows.append(line)
    return rows


def _container(after: list[Line], indent: int) -> dict[str, Value]:
    """The memory limit and the restart count, from the lines below the state in the same container."""
    fields: dict[str, Value] = {}
    block = ""
    for line in after:
        depth = len(line.text) - len(line.text.lstrip())
        if depth < indent and line.text.strip():
            break
        if depth == indent:
            block = line.text.strip()
        if (
            block == "Limits:"
            and (found := PATTERNS.memory_limit.match(line.text))
            and (size := quantity(found["size"])) is not None
        ):
            fields |= {"limit_bytes": size, "limit_unit_k8s": found["size"].lstrip("0123456789.")}
        if found := PATTERNS.restart_count.match(line.text):
            fields |= {"restarts": int(found["count"])} if int(found["count"]) else {}
    return fields


def _evicted(region: Region, found: re.Match[str]) -> Record | None:
    outcome = BY_RESOURCE.get(found["resource"])
    if outcome is None:
        return None
    before, after = region.lines_before(), region.lines_after()
    fields: dict[str, Value] = {
        "resource": found["resource"],
        **_names(before, 0),
        **_owner(before),
        **_ids(before, after, False),
    }
    fields.pop("container", None)
    if found["container"]:
        fields["container"] = found["container"]
    for group in ("threshold", "available", "usage", "request"):
        if found[group] and (size := quantity(found[group])) is not None:
            fields[f"{group}_bytes"] = size
    near = [x for x in before[-2:] if re.match(r"\s*(?:Reason:\s+Evicted|Status:\s+Failed)", x.text)]
    first = min((region.line, *near), key=lambda x: x.number).number
    ended = [x for x in after if PATTERNS.finished_row.match(x.text)][:1]  # the head of a description has no time of its own
    quote = (region.line, *near, *ended)
    return Record("kubectl_describe", first, region.number, outcome, "proof", quote, fields)
