"""The values of the decision: Entity, Attempt, Lane, OwnedObservation, Outcome, Candidate, Diagnosis.

    Observation -> Lane of an Entity -> Attempt -> Outcome        did it end badly?
    Observation -> OwnedObservation                               whose is it?
    Candidate -> Adjustment, ... -> Diagnosis                     which cause is the root?

Facts are only added. Observations are never changed or removed; rejected evidence stays, with the reason.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from forensics.model.answers import Adjustment, Notice, OnlyLink, Verdict
from forensics.model.logs import Line, Observation

EntityKind = Literal["job", "notebook", "process", "rank", "container", "unit", "kernel", "machine"]
LaneKind = Literal["job", "notebook", "kernel", "scheduler", "runtime", "service"]
# Chosen by hand: what is shorter is a message that each rank or thread printed, or a retry by one process, as often as a start.
MIN_ATTEMPT_LINES = 6
OutcomeState = Literal["failed", "stalled", "spoiled", "stopped", "ended_well", "going_on", "cut_off", "unknown"]
Owner = Literal["mine", "others", "unknown"]


class Entity(Struct, frozen=True, gc=False):
    """The writer or the subject of lines: `Entity("unit", "sshd")`, `Entity("rank", "3")`, `Entity("job", "4711")`."""

    kind: EntityKind
    name: str

    def __str__(self) -> str:
        """Kind and name: `rank 3`."""
        return f"{self.kind} {self.name}".strip()


class Attempt(Struct, frozen=True, gc=False):
    """One run from start to end in a lane: its number from 1, its first line, and its last line as far as the lane was read."""

    number: int
    first_line: int
    last_line: int

    def is_another_start(self, end: Observation) -> bool:
        """Is this attempt, which ended with `end`, a start of its own, and no line that threads, ranks or retries repeat? A
        notebook's server starts a kernel again under its name: that is one event."""
        long = self.last_line - self.first_line >= MIN_ATTEMPT_LINES - 1
        return "kernel_id" not in end.fields and ("pid" in end.fields or long)


class LaneDigest(Struct, frozen=True, gc=False):
    """How a lane ends, in numbers of lines. Distances count from the end; -1 means that there is no such line.

    `trouble`, `traceback`, `good`, `bad_end`, `run_failed`, `progress`, `start`, `frame`: distance of the last line of that class
    (outcome/line_classes.py). `*_count`: lines of the class. `again_after_*`: lines after the last one whose template also occurs
    before it. `*_repeats`: lines with the template of the last one. `attempts_after_*`: attempts that began after it.
    `traceback_in_record`, `trouble_in_record`: 1 if the last one is part of a logger's record, with a time or level, else 0.
    `records_at_end`: share of such records among the last ten lines. `ends_with`: for the last 1, 3, 10 and 50 lines, the shares
    of trouble, good ends, progress and bad ends. `looked_at`: the number of lines in the sample that was counted.
    """

    lines: int
    looked_at: int
    trouble: int
    traceback: int
    good: int
    bad_end: int
    run_failed: int
    progress: int
    start: int
    trouble_count: int
    traceback_count: int
    good_count: int
    bad_end_count: int
    run_failed_count: int
    progress_count: int
    again_after_trouble: int
    again_after_traceback: int
    again_after_bad_end: int
    again_after_run_failed: int
    frame: int
    trouble_repeats: int
    bad_end_repeats: int
    attempts_after_trouble: int
    attempts_after_bad_end: int
    traceback_in_record: int
    trouble_in_record: int
    records_at_end: float
    ends_with: tuple[float, ...]


class Aftermath(Struct, frozen=True, gc=False):
    """What follows one observation in its own lane, in numbers of lines, and what is next to it.

    `lines_after`: lines after it. `repeated`: those whose template also occurs before it, without a word of failure.
    `progress`, `good`, `trouble`: those of that class. `later_attempts`: attempts that began after it. `handled`: its line, or
    a line next to it, says that the program continues. `low_severity`: the level of its own record is a warning or lower.
    `repeated_line`, `good_line`, `handled_line`: the line that shows it, 0 for none. `positions`: how often a step, an epoch or
    a bar grew behind it in the same attempt.
    """

    lines_after: int
    repeated: int = 0
    progress: int = 0
    good: int = 0
    trouble: int = 0
    later_attempts: int = 0
    handled: bool = False
    low_severity: bool = False
    repeated_line: int = 0
    good_line: int = 0
    handled_line: int = 0
    positions: int = 0


