"""What a history keeps of a Report: fingerprints, of which equal ones mean the same failure, and a row of node, device and job.

exact    a hash of the cause, the signatures that prove it, the template of the decisive line, and file and name of the innermost
         function in the program's own code; after a dash a hash that distinguishes programs: 1d5ae4a6a7a6ac5f-6b0c91d2
similar  a hash of the cause, the template of the decisive line, and the name of that function
cause    the id of the cause

The function is part of both because many decisive lines come from the runtime: `RecursionError: maximum recursion depth exceeded`
and `Fatal Python error: Segmentation fault` are the same for every program, whatever its fault. The hash after the dash is of
- the failing line of code, if the log quotes it;
- else, if the log names no code of the program (a kill by the kernel), the name of the run;
- else the causes that followed: the kills of a notebook kernel and of a data loader worker have the same line in the kernel log.
It is not part of `similar`: if someone changes the failing line and the failure remains, that is similar.
Earlier versions stored only the part before the dash; `before_dash` compares with them.

    Memory cgroup out of memory: Killed process 4711 (python) total-vm:9GB ...   pid, sizes, host, time are masked
    Memory cgroup out of memory: Killed process <n> (python) total-vm:<n>GB ...  -> similar 5f0c...

`templates` masks numbers, paths, addresses and times; the redaction of reports masks names of hosts, users and jobs. Two runs of
one program that fail in the same way differ in nothing else.

The row that a history stores for a Report: what failed, on which node and device, in which job, and its fingerprints.

Names of nodes and devices are stored, because a history must find those that fail. Names of users, jobs, scripts and cases become
keyed pseudonyms (`user-3fa9c1d2`): equal names have equal pseudonyms in one store, and other stores have other ones.
"""

import hashlib
import hmac
import re
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.model import Finding, Proof, Report
from forensics.readers.python.frames import file_frame
from forensics.readers.python.library_files import is_others_code
from forensics.readers.templates import DIGITS_PATTERN, template
from forensics.report import with_stand_ins
from forensics.report.redaction import mask_secrets

HEX_CHARS = 16  # 64 bits: among a million incidents two are equal by accident with a probability of 3e-8
MAX_FINGERPRINT_PROOFS = 5  # evidence lines that are read; the first one is decisive
ORDER = {"proof": 0, "strong": 1, "hint": 2}
QUOTED_ID = lazy.regex(
    r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,}(?![\w-])"
)  # run_1fa9c2, pod-7d9fxk: generated for one run
STAND_IN = lazy.regex(r"\b(host|user|job|ip|email)-(?:\d+|<n>)")
CODE_FACT = "failing_code"  # `reduced` stores the failing line of code among the facts under this name
FOLLOWED_FACT = "followed"  # likewise the causes that are consequences
MAX_CODE_CHARS = 300  # of the failing line of code; a longer one is data
PROGRAM_HEX_CHARS = 8  # of the hash after the dash


class Fingerprint(Struct, frozen=True):
    """Three levels, `exact` is the narrowest. `template`: that of the decisive line, from which `similar` was made."""

    exact: str
    similar: str
    cause: str
    template: str


def reduced(report: Report) -> Report:
    """`report` with only its first cause, its decisive line and its first incident, without secrets and with names hidden.

    The rest is left out because redacting it would take most of the time. The case's name is left out, too: redaction would mask
    it as the name of a job, and it may be an ordinary word of the log.
    """
    first = report.causes[0]
    proofs = tuple(sorted(first.evidence, key=lambda p: ORDER[p.weight]))[:MAX_FINGERPRINT_PROOFS]
    line = decisive(first)
    bare = tuple(replace(p, text=p.text if p is line else "", source="", before=(), after=(), linked_by=None) for p in proofs)
    slim = replace(
        first,
        facts={**first.facts, CODE_FACT: _failing_code(first), FOLLOWED_FACT: _followed(report)},
        title="",
        summary="",
        evidence=bare,
        ledger=(),
        remediations=(),
    )
    less = Report(
        tool={},
        case="",
        verdict=report.verdict,
        causes=(slim,),
        incidents=tuple(replace(i, findings=(), links=(), candidates=(), causes=()) for i in report.incidents[:1]),
        timeline=(),
        sources=(),
        missing=(),
        warnings=(),
    )
    return with_stand_ins(less)[0]


