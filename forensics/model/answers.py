"""The values that the last stages make: Finding, and everything in a Report."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from forensics.model.fields import Fields
from forensics.model.logs import Proof, Time, Warning
from forensics.model.ranks import RankPicture

Role = Literal["root", "contributing", "symptom"]
OnlyLink = Literal["", "time", "place"]
Verdict = Literal["crash", "no_crash", "undetermined"]
# In place of a signature in a Proof:
OUTCOME_LINE = "outcome"  # the line shows how it ended, not why
REASON_LINE = "reason"  # by its words and position the line most likely says why it ended
NO_SIGNATURE = (OUTCOME_LINE, REASON_LINE)
LOST_NUMBERS = ("series/nan", "series/divergence")  # of a run's own numbers, which make its result worthless however it ended
STOOD_HERE = "stood here when its stacks were taken"  # so ends the reason of a notice about a thread


def line_by_words(evidence: Iterable[Proof]) -> Proof | None:
    """The line to read first where lines were chosen by their words, best first; None if none was. It may show the end, too."""
    shown = [p for p in evidence if p.signature in NO_SIGNATURE]
    return shown[0] if any(p.signature == REASON_LINE for p in shown) else None


class SourceSummary(Struct, frozen=True):
    """One source: its format, size and times. `clock`: `wall+zone`, `wall`, `mono`, `wall+mono` or `none`."""

    name: str
    format: str
    compression: str | None
    bytes: int
    lines: int
    records: int
    first_time: Time | None
    last_time: Time | None
    clock: str
    warnings: tuple[str, ...] = ()


class Advice(Struct, frozen=True):
    """One remedy, worded for this case. `rank` counts from 1. `confirmed`: how many people said that it solved theirs."""

    rank: int
    who: str
    action: str
    why: str
    commands: tuple[str, ...]
    reference: str | None
    confirmed: int = 0


class OpenQuestion(Struct, frozen=True):
    """Something that the logs do not show, why it matters, and the command whose output would show it."""

    what: str
    why: str
    command: str


class Notice(Struct, frozen=True):
    """A fact that ended nothing: a warning, a corrected error, or an event of another job (`owner`: `others`)."""

    source: str
    line: int
    text: str
    cause: str | None
    owner: str
    why: str


class Adjustment(Struct, frozen=True):
    """A row of the sum that makes a probability: what a feature or a rule adds, and the line that it comes from, if there is one.
    `log_odds`: added to the logarithm of the probability of a cause, or to the log odds that it ended badly."""

    feature: str
    value: float
    log_odds: float
    source: str | None = None
    line: int | None = None


class SubjectSummary(Struct, frozen=True):
    """The subject of the verdict, and how it ended. `outcome_lines`: `source:line: text`. `attempt` of `attempts`, from 1.

    `ended_badly`: the probability of a bad end, a factor of the probability of each cause; None in reports of earlier versions.
    `ledger`: the rows whose sum is its log odds. `none_of_these`: the probability of a bad end by a cause that is not listed.
    `status`: the exit status of its command, as a shell gives it, if that is all that tells of its end. `silent`: no line of the
    program's own says anything of that end. `captured`: its log is that of a run that this program captured.
    """

    kind: str
    name: str
    attempt: int
    attempts: int
    outcome: str
    why: str
    outcome_lines: tuple[str, ...] = ()
    ended_badly: Annotated[float, Meta(ge=0, le=1)] | None = None
    ledger: tuple[Adjustment, ...] = ()
    none_of_these: Annotated[float, Meta(ge=0, le=1)] = 0.0
    status: int | None = None
    silent: bool = False
    captured: bool = False


class Change(Struct, frozen=True):
    """A difference between an earlier attempt and the last, or a good run and a bad one: `what` (`batch size`, `node`, `--lr`,
    how far it `reached`) was `then` and is `last`, on these lines."""

    what: str
    then: str
    last: str
    line: int
    last_line: int


class EarlierAttempt(Struct, frozen=True):
    """An attempt of the subject before its last one, and how it ended: the last line in it that shows a cause.

    `number`: from 1. `line`, `text`: the line that shows the cause. `facts`: of that line. `same_cause`: the last attempt has the
    same cause. `changes`: values that differ in it. `unchanged`: equal values that both print, `batch size 64`.
    """

    number: int
    source: str
    first_line: int
    last_line: int
    cause: str
    title: str
    line: int
    text: str
    facts: Fields = field(default_factory=dict)
    same_cause: bool = False
    changes: tuple[Change, ...] = ()
    unchanged: tuple[str, ...] = ()


class Finding(Struct, frozen=True):
    """One cause in the report.

    `where`: where it happened, in words: `rank 37 on node04, GPU 3`; empty if unknown. `ranks`: those whose lines show it.
    `when`: only of a first finding whose first line has no time of its own, by the lines around it: `after 15:54:07`.
    `linked_only_by`: what alone links its lines to the subject, if no number or name does: `time`, or `place`, if they were
    only given beside its log.
    """

    id: str
    title: str
    role: Role
    probability: Annotated[float, Meta(ge=0, le=1)]
    summary: str
    evidence: tuple[Proof, ...]
    facts: Fields
    remediations: tuple[Advice, ...]
    ledger: tuple[Adjustment, ...] = ()
    where: str = ""
    ranks: tuple[int, ...] = ()
    when: str = ""
    linked_only_by: OnlyLink = ""


class IncidentCause(Struct, frozen=True):
    """A cause of an incident in short form. `probability`: that it is the root cause of the incident."""

    id: str
    title: str
    role: Role
    probability: Annotated[float, Meta(ge=0, le=1)]


class IncidentSummary(Struct, frozen=True):
    """An incident in the report. `id`: from 1; the report's `causes` are about the first incident.

    `time`: of the first line that shows its first cause. `verdict`: None in reports of earlier versions. `subject`: what was
    affected: `job 4711`. `causes`: ids. `candidates`: the same causes with titles, most probable first. `findings`: its likely
    causes in full if it ended badly; empty for the first incident, whose findings are the report's causes.
    """

    id: int
    start: Time | None
    end: Time | None
    causes: tuple[str, ...]
    events: int
    hosts: tuple[str, ...]
    links: tuple[str, ...]
    time: Time | None = None
    verdict: Verdict | None = None
    subject: str = ""
    candidates: tuple[IncidentCause, ...] = ()
    findings: tuple[Finding, ...] = ()


class TimelineEntry(Struct, frozen=True):
    """One entry of the timeline."""

    time: Time | None
    lane: str
    source: str
    line: int
    event: str
    cause: str | None
    role: Role | Literal["noise"]


class Setting(Struct, frozen=True):
    """A fact about the machine or its software (`driver`: `550.54.15`), and the line that shows it."""

    name: str
    value: str
    source: str
    line: int


class Curve(Struct, frozen=True):
    """A number that a source prints repeatedly, an even sample in order of lines. `unit`: `B`, `1/s` or nothing. `points`: (line,
    value); a value that was NaN or infinite is None. `steps`: how many the run counted from its first to its last reading, 0 if
    the readings name none."""

    name: str
    kind: Literal["memory", "loss", "throughput"]
    unit: str
    source: str
    rank: int | None
    points: tuple[tuple[int, float | None], ...]
    steps: int = 0


class ProcessMemory(Struct, frozen=True):
    """One row of the process table in the kernel's out-of-memory report. `rss_bytes`: its resident memory."""

    source: str
    line: int
    pid: int
    task: str
    rss_bytes: int
    killed: bool


