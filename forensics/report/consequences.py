"""The consequences of the first cause, and symptoms that it would explain but that come before it.

A consequence is never before its cause: by their times if one clock has both, by their lines inside one source.

    12:00:00 Killed process 4711    12:00:02 kernel died, restarting     what followed from it, 2.0 s later
    12:00:00 Killed process 4711    11:58:00 kernel died, restarting     an unconfirmed consequence, in a list of its own

The report does not claim that the latter came first, either: a line without a stamp has the time of a line above it.
"""

from datetime import datetime

from forensics.model import Finding, Proof, Report
from forensics.report.phrases import symptoms, time_between

MAX_FOLLOW_S = 7200.0  # collectives and mounts give up within an hour; two hours of silence also separate incidents
FOLLOWED = "What followed from it"
UNCONFIRMED = "Told beside it"


def consequences(report: Report) -> list[Finding]:
    """The symptoms of the first cause that are neither before it nor hours after it."""
    return [f for f in symptoms(report) if not _apart(f, report.causes[0])]


def unconfirmed_consequences(report: Report) -> list[Finding]:
    """The other symptoms: nothing shows that they followed from the first cause."""
    return [f for f in symptoms(report) if _apart(f, report.causes[0])]


def _apart(finding: Finding, cause: Finding) -> bool:
    return is_before(finding, cause) or _comes_too_late(finding, cause)


def _comes_too_late(finding: Finding, cause: Finding) -> bool:
    """Is `finding` so long after the last line of `cause` that it may have another reason?"""
    last = max((p.time.timestamp() for p in cause.evidence if p.time), default=None)
    shown = finding.evidence[0].time if finding.evidence else None
    return last is not None and shown is not None and shown.timestamp() - last > MAX_FOLLOW_S


def is_before(finding: Finding, cause: Finding) -> bool:
    """Is the line of `finding` before all lines of `cause`, by more than the difference of their clocks?"""
    if not finding.evidence or not cause.evidence:
        return False
    shown = finding.evidence[0]
    first = min((p for p in cause.evidence if p.time), key=_time, default=None)
    if first and first.time and shown.time:
        return (shown.time - first.time).total_seconds() < -_doubt_s(shown, first)
    lines = [p.line for p in cause.evidence if p.source == shown.source]
    return bool(lines) and shown.line < min(lines)


def delay_text(finding: Finding, cause: Finding) -> str:
    """The time from `cause` to `finding`, in words; empty if they have no common clock, or if it would be negative."""
    a, b = (f.evidence[0] if f.evidence else None for f in (cause, finding))
    if not a or not b or not a.time or not b.time:
        return ""
    gap, off = (b.time - a.time).total_seconds(), _doubt_s(a, b)
    doubt = f", the clocks agree within {off:.0f} s" if off >= abs(gap) else ""
    if not gap:
        return "at the same time"
    if gap < 0:
        return f"at about the same time{doubt}" if doubt else ""
    return f"{time_between(a.time, b.time)} later{doubt}"


def _doubt_s(a: Proof, b: Proof) -> float:
    return max(p.time_uncertainty_s or 0.0 for p in (a, b)) if a.source != b.source else 0.0


def _time(proof: Proof) -> datetime:
    if proof.time is None:
        raise ValueError("no time")
    return proof.time