def fingerprint(report: Report, run: str = "") -> Fingerprint:
    """The fingerprints of a report. `run`: the name of the job or script, if it is known."""
    return fingerprint_of(reduced(report), run)


def fingerprint_of(less: Report, run: str = "") -> Fingerprint:
    """The fingerprints of a report that `reduced` returned."""
    first = less.causes[0]
    line = decisive(first)
    template = masked(line.text) if line else ""
    file, function = _own_function(first)
    where = f"{file}:{function}" if file else ""
    similar = _hash(first.id, template, where if function.startswith("<") else function)
    exact = _hash(_hash(first.id, template), *_signatures(first), where)
    program = _code_template(str(first.facts.get(CODE_FACT, ""))) if file else run or str(first.facts.get(FOLLOWED_FACT, ""))
    return Fingerprint(f"{exact}-{_hash(program)[:PROGRAM_HEX_CHARS]}" if program else exact, similar, first.id, template)


def before_dash(exact: str) -> str:
    """The part of an exact fingerprint before its dash."""
    return exact[:HEX_CHARS]


def decisive(finding: Finding) -> Proof | None:
    """The decisive line of a cause: the first one with the greatest weight."""
    return min(finding.evidence, key=lambda p: ORDER[p.weight], default=None)


def masked(text: str) -> str:
    """The template of a line, in which generated identifiers are masked, too."""
    return STAND_IN.sub(r"<\1>", QUOTED_ID.sub("<id>", template(text)))


def _signatures(finding: Finding) -> list[str]:
    """The signatures with the weight `proof`; if there are none, the signature of the decisive line."""
    proving = sorted({p.signature for p in finding.evidence if p.weight == "proof"})
    line = decisive(finding)
    return proving or ([line.signature] if line else [])


def _own_function(finding: Finding) -> tuple[str, str]:
    """`train.py`, `step`: file and name of the innermost function of the program's own code; empty if unknown."""
    for file, function in (("file", "function"), ("python_file", "python_function")):
        path = str(finding.facts.get(file, ""))
        if path and not is_others_code(path):
            return DIGITS_PATTERN.sub("<n>", re.split(r"[/\\]", path)[-1]), str(finding.facts.get(function, ""))
    return "", ""


def _failing_code(finding: Finding) -> str:
    """`loss = model(x)`: the line of code that a traceback quotes below the program's own frame; empty if it quotes none.

    File "/home/u/train.py", line 12, in step
      loss = model(x)
    """
    place = (str(finding.facts.get("file", "")), str(finding.facts.get("line_no", "")))
    for proof in finding.evidence:
        found = file_frame(proof.text)
        if found and proof.after and (found.file, str(found.line)) == place and not is_others_code(place[0]):
            below = proof.after[0].text
            code = below.removeprefix(found.head + "  ")  # with the same prefix, and indented further
            if code != below and any(map(str.isalnum, code)) and not file_frame(code):
                return code.strip()[:MAX_CODE_CHARS]
    return ""


def _followed(report: Report) -> str:
    """`notebook.kernel_died`: the ids of the causes that are consequences of the first one, sorted; empty if there are none."""
    return ",".join(sorted(f.id for f in report.causes[1:] if f.role == "symptom" and f.evidence))


def _code_template(code: str) -> str:
    """A line of code without spaces, with numbers and names masked: the runs of a parameter sweep have the same one."""
    return STAND_IN.sub(r"<\1>", DIGITS_PATTERN.sub("<n>", "".join(code.split())))


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=HEX_CHARS // 2).hexdigest()


