"""The consequences of the first cause, and symptoms that it would explain but that are not shown to come after it.

What is told as following comes after its cause: by a clock that both have, by their lines inside one source, or by a number that
ties it to the cause, as the pid of the killed process.

    12:00:00 Killed process 4711    12:00:02 kernel died, restarting     what followed, 2.0 s later
    12:00:00 Killed process 4711    11:58:00 kernel died, restarting     told beside it, in a list of its own
    [ 2148.4] Killed process 4711   12:00:02 kernel died, restarting     told beside it: nothing joins the two clocks

The report does not claim that the latter came first, either: a line without a stamp has the time of a line above it. A mere hint
is no consequence: a launcher's report of an exit status shows no death of a worker. What is hours apart is another incident. In
the log of a machine, where a hundred programs write, two lines belong together if the kernel wrote both or both name one thing.
"""

from datetime import datetime

from forensics.model import Finding, Proof, Report
from forensics.report.moment import exact_gap, gap_text, is_floor, shown_proof
from forensics.report.phrases import symptoms

# Chosen by hand: what waits for something that failed gives up within an hour, collectives after 10 or 30 minutes, mounts later.
# Twice as much leaves room for one retry, and it is also the pause that separates two incidents.
MAX_FOLLOW_S = 2 * 3600.0
MAX_KERNEL_FOLLOW_S = 1800.0  # chosen by hand: the kernel reports a blocked task within minutes, and again for half an hour
TIED_BY = ("pid", "pci", "gpu", "unit", "container", "job", "device", "disk", "interface", "server")
FOLLOWED = "What followed"
UNCONFIRMED = "Told beside it"


def consequences(report: Report) -> list[Finding]:
    """The symptoms of the first cause that are shown to come after it, and not hours after it."""
    return [f for f in _shown_symptoms(report) if is_after(f, report.causes[0])]


def unconfirmed_consequences(report: Report) -> list[Finding]:
    """The symptoms of which nothing shows that they came after the first cause."""
    return [f for f in _shown_symptoms(report) if not is_after(f, report.causes[0])]


def _shown_symptoms(report: Report) -> list[Finding]:
    """The symptoms of the first cause's incident that a line stronger than a hint shows; of a machine those tied to the cause."""
    first, machine = report.causes[0], report.subject is not None and report.subject.kind == "machine"
    found = (f for f in symptoms(report) if any(p.weight != "hint" for p in f.evidence))
    own = {(p.source, p.line) for p in first.evidence}
    found = (f for f in found if (f.evidence[0].source, f.evidence[0].line) not in own)
    return [f for f in found if not _is_hours_apart(f, first) and not (machine and not _is_tied(f, first))]


def _is_tied(finding: Finding, cause: Finding) -> bool:
    """Do both name one process or one thing, or did the kernel write both of them within half an hour?"""
    named = [(finding.facts[name], cause.facts[name]) for name in TIED_BY if name in finding.facts and name in cause.facts]
    if named or _is_linked(finding):
        return not named or any(a == b for a, b in named)
    lines = (finding.evidence[0], cause.evidence[0])
    gap = _seconds_between(*lines)
    return all(p.by_kernel for p in lines) and (gap is None or abs(gap) <= MAX_KERNEL_FOLLOW_S)


def _seconds_between(a: Proof, b: Proof) -> float | None:
    """Seconds from `b` to `a`, by the clock or by what the kernel counts from boot; None if unknown."""
    if a.time and b.time:
        return (a.time - b.time).total_seconds()
    if a.source != b.source or a.uptime_s is None or b.uptime_s is None:
        return None
    return a.uptime_s - b.uptime_s


def _is_linked(finding: Finding) -> bool:
    """Does a number or a name tie its line to the cause, and not the time alone?"""
    link = finding.evidence[0].linked_by if finding.evidence else None
    return bool(link) and not str(link).startswith("time")


def is_after(finding: Finding, cause: Finding) -> bool:
    """Do the lines of `finding` come after the first line of `cause`, or does a number tie them to it?"""
    if not finding.evidence or not cause.evidence:
        return False
    if _is_linked(finding):
        return not is_before(finding, cause)
    shared = {p.source for p in finding.evidence} & {p.source for p in cause.evidence}
    if shared:
        return all(_first_line(finding, name) > _first_line(cause, name) for name in shared) and not is_before(finding, cause)
    ours, theirs = ([p.time for p in f.evidence if p.time] for f in (finding, cause))
    return bool(ours) and bool(theirs) and min(ours) >= min(theirs)


def _first_line(finding: Finding, source: str) -> int:
    return min(p.line for p in finding.evidence if p.source == source)


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
