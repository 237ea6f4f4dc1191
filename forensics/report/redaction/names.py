"""Replace names of people, hosts, addresses and jobs by stand-ins, the same in every part of a report.

    Nov 21 08:23:04 gpu-node17 kernel: ... task=python   /home/alice/run/train.py   10.4.0.17
    Nov 21 08:23:04 host-1 kernel: ... task=python       /home/user-1/run/train.py  ip-1

Two steps: names are collected where their place shows their kind (the host of a syslog line, the folder below /home, facts of
records); then each is replaced wherever it occurs as a whole word.

Where names of people and places stand in a log: (kind, lower-case texts of which one must occur, the place of the name).
"""

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from msgspec import Struct, field

from forensics.core import lazy
from forensics.model import Report
from forensics.report.redaction.rules import BASE64_GROUP_CHARS, table
from forensics.report.redaction.walk import fields_with_texts
from forensics.report.subjects import split_outcome_line

EMAIL = lazy.regex(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b")
IPV4 = lazy.regex(r"(?<![\d.v])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\d]|\.\d)")
IPV6 = lazy.regex(r"(?<![\w:.])[0-9A-Fa-f:]{4,39}(?![\w:])")  # a candidate; `ipaddress` decides
NAME_TABLE = table("names.tsv")
IPV4_DOTS, IPV6_COLONS = 3, 7  # of an address that is written in full
CARD = lazy.regex(r"(?<![\w.:/-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w.:/-])")
ENCODED_RUN = lazy.regex(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{10,400}={0,2}")
CERTIFICATE_AUTHORITIES = lazy.regex(
    r"(?:DigiCert|Let's Encrypt|GlobalSign|ISRG|Amazon|GTS|Google|Microsoft|Sectigo|R\d+$|E\d+$|kubernetes|etcd|localhost|\*)",
    re.I,
)
LEAST_CARD_DIGITS, MOST_CARD_DIGITS = 13, 19  # ISO/IEC 7812


def numbers_in(text: str) -> Iterator[tuple[str, str]]:
    """Kind and text of everything in `text` whose form tells what it is."""
    if "@" in text:
        yield from (("email", m[0]) for m in EMAIL.finditer(text) if not m[0].startswith("git@"))
    if text.count(".") >= IPV4_DOTS:
        yield from (("ip", m[0]) for m in IPV4.finditer(text))
    if text.count(":") >= 2:
        yield from (("ip", m[0]) for m in IPV6.finditer(text) if "::" in m[0] or m[0].count(":") == IPV6_COLONS if _is_ipv6(m[0]))
    low = text.lower()
    for form in NAME_TABLE.rules["form"]:
        if any(anchor in low for anchor in form.anchors):
            for match in form.pattern.finditer(text):
                name = (match["name"] if "name" in form.pattern.groupindex else match[0]).strip()
                if form.kind != "cert" or not CERTIFICATE_AUTHORITIES.match(name):
                    yield form.kind, name
    yield from (("card", m[0]) for m in CARD.finditer(text) if _is_card(m[0]))
    yield from (
        ("email", m[0])
        for m in ENCODED_RUN.finditer(text)
        if not len(m[0]) % BASE64_GROUP_CHARS and EMAIL.fullmatch(_decoded(m[0]))
    )


def _decoded(run: str) -> str:
    """The text in a run of base64 or of hexadecimal digits; empty for one that holds none."""
    try:
        data = (
            bytes.fromhex(run)
            if re.fullmatch(r"[0-9a-fA-F]+", run)
            else base64.b64decode(run.replace("-", "+").replace("_", "/"))
        )
        return unquote(data.decode("ascii"))
    except (binascii.Error, ValueError):
        return ""


def _is_card(text: str) -> bool:
    """Luhn's check of the digits (ISO/IEC 7812)."""
    digits = [int(c) for c in reversed(text) if c.isdigit()]
    if not LEAST_CARD_DIGITS <= len(digits) <= MOST_CARD_DIGITS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * d, 10)) for d in digits[1::2]]
    return not (sum(digits[::2]) + sum(doubled)) % 10


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.IPv6Address(text) not in (ipaddress.IPv6Address("::"), ipaddress.IPv6Address("::1"))
    except ValueError:
        return False


