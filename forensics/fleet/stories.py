"""Incidents on many nodes that have one origin: a fabric event, a storage outage, a bad switch. One story, not forty.

    12 incidents in 5 minutes on nodes of rack r17, all of the family storage   -> one story; its first sign: gpu-0412 at 10:03:11

A story is a run of incidents of one family, no two neighbours further apart than WINDOW_S, on MIN_STORY_NODES nodes, with more of
them than chance gives: by the family's own rate over all the time and nodes looked at, so many or more within that time among
nodes that share the label (rack, switch, or all) must be expected less than MAX_EXPECTED_BY_CHANCE times in all of the data.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from forensics.core.errors import UsageError
from forensics.database import Cause
from forensics.history.incident import Incident

WINDOW_S = 300  # a time-out of ten minutes is reported in steps; a broken fabric is reported by all nodes within minutes
MIN_STORY_NODES = 3  # two nodes of one rack fail together by chance where a fleet has thousands
MAX_EXPECTED_BY_CHANCE = 0.01  # the usual level of one in a hundred, for all of the data at once
MIN_NODES_SHARE = 0.9  # of the nodes: one or two may be told by another log
# What one origin brings to many nodes, by the trait of its causes; what a program does to itself is in none.
FAMILIES = {"shared_storage": "storage", "shared_network": "network", "shared_power": "power", "shared_stop": "stopped"}


class Story(Struct, frozen=True):
    """Several incidents of one origin. `label`: what their nodes share, `rack r17`, or `all nodes`. Times: seconds since 1970."""

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
        """One sentence or two."""
        then = datetime.fromtimestamp(self.first.time, UTC)
        many = f"{self.incidents} incidents on {len(self.nodes)} nodes" + (f", {len(self.jobs)} jobs" if self.jobs else "")
        first = f"{self.first.node} at {then:%Y-%m-%d %H:%M:%S}, {self.first.title}"
        return f"{many}, within {self.end - self.start} s. First sign: {first}"


def read_topology(path: Path) -> dict[str, dict[str, str]]:
    """`node,rack,switch` and more columns, a row a node; returns the labels of each node. Raises UsageError for another file."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", str(path)) from error
    if not rows or "node" not in rows[0]:
        raise UsageError("no column node", str(path), "its first line is `node,rack,switch`")
    return {str(r["node"]): {k: v for k, v in r.items() if k and k != "node" and v} for r in rows}


def families_of(causes: Mapping[str, Cause]) -> dict[str, str]:
    """The family of each cause that one origin can bring to many nodes."""
    return {name: FAMILIES[trait] for name, cause in causes.items() for trait in cause.traits if trait in FAMILIES}


def stories(
    incidents: Iterable[Incident], causes: Mapping[str, str], topology: Mapping[str, Mapping[str, str]] | None = None
) -> list[Story]:
    """All stories, the largest first. Only dated incidents of known nodes that ended badly are looked at.

    `causes`: see families_of. `topology`: see read_topology.
    """
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


def _of_family(family: str, incidents: list[Incident], topology: Mapping[str, Mapping[str, str]], nodes: set[str]) -> list[Story]:
    """The runs of one family, first among nodes that share a label, then among what is left."""
    incidents = sorted(incidents, key=lambda i: (i.time, i.node))
    span = max(incidents[-1].time - incidents[0].time, WINDOW_S)
    groups: dict[str, set[str]] = defaultdict(set)
    for node, labels in topology.items():
        for kind, value in labels.items():
            groups[f"{kind} {value}"].add(node)
    stories: list[Story] = []
    used: set[str] = set()
    for label, members in [*sorted(groups.items(), key=lambda g: (len(g[1]), g[0])), ("all nodes", nodes)]:
        left = [i for i in incidents if i.node in members and i.key not in used]
        for run in _runs(left):
            story = _story(family, label, run, len(incidents), span, len(members) / max(len(nodes), 1), len(nodes) / len(members))
            if story and (label == "all nodes" or _most_of(run, incidents, used)):
                stories.append(story)
                used |= {i.key for i in run}
    return stories


def _runs(incidents: Sequence[Incident]) -> list[list[Incident]]:
    runs: list[list[Incident]] = []
    for i in incidents:
        if runs and i.time - runs[-1][-1].time <= WINDOW_S:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def _most_of(run: list[Incident], incidents: Sequence[Incident], used: set[str]) -> bool:
    """Is the label's share of all that the family says in that time large enough to name the label?"""
    start, end = run[0].time - WINDOW_S, run[-1].time + WINDOW_S
    every = {i.node for i in incidents if start <= i.time <= end and i.key not in used}
    return len({i.node for i in run}) >= MIN_NODES_SHARE * len(every)


def _story(family: str, label: str, run: list[Incident], total: int, span: int, share: float, groups: float) -> Story | None:
    """The story that a run makes; None where chance would make it. `groups`: how many labels of that size there may be."""
    nodes = tuple(dict.fromkeys(i.node for i in run))
    if len(nodes) < MIN_STORY_NODES:
        return None
    from scipy.stats import poisson

    length = run[-1].time - run[0].time + WINDOW_S
    background = max(total - len(run), 1) * share * length / span  # so many others are expected in that time
    expected = float(poisson.sf(len(nodes) - 1, background)) * max(span / length, 1.0) * groups
    if expected > MAX_EXPECTED_BY_CHANCE:
        return None
    jobs = tuple(dict.fromkeys(i.job for i in run if i.job))
    return Story(family, label, run[0], run[0].time, run[-1].time, nodes, jobs, len(run), expected)
