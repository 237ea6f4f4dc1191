"""A Report to its fingerprints: which other failures are this one again.

exact    cause, signatures that prove it, template of the decisive line, innermost function of the program's own code and its
         file; behind a dash what tells programs apart that are alike in all of that: 1d5ae4a6a7a6ac5f-6b0c91d2
similar  cause, template of the decisive line, name of that function
cause    the cause's id

The function is in both because many lines are of the runtime alone: `RecursionError: maximum recursion depth exceeded` and
`Fatal Python error: Segmentation fault` are the same of every program that dies so, whatever its fault. Behind the dash stands
the failing line of code, where the log quotes it; where the log names no code of the program, as the kernel's kills do, the name
of the run, or, where that is not known, the causes that followed from it: a kill of a notebook's kernel and one of a data
loader's worker are template by one and the same line. It is in the exact one alone: who changed the line and died of the same has
something similar.
The part in front of the dash is what earlier versions made, and what they stored is known by it: `in_front`.

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
from forensics.report import with_stand_ins
from forensics.templates import template

HEX_CHARS = 16  # 64 bits: a million incidents share one by accident with a probability of 3e-8
MOST_PROOFS = 5  # evidence lines that are looked at; the first one decides
ORDER = {"proof": 0, "strong": 1, "hint": 2}
OTHERS_CODE = lazy.regex(r"(?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d|<frozen |\A<")
QUOTED_ID = lazy.regex(
    r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,}(?![\w-])"
)  # run_1fa9c2, pod-7d9fxk: made up for one run
STAND_IN = lazy.regex(r"\b(host|user|job|ip|email)-(?:\d+|<n>)")
DIGITS_PATTERN = lazy.regex(r"\d+")
FRAME = lazy.regex(r'(?P<head>.*?)File "(?P<file>[^"]+)", line (?P<line_no>\d+)')
CODE_FACT = "failing_code"  # the name under which `reduced` keeps it among the facts
FOLLOWED_FACT = "followed"  # likewise: the causes that are its consequences
MAX_CODE_CHARS = 300  # of the line of a program that failed; a longer one is data
APART_HEX_CHARS = 8  # tells apart what is alike in everything else


class Fingerprint(Struct, frozen=True):
    """Three levels, `exact` the narrowest. Hexadecimal, but for `cause` and a dash. `template`: what `similar` was made of."""

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
    """The fingerprints of a report as it was made or read again. `run`: the name of what was run, where it is known."""
    return fingerprint_of(reduced(report), run)


def fingerprint_of(less: Report, run: str = "") -> Fingerprint:
    """The fingerprints of what `reduced` made."""
    first = less.causes[0]
    line = decisive(first)
    template = masked(line.text) if line else ""
    file, function = _own_function(first)
    where = f"{file}:{function}" if file else ""
    similar = _hash(first.id, template, where if function.startswith("<") else function)
    exact = _hash(_hash(first.id, template), *_signatures(first), where)
    apart = _of_any_sweep(str(first.facts.get(CODE_FACT, ""))) if file else run or str(first.facts.get(FOLLOWED_FACT, ""))
    return Fingerprint(f"{exact}-{_hash(apart)[:APART_HEX_CHARS]}" if apart else exact, similar, first.id, template)


def in_front(exact: str) -> str:
    """The part of an exact fingerprint in front of its dash."""
    return exact[:HEX_CHARS]


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
            return DIGITS_PATTERN.sub("<n>", re.split(r"[/\\]", path)[-1]), str(finding.facts.get(function, ""))
    return "", ""


def _failing_code(finding: Finding) -> str:
    """`loss = model(x)`: what stands below the own frame's line in the evidence; empty where nothing does.

    File "/home/u/train.py", line 12, in step
      loss = model(x)
    """
    place = (str(finding.facts.get("file", "")), str(finding.facts.get("line_no", "")))
    for proof in finding.evidence:
        found = FRAME.match(proof.text)
        if found and proof.after and (found["file"], found["line_no"]) == place and not OTHERS_CODE.search(place[0]):
            below = proof.after[0].text
            code = below.removeprefix(found["head"] + "  ")  # of the same rank, and further in
            if code != below and any(map(str.isalnum, code)) and not FRAME.match(code):
                return code.strip()[:MAX_CODE_CHARS]
    return ""


def _followed(report: Report) -> str:
    """`notebook.kernel_died`: the causes that are consequences of the first one, sorted; empty where there are none."""
    return ",".join(sorted(f.id for f in report.causes[1:] if f.role == "symptom" and f.evidence))


def _of_any_sweep(code: str) -> str:
    """Without numbers, spaces and stand-ins for names: a line that a sweep wrote with another number is no other line."""
    return STAND_IN.sub(r"<\1>", DIGITS_PATTERN.sub("<n>", "".join(code.split())))


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=HEX_CHARS // 2).hexdigest()
