"""Say where it happened, and what to do first: the first screen shows these after what happened.

rank 37 on node04, GPU 3, job 4711; 63 other ranks waited or failed with it | Read the log of rank 37 first
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from forensics.core.text import number_ranges, numbers_in_words, with_noun
from forensics.model import History, MessageGroup, Notice, Proof, Report, Value
from forensics.model.answers import NO_SIGNATURE, STOOD_HERE
from forensics.report.course import shown_symptoms
from forensics.report.paths import Paths
from forensics.report.phrases import (
    awaited_ranks,
    duration_text,
    is_guess,
    is_silent,
    lost_numbers,
    odd_rank,
    remedies,
    shows_no_crash,
    symptoms,
)
from forensics.report.subjects import Group, incident_groups

MAX_GROUP_NOTICES = 3  # shown of each group; all are in the JSON
OTHERS_TITLE = "Also in these logs"
OWN_TITLE = "Worth knowing"
STOOD_TITLE = "Where it was"


class NoticeGroup(Struct, frozen=True):
    """Some of the notices of one group, in their order, each with its reason; the reason is empty if the next one has the same.

    `more`: how many are not shown.
    """

    head: str
    shown: tuple[tuple[Notice, str], ...]
    more: int


def notice_groups(report: Report) -> list[NoticeGroup]:
    """The notices of others, then the rest; a group without notices is left out."""
    others = [n for n in report.notices if n.owner == "others"]
    machine = report.subject is not None and report.subject.kind == "machine"  # what its parts suffered is told of each of them
    told = shown_symptoms(report) if machine else symptoms(report)
    shown = () if shows_no_crash(report) else (report.causes[0], *told)  # there the notice says why it is none
    quoted = {(p.source, p.line) for f in shown for p in f.evidence}
    rest = [n for n in report.notices if n.owner != "others"]
    rest = [
        n for n in rest if n.cause is None or (n.source, n.line) not in quoted
    ]  # one without a cause tells of more than its line
    place = shown[0].where if shown else ""
    rest = [n for n in rest if not (place and n.why.endswith(STOOD_HERE) and n.text.partition("(")[2].rstrip(")\n ") in place)]
    stood, rest = ([n for n in rest if n.why.endswith(STOOD_HERE) == is_stood] for is_stood in (True, False))
    named = ((STOOD_TITLE, stood), (OTHERS_TITLE, others), (OWN_TITLE, rest))
    return [_group(head, found) for head, found in named if found]


def _group(head: str, found: Sequence[Notice]) -> NoticeGroup:
    """A group with one notice of each cause before a second one of any."""
    seen: set[str | None] = set()
    again: list[bool] = []
    for notice in found:
        again.append(notice.cause in seen)
        seen.add(notice.cause)
    chosen = sorted(sorted(range(len(found)), key=lambda i: (again[i], i))[:MAX_GROUP_NOTICES])
    shown = [found[i] for i in chosen]
    following = [*(n.why for n in shown[1:]), ""]
    with_reasons = tuple((n, "" if n.why == after else n.why) for n, after in zip(shown, following, strict=True))
    return NoticeGroup(head, with_reasons, len(found) - len(shown))


MIN_NODE_SHARE = 0.5  # of the incidents on one node: then its name is shown


def seen_before(report: Report) -> str:
    """The sentence; empty if no history is used, and for a run that ended well."""
    return "" if report.history is None or shows_no_crash(report) else how_often(report.history)


def how_often(history: History) -> str:
    """The sentence on an incident that ended badly."""
    note = f" Noted: {history.note}" if history.note else ""
    if not history.seen:
        return f"The history has nothing like it.{note}"
    like = "Seen" if history.level == "exact" else "Something like it was seen"
    parts = [f"{like} {_times(history.seen)} {_since(history)}{_where(history)}", _most(history), history.outcome]
    return "; ".join(filter(None, parts)) + f".{note}"


def _times(count: int) -> str:
    return "once before," if count == 1 else f"{count:,} times since"


def _since(history: History) -> str:
    return f"on {_day(history.last)}" if history.seen == 1 else _day(history.first)


def _day(time: datetime | None) -> str:
    return f"{time.day} {time:%b %Y}" if time else "an unknown day"


def _where(history: History) -> str:
    if history.node_count > 1:
        return f", on {history.node_count:,} nodes"
    return f", on {history.nodes[0].name}" if history.nodes else ""


def _most(history: History) -> str:
    """`5 of them on gpu-0412`, if one of several nodes has most of them."""
    if history.node_count < 2 or history.nodes[0].seen < 2 or history.nodes[0].seen < MIN_NODE_SHARE * history.seen:
        return ""
    return f"{history.nodes[0].seen:,} of them on {history.nodes[0].name}"


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
    waiting = report.ranks.odd[0].waiting if report.ranks and report.ranks.odd and odd_rank(report) else ()
    felt = {*waiting, *(rank for f in (first, *symptoms(report)) for rank in f.ranks)} - {own}
    if own is None and len(felt) == 1 and "rank" not in first.where and not _only_waited(report):  # it happened to this one
        return ", ".join(filter(None, (f"rank {felt.pop()}", first.where)))
    if first.where.startswith("ranks "):  # it names them
        return first.where
    if not first.where and felt:
        return f"{'rank' if len(felt) == 1 else 'ranks'} {number_ranges(felt)} waited or failed with it"
    if own is None:
        others = f"lines of {with_noun(len(felt), 'rank')} mention it" if felt else ""
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


LOOK_AGAIN = "Take the stacks again half a minute later and analyse both: forensics stacks PID --save stacks"


def do_first(report: Report) -> str:
    """The first remedy; if there is none, the line to read, or the first open question; empty if nothing ended badly."""
    if is_silent(report):
        return "Find the statement that sets this status, with the command below"
    advised = remedies(report)
    if advised:
        return ("ask the administrator: " if advised[0].who == "admin" else "") + advised[0].action
    reasons: Sequence[Proof | MessageGroup]
    reasons = [p for p in report.causes[0].evidence if p.signature in NO_SIGNATURE]  # best first
    reasons = reasons or [m for m in report.unusual if not m.context]
    if is_guess(report) and reasons:
        return f"Read {Paths.of(report).place(reasons[0].source, reasons[0].line)} and the lines around it"
    if awaited_ranks(report):
        return LOOK_AGAIN
    if (lost := lost_numbers(report)) and lost.remediations:
        return lost.remediations[0].action
    if not shows_no_crash(report) and report.missing:
        return f"Find out {report.missing[0].what}: {report.missing[0].command}"
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
