"""Replace names of people, hosts, addresses and jobs by stand-ins, the same in every part of a report.

    Nov 21 08:23:04 gpu-node17 kernel: ... task=python   /home/alice/run/train.py   10.4.0.17
    Nov 21 08:23:04 host-1 kernel: ... task=python       /home/user-1/run/train.py  ip-1

Two steps: names are collected where their place shows their kind (the host of a syslog line, the folder below /home, facts of
records); then each is replaced wherever it occurs as a whole word.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from forensics.core import lazy
from forensics.model import Finding, Report
from forensics.report.redaction.name_places import COMMON_NAMES, PAIRS, PLACES, PUBLIC, PUBLIC_ORGANISATIONS, numbers_in
from forensics.report.redaction.walk import texts
from forensics.report.subject_line import split_outcome_line

# This machine's own addresses, and what was replaced before.
KNOWN_TO_ALL = lazy.regex(
    r"(?:0\.0\.0\.0|127\.\d+\.\d+\.\d+|255\.255\.255\.\d+|(?:host|user|job|ip|email|mac|phone|card|key|org|repo|project|run|gpu-id|serial|cert|person)-\d+)\Z"
)
MIN_LABEL_CHARS = 3  # of a host without its domain
NUMBER_KINDS = ("serial", "card", "phone")
MOST_HOSTS = 512  # of one range
MIN_CASE_NAME_CHARS = 6  # chosen by hand: a shorter one with a digit in it, as `run-1`, stands for anything in a log
PLAIN_NAME = lazy.regex(r"[\w.-]{2,253}")
NAMING_FACTS = {
    "host": "host",
    "hostname": "host",
    "node": "host",
    "peer_host": "host",
    "user": "user",
    "job_name": "job",
    "pod": "job",
}


class Names(Struct):
    """The stand-in of every name, in order of first sight; `host-1` for `gpu-node17`."""

    stand_ins: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    pattern: re.Pattern[str] | None = None

    @classmethod
    def of(cls, report: Report) -> "Names":
        """The names in `report`."""
        return cls.among(_facts(report), dict.fromkeys(_from_logs(report)))

    @classmethod
    def among(cls, known: Iterable[tuple[str, str]], lines: Iterable[str]) -> "Names":
        """The `known` names (kind, name), and those in `lines` of logs."""
        names = cls()
        for kind, name in (*known, *(found for text in lines for found in _found(text))):
            names.add(kind, name)
        words = sorted(names.stand_ins, key=len, reverse=True)
        if words:
            names.pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, words))})(?![A-Za-z0-9])")
        return names

    def add(self, kind: str, name: str) -> None:
        """Give `name` a stand-in, unless it has one or is a common word."""
        name = name.strip("._-")
        if (
            name in self.stand_ins
            or len(name) < 2
            or (name.isdigit() and kind not in NUMBER_KINDS)
            or name.lower() in COMMON_NAMES
            or KNOWN_TO_ALL.match(name)
        ):
            return
        if kind == "host" and PUBLIC.match(name):
            return
        if kind == "org" and name.lower() in PUBLIC_ORGANISATIONS:
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.stand_ins[name] = f"{kind}-{self.counts[kind]}"
        label = name.partition(".")[0]
        if (
            kind == "host"
            and label != name
            and len(label) >= MIN_LABEL_CHARS
            and re.search(r"[\d-]", label)
            and label not in self.stand_ins
        ):
            self.stand_ins[label] = self.stand_ins[name]  # a host by its short name is the same host

    def hide(self, text: str) -> str:
        """`text` with the stand-ins."""
        return self.pattern.sub(lambda m: self.stand_ins[m[0]], text) if self.pattern else text

    def key(self) -> dict[str, str]:
        """Stand-in -> name, for the owner of the report."""
        return {v: k for k, v in reversed(self.stand_ins.items())}


def _from_logs(report: Report) -> Iterator[str]:
    """The texts of `report` that come from logs; its own sentences name only public hosts."""
    yield report.case
    for finding in _findings(report):
        yield from texts((finding.evidence, finding.facts))
    for incident in report.incidents:
        yield from texts((incident.hosts, incident.links, incident.subject))
    yield from texts((report.sources, report.warnings, report.environment, report.notices, report.around))
    yield from texts(tuple((a.text, a.facts, a.changes, a.unchanged) for a in report.earlier_attempts))
    if report.subject:
        yield from (split_outcome_line(line)[1] for line in report.subject.outcome_lines)


def _findings(report: Report) -> Iterator[Finding]:
    yield from report.causes
    for incident in report.incidents:
        yield from incident.findings


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    if re.search(r"[\d._-]", report.case) and len(report.case) >= MIN_CASE_NAME_CHARS:  # the case is often named after the job
        yield "job", report.case
    if report.subject and report.subject.name not in {s.name for s in report.sources}:
        yield from (("job", name) for name in report.subject.name.split(" and ") if PLAIN_NAME.fullmatch(name))
    for incident in report.incidents:
        yield from (("host", host) for host in incident.hosts if PLAIN_NAME.fullmatch(host))
    for change in (c for a in report.earlier_attempts for c in a.changes if c.what in ("node", "job")):
        kind = "host" if change.what == "node" else "job"
        yield from (
            (kind, name) for value in (change.then, change.last) for name in value.split(", ") if PLAIN_NAME.fullmatch(name)
        )
    for seen in report.history.nodes if report.history else ():
        yield "host", seen.name
    for finding in _findings(report):
        yield from (
            (NAMING_FACTS[k], str(v)) for k, v in finding.facts.items() if k in NAMING_FACTS and PLAIN_NAME.fullmatch(str(v))
        )


def _found(text: str) -> Iterator[tuple[str, str]]:
    yield from numbers_in(text)
    low = text.lower()
    for kind, anchors, pattern in PLACES:
        if any(anchor in low for anchor in anchors):
            for match in pattern.finditer(text):
                yield from (
                    (kind, name) for name in (hosts_of(match["list"]) if "list" in pattern.groupindex else (match["name"],))
                )
    for anchors, pattern in PAIRS:
        if any(anchor in low for anchor in anchors):
            yield from _pair(pattern, text)


def _pair(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """Organisation, repository, project and run of one place; those of a public organisation are none."""
    for match in pattern.finditer(text):
        told = {kind: name for kind, name in match.groupdict().items() if name}
        if told.get("org", "").lower() not in PUBLIC_ORGANISATIONS:
            yield from told.items()


def hosts_of(text: str) -> Iterator[str]:
    """The hosts of a list of Slurm's: gpu[01-03],login1 -> gpu[01-03], gpu01, gpu02, gpu03, login1."""
    for name in re.findall(r"[A-Za-z][\w.-]*(?:\[[\d,-]+\])?", text):
        head, _, numbers = name.partition("[")
        yield name
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
            for number in range(int(first), min(int(last or first), int(first) + MOST_HOSTS) + 1):
                yield f"{head}{number:0{len(first)}}"
