"""The course of an incident in words: when its cause was shown, what followed it, in which steps, and what earlier attempts did.

A time claims no more than the stamps of the log: `2026-11-21 08:46:17`; with an offset if its lines have a zone; `02:53:08` if
they have no date, `Dec 12 16:07:34` if they have no year, and no other source tells it; `after 08:39:24` for a line that has no
stamp of its own; `12.4 s after boot`.

What is told as following comes after its cause: by a clock that both have, by their lines inside one source, or by a number that
ties it to the cause, as the pid of the killed process.

    12:00:00 Killed process 4711    12:00:02 kernel died, restarting     what followed, 2.0 s later
    12:00:00 Killed process 4711    11:58:00 kernel died, restarting     told beside it, in a list of its own
    [ 2148.4] Killed process 4711   12:00:02 kernel died, restarting     told beside it: nothing joins the two clocks

A mere hint is no consequence, unless it names the very device that failed: the link's report, a second before a GPU is lost. What
is hours apart is another incident. In the log of a machine, where a hundred programs
write, two lines belong together if the kernel wrote both or both name one thing.

08:23:04 dmesg.log: A memory limit was hit | 2.5 s later jupyter.log: The notebook kernel died
Change("batch size", "64", "32", ...), Change("reached", "epoch 2", "epoch 5", ...)
-> "it reached epoch 2, the last one epoch 5; batch size 64 -> 32"
"""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.text import two_unit_duration, with_noun
from forensics.model import EarlierAttempt, Finding, Proof, Report, TimelineEntry, shows_slow_down
from forensics.report.phrases import duration_text, shows_no_crash, symptoms, time_between

# A stamp of its own is at most this far off; a line without one has the time of one above it, and the pause as its doubt.
MAX_STAMP_DOUBT_S = 5.0
# What waits for a process that died gives up by itself at last: a process group of PyTorch does so after 30 minutes, the longest
# of the usual defaults. So an earlier line than that is not of the same trouble, but of an attempt before.
MAX_SAME_TROUBLE_S = 30 * 60.0
# Which of the lines of a series shows that it changed: the lines before it were printed while all was well
FAILED_AT = {"series/nan": 0, "series/divergence": 1}
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

    Of a slow-down or a loss that failed it is the line of the change: the earliest ones show how it was before. If the best
    evidence has no time it is the stamped line that is nearest above. Lines of earlier attempts and deaths are of another
    trouble.
    """
    timed = [p for p in finding.evidence if p.time and not p.earlier]
    if not timed:
        return None
    best = finding.evidence[0]
    if shows_slow_down(finding.facts, finding.evidence):
        return sorted(timed, key=_time)[:2][-1]
    if best.time and best.signature in FAILED_AT:
        changed = [p for p in timed if p.signature == best.signature][FAILED_AT[best.signature] :]
        return changed[0] if changed else best
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


# Chosen by hand: what waits for something that failed gives up within an hour, collectives after 10 or 30 minutes, mounts later.
# Twice as much leaves room for one retry, and it is also the pause that separates two incidents.
MAX_FOLLOW_S = 2 * 3600.0
MAX_KERNEL_FOLLOW_S = 1800.0  # chosen by hand: the kernel reports a blocked task within minutes, and again for half an hour
TIED_BY = ("pid", "pci", "gpu", "unit", "container", "job", "device", "disk", "interface", "server")
FOLLOWED = "What followed"
UNCONFIRMED = "Also reported"


def consequences(report: Report) -> list[Finding]:
    """The symptoms of the first cause that are shown to come after it, and not hours after it.

    Where no clock is common, the death of a process that the cause or one of these names is another telling of it.
    """
    first, shown = report.causes[0], shown_symptoms(report)
    after = [f for f in shown if is_after(f, first)]
    pids = {f.facts["pid"] for f in (first, *after) if "pid" in f.facts}
    told = [f for f in shown if f.facts.get("pid") in pids and not _has_common_clock(f, first)]
    return [f for f in shown if f in after or f in told]


def unconfirmed_consequences(report: Report) -> list[Finding]:
    """The symptoms of which nothing shows that they came after the first cause."""
    after = consequences(report)
    return [f for f in shown_symptoms(report) if f not in after]


def shown_symptoms(report: Report) -> list[Finding]:
    """The symptoms of the first cause's incident that a line stronger than a hint shows; of a machine those tied to the cause."""
    first, machine = report.causes[0], report.subject is not None and report.subject.kind == "machine"
    found = (f for f in symptoms(report) if any(p.weight != "hint" for p in f.evidence) or devices(f) & devices(first))
    own = {(p.source, p.line) for p in first.evidence}
    found = (f for f in found if (f.evidence[0].source, f.evidence[0].line) not in own)
    return [f for f in found if not _is_hours_apart(f, first) and not (machine and not _is_tied(f, first))]