class MessageGroup(Struct, frozen=True):
    """Lines that differ only in numbers and other variable parts. `text`: the first one, on `line` of `source`.

    `last_source`, `last_line`: the last of the `count` lines. `alarming`: it has a word of failure. `context`: it is shown
    because it is next to such a line, or beside the program's own lines, as those of a capture.
    """

    source: str
    line: int
    last_source: str
    last_line: int
    count: int
    text: str
    alarming: bool
    context: bool = False


class QuotedLine(Struct, frozen=True):
    """A line around the one that decided. `library`: it belongs to a frame of a library in the traceback above that one."""

    line: int
    text: str
    library: bool = False


class Difference(Struct, frozen=True):
    """The messages of a bad run that a good one does not have, in order of source and line.

    `good`, `bad`: the names of their sources. `known`: the number of templates that both runs have. `left_out`: the number of new
    ones that are not in `messages`, which has the first ones. `changes`: what both runs print of themselves, with other values.
    """

    good: tuple[str, ...]
    bad: tuple[str, ...]
    lines: int
    known: int
    messages: tuple[MessageGroup, ...]
    left_out: int
    warnings: tuple[Warning, ...]
    changes: tuple[Change, ...] = ()


class NodeCount(Struct, frozen=True):
    """A node, and the number of its earlier incidents."""

    name: str
    seen: int


class Possible(Struct, frozen=True):
    """What an end may be of which no line names the cause. `causes`: ids. `sign`: the observation that tells it. `commands`: how
    to look. `first`: what to do first if it is so. `source`, `line`, `why`: what rules it out, if anything."""

    causes: tuple[str, ...]
    sign: str
    commands: tuple[str, ...]
    first: str
    source: str = ""
    line: int = 0
    why: str = ""


class History(Struct, frozen=True):
    """Earlier incidents like this one, without this one itself.

    `fingerprint`, `similar`: its exact and its similar fingerprint. `level`: which of the two the earlier ones share; empty if
    there are none. `nodes`: the nodes with most of them, of `node_count`. `jobs`: the latest ones. `outcome`: how the next runs
    ended, a clause: `after --mem 64G it did not return`. `note`: what a user noted as the solution.
    """

    fingerprint: str
    similar: str
    level: Literal["", "exact", "similar"] = ""
    seen: int = 0
    first: Time | None = None
    last: Time | None = None
    node_count: int = 0
    nodes: tuple[NodeCount, ...] = ()
    jobs: tuple[str, ...] = ()
    outcome: str = ""
    note: str = ""


class Report(Struct, frozen=True, kw_only=True):
    """The finished answer; a reporter only formats it. `unusual`: the lines that likely say why it ended, if no cause is sure.

    `ranks`: who waits for whom, where there are dumps of ranks.
    `last_lines`: the last lines of each source, equal ones folded, those of the subject first. `around`: the first evidence line
    of the first cause among the lines of its source around it. `possible`: what it may be, if no line names one. `baseline`: how
    the run differs from a good one that was given with it, of its messages the first.
    """

    tool: Mapping[str, str]
    case: str
    verdict: Verdict
    causes: tuple[Finding, ...]
    incidents: tuple[IncidentSummary, ...]
    timeline: tuple[TimelineEntry, ...]
    sources: tuple[SourceSummary, ...]
    missing: tuple[OpenQuestion, ...]
    possible: tuple[Possible, ...] = ()
    subject: SubjectSummary | None = None
    earlier_attempts: tuple[EarlierAttempt, ...] = ()
    notices: tuple[Notice, ...] = ()
    history: History | None = None
    warnings: tuple[Warning, ...]
    environment: tuple[Setting, ...] = ()
    curves: tuple[Curve, ...] = ()
    processes: tuple[ProcessMemory, ...] = ()
    unusual: tuple[MessageGroup, ...] = ()
    last_lines: tuple[MessageGroup, ...] = ()
    around: tuple[QuotedLine, ...] = ()
    baseline: Difference | None = None
    ranks: RankPicture | None = None
