"""The frozen values that flow between the stages.

    bytes -> Source -> Hit, Region -> Event -> placed Event -> Incident -> Finding -> Report

Every stage takes values of this package and returns values of this package; none knows another stage's insides.
"""

from forensics.model.answers import (
    Advice,
    Curve,
    Finding,
    IncidentSummary,
    Moment,
    ProcessMemory,
    Report,
    Role,
    Setting,
    SourceSummary,
    Unknown,
    Verdict,
)
from forensics.model.logs import (
    Event,
    Fields,
    Hit,
    Incident,
    Line,
    Link,
    Prefix,
    Proof,
    Region,
    Scan,
    Source,
    Stamp,
    Trigger,
    Value,
    Warn,
    Warning,
    Weight,
)

__all__ = [
    "Advice",
    "Curve",
    "Event",
    "Fields",
    "Finding",
    "Hit",
    "Incident",
    "IncidentSummary",
    "Line",
    "Link",
    "Moment",
    "Prefix",
    "ProcessMemory",
    "Proof",
    "Region",
    "Report",
    "Role",
    "Scan",
    "Setting",
    "Source",
    "SourceSummary",
    "Stamp",
    "Trigger",
    "Unknown",
    "Value",
    "Verdict",
    "Warn",
    "Warning",
    "Weight",
]
