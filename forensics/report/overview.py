"""What the first screen answers besides what happened: where, since when, and what to do first.

rank 37 on node04, GPU 3, job 4711; 63 other ranks waited or failed with it | 2026-11-21 08:46:17 | Read the log of rank 37 first
"""

from datetime import datetime

from forensics.core import lazy
from forensics.core.text import counted
from forensics.model import Report
from forensics.report.incidents import Group, groups
from forensics.report.phrases import exactly, guessed, remedies, span, symptoms

RUNS = 3  # of numbers, told one after the other
KERNEL_STAMP_PATTERN = lazy.regex(r"\s{0,8}(?:<\d{1,4}>)?\[\s{0,8}(\d{1,10}\.\d{1,9})\]")  # `<6>[ 9120.213456]`
MAX_LISTED_INCIDENTS = 5  # rows of other incidents on the first screen


def where(report: Report) -> str:
    """Where it happened, with how many ranks felt it; empty where nothing tells it or nothing ended badly."""
    if report.verdict == "no_crash" or guessed(report):
        return ""
    first = report.causes[0]
    own = first.facts.get("culprit_rank", first.facts.get("rank"))
    felt = {rank for f in (first, *symptoms(report)) for rank in f.ranks} - {own}
    if own is None and len(felt) == 1 and "rank" not in first.where:  # it is the one that it happened to
        return ", ".join(filter(None, (f"rank {felt.pop()}", first.where)))
    others = f"{counted(len(felt), 'other rank' if own is not None else 'rank')} waited or failed with it" if felt else ""
    return "; ".join(filter(None, (first.where, others)))


def since(report: Report) -> str:
    """When the first cause was first shown: `2026-11-21 08:46:17`, with its offset where the log itself tells a zone; where no
    clock is known, how long after boot."""
    if report.verdict == "no_crash":
        return ""
    found = cause_time(report)
    return clock_time(*found, report) if found else _after_boot(report)


def _after_boot(report: Report) -> str:
    """`12.4 s after boot`, `2 h 32 min after boot`: where a kernel's log counts from there and no clock is known."""
    counting = {s.name for s in report.sources if s.clock == "mono"}
    stamps = [KERNEL_STAMP_PATTERN.match(p.text) for p in report.causes[0].evidence if p.source in counting]
    first = min((float(s[1]) for s in stamps if s), default=None)
    return f"{exactly(first)} after boot" if first is not None else ""


def cause_time(report: Report) -> tuple[datetime, str] | None:
    """The time of the first cause's earliest evidence, and the source that tells it."""
    times = [(p.time, p.source) for p in report.causes[0].evidence if p.time]
    return min(times, key=lambda t: t[0].timestamp(), default=None)


def clock_time(time: datetime, source: str, report: Report) -> str:
    """`time` as `source` tells it: with an offset where its lines have one."""
    zoned = any(s.name == source and s.clock == "wall+zone" for s in report.sources)
    return time.isoformat(sep=" ", timespec="seconds") if zoned else time.strftime("%Y-%m-%d %H:%M:%S")


def do_first(report: Report) -> str:
    """The first remedy; where there is none, what would settle it; empty where nothing ended badly."""
    advised = remedies(report)
    if advised:
        return ("ask the administrator: " if advised[0].who == "admin" else "") + advised[0].action
    if report.verdict != "no_crash" and report.missing:
        return f"collect {report.missing[0].what}: {report.missing[0].command}"
    return ""


def other_incidents(report: Report) -> list[Group]:
    """The groups of incidents after the first that ended badly, or may have; nothing where there are none."""
    return [g for g in groups(report)[1:] if g.verdict != "no_crash"]


def quiet_incidents(report: Report) -> int:
    """How many stretches of time, after the first, hold things worth a look of which none ended anything."""
    return sum(len(g.ids) for g in groups(report)[1:] if g.verdict == "no_crash")


def numbers(group: Group) -> str:
    """The numbers of its incidents: `2`, `2-12`, `1-4, 6-12`."""
    runs: list[list[int]] = []
    for number in sorted(group.ids):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = [str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs[:RUNS]]
    return ", ".join(told) + (", …" if len(runs) > RUNS else "")


def told_group(group: Group) -> str:
    """`198 more: A memory limit was hit, jobs 4002 to 4199, about every 7 min`; of one alone its subject and cause."""
    if len(group.ids) == 1:
        return ", ".join(filter(None, (group.subject, group.title)))
    rhythm = f"about every {span(group.every_s)}" if group.every_s else ""
    return f"{len(group.ids)} more: " + ", ".join(filter(None, (group.title, group.subject, rhythm)))
