"""The consequences of the first cause, and symptoms that it would explain but that come before it.

A consequence is never before its cause: by their times if one clock has both, by their lines inside one source.

    12:00:00 Killed process 4711    12:00:02 kernel died, restarting     what followed from it, 2.0 s later
    12:00:00 Killed process 4711    11:58:00 kernel died, restarting     an unconfirmed consequence, in a list of its own

The report does not claim that the latter came first, either: a line without a stamp has the time of a line above it. A mere hint
is no consequence: a launcher's report of an exit status shows no death of a worker. What is hours apart is another incident.
"""

from datetime import datetime

from forensics.model import Finding, Proof, Report
from forensics.report.moment import exact_gap, gap_text, is_floor, shown_proof
from forensics.report.phrases import symptoms

# Chosen by hand: what waits for something that failed gives up within an hour, collectives after 10 or 30 minutes, mounts later.
# Twice as much leaves room for one retry, and it is also the pause that separates two incidents.
MAX_FOLLOW_S = 2 * 3600.0
FOLLOWED = "What followed from it"
UNCONFIRMED = "Told beside it"


def consequences(report: Report) -> list[Finding]:
    """The symptoms of the first cause that are neither before it nor hours apart from it."""
    return [f for f in _shown_symptoms(report) if not is_before(f, report.causes[0])]


def unconfirmed_consequences(report: Report) -> list[Finding]:
    """The symptoms that come before the first cause: nothing shows that they followed from it."""
    return [f for f in _shown_symptoms(report) if is_before(f, report.causes[0])]


def _shown_symptoms(report: Report) -> list[Finding]:
    """The symptoms of the first cause's incident that a line stronger than a hint shows."""
    found = (f for f in symptoms(report) if any(p.weight != "hint" for p in f.evidence))
    return [f for f in found if not _is_hours_apart(f, report.causes[0])]


def _is_hours_apart(finding: Finding, cause: Finding) -> bool:
    """Is `finding` so long before or after all lines of `cause` that it may have another reason?"""
    times = [p.time.timestamp() for p in cause.evidence if p.time]
    shown = finding.evidence[0].time
    if not times or shown is None:
        return False
    return not min(times) - MAX_FOLLOW_S <= shown.timestamp() <= max(times) + MAX_FOLLOW_S


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
    """The time from the line that shows `cause` to `finding`, in words; empty if they have no common clock, or if it would be
    negative."""
    a, b = shown_proof(cause), finding.evidence[0] if finding.evidence else None
    if not a or not b or not a.time or not b.time:
        return ""
    gap, off = (b.time - a.time).total_seconds(), _doubt_s(a, b)
    if is_floor(a) or is_floor(b):
        exact = gap_text(a, b) if gap >= 0 and gap >= off else ""
        return f"{exact} later" if exact else "at about the same time" if off >= abs(gap) and a.source != b.source else ""
    doubt = f", the clocks agree within {off:.0f} s" if off >= abs(gap) else ""
    if not gap:
        return "at the same time"
    exact = exact_gap(a.time, b.time)
    if gap < 0 or not exact:
        return f"at about the same time{doubt}" if doubt or gap > 0 else ""
    return f"{exact} later{doubt}"


def _doubt_s(a: Proof, b: Proof) -> float:
    return max(p.time_uncertainty_s or 0.0 for p in (a, b)) if a.source != b.source else 0.0


def _time(proof: Proof) -> datetime:
    if proof.time is None:
        raise ValueError("no time")
    return proof.time
