"""The frozen values that flow between the stages.

    bytes -> Source -> Hit, Region -> Event -> placed Event -> Incident -> Finding -> Report

Every stage takes values of this package and returns values of this package; none knows another stage's insides.
"""

from forensics.model.answers import Advice, Finding, IncidentSummary, Moment, Report, Role, SourceSummary, Unknown, Verdict
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
    "Proof",
    "Region",
    "Report",
    "Role",
    "Scan",
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