MAX_STORED_LINE_CHARS = 300  # chosen by hand: three lines of a terminal; the store grows with every incident
MAX_PROGRAM_PARTS = 2  # the folder and the file: half of all programs are a train.py
NAMELESS_PATTERN = lazy.regex(r"(?:case|job|run|user)-[0-9a-f]{8}")
CASE_CHARS = 6  # a shorter case name may be an ordinary word of the log
HOME = lazy.regex(r"[/\\](?:home|Users)[/\\](?P<user>[A-Za-z_][\w.-]*)[/\\]")
HOSTS = ("host", "node")
HOST_PART = "host "  # of where it happened
LOCAL_NAMES = ("", "localhost", "127.0.0.1", "::1")  # they do not identify a machine
GPU_NAME_FACTS = ("uuid", "serial", "pci")  # the most specific name of a GPU first
SLURM_STEP = lazy.regex(r"(?:Slurm (?:step|job) )?(?P<job>\d+(?:_\d+)?)(?:\.\w+)?")


class Incident(Struct, frozen=True, omit_defaults=True):
    """One stored report. Times are seconds since 1970, UTC. `dated`: `time` is from the logs; else it is the time of storing.

    `key`: equal for the same report. `line`: the decisive line, with names hidden unless the store keeps them. `run`: job name or
    script, by which the next run of the same program is found. `gpu_hours`: used by the job, if known.
    """

    key: str
    time: int
    dated: bool
    added: int
    case: str
    verdict: str
    cause: str
    title: str
    probability: float
    exact: str
    similar: str
    line: str
    node: str = ""
    gpu: str = ""
    dimm: str = ""
    link: str = ""
    switch: str = ""
    job: str = ""
    run: str = ""
    user: str = ""
    gpu_hours: float | None = None
    version: str = ""

    @property
    def month(self) -> int:
        """Year and month as `202611`, UTC."""
        then = datetime.fromtimestamp(self.time, UTC)
        return then.year * 100 + then.month


class RunFacts(Struct, frozen=True):
    """Facts of a run from other sources than its logs; empty if unknown."""

    node: str = ""
    job: str = ""
    run: str = ""
    user: str = ""
    gpu_hours: float | None = None


def incident_of(report: Report, now: int, salt: bytes | None, known: RunFacts | None = None) -> Incident:
    """The row for `report`. `now`: seconds since 1970. `salt`: the key of pseudonyms; None keeps all names as they are."""
    known = known or RunFacts()
    less = reduced(report)
    first = report.causes[0]
    run = known.run or _run(first)
    prints = fingerprint_of(less, _run_in_fingerprint(run, salt))
    line, hidden_line = decisive(first), decisive(less.causes[0])
    time = _time(report, line)
    node, job = _node(report, first) or known.node, known.job or _job(report, first)
    stored_line = (hidden_line if salt else line) if line else None
    user = known.user or str(first.facts.get("user", "")) or _user(first, line)
    return mask_secrets(
        Incident(
            key=_key(report, prints.exact, line, time, node, job),
            time=int(time.timestamp()) if time else now,
            dated=time is not None,
            added=now,
            case=pseudonym("case", report.case, salt),
            verdict=report.verdict,
            cause=prints.cause,
            title=first.title,
            probability=first.probability,
            exact=prints.exact,
            similar=prints.similar,
            line=_shown(stored_line.text, report.case if salt else "") if stored_line else "",
            node=node,
            **_devices(first, node),
            job=job,
            run=pseudonym("run", known.run or _run(first, MAX_PROGRAM_PARTS), salt),
            user=pseudonym("user", user, salt),
            gpu_hours=known.gpu_hours,
            version=str(report.tool.get("version", "")),
        )
    )


def pseudonym(kind: str, name: str, salt: bytes | None) -> str:
    """`user-3fa9c1d2` for `alice`; `name` itself if it is empty or `salt` is None."""
    if not name or salt is None:
        return name
    return f"{kind}-{hmac.new(salt, f'{kind}:{name}'.encode('utf-8', 'replace'), hashlib.sha256).hexdigest()[:8]}"