COMMON_NAMES = frozenset(NAME_TABLE.words["COMMON_NAMES"])
# Sites that occur in everybody's logs; they do not identify the owner of a log.
PUBLIC = lazy.regex(
    r"\A(?:(?:.*\.)?(?:github|gitlab|githubusercontent|google|googleapis|nvidia|amazonaws|microsoft|docker|slack"
    r"|discord|wandb|anaconda)\.\w+\Z"
    r"|(?:.*\.)?(?:pytorch|tensorflow|python|kernel|gnu|apache|jupyter|readthedocs|numpy|freedesktop|man7"
    r"|kubernetes)\.(?:org|io)\Z"
    r"|(?:.*\.)?(?:huggingface\.co|hf\.co|wandb\.ai|lightning\.ai|example\.(?:com|org|net))\Z|\w+\.(?:py|log|txt"
    r"|json|yaml|so|sh|c|h|cpp|cu)\Z)",
    re.IGNORECASE,
)
PUBLIC_ORGANISATIONS = frozenset(NAME_TABLE.words["PUBLIC_ORGANISATIONS"])


# This machine's own addresses, that of a cloud's metadata, and what was replaced before.
KNOWN_TO_ALL = lazy.regex(
    r"(?:0\.0\.0\.0|127\.\d+\.\d+\.\d+|169\.254\.169\.254|255\.255\.255\.\d+|(?:host|user|job|ip|email|mac|phone|card|key|org|repo|project|run|gpu-id|serial|cert|person)-\d+)\Z"
)
MIN_LABEL_CHARS = 3  # of a host without its domain
NUMBER_KINDS = ("serial", "card", "phone")
MOST_HOSTS = 512  # of one range
MIN_CASE_NAME_CHARS = 6  # chosen by hand: a shorter one with a digit in it, as `run-1`, stands for anything in a log
CAPTURED_RUN = lazy.regex(r"\d{8}-\d{6}-")  # 20261129-212356-python-4711
PLAIN_NAME = lazy.regex(r"[\w.-]{2,253}")
NAMING_FACTS = {
    **dict.fromkeys(("host", "hostname", "hosts", "node", "peer_host"), "host"),
    **dict.fromkeys(("job", "job_name", "jobs", "pod"), "job"),
    "user": "user",
}
NAMING_FIELDS = {"NodeCount.name": "host"}
# Fields that hold sentences of this program, filled from facts of the logs.
OWN_WORDS = lazy.regex(
    r"(?:Advice|OpenQuestion|Possible|IncidentCause)\.|Report\.tool|(?:Finding|EarlierAttempt)\.(?:title|summary)\Z"
)
REFERENCE_FIELD = "Advice.reference"  # a document on the web, the same in every report
IN_CODE = r"(?!\.[A-Za-z_]\w*\(|\.py\b|\((?!\d+\)))"  # `id` tells `alice(1001)`
FIRST_AND_LAST_NAME = lazy.regex(r"([A-Za-z]{4,30})[._]([A-Za-z]{4,30})")
SURE_NAME = lazy.regex(r"[\d._@-]")  # chosen by hand: a name without one of these may be a word of a sentence
# The name of a log, of a program or of data is none of a job or user: it opens the place that a report tells.
WITH_FILE_ENDING = lazy.regex(
    r"\.(?:py|log|txt|out|err|jsonl?|ya?ml|csv|sh|so|ipynb|cache|pt|pth|ckpt|safetensors|bin|md|toml|cfg|html)(?:\.(?:\d+|gz|xz|zst|bz2))?\Z",
    re.I,
)
KINDS_LIKE_FILES = ("job", "user", "run", "project")


