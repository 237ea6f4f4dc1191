"""Say where it happened, and what to do first: the first screen shows these after what happened.

rank 37 on node04, GPU 3, job 4711; 63 other ranks waited or failed with it | Read the log of rank 37 first
"""

from collections.abc import Sequence

from forensics.core.text import number_ranges, numbers_in_words, with_noun
from forensics.model import MessageGroup, Proof, Report, Value
from forensics.model.answers import OUTCOME_LINE, REASON_LINE
from forensics.report.incident_groups import Group, incident_groups
from forensics.report.paths import Paths
from forensics.report.phrases import duration_text, is_guess, is_silent, odd_rank, remedies, shows_no_crash, symptoms

MAX_NUMBER_RANGES = 3  # chosen by hand: `1-4, 6-12, 20`
MAX_LISTED_INCIDENTS = 5  # rows of other incidents on the first screen


def location(report: Report) -> str:
    """Where it happened, and how many other ranks it affected; empty if unknown, or if nothing ended badly."""
    if shows_no_crash(report):
        return ""
    first = report.causes[0]
    if is_guess(report):  # a line that shows the end names a place; nothing else is known
        return first.where
    own = _own_rank(report)
    felt = {rank for f in (first, *symptoms(report)) for rank in f.ranks} - {own}
    if own is None and len(felt) == 1 and "rank" not in first.where and not _only_waited(report):  # it happened to this one
        return ", ".join(filter(None, (f"rank {felt.pop()}", first.where)))
    if first.where.startswith("ranks "):  # it names them
        return first.where
    if not first.where and felt:
        return f"{'rank' if len(felt) == 1 else 'ranks'} {number_ranges(felt)} waited or failed with it"
    if own is None:
        others = f"lines of {with_noun(len(felt), 'rank')} tell of it" if felt else ""
    else:
        others = f"{with_noun(len(felt), 'other rank')} waited or failed with it" if felt else ""
    return "; ".join(filter(None, (first.where, others)))


def _only_waited(report: Report) -> bool:
    """Are all the ranks that are named those that waited for others until a limit?"""
    return not report.causes[0].ranks and all("timeout_s" in f.facts for f in symptoms(report) if f.ranks)


def _own_rank(report: Report) -> Value | None:
    """The rank that it happened to; that of its process, if a line of a symptom gives it, as a launcher's report does."""
    first = report.causes[0].facts
    pid, known = first.get("pid"), first.get("culprit_rank", first.get("rank"))
    same = (f.facts["rank"] for f in symptoms(report) if pid is not None and f.facts.get("pid") == pid and "rank" in f.facts)
    return known if known is not None else next(same, odd_rank(report).get("culprit_rank"))


def do_first(report: Report) -> str:
    """The first remedy; if there is none, the line to read, or the first open question; empty if nothing ended badly."""
    if is_silent(report):
        return "Find the statement that ends it so, by the command below"
    advised = remedies(report)
    if advised:
        return ("ask the administrator: " if advised[0].who == "admin" else "") + advised[0].action
    reasons: Sequence[Proof | MessageGroup]
    reasons = [p for name in (REASON_LINE, OUTCOME_LINE) for p in report.causes[0].evidence if p.signature == name]
    reasons = reasons or [m for m in report.unusual if not m.context]
    if is_guess(report) and reasons:
        return f"Read {Paths.of(report).place(reasons[0].source, reasons[0].line)} and the lines around it"
    if not shows_no_crash(report) and report.missing:
        return f"Collect {report.missing[0].what}: {report.missing[0].command}"
    return ""


def other_incidents(report: Report) -> list[Group]:
    """The groups of incidents after the first in which lines of their own show a bad end; empty if there are none.

    Of an undetermined one nothing shows that it is more than a line beside the end that is told, or that end told again.
    """
    return [g for g in incident_groups(report)[1:] if g.verdict == "crash"]


def quiet_incidents(report: Report) -> int:
    """How many of the later incidents show no bad end of their own."""
    return sum(len(g.ids) for g in incident_groups(report)[1:] if g.verdict != "crash")


def incident_numbers(group: Group) -> str:
    """The numbers of its incidents: `2`, `2 to 12`, `1 to 4, 6 to 12`."""
    return numbers_in_words(group.ids, MAX_NUMBER_RANGES)


def group_text(group: Group) -> str:
    """`198 times: A memory limit was hit, jobs 4002 to 4199, about every 7 min`; for a single one its subject and cause."""
    if len(group.ids) == 1:
        return ", ".join(filter(None, (group.subject, group.title)))
    rhythm = f"about every {duration_text(group.every_s)}" if group.every_s else ""
    return f"{len(group.ids)} times: " + ", ".join(filter(None, (group.title, group.subject, rhythm)))
