"""Say in one line what the verdict is about, how it ended and why it is said to.

SubjectSummary("job", "logs/slurm-4711.out", ..., "failed", "see its last lines")
-> slurm-4711.out ended badly: see its last lines

Where no end is shown - a log that may go on, the output of a query, a server that restarts what died - it claims none:
-> in slurm-4711.out something went wrong

Group the similar incidents of a report into one row each, and show any incident as if it were the first.

1 job 4001, A memory limit was hit    2 job 4002, A memory limit was hit ... 199 job 4199, A memory limit was hit
-> 1 alone, then one group: 198 times, "jobs 4002 to 4199", a median of 420 s from one to the next
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.errors import UsageError
from forensics.model import Finding, IncidentSummary, Proof, Report, SubjectSummary, TimelineEntry, shows_slow_down
from forensics.report.phrases import shows_no_crash

MAX_NAME_CHARS = 60  # so that it stays one line
PLACE_AND_TEXT = lazy.regex(r"(?s)(.*?:\d+): (.*)")
POD = lazy.regex(r"(?:^|, )pod ([^\s,;]+)")
BUNDLE_NAME = lazy.regex(r"\d{8}-\d{6}-(?P<name>.+?)-\d{1,10}")  # of a captured run: `20261130-132727-g.py-21666`
CAPTURED_LOG = "job.log"  # in such a folder; its user never made a file of that name
# outcome -> its words if the verdict is sure, and if it is not
OUTCOME_PHRASES: Mapping[str, tuple[str, str]] = {
    "failed": ("ended with a failure", "probably ended with a failure"),
    "stalled": ("hung", "probably hung"),
    "spoiled": ("went wrong", "probably went wrong"),
    "stopped": ("was stopped", "was probably stopped"),
    "ended_well": ("ended well", "ended well"),
    "going_on": ("was still running", "was still running"),
    "cut_off": ("breaks off", "breaks off"),
}
# outcome -> its words if no line shows that the subject itself ended
WORDS_WITHOUT_END: Mapping[str, str] = {
    "failed": "something {}went wrong",
    "stalled": "something {}hung",
    "stopped": "something was {}stopped",
}
SERVER_FORMATS = ("jupyter server", "classic notebook")  # such a server goes on after the end of a kernel
KERNEL_DIED = "notebook.kernel_died"
SERVED_CAUSES = "notebook."  # the family of what ends a kernel or its connection, and no server
OF_CELL = "its cell "  # so begins the reason that decision/decide.py gives for a notebook one of whose cells failed
BAD = ("failed", "stalled", "spoiled", "stopped")


class EndingSentence(Struct, frozen=True):
    """One sentence in four parts. `name` comes from a log or a file's name; `lead` and `said` are fixed words."""

    lead: str
    name: str
    said: str
    why: str

    def __str__(self) -> str:
        """The sentence: `job 4711 ended badly: see its last lines`."""
        return self.written(str, str)

    def written(self, name: Callable[[str], str], why: Callable[[str], str]) -> str:
        """The sentence, with its name and its reason escaped as the format needs it."""
        parts = " ".join(filter(None, (self.lead, name(self.name), self.said)))
        return f"{parts}: {why(self.why)}" if self.why else parts


