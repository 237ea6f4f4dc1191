"""Correlated failures: incidents on many nodes with one origin, such as a storage outage or a bad switch.

    12 incidents in 5 minutes on nodes of rack r17, all of the family storage   -> one group; its first sign: gpu-0412 at 10:03:11

A group is a sequence of incidents of one family, at most WINDOW_S apart, on MIN_CORRELATED_NODES nodes that share a label (rack,
switch, or all nodes). It must be more than chance: at the family's own rate over all time and nodes, so many or more incidents in
that time must be expected less than MAX_EXPECTED_GROUPS times in all of the data.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from forensics.core.errors import UsageError, files_at
from forensics.database import Cause
from forensics.history.fingerprint import Incident

WINDOW_S = 300  # all nodes report a broken fabric within minutes
MIN_CORRELATED_NODES = 3  # in a fleet of thousands, two nodes of one rack fail together by chance
MAX_EXPECTED_GROUPS = 0.01  # the usual level of one in a hundred, for all of the data
MIN_NODES_SHARE = 0.9  # of the nodes that fail at that time; one or two may have another label
# Trait of a cause -> its family: faults that one origin causes on many nodes. A program's own faults are in none.
FAMILIES = {"shared_storage": "storage", "shared_network": "network", "shared_power": "power", "shared_stop": "stopped"}


class CorrelatedFailure(Struct, frozen=True):
    """Several incidents with one origin. `label`: common to their nodes, `rack r17` or `all nodes`. Times: seconds since 1970."""

    family: str
    label: str
    first: Incident
    start: int
    end: int
    nodes: tuple[str, ...]
    jobs: tuple[str, ...]
    incidents: int
    expected: float

    def __str__(self) -> str:
        """The group in one or two sentences."""
        then = datetime.fromtimestamp(self.first.time, UTC)
        many = f"{self.incidents} incidents on {len(self.nodes)} nodes" + (f", {len(self.jobs)} jobs" if self.jobs else "")
        first = f"{self.first.node} at {then:%Y-%m-%d %H:%M:%S}, {self.first.title}"
        return f"{many}, within {self.end - self.start} s. First sign: {first}"


def read_topology(path: Path) -> dict[str, dict[str, str]]:
    """The labels of each node, from a CSV file with the columns `node,rack,switch` or more. Raises UsageError for another
    file."""
    with files_at(path), path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "node" not in rows[0]:
        raise UsageError("no column node", str(path), "its first line is `node,rack,switch`")
    return {str(r["node"]): {k: v for k, v in r.items() if k and k != "node" and v} for r in rows}


def families_of(causes: Mapping[str, Cause]) -> dict[str, str]:
    """The family of each cause that has one."""
    return {name: FAMILIES[trait] for name, cause in causes.items() for trait in cause.traits if trait in FAMILIES}


def correlated_failures(
    incidents: Iterable[Incident], causes: Mapping[str, str], topology: Mapping[str, Mapping[str, str]] | None = None
) -> list[CorrelatedFailure]:
    """All groups, the largest first. Only incidents with a time and a node that ended badly are used. `causes`: see families_of.
    `topology`: see read_topology."""
    topology = topology or {}
    families: dict[str, list[Incident]] = defaultdict(list)
    nodes: set[str] = set(topology)
    for i in incidents:
        if i.dated and i.node and i.verdict != "no_crash":
            nodes.add(i.node)
            if family := causes.get(i.cause):
                families[family].append(i)
    found = [s for name, of_family in families.items() for s in _of_family(name, of_family, topology, nodes)]
    return sorted(found, key=lambda s: (-len(s.nodes), s.start))


def _of_family(
    family: str, incidents: list[Incident], topology: Mapping[str, Mapping[str, str]], nodes: set[str]
) -> list[CorrelatedFailure]:
    """The groups of one family: first among nodes that share a label, the smallest label first, then among all nodes."""
    incidents = sorted(incidents, key=lambda i: (i.time, i.node))
    span = max(incidents[-1].time - incidents[0].time, WINDOW_S)
    groups: dict[str, set[str]] = defaultdict(set)
    for node, labels in topology.items():
        for kind, value in labels.items():
            groups[f"{kind} {value}"].add(node)
    found: list[CorrelatedFailure] = []
    used: set[str] = set()
    for label, members in [*sorted(groups.items(), key=lambda g: (len(g[1]), g[0])), ("all nodes", nodes)]:
        unused = [i for i in incidents if i.node in members and i.key not in used]
        for run in _runs(unused):
            share, label_count = len(members) / max(len(nodes), 1), len(nodes) / len(members)
            group = _correlated(family, label, run, len(incidents), span, share, label_count)
            if group and (label == "all nodes" or _is_mostly_label(run, incidents, used)):
                found.append(group)
                used |= {i.key for i in run}
    return found


def _runs(incidents: Sequence[Incident]) -> list[list[Incident]]:
    """`incidents`, sorted by time, split where two neighbours are more than WINDOW_S apart."""
    runs: list[list[Incident]] = []
    for i in incidents:
        if runs and i.time - runs[-1][-1].time <= WINDOW_S:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def _is_mostly_label(run: list[Incident], incidents: Sequence[Incident], used: set[str]) -> bool:
    """Are most nodes that fail at that time in `run`, so that its label explains the failures?"""
    start, end = run[0].time - WINDOW_S, run[-1].time + WINDOW_S
    every = {i.node for i in incidents if start <= i.time <= end and i.key not in used}
    return len({i.node for i in run}) >= MIN_NODES_SHARE * len(every)


def _correlated(
    family: str, label: str, run: list[Incident], total: int, span: int, share: float, label_count: float
) -> CorrelatedFailure | None:
    """The group that `run` makes; None if it may be chance. `total`, `span`: all incidents of the family and their time in
    seconds. `share`: of all nodes that have the label. `label_count`: the number of labels of that size that there may be."""
    nodes = tuple(dict.fromkeys(i.node for i in run))
    if len(nodes) < MIN_CORRELATED_NODES:
        return None
    from scipy.stats import poisson

    length = run[-1].time - run[0].time + WINDOW_S
    background = max(total - len(run), 1) * share * length / span  # the expected number of other incidents in that time
    expected = float(poisson.sf(len(nodes) - 1, background)) * max(span / length, 1.0) * label_count
    if expected > MAX_EXPECTED_GROUPS:
        return None
    jobs = tuple(dict.fromkeys(i.job for i in run if i.job))
    return CorrelatedFailure(family, label, run[0], run[0].time, run[-1].time, nodes, jobs, len(run), expected)
