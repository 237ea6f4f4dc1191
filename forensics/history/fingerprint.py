"""A Report to its fingerprints: which other failures are this one again.

exact    cause, signatures that prove it, template of the decisive line, innermost function of the program's own code and its file
similar  cause, template of the decisive line, name of that function
cause    the cause's id

The function is in both because many lines are of the runtime alone: `RecursionError: maximum recursion depth exceeded` and
`Fatal Python error: Segmentation fault` are the same of every program that dies so, whatever its fault.

    Memory cgroup out of memory: Killed process 4711 (python) total-vm:9GB ...   pid, sizes, host, time are masked
    Memory cgroup out of memory: Killed process <n> (python) total-vm:<n>GB ...  -> similar 5f0c...

Numbers, paths, addresses and times are masked by `templates`, names of hosts, users and jobs by the report's redaction. Two runs
of one program that die of one fault differ in nothing else.
"""

import hashlib
import re

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.model import Finding, Proof, Report
from forensics.report import hidden
from forensics.templates import template

HEX_CHARS = 16  # 64 bits: a million incidents share one by accident with a probability of 3e-8
MOST_PROOFS = 5  # evidence lines that are looked at; the first one decides
ORDER = {"proof": 0, "strong": 1, "hint": 2}
OTHERS_CODE = lazy.regex(r"(?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d|<frozen |\A<")
QUOTED_ID = lazy.regex(
    r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,}(?![\w-])"
)  # run_1fa9c2, pod-7d9fxk: made up for one run
STAND_IN = lazy.regex(r"\b(host|user|job|ip|email)-(?:\d+|<n>)")
DIGITS = lazy.regex(r"\d+")


class Fingerprint(Struct, frozen=True):
    """Three levels, `exact` the narrowest. Hexadecimal, but for `cause`. `template`: what `similar` was made of."""

    exact: str
    similar: str
    cause: str
    template: str


def reduced(report: Report) -> Report:
    """`report` with its first cause, its decisive line and its first incident alone, without secrets; names hidden.

    All else is left out because to look through it would take most of the time that a row takes.

    What the case is called is left out: redaction takes it for a job's name, and it may be a word that the log has for itself.
    """
    first = report.causes[0]
    proofs = tuple(sorted(first.evidence, key=lambda p: ORDER[p.weight]))[:MOST_PROOFS]
    line = decisive(first)
    bare = tuple(replace(p, text=p.text if p is line else "", source="", before=(), after=(), linked_by=None) for p in proofs)
    slim = replace(first, title="", summary="", evidence=bare, ledger=(), remediations=())
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
    return hidden(less)[0]


def fingerprint(report: Report) -> Fingerprint:
    """The fingerprints of a report as it was made or read again."""
    return fingerprint_of(reduced(report))


def fingerprint_of(less: Report) -> Fingerprint:
    """The fingerprints of what `reduced` made."""
    first = less.causes[0]
    line = decisive(first)
    told = masked(line.text) if line else ""
    file, function = _own_function(first)
    where = f"{file}:{function}" if file else ""
    similar = _hash(first.id, told, where if function.startswith("<") else function)
    return Fingerprint(_hash(_hash(first.id, told), *_signatures(first), where), similar, first.id, told)


def decisive(finding: Finding) -> Proof | None:
    """The line that shows the cause best: the first of the greatest weight."""
    return min(finding.evidence, key=lambda p: ORDER[p.weight], default=None)


def masked(text: str) -> str:
    """The template of a line, identifiers that a machine made up masked, too."""
    return STAND_IN.sub(r"<\1>", QUOTED_ID.sub("<id>", template(text)))


def _signatures(finding: Finding) -> list[str]:
    """The signatures that prove it; where none does, that of the decisive line."""
    proving = sorted({p.signature for p in finding.evidence if p.weight == "proof"})
    line = decisive(finding)
    return proving or ([line.signature] if line else [])


def _own_function(finding: Finding) -> tuple[str, str]:
    """`train.py`, `step`: file and name of the innermost function of the program's own code; `<module>` outside of any."""
    for file, function in (("file", "function"), ("python_file", "python_function")):
        path = str(finding.facts.get(file, ""))
        if path and not OTHERS_CODE.search(path):
            return DIGITS.sub("<n>", re.split(r"[/\\]", path)[-1]), str(finding.facts.get(function, ""))
    return "", ""


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=HEX_CHARS // 2).hexdigest()
