"""The immutable values that the stages exchange.

    bytes -> Source -> Hit, Region -> Observation -> placed Observation -> Incident -> Finding -> Report

Every stage takes and returns values of this package; no stage depends on the internals of another one.
"""

from forensics.model.answers import (
    Adjustment,
    Advice,
    Curve,
    Difference,
    EarlierAttempt,
    Finding,
    History,
    IncidentCause,
    IncidentSummary,
    MessageGroup,
    NodeCount,
    Notice,
    OpenQuestion,
    Possible,
    ProcessMemory,
    QuotedLine,
    Report,
    Role,
    Setting,
    SourceSummary,
    SubjectSummary,
    TimelineEntry,
    Verdict,
)
from forensics.model.fields import Fields, Value
from forensics.model.logs import (
    NO_LINES,
    Around,
    CodePart,
    Hit,
    Incident,
    Line,
    LinesAround,
    LinesOf,
    Link,
    Observation,
    Prefix,
    Proof,
    Region,
    RegionColumns,
    Scan,
    Source,
    Stamp,
    Trigger,
    Warn,
    Warning,
    Weight,
    shows_slow_down,
)
from forensics.model.programs import (
    HABITS,
    Architecture,
    DiskUse,
    FailedActivation,
    Guarded,
    Habit,
    JobContext,
    Layer,
    LockHolder,
    PrintedStack,
    Program,
    StepPlan,
    WrittenMap,
)