def ending_sentence(report: Report) -> EndingSentence | None:
    """How the subject ended; None if nothing was read, or if an earlier version wrote the report."""
    subject = report.subject
    if subject is None or not report.sources:
        return None
    sure, unsure = OUTCOME_PHRASES.get(subject.outcome, ("", ""))
    said = unsure if report.verdict == "undetermined" else sure
    if subject.kind == "machine":
        return _of_machine(subject, said, report.verdict == "undetermined")
    if _is_slow_down(report):
        slow = "probably became slow" if report.verdict == "undetermined" else "became slow"
        return EndingSentence(*_named(subject, report), slow, "its steps continue, but each takes longer than before")
    lead, name = _named(subject, report)
    unshown = WORDS_WITHOUT_END.get(subject.outcome)
    if unshown and (not subject.why or _is_of_server(subject, report)):
        doubt = "probably " if report.verdict == "undetermined" else ""
        if subject.outcome == "failed" and _is_of_dead_kernel(report):
            return EndingSentence("a kernel of the server in", name, f"{doubt}died", "")
        return EndingSentence(
            " ".join(filter(None, ("in", lead.removeprefix("the notebook in")))),
            name,
            unshown.format(doubt),
            subject.why if subject.why.startswith(OF_CELL) else "",
        )
    return EndingSentence(lead, name, said, subject.why)


def split_outcome_line(line: str) -> tuple[str, str]:
    """Place and text of one of a subject's `outcome_lines`: `a.log:7: Killed` -> `a.log:7`, `Killed`."""
    found = PLACE_AND_TEXT.fullmatch(line)
    return (found[1], found[2]) if found else ("", line)


def _is_of_server(subject: SubjectSummary, report: Report) -> bool:
    """Is it the log of a server, which goes on after the end of what it serves? Of a notebook file, too, one cell ended."""
    formats, served = {s.name: s.format for s in report.sources}, report.causes[0].id.startswith(SERVED_CAUSES)
    return served or subject.kind == "notebook" or formats.get(subject.name, "") in SERVER_FORMATS


def _is_of_dead_kernel(report: Report) -> bool:
    """Is it the log of a server that tells of the death of a kernel?"""
    formats = {s.name: s.format for s in report.sources}
    served = report.subject is not None and formats.get(report.subject.name, "") in SERVER_FORMATS
    told = [f for i, f in enumerate(report.causes) if not i or f.role == "symptom"]
    return served and any(f.id == KERNEL_DIED for f in told)


def _is_slow_down(report: Report) -> bool:
    """Is the first cause shown by steps that take longer, not by an end of them?"""
    first, subject = report.causes[0], report.subject
    return subject is not None and subject.outcome == "stalled" and shows_slow_down(first.facts, first.evidence)


def _of_machine(subject: SubjectSummary, said: str, unsure: bool) -> EndingSentence:
    """The sentence for a machine's log, which is about something on the machine: the machine itself need not have ended, and
    its log need not show how it went on."""
    if subject.outcome == "failed":
        return EndingSentence("on this machine something", "", "probably went wrong" if unsure else "went wrong", "")
    if subject.outcome in BAD:
        return EndingSentence("on this machine something", "", said, subject.why)
    if subject.outcome == "ended_well":
        return EndingSentence("nothing on this machine ended badly", "", "", "")
    return EndingSentence("this machine", "", said, subject.why)


def _named(subject: SubjectSummary, report: Report) -> tuple[str, str]:
    """The words before the subject's name, and the name; that of a file without its folders if it is unique."""
    names = [s.name for s in report.sources]
    if not subject.name:
        return f"the {subject.kind}", ""
    if subject.name not in names:
        return subject.kind, _cut(subject.name)
    pod = POD.search(report.causes[0].where) if not shows_no_crash(report) else None
    if pod:
        return "pod", _cut(pod[1])
    folders, _, last = subject.name.rpartition("/")
    folder = folders.rpartition("/")[2] or report.case
    run = BUNDLE_NAME.fullmatch(report.case) or BUNDLE_NAME.fullmatch(folder)
    if last == CAPTURED_LOG and (run or (subject.captured and folder != last)):
        return ("the run of", _cut(run["name"])) if run else ("the run in", _cut(folder))
    alone = sum(n.rsplit("/", 1)[-1] == last for n in names) == 1
    return ("the notebook in" if subject.kind == "notebook" else ""), _cut(last if alone else subject.name)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARS else "…" + name[1 - MAX_NAME_CHARS :]


