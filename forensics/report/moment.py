"""When the first cause was shown, in words that claim no more than the stamps of the log.

`2026-11-21 08:46:17`; with an offset if its lines have a zone; `02:53:08` if they have no date, `Dec 12 16:07:34` if they have no
year, and no other source tells it; `after 08:39:24` for a line that has no stamp of its own; `12.4 s after boot`.
"""

from datetime import datetime

from forensics.model import Finding, Proof, Report, shows_slow_down
from forensics.report.phrases import duration_text, shows_no_crash, time_between, two_unit_duration

# A stamp of its own is at most this far off; a line without one has the time of one above it, and the pause as its doubt.
MAX_STAMP_DOUBT_S = 5.0
# What waits for a process that died gives up by itself at last: a process group of PyTorch does so after 30 minutes, the longest
# of the usual defaults. So an earlier line than that is not of the same trouble, but of an attempt before.
MAX_SAME_TROUBLE_S = 30 * 60.0
FORMATS = {"date": "%H:%M:%S", "year": "%b %d %H:%M:%S", "": "%Y-%m-%d %H:%M:%S"}  # by what the stamps lack


def first_shown(report: Report) -> str:
    """When the first cause was first shown; how long after boot if no clock is known; empty if nothing ended badly."""
    if shows_no_crash(report):
        return ""
    if report.causes[0].when:
        return report.causes[0].when
    proof = shown_proof(report.causes[0])
    if proof is None or proof.time is None:
        return _after_boot(report)
    is_later = proof.source == report.causes[0].evidence[0].source and proof.line < report.causes[0].evidence[0].line
    lead = "after " if is_floor(proof) or (is_later and report.causes[0].evidence[0].time is None) else ""
    return lead + clock_text(proof.time, proof.source, report)


def shown_proof(finding: Finding) -> Proof | None:
    """The line whose time is told for `finding`: the first one of the trouble that its best evidence shows.

    Of a slow-down it is the line of the change: the earliest one shows the speed before it. If the best evidence has no time it
    is the stamped line that is nearest above. Lines of earlier attempts and deaths are of another trouble.
    """
    timed = [p for p in finding.evidence if p.time and not p.earlier]
    if not timed:
        return None
    best = finding.evidence[0]
    if shows_slow_down(finding.facts, finding.evidence):
        return sorted(timed, key=_time)[:2][-1]
    if best.time:
        return min((p for p in timed if p is best or (p.stamped and _time(best) - _time(p) <= MAX_SAME_TROUBLE_S)), key=_time)
    above = [p for p in timed if p.source == best.source and p.line < best.line]
    return max(above, key=lambda p: p.line) if above else min(timed, key=_time)


def clock_text(time: datetime | None, source: str, report: Report) -> str:
    """`time` as the lines of `source` give it: with an offset if they have one, without a year or a date that they lack.

    `source`: empty for a time of several sources. Empty for an unknown time.
    """
    if time is None:
        return ""
    if any(s.name == source and s.clock == "wall+zone" for s in report.sources):
        return time.isoformat(sep=" ", timespec="seconds")
    return time.strftime(FORMATS[_assumed(source, report)])


def gap_text(a: Proof, b: Proof) -> str:
    """The time from `a` to `b` of one source, in words; empty if it is unknown, or none."""
    if a.time is None or b.time is None or a.time == b.time or (is_floor(a) and is_floor(b)):
        return ""
    gap = exact_gap(a.time, b.time)
    lead = "up to " if is_floor(a) else "at least " if is_floor(b) else ""
    return lead + gap if gap else ""


def exact_gap(earlier: datetime, later: datetime) -> str:
    """The time between the two in words, no more exact than their stamps: in whole seconds if one has no fraction; empty if
    that is none."""
    if earlier.microsecond and later.microsecond:
        return time_between(earlier, later)
    seconds = int(abs((later - earlier).total_seconds()))  # of 31 and 31.8 the first may be 31.9: none is shown
    return duration_text(seconds).replace(".0 s", " s") if seconds else ""


def is_floor(proof: Proof) -> bool:
    """Is its time that of a stamp above it, so that the line itself was written at an unknown moment after it?"""
    return not proof.stamped or (proof.time_uncertainty_s or 0.0) > MAX_STAMP_DOUBT_S


def _assumed(source: str, report: Report) -> str:
    """`year` or `date` if the stamps of `source`, or of any, lack it and no source with whole stamps tells it; else empty."""
    lacking = {w.source: w.kind for w in report.warnings if w.kind in ("year", "date")}
    whole = any(s.first_time and s.name not in lacking for s in report.sources)
    return "" if whole else lacking.get(source, "") if source else max(lacking.values(), default="")


def _after_boot(report: Report) -> str:
    """`12.4 s after boot`, `2 h 32 min after boot`: if a kernel's log counts from boot and no clock is known."""
    counting = {s.name for s in report.sources if s.clock == "mono"}
    shown = (p.uptime_s for p in report.causes[0].evidence if p.source in counting and not p.earlier)
    first = min((seconds for seconds in shown if seconds is not None), default=None)
    return f"{two_unit_duration(first)} after boot" if first is not None else ""


def _time(proof: Proof) -> float:
    return proof.time.timestamp() if proof.time else 0.0
