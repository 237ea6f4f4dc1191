"""Many reports as one index: a row for each case, with a link to its page.

case    when              cause                   sure   who             where
job17   2026-03-01 12:00  A memory limit was hit  93 %   job 4711        node04        -> cases/job17.html
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote

from msgspec import Struct

from forensics.model import Report
from forensics.report.escape import code_cell
from forensics.report.markdown_table import table_lines
from forensics.report.phrases import headline, is_guess, percent_text, what_happened
from forensics.report.redaction import without_secrets

PLAIN_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")
MAX_STEM_CHARS = 60  # of a file name, which most file systems limit to 255 bytes; the digest behind it tells names apart
MAX_SUMMARY_CHARS = 300  # three rows of a table's cell; the case's own page has all of it
NO_CRASH = "no_crash"


class Row(Struct, frozen=True):
    """One case. `odds`: the probability as text, empty if the cause is a guess. `hosts`, `jobs`: all that are named. `time`: when
    its end was shown."""

    case: str
    page: str
    verdict: str
    cause: str
    title: str
    odds: str
    time: datetime | None
    subject: str
    where: str
    hosts: tuple[str, ...]
    jobs: tuple[str, ...]
    summary: str


class Count(Struct, frozen=True):
    """How many cases have a cause. `share`: in percent of the most frequent one, 0 to 100."""

    cause: str
    title: str
    cases: int
    share: float


def index_row(report: Report, page: str) -> Row:
    """The row of a report whose page is at `page`, without secrets."""
    report = without_secrets(report)
    first = report.causes[0]
    incident = report.incidents[0] if report.incidents else None
    time = incident.time or incident.start if incident else None
    time = time or next((p.time for p in first.evidence if p.time), None)
    jobs = dict.fromkeys(str(f.facts[name]) for f in report.causes for name in ("job", "job_id") if name in f.facts)
    return Row(
        case=report.case,
        page=page,
        verdict=report.verdict,
        cause="" if is_guess(report) else first.id,
        title=headline(report),
        odds="" if is_guess(report) else percent_text(first.probability),
        time=time,
        subject=incident.subject if incident else "",
        where=first.where,
        hosts=tuple(dict.fromkeys(h for i in report.incidents for h in i.hosts)),
        jobs=tuple(jobs),
        summary=what_happened(report)[:MAX_SUMMARY_CHARS],
    )


def cause_counts(rows: Sequence[Row]) -> list[Count]:
    """How many cases each cause has, the most frequent first; cases in which nothing ended badly come last."""
    found = Counter((r.verdict == NO_CRASH, r.cause, r.title) for r in rows)
    most = max(found.values(), default=1)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    return [Count(cause, title, n, round(100 * n / most, 1)) for (_, cause, title), n in ordered]


def file_name(case: str, ending: str, taken: set[str]) -> str:
    """A name for a case's page that every file system accepts and that is not in `taken`; it is added to `taken`."""
    stem = (
        case
        if PLAIN_NAME_PATTERN.fullmatch(case)
        else f"{re.sub(r'[^A-Za-z0-9._-]+', '_', case)[:MAX_STEM_CHARS].strip('._') or 'case'}-{_digest(case)}"
    )
    name = f"{stem}{ending}"
    number = 2
    while name.lower() in taken:  # some file systems ignore case
        name, number = f"{stem}-{number}{ending}", number + 1
    taken.add(name.lower())
    return name


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def index_html(rows: Sequence[Row], title: str) -> str:
    """The index as one HTML page without other files; it links the pages of the cases."""
    from forensics.report.page.templates import policy, template, text_of

    style, script = text_of("page.css") + text_of("index.css"), text_of("table.js")
    return template("index.html.j2").render(
        rows=rows,
        title=title,
        counts=cause_counts(rows),
        crashed=sum(r.verdict != NO_CRASH for r in rows),
        hosts=_names(h for r in rows for h in r.hosts),
        jobs=_names(j for r in rows for j in r.jobs),
        link=quote,
        style=style,
        script=script,
        policy=policy(style, script),
    )


def _names(found: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(found).items())


def index_markdown(rows: Sequence[Row], title: str) -> str:
    """The index as one table of GitHub's Markdown; a row without a page has no link."""
    crashed = sum(r.verdict != NO_CRASH for r in rows)
    lines = [f"# {code_cell(title)}: {len(rows)} case{'' if len(rows) == 1 else 's'}, {crashed} ended badly or may have", ""]
    lines += [f"- {c.cases} × {c.title}{f' ({code_cell(c.cause)})' if c.cause else ''}" for c in cause_counts(rows)]
    cells = []
    for r in rows:
        name = f"[{code_cell(r.case)}]({quote(r.page)})" if r.page else code_cell(r.case)
        when = r.time.strftime("%Y-%m-%d %H:%M:%S") if r.time else ""
        who = r.where or r.subject
        cells.append([c.replace("\n", " ") for c in (name, when, r.title, r.odds, code_cell(who) if who else "")])
    lines += ["", *table_lines(("case", "when", "cause", "sure", "who and where"), cells, right=("sure",))]
    return "\n".join(lines) + "\n"