def devices(finding: Finding) -> set[str]:
    """The PCI devices that it names, without their function, and not the port that only passes on what they report:
    `{"0000:17:00"}`."""
    named = str(finding.facts.get("from", finding.facts.get("pci", "")))
    return {named.partition(".")[0]} if named.count(":") > 1 else set()


def _is_tied(finding: Finding, cause: Finding) -> bool:
    """Do both name one process or one thing, or did the kernel write both of them within half an hour?"""
    named = [(finding.facts[name], cause.facts[name]) for name in TIED_BY if name in finding.facts and name in cause.facts]
    if named or _is_linked(finding):
        return not named or any(a == b for a, b in named) or bool(devices(finding) & devices(cause))
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


def _has_common_clock(finding: Finding, cause: Finding) -> bool:
    """Do times or lines of one source show which of the two came first?"""
    timed = [any(p.time for p in f.evidence) for f in (finding, cause)]
    return all(timed) or bool({p.source for p in finding.evidence} & {p.source for p in cause.evidence})


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
    first = min((p for p in cause.evidence if p.time), key=_entry_time, default=None)
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


def _entry_time(proof: Proof) -> datetime:
    if proof.time is None:
        raise ValueError("no time")
    return proof.time


MAX_STEPS = 5  # chosen by hand: a chain that is read as one sentence
SAME_MOMENT_S = 0.05  # chosen by hand: two events this close have the same time


class CourseStep(Struct, frozen=True):
    """The first line of a cause. `gap`: the time since the step before it, in words; empty if unknown."""

    source: str
    line: int
    title: str
    role: str
    time: datetime | None
    gap: str


def course_steps(report: Report) -> list[CourseStep]:
    """The first cause and what followed, in order of time on one clock; in order of line inside one source.

    Empty if the order is unknown, if there is only one, or if nothing ended badly. Events before the cause are no steps.
    """
    if shows_no_crash(report):
        return []
    root, findings = report.causes[0], {f.id: f for f in (report.causes[0], *consequences(report))}
    first: dict[str, TimelineEntry] = {}
    begin = min((p.time for p in root.evidence if p.time), default=None)
    for entry in _first_incident(report):
        too_early = entry.cause == root.id and begin and entry.time and entry.time < begin
        if entry.cause in findings and not too_early:  # an earlier one happened to another process
            first.setdefault(entry.cause or "", entry)
    shown = shown_proof(root)
    if root.id in first and shown and shown.time and first[root.id].time:
        first[root.id] = replace(first[root.id], time=shown.time, source=shown.source, line=shown.line)
    moments = list(first.values())
    if len(moments) < 2 or root.id not in first:
        return []
    one_clock = len({m.lane for m in moments}) == 1
    if all(m.time for m in moments) and one_clock:
        moments.sort(key=lambda m: (m.time.timestamp() if m.time else 0.0, m.source, m.line))
    elif len({m.source for m in moments}) == 1:
        moments.sort(key=lambda m: m.line)
    else:
        return []
    moments = moments[next(i for i, m in enumerate(moments) if m.cause == root.id) :]
    if len(moments) < 2:
        return []
    return [_step(m, moments[i - 1] if i else None, findings) for i, m in enumerate(moments[:MAX_STEPS])]


