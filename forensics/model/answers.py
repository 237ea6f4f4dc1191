"""What the last stages make: Finding and everything a Report holds."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from forensics.model.logs import Fields, Proof, Time, Warning

Role = Literal["root", "contributing", "symptom"]
Verdict = Literal["crash", "no_crash", "undetermined"]
OUTCOME_LINE = "outcome"  # in place of a signature: the line shows how it ended, no cause
REASON_LINE = "reason"  # in place of a signature: by its words and its place the line most likely says why it ended
NO_SIGNATURE = (OUTCOME_LINE, REASON_LINE)


class SourceSummary(Struct, frozen=True):
    """What one source turned out to be. `clock`: `wall+zone`, `wall`, `mono`, `wall+mono` or `none`."""

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
    """One remedy in this case's own words. `rank` counts from 1."""

    rank: int
    who: str
    action: str
    why: str
    commands: tuple[str, ...]
    reference: str | None


class OpenQuestion(Struct, frozen=True):
    """Something the logs do not say, why it matters, and the command that would settle it."""

    what: str
    why: str
    command: str


class Notice(Struct, frozen=True):
    """Something true that ended nothing: a warning, a corrected error, or what belongs to somebody else (`owner`: `others`)."""

    source: str
    line: int
    text: str
    cause: str | None
    owner: str
    why: str


class SubjectSummary(Struct, frozen=True):
    """What the verdict speaks of and how it ended. `outcome_lines`: `source:line: text`. `attempt` of `attempts`, from 1.

    `ended_badly`: the probability that it did, the first factor of every cause's; None in reports of earlier versions.
    """

    kind: str
    name: str
    attempt: int
    attempts: int
    outcome: str
    why: str
    outcome_lines: tuple[str, ...] = ()
    ended_badly: Annotated[float, Meta(ge=0, le=1)] | None = None


class Change(Struct, frozen=True):
    """What an earlier attempt says otherwise than the last one: `then` and `last` of `what` (`batch size`, `node`, `--lr`, how
    far it `reached`), on these lines of the attempts' source."""

    what: str
    then: str
    last: str
    line: int
    last_line: int


class EarlierAttempt(Struct, frozen=True):
    """An attempt of the subject before its last one, and how it ended: the last line in it that shows a cause.

    `number`: from 1. `first_line`, `last_line`: of `source`. `line`, `text`: the line that shows the cause. `facts`: what that
    gave. `same_cause`: the last one ended by it, too. `changes`: what the last one says otherwise. `unchanged`: what both say
    alike: `batch size 64`. What one of them does not say is in neither.
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


class Adjustment(Struct, frozen=True):
    """What one feature contributed to a cause, in log odds, and the line behind it where there is one."""

    feature: str
    value: float
    log_odds: float
    source: str | None = None
    line: int | None = None


class Finding(Struct, frozen=True):
    """One cause as it is reported, most probable first.

    `where`: all that tells where it happened, in words: `rank 37 on node04, GPU 3, job 4711`; empty where nothing does.
    `ranks`: those whose lines tell it.
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


class IncidentCause(Struct, frozen=True):
    """A cause of an incident in a word; `probability` that it is the incident's root."""

    id: str
    title: str
    role: Role
    probability: Annotated[float, Meta(ge=0, le=1)]


class IncidentSummary(Struct, frozen=True):
    """An incident as it is reported: ids from 1, the first is the one that the report's `causes` speak of.

    `time`: when its first cause is shown first. `verdict`: None in reports of earlier versions. `subject`: who was hit, in a
    word: `job 4711`. `candidates`: its causes, most probable first, with what `causes` names by id only. `findings`: its likely
    causes in full where it ended badly; empty for the first incident, whose findings are the report's causes.
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
    """One thing that a log says of the machine or its software (`driver`: `550.54.15`), and the line that says it."""

    name: str
    value: str
    source: str
    line: int


class Curve(Struct, frozen=True):
    """A number that a source prints again and again, thinned evenly, in order of lines.

    `unit`: `B`, `1/s` or nothing. `points`: (line, value); a value that was NaN or infinite is None.
    """

    name: str
    kind: Literal["memory", "loss", "throughput"]
    unit: str
    source: str
    rank: int | None
    points: tuple[tuple[int, float | None], ...]


class ProcessMemory(Struct, frozen=True):
    """One row of the table of processes in the kernel's out-of-memory report. `rss_bytes`: what it held in memory."""

    source: str
    line: int
    pid: int
    task: str
    rss_bytes: int
    killed: bool


class MessageGroup(Struct, frozen=True):
    """Lines that say the same but for numbers and the like. `text`: the first of them, which stands on `line` of `source`.

    `last_source`, `last_line`: the last of the `count` lines. `alarming`: it has a word that failures use. `context`: it is shown
    because it stands next to one that is.
    """

    source: str
    line: int
    last_source: str
    last_line: int
    count: int
    text: str
    alarming: bool
    context: bool = False


class Difference(Struct, frozen=True):
    """What a bad run says that a good one never did, in order of source and line.

    `good`, `bad`: the names of their sources. `known`: messages of the bad run that the good one knows; `left_out`: new ones
    that are not in `messages`, which keeps the first ones.
    """

    good: tuple[str, ...]
    bad: tuple[str, ...]
    lines: int
    known: int
    messages: tuple[MessageGroup, ...]
    left_out: int
    warnings: tuple[Warning, ...]


class NodeCount(Struct, frozen=True):
    """A node, and how many earlier incidents were its."""

    name: str
    seen: int


class History(Struct, frozen=True):
    """What is remembered of earlier incidents like this one; none of them is this one itself.

    `fingerprint`, `similar`: by what it is known again, exactly or roughly; `level`: which of the two the earlier ones share,
    empty where there are none. `nodes`: those with most of them, of `node_count`. `jobs`: the latest ones. `outcome`: how the
    next runs went, a clause: `after --mem 64G it did not return`. `note`: what somebody wrote down that helped.
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


class Report(Struct, frozen=True):
    """The finished answer; a reporter only writes it down. `unusual`: the lines that most likely decide, where no
    cause is sure."""

    tool: Mapping[str, str]
    case: str
    verdict: Verdict
    causes: tuple[Finding, ...]
    incidents: tuple[IncidentSummary, ...]
    timeline: tuple[TimelineEntry, ...]
    sources: tuple[SourceSummary, ...]
    missing: tuple[OpenQuestion, ...]
    warnings: tuple[Warning, ...]
    environment: tuple[Setting, ...] = ()
    curves: tuple[Curve, ...] = ()
    processes: tuple[ProcessMemory, ...] = ()
    unusual: tuple[MessageGroup, ...] = ()
    subject: SubjectSummary | None = None
    notices: tuple[Notice, ...] = ()
    earlier_attempts: tuple[EarlierAttempt, ...] = ()
    history: History | None = None