class Names(Struct):
    """The stand-in of every name, in order of first sight; `host-1` for `gpu-node17`."""

    stand_ins: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    pattern: re.Pattern[str] | None = None

    @classmethod
    def of(cls, report: Report, folder: bool = True) -> "Names":
        """The names in `report`. `folder`: is that of the case one, which a user often names after the job?"""
        of_logs = (found for text in dict.fromkeys(_from_logs(report)) for found in _found(text))
        names = cls.among((*_facts(report), *of_logs, *_of_own_words(report)), ())
        if folder and _is_named_after_a_job(report) and report.case not in names.stand_ins:
            names.add("job", report.case)
            names.compile(report.case)
        return names

    @classmethod
    def among(cls, known: Iterable[tuple[str, str]], lines: Iterable[str]) -> "Names":
        """The `known` names (kind, name), and those in `lines` of logs."""
        names = cls()
        for kind, name in (*known, *(found for text in lines for found in _found(text))):
            names.add(kind, name)
        names.compile()
        return names

    def compile(self, case: str = "") -> None:
        """Make the pattern of all names. `case`: the name of a folder, which a longer word may hold: `hung_task_timeout_secs`."""
        words = sorted(self.stand_ins, key=len, reverse=True)
        if words:
            told = (rf"(?<!_){re.escape(word)}(?!_)" if word == case else self._form(word) for word in words)
            self.pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(told)})(?![A-Za-z0-9])")

    def _form(self, word: str) -> str:
        """`word` as a pattern. A user who is called as a part of a program is no user where that is called: `trainer.fit()`."""
        plain = self.stand_ins[word].startswith("user-") and not SURE_NAME.search(word)
        return re.escape(word) + (IN_CODE if plain else "")

    def add(self, kind: str, name: str) -> None:
        """Give `name` a stand-in, unless it has one or is a common word."""
        name = name.strip("._-")
        if (
            name in self.stand_ins
            or len(name) < 2
            or (name.isdigit() and kind not in NUMBER_KINDS)
            or name.lower() in COMMON_NAMES
            or KNOWN_TO_ALL.match(name)
            or (kind in KINDS_LIKE_FILES and WITH_FILE_ENDING.search(name))
        ):
            return
        if kind == "host" and PUBLIC.match(name):
            return
        if kind == "org" and name.lower() in PUBLIC_ORGANISATIONS:
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.stand_ins[name] = f"{kind}-{self.counts[kind]}"
        if kind == "user" and (parts := FIRST_AND_LAST_NAME.fullmatch(name)):  # either of them is the same person
            for part in (p for name_part in parts.groups() for p in (name_part, name_part.capitalize())):
                if part.lower() not in COMMON_NAMES:
                    self.stand_ins.setdefault(part, self.stand_ins[name])
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
    """Every text of `report`, whatever its field, but this program's own sentences; those are looked at by `_of_own_words`."""
    yield from (text for field, text in fields_with_texts(report) if not OWN_WORDS.match(field))
    if report.subject:
        yield from (split_outcome_line(line)[1] for line in report.subject.outcome_lines)  # a log's line begins behind its place


def _of_own_words(report: Report) -> Iterator[tuple[str, str]]:
    """The names in this program's own sentences, which were filled from logs: `on another host` names none."""
    told = dict.fromkeys(text for field, text in fields_with_texts(report) if OWN_WORDS.match(field) and field != REFERENCE_FIELD)
    for text in told:
        yield from (
            (kind, name) for kind, name in _found(text) if SURE_NAME.search(name) or (kind == "user" and f"/{name}" in text)
        )


def _is_named_after_a_job(report: Report) -> bool:
    """Is the case a folder that a user named? The name of a log stays, and so does the folder of a captured run."""
    case = report.case
    if len(case) < MIN_CASE_NAME_CHARS or not SURE_NAME.search(case) or CAPTURED_RUN.match(case):
        return False
    return not any(case == source.name.rpartition("/")[2] for source in report.sources)


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    """The names that fields hold: the host of a rank, the subject, what an earlier attempt changed."""
    sources = {part for source in report.sources for part in (source.name, source.name.rpartition("/")[2])}
    if report.subject:
        named = (name for name in report.subject.name.split(" and ") if name not in sources)
        yield from (("job", name) for name in named if PLAIN_NAME.fullmatch(name))
    others = report.earlier_attempts + ((report.baseline,) if report.baseline else ())
    for change in (c for other in others for c in other.changes if c.what in NAMING_FACTS):
        values = (name for value in (change.then, change.last) for name in value.split(", "))
        yield from ((NAMING_FACTS[change.what], name) for name in values if PLAIN_NAME.fullmatch(name))
    for place, text in fields_with_texts(report):
        kind = NAMING_FIELDS.get(place) or NAMING_FACTS.get(place.rpartition(".")[2])
        if kind and PLAIN_NAME.fullmatch(text):
            yield kind, text


def _found(text: str) -> Iterator[tuple[str, str]]:
    yield from numbers_in(text)
    low = text.lower()
    for place in NAME_TABLE.rules["place"]:
        if any(anchor in low for anchor in place.anchors):
            for match in place.pattern.finditer(text):
                names = hosts_of(match["list"]) if "list" in place.pattern.groupindex else (match["name"],)
                yield from ((place.kind, name) for name in names)
    for pair in NAME_TABLE.rules["pair"]:
        if any(anchor in low for anchor in pair.anchors):
            yield from _pair(pair.pattern, text)


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