def named(name: str) -> str:
    """`name`; empty for a pseudonym, which tells a reader nothing."""
    return "" if NAMELESS_PATTERN.fullmatch(name) else name


def _run_in_fingerprint(run: str, salt: bytes | None) -> str:
    """The run's name for its fingerprint. Fingerprints are not secret, so it is a pseudonym that needs the store's key."""
    return pseudonym("run", DIGITS_PATTERN.sub("<n>", run), salt)


def _shown(text: str, case: str) -> str:
    """The line, shortened, without the name of the case, which may be the name of a job. `case`: empty if names are kept."""
    return (text.replace(case, "<case>") if len(case) >= CASE_CHARS else text).strip()[:MAX_STORED_LINE_CHARS]


def _key(report: Report, exact: str, line: Proof | None, time: datetime | None, node: str, job: str) -> str:
    """Equal for reports of the same lines. Lines without a time are distinguished by case and source."""
    place = (line.source, line.line, line.text) if line else ("", 0, "")
    name = place[0].rsplit("/", 1)[-1] if time else f"{report.case}/{place[0]}"
    parts = (before_dash(exact), report.verdict, time.isoformat() if time else "", node, job, name, *map(str, place[1:]))
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _time(report: Report, line: Proof | None) -> datetime | None:
    """The time of the decisive line, else of the incident, else of the last line of the logs."""
    if line and line.time:
        return line.time
    for incident in report.incidents[:1]:
        if incident.time or incident.start:
            return incident.time or incident.start
    return max((s.last_time for s in report.sources if s.last_time), default=None)


def _node(report: Report, first: Finding) -> str:
    """The node that the evidence names, else the only host of the incident, or the one that the log names at its start."""
    stated = next((str(first.facts[n]) for n in HOSTS if n in first.facts and first.facts[n] not in LOCAL_NAMES), "")
    named = [h for i in report.incidents[:1] for h in i.hosts if h not in LOCAL_NAMES]
    told = [part.removeprefix(HOST_PART) for part in first.where.split(", ") if part.startswith(HOST_PART)]
    return stated or next(iter(named if len(named) == 1 else told if not named else ()), "")


def _job(report: Report, first: Finding) -> str:
    stated = str(first.facts.get("job", first.facts.get("step", first.facts.get("owner", ""))))
    if found := SLURM_STEP.fullmatch(stated):
        return str(found["job"])
    subject = report.subject
    return subject.name if subject and subject.kind == "job" and subject.name.isdigit() else ""


def _run(first: Finding, parts: int = 1) -> str:
    """The name of the job, else the last `parts` parts of the path of its program: a name alone is that of many programs."""
    for name in ("job_name", "program", "file", "python_file"):
        path = str(first.facts.get(name, ""))
        if path and not is_others_code(path):
            return "/".join(re.split(r"[/\\]", path)[-parts:])
    return ""


def _user(first: Finding, line: Proof | None) -> str:
    texts = [str(first.facts.get(n, "")) for n in ("file", "python_file", "path")] + ([line.text] if line else [])
    return next((found["user"] for text in texts if (found := HOME.search(text))), "")


def _devices(first: Finding, node: str) -> dict[str, str]:
    """The parts of a node. A name that is unique only within its node gets the node's name in front."""
    facts = {k: str(v) for k, v in first.facts.items()}
    gpu = next((facts[n] for n in GPU_NAME_FACTS if facts.get(n)), "")
    at = f"{node}/" if node else ""
    return {
        "gpu": gpu if gpu.startswith("GPU-") or gpu.isdigit() or not gpu else f"{at}{gpu}",
        "dimm": f"{at}{facts['dimm']}" if facts.get("dimm") else "",
        "link": f"{at}{'/'.join(filter(None, (gpu, 'link ' + facts['link'])))}" if facts.get("link") else "",
        "switch": f"{at}nvswitch {facts['nvswitch']}" if facts.get("nvswitch") else "",
    }
