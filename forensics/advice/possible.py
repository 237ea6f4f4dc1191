"""What it may be where no line of the logs names a cause: the likeliest causes of the setting, and what the logs rule out.

The rules that a row of tables/differential.csv may name, each with the line that shows it:

    said         the program could still say why, by an exception: it was not killed and did not crash in native code
    status       its exit status is one that it gave itself
    ended        it ended, so it does not hang
    went_on      a number of the training was printed, so everything was imported and found
    finite       the last loss is a number
    no_gpu       it ran on the CPU

A status below 127 of the program's own rules more out: no kill, full memory or lost GPU gives one, and who recorded it has the
whole output, too. If the program said nothing, what is told is where to look in it.

    python -c 'raise SystemExit(7)'    -> what gives the status 7: sys.exit(7), os._exit(7), exit 7
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from forensics.database.differential import ANY_SETTING, Possibility, differentials
from forensics.model import Curve, Finding, Possible, Proof, Report
from forensics.model.answers import NO_SIGNATURE, OUTCOME_LINE
from forensics.readers.lanes.line_classes import is_error_record

MAX_OWN_STATUS = 126  # what a program gives itself; a shell uses those above for its own errors and for signals
TEACH = "forensics signatures new"
ENDED_STATES = ("failed", "stopped", "spoiled")


class Shown(NamedTuple):
    """A line that rules something out, and why."""

    source: str
    line: int
    why: str


def possible_causes(report: Report) -> tuple[Possible, ...]:
    """What an undetermined end may be, likeliest first, those behind that a line rules out; empty if a line names a cause, is an
    error of the program's own, or if others wait for a rank: that says more than what is frequent elsewhere."""
    is_told = any(is_error_record(p.text) for p in report.causes[0].evidence[:1]) or (report.ranks and report.ranks.odd)
    if not is_open(report) or is_told:
        return ()
    setting = _setting(report)
    told = next(d for d in differentials() if d.setting == setting)
    found = [_possible(p, report) for p in told.possibilities]
    return tuple(sorted(found, key=lambda p: bool(p.why)))


def is_open(report: Report) -> bool:
    """Is the end undetermined, and does no line name a cause?"""
    return report.verdict == "undetermined" and all(p.signature in NO_SIGNATURE for p in report.causes[0].evidence)


def _setting(report: Report) -> str:
    """The setting in which it ran, by what the logs show."""
    shown = {s.name: s.value for s in report.environment}
    if "notebook" in shown:
        return "notebook"
    if "container" in shown or shown.get("scheduler") == "kubernetes":
        return "container"
    return "cluster" if {"ranks", "scheduler", "launcher"} & shown.keys() else ANY_SETTING


def _possible(told: Possibility, report: Report) -> Possible:
    found = next((shown for rule in told.ruled_out if (shown := RULED_OUT_BY[rule](report))), None)
    return Possible(told.causes, told.sign, told.commands[:1], told.first, *(found or ()))


def _said(report: Report) -> Shown | None:
    found = next((f for f in report.causes if "exc_type" in f.facts and f.evidence), None)
    return _at(found, "it could still print an exception") if found else None


def _status(report: Report) -> Shown | None:
    said, proof = report.subject, _end(report)
    if said and proof and said.status and said.status <= MAX_OWN_STATUS:
        return Shown(proof.source, proof.line, f"it ended with the exit status {said.status}")
    found = next((f for f in report.causes if _is_own_status(f) and f.evidence), None)
    return _at(found, f"it ended with the exit status {found.facts['exit_code']}") if found else None


def _end(report: Report) -> Proof | None:
    """The line that shows how it ended, else the first line of evidence."""
    proofs = report.causes[0].evidence
    return next((p for p in proofs if p.signature == OUTCOME_LINE), next(iter(proofs), None))


def _is_own_status(finding: Finding) -> bool:
    status = str(finding.facts.get("exit_code", ""))
    return status.isdecimal() and 0 < int(status) <= MAX_OWN_STATUS


def _ended(report: Report) -> Shown | None:
    said = report.subject
    proof = _end(report)
    if said is None or said.outcome not in ENDED_STATES or proof is None:
        return None
    return Shown(proof.source, proof.line, "it ended there")


def _went_on(report: Report) -> Shown | None:
    return _last(report.curves, "it was already running at that line")


def _finite(report: Report) -> Shown | None:
    found = _last([c for c in report.curves if c.kind == "loss"], "")
    return found._replace(why="the loss was still a finite number there") if found else None


def _no_gpu(report: Report) -> Shown | None:
    found = next((s for s in report.environment if (s.name, s.value) in (("device", "cpu"), ("build", "cpu"))), None)
    return Shown(found.source, found.line, "it ran on the CPU") if found else None


def _last(curves: Iterable[Curve], why: str) -> Shown | None:
    """The last point of a curve, if it is a number."""
    ends = ((c, c.points[-1]) for c in curves if c.points)
    return next((Shown(c.source, line, why) for c, (line, value) in ends if value is not None), None)


def _at(finding: Finding, why: str) -> Shown:
    return Shown(finding.evidence[0].source, finding.evidence[0].line, why)


RULED_OUT_BY: dict[str, Callable[[Report], Shown | None]] = {
    "said": _said,
    "status": _status,
    "ended": _ended,
    "went_on": _went_on,
    "finite": _finite,
    "no_gpu": _no_gpu,
}


def told_by_status(report: Report) -> Report:
    """`report`; of an end that only a status of the program's own tells, without questions for others; of a silent one with the
    answer above alone."""
    subject = report.subject
    if subject is None or subject.status is None or not 0 < subject.status <= MAX_OWN_STATUS or not is_open(report):
        return report
    if report.unusual or any(p.signature != OUTCOME_LINE for p in report.causes[0].evidence):
        return replace(report, missing=tuple(q for q in report.missing if q.command.startswith(TEACH)))
    why = f"it ended with exit status {subject.status}, and no line of its own says why"
    said = replace(subject, silent=True, why=why)
    return replace(report, subject=said, possible=(_statement(subject.status),), missing=())


def _statement(status: int) -> Possible:
    """What gives a program such a status, and how to find it."""
    return Possible(
        ("code.exception",),
        f"A statement sets this status: sys.exit({status}), os._exit({status}) or exit {status}; or it passes on the status of"
        " the command that it called last",
        (rf"grep -rnE '\bexit *\(? *{status}\b' --include='*.py' --include='*.sh' .",),
        "Print why on the line before it, or write `set -x` at the top of the script",
    )