MIN_GROUPED_INCIDENTS = 3  # chosen by hand: so many similar incidents share one row
MAX_GAP_DEVIATION = 0.5  # of the median: "every 7 min" is written if half of the gaps are this close to it
NUMBERED_NAME_PATTERN = lazy.regex(r"(?P<kind>.*\D)(?P<number>\d{1,15})")
PROCESS_NAME_PATTERN = lazy.regex(r"(?P<name>.+) \(pid \d+\)")
MAX_INCIDENT_CAUSES = 3  # chosen by hand: of an incident that is not the one asked about
MAX_INCIDENT_PROOFS = 5  # as in the text report


class Group(Struct, frozen=True):
    """Similar incidents in their order: same verdict, same first cause, same kind of subject.

    `ids`: of its incidents. `cause`, `title`, `probability`: of the first cause; the probability is that of the first incident.
    `subject`: all subjects in a few words. `start`, `end`: the earliest and latest known time. `every_s`: the median of the
    seconds from one to the next, if they are regular. A group may have a single incident.
    """

    ids: tuple[int, ...]
    verdict: str
    cause: str
    title: str
    probability: float | None
    subject: str
    start: datetime | None
    end: datetime | None
    every_s: float | None


def incident_groups(report: Report) -> list[Group]:
    """The first incident alone, then all others, three or more similar ones in one group; empty if there is no incident."""
    if not report.incidents:
        return []
    alike: dict[tuple[str, str, str], list[IncidentSummary]] = {}
    for incident in report.incidents[1:]:
        alike.setdefault(_likeness(incident), []).append(incident)
    made = [_group(report, report.incidents[:1])]
    for incident in report.incidents[1:]:
        same = alike[_likeness(incident)]
        if len(same) < MIN_GROUPED_INCIDENTS:
            made.append(_group(report, (incident,)))
        elif same[0] is incident:
            made.append(_group(report, same))
    return made


def focus_on(report: Report, number: int) -> Report:
    """`report` about incident `number`; raises UsageError if there is no such incident."""
    numbers = [i.id for i in report.incidents]
    if number not in numbers:
        known = f"there are {len(numbers)}, 1 to {max(numbers)}" if len(numbers) > 1 else f"there is {_one_or_none(numbers)}"
        raise UsageError(f"no incident {number}", report.case, known)
    at = numbers.index(number)
    if at == 0:
        return report
    first, chosen = report.incidents[0], report.incidents[at]
    shown = tuple(replace(f, evidence=f.evidence[:MAX_INCIDENT_PROOFS], ledger=()) for f in report.causes[:MAX_INCIDENT_CAUSES])
    former = replace(first, findings=shown if first.verdict != "no_crash" else ())
    rest = (former, *(i for i in report.incidents[1:] if i is not chosen))
    return replace(
        report,
        verdict=chosen.verdict or report.verdict,
        causes=chosen.findings or _causes(chosen),
        incidents=(replace(chosen, findings=()), *rest),
        timeline=_moved(report, at),
        subject=None,
        missing=(),
        notices=(),
        earlier_attempts=(),
        unusual=(),
        processes=(),
    )


def _one_or_none(numbers: Sequence[int]) -> str:
    return "only one" if numbers else "none"


def _causes(incident: IncidentSummary) -> tuple[Finding, ...]:
    return tuple(Finding(c.id, c.title, c.role, c.probability, "", (), {}, ()) for c in incident.candidates)


def _moved(report: Report, at: int) -> tuple[TimelineEntry, ...]:
    """The timeline, which is in order of incidents, with the entries of the incident at `at` first."""
    start = sum(i.events for i in report.incidents[:at])
    own = report.timeline[start : start + report.incidents[at].events]
    return (*own, *report.timeline[:start], *report.timeline[start + len(own) :])


