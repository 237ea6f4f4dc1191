"""The incidents as rows of a table: when, who, what, how sure, and the line that shows it best."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from forensics.model import IncidentSummary, Proof, Report
from forensics.report.overview import other_incidents
from forensics.report.phrases import percent_text


class Row(Struct, frozen=True):
    """One incident. `first`: the best line of its first cause, if known. `odds`: the probability as text, empty if unknown."""

    id: int
    time: datetime | None
    subject: str
    cause: str
    title: str
    odds: str
    first: Proof | None


def rows(report: Report) -> list[Row]:
    """The incidents of the report in its order, without later ones that show no bad end."""
    shown = {number for group in other_incidents(report) for number in group.ids}
    return [_row(report, i, n == 0) for n, i in enumerate(report.incidents) if n == 0 or i.id in shown]


def kinds(listed: Sequence[Row]) -> list[tuple[str, str, int]]:
    """(cause, title, number of incidents) of the incidents' causes, the most frequent first."""
    titles = {r.cause: r.title for r in listed}
    return [(cause, titles[cause], count) for cause, count in Counter(r.cause for r in listed).most_common()]


def _row(report: Report, incident: IncidentSummary, is_first: bool) -> Row:
    findings = report.causes if is_first else incident.findings
    first = findings[0] if findings else incident.candidates[0] if incident.candidates else None
    cause = first.id if first else next(iter(incident.causes), "")
    proofs = findings[0].evidence if findings else ()
    return Row(
        incident.id,
        incident.time or incident.start,
        incident.subject or ", ".join(incident.hosts),
        cause,
        first.title if first else cause,
        percent_text(first.probability) if first else "",
        proofs[0] if proofs else None,
    )
