"""What the decision is made of: Entity, Lane, Attempt, Outcome, Fact, Candidate, Adjustment, Diagnosis.

    Observation -> Lane of an Entity -> Attempt -> Outcome        did it end badly?
    Observation -> Ownership                                      whose is it?
    Candidate -> Adjustment, ... -> Diagnosis                     which cause is the root?

Facts are only ever added: what was observed stays, and so does what is not believed, with the reason.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from forensics.model.answers import Adjustment, Notice, Verdict
from forensics.model.logs import Line, Observation

EntityKind = Literal["job", "notebook", "process", "rank", "container", "unit", "kernel", "machine"]
LaneKind = Literal["job", "notebook", "kernel", "scheduler", "runtime", "service"]
OutcomeState = Literal["failed", "stalled", "spoiled", "stopped", "ended_well", "going_on", "cut_off", "unknown"]
Owner = Literal["mine", "others", "unknown"]


class Entity(Struct, frozen=True):
    """Who writes lines, or is spoken of: `Entity("unit", "sshd")`, `Entity("rank", "3")`, `Entity("job", "4711")`."""

    kind: EntityKind
    name: str

    def __str__(self) -> str:
        """`rank 3`."""
        return f"{self.kind} {self.name}".strip()


class Attempt(Struct, frozen=True):
    """One start to end in a lane: its number from 1, its first line, and the last one as far as the lane was looked at."""

    number: int
    first_line: int
    last_line: int


class LaneDigest(Struct, frozen=True):
    """How a lane goes to its end, in numbers of lines; distances count from the end, -1 for what does not occur.

    `trouble`, `traceback`, `good`, `bad_end`, `run_failed`, `progress`, `start`: the last line of that class. `*_count`: how many
    lines of the class were looked at. `again_after_*`: lines behind it of a form that stood in front of it, too. `frame`: the
    last line of a stack trace. `*_repeats`: lines of the same form as the last of the class. `attempts_behind_*`: how many
    attempts began behind it. `traceback_in_record`, `trouble_in_record`: does the last one belong to a record of a logger, with a
    time or level of its own (1), or not (0)? `records_at_end`: share of such lines among the last ten. `ends_with`: for the last
    1, 3, 10, 50 lines, the shares of trouble, good ends, progress, bad ends.
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
    attempts_behind_trouble: int
    attempts_behind_bad_end: int
    traceback_in_record: int
    trouble_in_record: int
    records_at_end: float
    ends_with: tuple[float, ...]


class Aftermath(Struct, frozen=True):
    """What stands behind one observation in its own lane, and around it; numbers of lines.

    `behind`: how many lines. `again`: of a form that stood in front of it, too, without a word of trouble. `progress`, `good`,
    `trouble`: of that class. `starts`: attempts that began behind it. `handled`: it says that the program goes on, or a line next
    to it does. `mild`: its record's own level is a warning or lower. `again_line`, `good_line`, `handled_line`: the line that
    shows it, 0 for none.
    """

    behind: int
    again: int = 0
    progress: int = 0
    good: int = 0
    trouble: int = 0
    starts: int = 0
    handled: bool = False
    mild: bool = False
    again_line: int = 0
    good_line: int = 0
    handled_line: int = 0


class Lane(Struct, frozen=True):
    """The ordered lines of one entity in one source.

    `attempts`: in order, one at least. `digest`: how it ends. `trouble_lines`: its last lines with a word of trouble that nothing
    takes back. `last_lines`: its last lines that are not blank. `good_lines`: its last lines that
    tell of a good end. `aftermath`: by line and kind of an observation in it. `superseded`: its launcher began a further attempt
    behind its last line, and it has not spoken since.
    """

    source: str
    kind: LaneKind
    entity: Entity
    attempts: tuple[Attempt, ...]
    digest: LaneDigest
    trouble_lines: tuple[Line, ...] = ()
    last_lines: tuple[Line, ...] = ()
    good_lines: tuple[Line, ...] = ()
    aftermath: Mapping[tuple[int, str], Aftermath] = field(default_factory=dict)
    superseded: bool = False


class Fact(Struct, frozen=True):
    """What is known about an observation, three-valued: None where nothing tells it. `line` of `source` shows it, 0 for none."""

    name: str
    value: bool | None
    source: str = ""
    line: int = 0


class OwnedObservation(Struct, frozen=True):
    """One observation with whose it is, and by which link that is known: `pid 4711`, `the same log`, `time, 2.4 s earlier`.

    `seconds_before`: how long it stands in front of the end that it would explain, None where no clock tells; negative: behind.
    """

    observation: Observation
    owner: Owner
    link: str
    lane: Lane | None
    aftermath: Aftermath
    seconds_before: float | None = None
    facts: tuple[Fact, ...] = ()


class Outcome(Struct, frozen=True):
    """How the subject's last attempt ended. `ended_badly`: its probability. `lines`: (source, line, text) that show it."""

    state: OutcomeState
    ended_badly: float
    why: str
    lines: tuple[tuple[str, int, str], ...] = ()


class Candidate(Struct, frozen=True):
    """A cause with what speaks for it. `features`: by name. `probability`: that it is the root, if something ended badly."""

    cause: str
    owned: tuple[OwnedObservation, ...]
    features: Mapping[str, float]
    probability: float = 0.0
    explained_by: str | None = None
    ledger: tuple[Adjustment, ...] = ()


class Diagnosis(Struct, frozen=True):
    """The decision about one incident: candidates most probable first, never empty."""

    verdict: Verdict
    outcome: Outcome
    candidates: tuple[Candidate, ...]
    notices: tuple[Notice, ...]
