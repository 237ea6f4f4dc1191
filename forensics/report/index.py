"""Many reports as one index: a row for each case, failures first, with a link to its page.

cause                             case    who and where       when              sure
memory: A memory limit was hit    job17   job 4711, node04    2026-03-01 12:00  93 %   -> cases/job17.html
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import quote, urlencode

from msgspec import Struct

from forensics.core.text import with_noun
from forensics.model import Report
from forensics.report.escape import code_cell, table_lines
from forensics.report.phrases import has_open_end, headline, is_guess, odds_text, open_end_line, what_happened
from forensics.report.redaction import without_secrets

MAX_BARS = 60  # chosen by hand: on a phone a bar is five pixels wide
MIN_DRAWN_FAILURES = 5  # chosen by hand: fewer can be read from the list


class Bar(Struct, frozen=True):
    """`place`: which stretch of time, from 0. `count` failures of one `kind` stand on `below` others. `text`: of the stretch."""

    place: int
    kind: str
    below: int
    count: int
    text: str


class OverTime(Struct, frozen=True):
    """All bars. `most`: failures of the fullest stretch."""

    start: datetime
    end: datetime
    bars: tuple[Bar, ...]
    most: int


def over_time(failures: Sequence[tuple[datetime, str]], kinds: Sequence[str]) -> OverTime | None:
    """The bars of failures (time, kind), in each bar the kinds in the given order; None where there is too little to draw."""
    times = [time.replace(tzinfo=None) for time, _ in failures]  # as they are shown
    if len(times) < MIN_DRAWN_FAILURES or min(times) == max(times):
        return None
    start, end = min(times), max(times)
    step = (end - start) / MAX_BARS
    stretches: dict[int, Counter[str]] = defaultdict(Counter)
    for time, (_, kind) in zip(times, failures, strict=True):
        stretches[min(MAX_BARS - 1, int((time - start) / step))][kind] += 1
    bars: list[Bar] = []
    for place, counts in sorted(stretches.items()):
        text, below = f"{_stretch(start, step, place)}: {counts.total()}", 0
        for kind in (k for k in kinds if counts[k]):
            bars.append(Bar(place, kind, below, counts[kind], text))
            below += counts[kind]
    return OverTime(start, end, tuple(bars), max(c.total() for c in stretches.values()))


def _stretch(start: datetime, step: timedelta, place: int) -> str:
    first, last = start + place * step, start + (place + 1) * step
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"


PLAIN_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")
MAX_STEM_CHARS = 60  # of a file name, which most file systems limit to 255 bytes; the digest behind it tells names apart
MAX_SUMMARY_CHARS = 300  # three rows of a table's cell; the case's own page has all of it
NO_CRASH = "no_crash"
OPEN = "open"  # the log breaks off, and nothing tells how the run ended
NO_FAILURES = (NO_CRASH, OPEN)
VERDICT_ORDER = {"crash": 0, "undetermined": 1, OPEN: 2, NO_CRASH: 3}  # what ended badly is what is looked for
CAUSE_KINDS = ("machine", "memory", "program", "data", "stopped")
OTHER_KIND = "other"
SHORT_NAME_CHARS = 11  # what a column of 6.5rem holds; the cause has the room that longer names would need
NO_CAUSE_NAME = "unknown"  # of the filter, for cases without a recognised cause
MAX_MAIN_CAUSES = 8  # chosen by hand: the list of cases begins on the first screen, also on a phone
MAX_CHOICES = 100  # chosen by hand: of a list to choose from; a longer one is a field for the name


class Row(Struct, frozen=True):
    """One case. `verdict`: that of its report, or OPEN. `odds`: the probability as text, empty if the cause is a guess.
    `kind`: of the cause, see CAUSE_KINDS, or empty. `hosts`, `jobs`: all that are named. `time`: when its end was shown.
    `last`: the last line of a log that breaks off."""

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
    kind: str = ""
    last: str = ""


class Count(Struct, frozen=True):
    """How many failures have a cause. `share`: in percent of all failures. `kind`: as in Row."""

    cause: str
    title: str
    cases: int
    share: float
    kind: str = ""


class Overview(Struct, frozen=True):
    """All cases in numbers. `crashed`: those that ended badly or probably did. `counts`: their causes, the most frequent first.
    `open`: those of which no log tells how they ended. `hosts`, `jobs`: names to choose from, with the number of cases."""

    cases: int
    crashed: int
    counts: Sequence[Count]
    hosts: Sequence[tuple[str, int]]
    jobs: Sequence[tuple[str, int]]
    open: int = 0

    @property
    def main_counts(self) -> Sequence[Count]:
        """The causes that are shown at once: of several cases each, or all if there are few."""
        several = [c for c in self.counts if c.cases > 1]
        return self.counts if len(self.counts) <= MAX_MAIN_CAUSES else several[:MAX_MAIN_CAUSES]

    @property
    def kinds(self) -> Sequence[tuple[str, int, float, float]]:
        """(kind, cases, share, where its part of a bar of all failures begins), the shares in percent; `other` comes last."""
        found: Counter[str] = Counter()
        for count in self.counts:
            found[count.kind or OTHER_KIND] += count.cases
        made, start = [], 0.0
        for kind in (k for k in (*CAUSE_KINDS, OTHER_KIND) if found[k]):
            share = 100 * found[kind] / self.crashed
            made.append((kind, found[kind], round(share, 2), round(start, 2)))
            start += share
        return made


class Served(Struct, frozen=True):
    """What a server did to make the page. `chosen`: the filters of its address, by name. `matching`: cases that fit them.
    `older`: the address of the next page, empty if this is the last. `links`: (address, name) of other pages."""

    chosen: Mapping[str, str]
    matching: int
    older: str = ""
    links: Sequence[tuple[str, str]] = ()

    def address(self, **changed: str) -> str:
        """The address of the same page with other filters."""
        return "?" + urlencode({k: v for k, v in {**self.chosen, **changed}.items() if v})


def index_row(report: Report, page: str, kind: str = "") -> Row:
    """The row of a report whose page is at `page`, without secrets. `kind`: of its first cause."""
    report = without_secrets(report)
    first, verdict = report.causes[0], OPEN if has_open_end(report) else report.verdict
    incident = report.incidents[0] if report.incidents else None
    time = incident.time or incident.start if incident else None
    time = time or next((p.time for p in first.evidence if p.time), None)
    jobs = dict.fromkeys(str(f.facts[name]) for f in report.causes for name in ("job", "job_id") if name in f.facts)
    return Row(
        case=report.case,
        page=page,
        verdict=verdict,
        cause="" if is_guess(report) else first.id,
        title=headline(report),
        odds=odds_text(report),
        time=time,
        subject=incident.subject if incident else "",
        where=first.where,
        hosts=tuple(dict.fromkeys(h for i in report.incidents for h in i.hosts)),
        jobs=tuple(jobs),
        summary=what_happened(report)[:MAX_SUMMARY_CHARS],
        last=open_end_line(report)[:MAX_SUMMARY_CHARS],
        kind="" if is_guess(report) or verdict in NO_FAILURES else kind,
    )


def cause_counts(rows: Iterable[Row]) -> list[Count]:
    """How many failures each cause has, the most frequent first. Cases in which nothing is shown to have ended badly are none."""
    return counted((r.cause, r.title, r.kind, 1) for r in rows if r.verdict not in NO_FAILURES)


def counted(found: Iterable[tuple[str, str, str, int]]) -> list[Count]:
    """The Counts of (cause, title, kind, cases) of failures; the title of a cause is its most frequent one."""
    titles: dict[str, Counter[str]] = {}
    kinds: dict[str, str] = {}
    for cause, title, kind, cases in found:
        titles.setdefault(cause, Counter())[title] += cases
        kinds[cause] = kind
    failures = sum(t.total() for t in titles.values())
    ordered = sorted(titles.items(), key=lambda item: (-item[1].total(), item[0]))
    return [
        Count(cause, t.most_common(1)[0][0], t.total(), round(100 * t.total() / failures, 1), kinds[cause])
        for cause, t in ordered
    ]


def overview_of(rows: Sequence[Row]) -> Overview:
    """The Overview of cases that are all at hand."""
    return Overview(
        cases=len(rows),
        crashed=sum(r.verdict not in NO_FAILURES for r in rows),
        open=sum(r.verdict == OPEN for r in rows),
        counts=cause_counts(rows),
        hosts=_names(h for r in rows for h in r.hosts),
        jobs=_names(j for r in rows for j in r.jobs),
    )


def failures_first(rows: Iterable[Row]) -> list[Row]:
    """The rows by verdict, otherwise in their order."""
    return sorted(rows, key=lambda r: VERDICT_ORDER.get(r.verdict, 0))


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


def index_html(rows: Sequence[Row], title: str, overview: Overview | None = None, served: Served | None = None) -> str:
    """The index as one HTML page without other files; it links the pages of the cases.

    With `served` the rows are what a server chose, in its order, and `overview` tells of all cases; a choice asks it again.
    """
    from forensics.report.page.parts import policy, template, text_of

    failures = [(r.time, r.kind or OTHER_KIND) for r in rows if r.time and r.verdict not in NO_FAILURES]
    style, script = text_of("page.css") + text_of("index.css"), text_of("index.js")
    found = policy(style, script)
    return template("index.html.j2").render(
        rows=rows if served else failures_first(rows),
        title=title,
        all=overview or overview_of(rows),
        served=served,
        over_time=None if served else over_time(failures, (*CAUSE_KINDS, OTHER_KIND)),
        max_bars=MAX_BARS,
        healthy=NO_CRASH,
        open=OPEN,
        other_kind=OTHER_KIND,
        unknown=NO_CAUSE_NAME,
        max_choices=MAX_CHOICES,
        short_names=all(len(r.case) <= SHORT_NAME_CHARS for r in rows),
        same_odds=len({r.odds for r in rows}) == 1,
        link=quote,
        style=style,
        script=script,
        policy=found.replace("form-action 'none'", "form-action 'self'") if served else found,
    )


def _names(found: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(found).items())


def index_markdown(rows: Sequence[Row], title: str) -> str:
    """The index as one table of GitHub's Markdown; a row without a page has no link."""
    all_cases = overview_of(rows)
    cases = with_noun(len(rows), "case")
    lines = [f"# {code_cell(title)}: {cases}, {all_cases.crashed} ended badly or probably did", ""]
    lines += [f"- in {with_noun(all_cases.open, 'case')}, nothing shows how it ended"] if all_cases.open else []
    shown = all_cases.main_counts
    lines += [f"- {c.cases} × {c.title}{f' ({code_cell(c.cause)})' if c.cause else ''}" for c in shown]
    if rest := all_cases.counts[len(shown) :]:
        lines.append(f"- {sum(c.cases for c in rest)} cases of {len(rest)} other causes")
    cells = []
    for r in failures_first(rows):
        name = f"[{code_cell(r.case)}]({quote(r.page)})" if r.page else code_cell(r.case)
        when = r.time.strftime("%Y-%m-%d %H:%M:%S") if r.time else ""
        who = r.where or r.subject
        title = f"{r.title}: {code_cell(r.last)}" if r.last else r.title
        cells.append([c.replace("\n", " ") for c in (name, when, title, r.odds, code_cell(who) if who else "")])
    lines += ["", *table_lines(("case", "when", "cause", "sure", "who and where"), cells, right=("sure",))]
    return "\n".join(lines) + "\n"