def _first_incident(report: Report) -> list[TimelineEntry]:
    """The moments of the incident that the causes are about."""
    incident = report.incidents[0] if report.incidents else None
    return list(report.timeline[: incident.events]) if incident else []


def _step(entry: TimelineEntry, before: TimelineEntry | None, findings: Mapping[str, Finding]) -> CourseStep:
    gap = ""
    if before and before.time and entry.time and abs((entry.time - before.time).total_seconds()) >= SAME_MOMENT_S:
        gap = gap_text(_line_of(before, findings), _line_of(entry, findings))
    return CourseStep(entry.source, entry.line, findings[entry.cause or ""].title, entry.role, entry.time, gap)


def _line_of(entry: TimelineEntry, findings: Mapping[str, Finding]) -> Proof:
    """The line of evidence at `entry`, with its time, and the doubt about it."""
    same = next((p for p in findings[entry.cause or ""].evidence if (p.source, p.line) == (entry.source, entry.line)), None)
    bare = Proof(entry.source, entry.line, "", entry.event, "hint", time=entry.time)
    return replace(bare, time_uncertainty_s=same.time_uncertainty_s, stamped=same.stamped) if same else bare


MAX_SHOWN_ATTEMPTS = 5  # chosen by hand: the last ones
MAX_SHOWN_CHANGES = 6  # chosen by hand: of one attempt; all of them are in the JSON document
MAX_VALUE_CHARS = 60  # of a row of 100 columns, next to the name and the numbers of the attempts


def heading(report: Report) -> str:
    """The heading of the list."""
    return "Earlier cells that failed" if _cells(report) else "Earlier attempts"


def introduction(report: Report) -> str:
    """The words after the heading: what is shown of the attempts."""
    if _cells(report):
        return "in the same notebook"
    changed = any(a.changes for a in report.earlier_attempts)
    return "how each ended, and what changed before the last one" if changed else "how each ended"


def attempts_shown(report: Report) -> tuple[EarlierAttempt, ...]:
    """The attempts to show, in order."""
    return report.earlier_attempts[-MAX_SHOWN_ATTEMPTS:]


def left_out_note(report: Report) -> str:
    """How many further attempts there are; empty if there are none."""
    more = len(report.earlier_attempts) - MAX_SHOWN_ATTEMPTS
    noun = "more cell" if _cells(report) else "more attempt"
    return f"and {with_noun(more, noun)} before them, all in --format json" if more > 0 else ""


def title_remark(attempt: EarlierAttempt) -> str:
    """The remark after an attempt's title."""
    return "same as the last one" if attempt.same_cause else ""


def changes_clause(attempt: EarlierAttempt) -> str:
    """What changed until the last attempt, as a clause; empty if the log does not give values for both of them."""
    clauses = [
        f"it reached {c.then}, the last one reached {c.last}"
        if c.what == "reached"
        else f"{c.what} {_cut(c.then)} -> {_cut(c.last)}"
        for c in attempt.changes[:MAX_SHOWN_CHANGES]
    ]
    more = len(attempt.changes) - MAX_SHOWN_CHANGES
    clauses += [f"and {with_noun(more, 'more change')}"] if more > 0 else []
    if clauses:
        return "; ".join(clauses)
    return f"unchanged: {', '.join(map(_cut, attempt.unchanged[:MAX_SHOWN_CHANGES]))}" if attempt.unchanged else ""


def _cut(value: str) -> str:
    return value if len(value) <= MAX_VALUE_CHARS else value[: MAX_VALUE_CHARS - 1] + "…"


def _cells(report: Report) -> bool:
    notebooks = {s.name for s in report.sources if s.format == "notebook"}
    return any(a.source in notebooks for a in report.earlier_attempts)
