"""Fingerprints of a Report: equal ones mean the same failure.

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
"""

import hashlib
import re

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.model import Finding, Proof, Report
from forensics.readers.python.frames import file_frame
from forensics.readers.python.library_files import is_others_code
from forensics.report import with_stand_ins
from forensics.templates import DIGITS_PATTERN, template

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