class Lane(Struct, frozen=True):
    """The ordered lines of one entity in one source.

    `attempts`: in order, one or more. `digest`: how it ends. `trouble_lines`: its last lines of trouble, without those that say
    that the program continues. `last_lines`: its last lines that are not blank. `good_lines`: its last lines of a good end.
    `aftermath`: of each observation in it, by (line, kind). `superseded`: its launcher began another attempt after the last
    line of this lane. `reached_end`: the line in which its last attempt reached the end of its count, if no trouble
    stands behind it. `at_work`: the same of a last position that is not the end. `last_error`: the line of trouble with which it
    ends, with nothing but the lines of its stack behind it. `closing`: the line that says that its last attempt is over, and
    well, with no work behind it. `failed_cell`: of a saved notebook. `starts_alike`: it was started again and again, and came no
    further. `farewell`: its last line says that its work is done, and no line like it stands before it. `first_position`: the
    number of the first line of a lane with trouble that counts steps or epochs, 0 if none does. `last_worked`: the numbers of its
    last two lines of progress.
    """

    source: str
    kind: LaneKind
    entity: Entity
    attempts: tuple[Attempt, ...]
    digest: LaneDigest
    trouble_lines: tuple[Line, ...] = ()
    last_lines: Sequence[Line] = ()
    good_lines: tuple[Line, ...] = ()
    aftermath: Mapping[tuple[int, str], Aftermath] = field(default_factory=dict)
    superseded: bool = False
    reached_end: Line | None = None
    at_work: Line | None = None
    last_error: Line | None = None
    closing: Line | None = None
    failed_cell: "FailedCell | None" = None
    starts_alike: bool = False
    farewell: bool = False
    first_position: int = 0
    last_worked: tuple[int, ...] = ()


class FailedCell(Struct, frozen=True):
    """The last cell of a saved notebook that an error ended. `line`: where it says so. `ran_on`: did later cells run?"""

    line: Line
    cell: str
    error: str
    ran_on: bool


class Fact(Struct, frozen=True):
    """A fact about an observation; `value` is None if it is unknown. `line` of `source` shows it, 0 for none."""

    name: str
    value: bool | None
    source: str = ""
    line: int = 0


class OwnedObservation(Struct, frozen=True):
    """One observation with its owner and the link that shows it: `pid 4711`, `the same log`, `time, 2.4 s earlier`.

    `seconds_before`: from it to the end that it would explain; None if a time is unknown, negative if it is later. `named`: its
    pid is one that the subject's own logs name. `guessed`: nothing but its being the last of several on its host speaks for it.
    """

    observation: Observation
    owner: Owner
    link: str
    lane: Lane | None
    aftermath: Aftermath
    seconds_before: float | None = None
    facts: tuple[Fact, ...] = ()
    named: bool = False
    guessed: bool = False

    @property
    def attempt(self) -> int:
        """The number of the attempt of its lane in which it was shown last; 0 if that is unknown."""
        attempts = self.lane.attempts if self.lane else ()
        last = max(self.observation.shown_on, default=self.observation.line)
        return max(1, bisect_right(attempts, last, key=lambda a: a.first_line)) if attempts else 0


class Outcome(Struct, frozen=True):
    """How the subject's last attempt ended. `ended_badly`: its probability. `lines`: (source, line, text) that show it.

    `ledger`: the rows whose sum is the log odds of `ended_badly`. `status`: of its command, as a shell gives it, if only that is
    known of its end.
    """

    state: OutcomeState
    ended_badly: float
    why: str
    lines: tuple[tuple[str, int, str], ...] = ()
    ledger: tuple[Adjustment, ...] = ()
    status: int | None = None


class Candidate(Struct, frozen=True):
    """A cause with the event that most likely shows it. `owned`: its tellings. `features`: by name, of the event.

    `probability`: that it is the root cause. `ledger`: the rows whose sum is its logarithm. `others`: the tellings of further
    events of this cause.
    """

    cause: str
    owned: tuple[OwnedObservation, ...]
    features: Mapping[str, float]
    probability: float = 0.0
    explained_by: str | None = None
    ledger: tuple[Adjustment, ...] = ()
    others: tuple[OwnedObservation, ...] = ()

    @property
    def linked_only_by(self) -> OnlyLink:
        """What alone links its lines to the subject; empty if a number, a name or the subject's own log does."""
        if not self.owned or any(o.owner == "mine" for o in self.owned):
            return ""
        return "time" if any(o.link.startswith("time") and not o.guessed for o in self.owned) else "place"

    @property
    def every(self) -> tuple[OwnedObservation, ...]:
        """The tellings of all events of the cause."""
        return (*self.owned, *self.others)


class Diagnosis(Struct, frozen=True):
    """The decision about one incident. `candidates`: the most probable first, never empty. `none_of_these`: the probability that
    it ended badly by a cause that is none of them."""

    verdict: Verdict
    outcome: Outcome
    candidates: tuple[Candidate, ...]
    notices: tuple[Notice, ...]
    none_of_these: float = 0.0
