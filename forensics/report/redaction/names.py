"""Replace names of people, hosts, addresses and jobs by stand-ins, the same in every part of a report.

    Nov 21 08:23:04 gpu-node17 kernel: ... task=python   /home/alice/run/train.py   10.4.0.17
    Nov 21 08:23:04 host-1 kernel: ... task=python       /home/user-1/run/train.py  ip-1

Two steps: names are collected where their place shows their kind (the host of a syslog line, the folder below /home, facts of
records); then each is replaced wherever it occurs as a whole word.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from forensics.core import lazy
from forensics.model import Finding, Report
from forensics.report.redaction.walk import texts
from forensics.report.subject import split_outcome_line

# Words that are no names, although they occur in the places of names.
COMMON_WORDS_TEXT = """
    root user users admin nobody daemon system kernel python python3 localhost none null unknown true false default ubuntu debian
    centos ec2-user jovyan runner shared public guest slurm docker containerd kubelet systemd jupyter torchrun train training main
    node host worker master server client login log logs info warning error warn debug rank gpu cpu cuda local localdomain home
    data work test tmp var opt usr lib bin src run job the and for not with from this that was has are case stdin version name
"""
COMMON_NAMES = frozenset(COMMON_WORDS_TEXT.split())
# Sites that occur in everybody's logs; they do not identify the owner of a log.
PUBLIC = lazy.regex(
    r"\A(?:(?:.*\.)?(?:github|gitlab|githubusercontent|google|googleapis|nvidia|amazonaws|microsoft|docker|slack|discord|wandb|anaconda)\.\w+\Z"
    r"|(?:.*\.)?(?:pytorch|tensorflow|python|kernel|gnu|apache|jupyter|readthedocs|numpy|freedesktop|man7|kubernetes)\.(?:org|io)\Z"
    r"|(?:.*\.)?(?:huggingface\.co|hf\.co|wandb\.ai|lightning\.ai|example\.(?:com|org|net))\Z|\w+\.(?:py|log|txt|json|yaml|so|sh|c|h|cpp|cu)\Z)",
    re.IGNORECASE,
)
HOST_NAME_GROUP = r"(?P<name>[A-Za-z](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){0,6})"
USER = r"(?P<name>[A-Za-z_][\w.-]{1,31}\$?)"
JOB_NAME_GROUP = r"(?P<name>[A-Za-z0-9][\w.-]{2,120})"
STAMP_TEXT_PATTERN = (
    r"(?:[A-Z][a-z]{2}\s+\d{1,2}\s\d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
)
# Kind, lower-case texts of which one must occur, and the place of the name. A text without any costs a few substring searches.
PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("host", (": ",), lazy.regex(rf"^(?:<\d+>)?{STAMP_TEXT_PATTERN} {HOST_NAME_GROUP} [\w./-]+(?:\[\d+\])?: ")),
    ("host", (" nccl ",), lazy.regex(rf"(?:^|\s|\]){HOST_NAME_GROUP}:\d{{2,7}}:\d{{2,7}} \[\d+\] NCCL ")),
    (
        "host",
        ("host", "node", "master_addr", "rdzv_endpoint", "server"),
        lazy.regex(
            rf"\b(?:hostname|host|node|nodename|node_name|nodelist|master_addr|rdzv_endpoint|server)\s*[=:]\s*[\"']?{HOST_NAME_GROUP}",
            re.I,
        ),
    ),
    (
        "host",
        ("on node ", "on host ", "from host ", "to host "),
        lazy.regex(rf"\b(?:on (?:node|host)|from host|to host) {HOST_NAME_GROUP}\b"),
    ),
    ("host", ("://",), lazy.regex(rf"\b[a-z][a-z0-9+.-]{{1,20}}://(?:[^\s/@]*@)?{HOST_NAME_GROUP}(?=[:/])", re.I)),
    (
        "host",
        (".local", ".internal", ".lan", ".intra", ".corp", ".cluster", ".private"),
        lazy.regex(
            r"(?<![\w.-])(?P<name>[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63})*\.(?:local|internal|lan|intra|corp|cluster|private))\b"
        ),
    ),
    ("host", ("@",), lazy.regex(rf"\b[\w.-]{{1,32}}@{HOST_NAME_GROUP}(?=[:\s$#])")),
    ("user", ("/home/", "/users/"), lazy.regex(rf"/(?:home|Users)/{USER}(?=[/\s\"':,)\]]|$)")),
    ("user", (":\\",), lazy.regex(rf"\b[A-Z]:\\+Users\\+{USER}", re.I)),
    (
        "user",
        ("user", "logname"),
        lazy.regex(rf"\b(?:(?:user|username|logname)\s*[=:]\s*|for user\s+)[\"'(]?{USER}(?=[\s\"'),;:]|$)", re.I),
    ),
    ("user", ("uid=",), lazy.regex(rf"\buid=\d+\({USER}\)")),
    ("user", ("@",), lazy.regex(rf"(?:^|\s){USER}@[A-Za-z][\w.-]*(?=[:\s$#~])")),
    (
        "job",
        ("job", "pod", "run", "experiment"),
        lazy.regex(
            rf"\b(?:job[_-]?name|jobname|--job-name|pod|pod[_-]name|run[_-]name|experiment[_-]name)\s*[=:]\s*[\"']?{JOB_NAME_GROUP}",
            re.I,
        ),
    ),
    (
        "job",
        ("pod", "job", "deployment", "statefulset"),
        lazy.regex(rf"\b(?:pod|job|deployment|statefulset|pytorchjob)s?(?:\.\w+)*/{JOB_NAME_GROUP}"),
    ),
)
EMAIL = lazy.regex(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b")
IPV4 = lazy.regex(r"(?<![\d.v])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\d]|\.\d)")
IPV6 = lazy.regex(r"(?<![\w:.])[0-9A-Fa-f:]{4,39}(?![\w:])")  # a candidate; `ipaddress` decides
# This machine's own addresses, and what was replaced before.
KNOWN_TO_ALL = lazy.regex(r"(?:0\.0\.0\.0|127\.\d+\.\d+\.\d+|255\.255\.255\.\d+|(?:host|user|job|ip|email)-\d+)\Z")
MIN_CASE_NAME_CHARS = 6  # chosen by hand: a shorter one with a digit in it, as `run-1`, stands for anything in a log
IPV4_DOTS, IPV6_COLONS = 3, 7  # of an address that is written in full
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
        return cls.among(_facts(report), _from_logs(report))

    @classmethod
    def among(cls, known: Iterable[tuple[str, str]], lines: Iterable[str]) -> "Names":
        """The `known` names (kind, name), and those in `lines` of logs."""
        names = cls()
        for kind, name in (*known, *(found for text in dict.fromkeys(lines) for found in _found(text))):
            names.add(kind, name)
        words = sorted(names.stand_ins, key=len, reverse=True)
        if words:
            names.pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, words))})(?![A-Za-z0-9])")
        return names

    def add(self, kind: str, name: str) -> None:
        """Give `name` a stand-in, unless it has one or is a common word."""
        name = name.strip("._-")
        if name in self.stand_ins or len(name) < 2 or name.isdigit() or name.lower() in COMMON_NAMES or KNOWN_TO_ALL.match(name):
            return
        if kind == "host" and PUBLIC.match(name):
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.stand_ins[name] = f"{kind}-{self.counts[kind]}"

    def hide(self, text: str) -> str:
        """`text` with the stand-ins."""
        return self.pattern.sub(lambda m: self.stand_ins[m[0]], text) if self.pattern else text

    def key(self) -> dict[str, str]:
        """Stand-in -> name, for the owner of the report."""
        return {v: k for k, v in self.stand_ins.items()}


def _from_logs(report: Report) -> Iterator[str]:
    """The texts of `report` that come from logs; its own sentences name only public hosts."""
    yield report.case
    for finding in _findings(report):
        yield from texts((finding.evidence, finding.facts))
    for incident in report.incidents:
        yield from texts((incident.hosts, incident.links, incident.subject))
    yield from texts((report.sources, report.warnings, report.environment, report.notices))
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
    if "@" in text:
        yield from (("email", m[0]) for m in EMAIL.finditer(text))
    if text.count(".") >= IPV4_DOTS:
        yield from (("ip", m[0]) for m in IPV4.finditer(text))
    if text.count(":") >= 2:
        yield from (("ip", m[0]) for m in IPV6.finditer(text) if "::" in m[0] or m[0].count(":") == IPV6_COLONS if _is_ipv6(m[0]))
    low = text.lower()
    for kind, anchors, pattern in PLACES:
        for anchor in anchors:
            if anchor in low:
                yield from ((kind, m["name"]) for m in pattern.finditer(text))
                break


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.IPv6Address(text) not in (ipaddress.IPv6Address("::"), ipaddress.IPv6Address("::1"))
    except ValueError:
        return False
