"""The report as annotations of a GitHub workflow: one workflow command per line.

    ::error file=train.log,line=82,title=A memory limit was hit (97 %25)::The kernel killed python3 ... Do first: ...

An error for what crashed, a warning for what is not proven, a notice for what is worth knowing. Of one kind GitHub shows ten in a
step. What a log says cannot begin a command of its own: each command is one line, and line ends in it are written as %0A.
"""

from collections.abc import Iterator

from forensics.core.text import printable
from forensics.model import Report
from forensics.report.overview import notice_groups
from forensics.report.phrases import LEVEL_OF_VERDICT, percent_text, titled
from forensics.report.style import Style
from forensics.report.subjects import IncidentEntry, incident_entries

MAX_ANNOTATIONS = 10  # of each kind: GitHub drops further ones of a step
IN_DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
IN_PROPERTY = (*IN_DATA, (":", "%3A"), (",", "%2C"))


def render(report: Report, _style: Style) -> str:
    """The commands; those of the first incident come first."""
    every = incident_entries(report)
    bad = [t for t in every if t.verdict in LEVEL_OF_VERDICT]
    lines = [_annotation(t) for level in LEVEL_OF_VERDICT for t in [x for x in bad if x.verdict == level][:MAX_ANNOTATIONS]]
    if not bad:
        first = report.causes[0]
        lines.append(_command("notice", {"title": first.title}, first.summary))
    return "\n".join([*lines, *list(_notices(report))[: MAX_ANNOTATIONS - (not bad)]]) + "\n"


def _annotation(entry: IncidentEntry) -> str:
    finding, proof = entry.finding, entry.proof
    said = [finding.summary, f"Where: {finding.where}." if finding.where else "", f"Evidence: {proof.text}" if proof else ""]
    said += [f"Do first: {entry.do_first}" if entry.do_first else ""]
    title = titled(entry.verdict, finding)
    place = {"file": proof.source, "line": str(proof.line)} if proof else {}
    properties = {**place, "title": f"{title} ({percent_text(finding.probability)})"}
    return _command(LEVEL_OF_VERDICT[entry.verdict], properties, "\n".join(filter(None, said)))


def _notices(report: Report) -> Iterator[str]:
    for group in notice_groups(report):
        for notice, why in group.shown:
            place = {"file": notice.source, "line": str(notice.line), "title": group.head}
            yield _command("notice", place, "\n".join(filter(None, (notice.text, why))))


def _command(level: str, properties: dict[str, str], data: str) -> str:
    written = ",".join(f"{name}={_escaped(value, IN_PROPERTY)}" for name, value in properties.items())
    return f"::{level} {written}::{_escaped(data, IN_DATA)}"


def _escaped(text: str, signs: tuple[tuple[str, str], ...]) -> str:
    safe = "\n".join(printable(line) for line in text.split("\n"))
    for sign, written in signs:
        safe = safe.replace(sign, written)
    return safe