def _likeness(incident: IncidentSummary) -> tuple[str, str, str]:
    if incident.verdict == "no_crash":
        return "no_crash", "", ""
    numbered, process = NUMBERED_NAME_PATTERN.fullmatch(incident.subject), PROCESS_NAME_PATTERN.fullmatch(incident.subject)
    kind = process["name"] if process else numbered["kind"] if numbered else ""
    return str(incident.verdict), incident.causes[0] if incident.causes else "", kind


def _group(report: Report, same: Sequence[IncidentSummary]) -> Group:
    first = same[0]
    candidate = first.candidates[0] if first.candidates else None
    main = report.causes[0] if first is report.incidents[0] else None
    starts = [t for i in same for t in (i.time or i.start,) if t]
    return Group(
        ids=tuple(i.id for i in same),
        verdict=first.verdict or report.verdict,
        cause=main.id if main else first.causes[0] if first.causes else "",
        title=main.title if main else candidate.title if candidate else first.causes[0] if first.causes else "",
        probability=main.probability if main else candidate.probability if candidate else None,
        subject=subjects_text([i.subject for i in same]),
        start=min(starts, default=None),
        end=max((t for i in same for t in (i.time or i.end,) if t), default=None),
        every_s=_every_s(sorted(starts)),
    )


def subjects_text(names: Sequence[str]) -> str:
    """`jobs 4001 to 4199`, `python, 12 processes`, `unit a.service, unit b.service and 3 more`."""
    different = list(dict.fromkeys(n for n in names if n))
    if len(different) < MIN_GROUPED_INCIDENTS:
        return " and ".join(different)
    processes = [PROCESS_NAME_PATTERN.fullmatch(n) for n in different]
    if len({p["name"] if p else "" for p in processes}) == 1 and processes[0]:
        return f"{processes[0]['name']}, {len(different)} processes"
    numbered = [NUMBERED_NAME_PATTERN.fullmatch(n) for n in different]
    numbers = [int(n["number"]) for n in numbered if n]
    if len(numbers) == len(different) and len({n["kind"] for n in numbered if n}) == 1 and numbered[0]:
        kind = numbered[0]["kind"]
        if kind.endswith(" "):
            return f"{kind.rstrip()}s {min(numbers)} to {max(numbers)}"
    return f"{different[0]}, {different[1]} and {len(different) - 2} more"


def _every_s(times: Sequence[datetime]) -> float | None:
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    if len(gaps) < MIN_GROUPED_INCIDENTS:
        return None
    from statistics import median, quantiles

    middle = median(gaps)
    low, _, high = quantiles(gaps, n=4)
    return round(middle, 1) if middle > 0 and high - low <= 2 * MAX_GAP_DEVIATION * middle else None


class IncidentEntry(Struct, frozen=True):
    """An incident with its first finding, for formats with one entry for each. `id`: 0 if there is no incident."""

    id: int
    verdict: str
    time: datetime | None
    subject: str
    finding: Finding

    @property
    def proof(self) -> Proof | None:
        """Its best line of evidence."""
        return next(iter(self.finding.evidence), None)

    @property
    def do_first(self) -> str:
        """Its first remedy; empty without one."""
        return next((a.action for a in self.finding.remediations), "")


def incident_entries(report: Report) -> list[IncidentEntry]:
    """Each incident with its first cause, the report's own one first; only the report's verdict if it has no incident."""
    first = report.incidents[0] if report.incidents else None
    main = IncidentEntry(
        id=first.id if first else 0,
        verdict=report.verdict,
        time=(first.time or first.start) if first else None,
        subject=first.subject if first else "",
        finding=report.causes[0],
    )
    rest = (i for i in report.incidents[1:])
    return [main, *(_entry(i) for i in rest if i.findings or i.candidates)]


def _entry(incident: IncidentSummary) -> IncidentEntry:
    found = (*incident.findings, *_causes(incident))
    return IncidentEntry(
        incident.id, incident.verdict or "undetermined", incident.time or incident.start, incident.subject, found[0]
    )
