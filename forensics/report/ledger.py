"""Show why the first cause is ranked before its best rival: the rows whose sum is each probability, with their lines.

why
  ended badly: 98 %, as these add up to log odds of +3.89
    log odds   value  line         feature
       +2.10    1.00               proof: lines that prove an end, and what stands behind them
  host_memory.oom_cgroup  A memory limit was hit  93 %
    logarithm  value  line         feature
       +2.00    2.25  dmesg.log:1  rate: greatest log odds that a log in which one of its signatures fires ...
       -1.24    1.00  dmesg.log:1  unknown owner: nothing but time or place ties it to the subject
       -0.07                       in sum: 93 %
  none of these: 1 %
"""

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log

from forensics.model import Adjustment, Finding, Report, SubjectSummary
from forensics.report.paths import Paths
from forensics.report.phrases import percent_text, shows_no_crash
from forensics.report.redaction import without_secrets
from forensics.report.rows import Row, coloured_text, cut_text, plain_text, wrap_rows
from forensics.report.style import Style

LEDGER_PLACE_CHARS = 32  # of 100 columns, next to two numbers and the meaning of the feature
MIN_MEANING_CHARS = 30  # of a page's width next to the place; if there are fewer, the meaning of a feature is below its name
NARROW_INDENT = 14  # the indent of such a meaning
MIN_LEDGER_CHARS = 60  # with fewer columns the table cannot be read; then the terminal breaks its rows
LEAST_SHOWN = 0.005  # a smaller part of the sum would be shown as 0.00
LEAST_PERCENT = 0.01  # a smaller share has digits of its own
HOW_TO_READ = (
    "Each row adds to the logarithm of a probability: +0.7 doubles it, -0.7 halves it. The line is where its value was read."
)
NUMBERS_CHARS = 26  # two numbers and the space around them and around the place


def render_ledger(report: Report, meanings: Mapping[str, str], style: Style) -> str:
    """The table as text, ending with a line end. `meanings`: feature -> what it measures."""
    rows = list(_rows(without_secrets(report), meanings, max(MIN_LEDGER_CHARS, style.width)))
    return coloured_text(rows, style.width) if style.colour else plain_text(rows)


def compared_findings(report: Report) -> list[Finding]:
    """The first cause and its best rival: the most probable other cause that has a ledger."""
    rivals = sorted((f for f in report.causes[1:] if f.ledger), key=lambda f: -f.probability)
    return [report.causes[0], *rivals[:1]]


def _rows(report: Report, meanings: Mapping[str, str], width: int) -> Iterator[Row]:
    yield Row()
    yield Row(("why", "head"))
    yield from wrap_rows(HOW_TO_READ, width, 2, style="dim")
    paths = Paths.of(report)
    if report.subject and report.subject.ended_badly is not None:
        yield from _outcome(report.subject, meanings, paths, width)
    for i, finding in enumerate(compared_findings(report)):
        yield Row()
        yield Row((f"  {'its best rival: ' if i else ''}{finding.id}", "title"), (f"  {finding.title}", ""), _odds(finding))
        if finding.ledger:
            yield from _table(finding.ledger, "logarithm", meanings, paths, width)
            whole = exp(sum(a.log_odds for a in finding.ledger))
            yield Row((f"    {log(whole):>+8.2f}", "title"), (f"  in sum: {_share(whole)}", "dim"))
        else:
            yield from wrap_rows(_unweighed(report), width, 4, style="dim")
    none = report.subject.none_of_these if report.subject else 0.0
    rest = 1 - none - sum(f.probability for f in compared_findings(report))
    told = {"all other causes": rest if rest >= LEAST_SHOWN else 0.0, "a cause that is not listed": none}
    if any(told.values()):
        yield Row()
        yield Row(("  " + ", ".join(f"{name}: {_share(share)}" for name, share in told.items() if share), ""))


def _outcome(subject: SubjectSummary, meanings: Mapping[str, str], paths: Paths, width: int) -> Iterator[Row]:
    bad = percent_text(subject.ended_badly or 0.0)
    odds = f", as these add up to log odds of {sum(a.log_odds for a in subject.ledger):+.2f}" if subject.ledger else ""
    yield Row((f"  ended badly: {bad}{odds}", ""))
    if subject.ledger:
        yield from _table(subject.ledger, "log odds", meanings, paths, width)


def _odds(finding: Finding) -> tuple[str, str]:
    return f"  {_share(finding.probability)}", "title"


def _share(probability: float) -> str:
    """As elsewhere, and a share of less than one percent with its digits: the shares are to make up the whole."""
    return percent_text(probability) if probability >= LEAST_PERCENT else f"{100 * probability:.1g} %"


def _unweighed(report: Report) -> str:
    """Why the first cause has no table."""
    if shows_no_crash(report):
        return "no cause was weighed: this is the answer when nothing ended badly"
    return "the report holds no contributions for it"


def _table(rows: Sequence[Adjustment], unit: str, meanings: Mapping[str, str], paths: Paths, width: int) -> Iterator[Row]:
    rows = [a for a in rows if abs(a.log_odds) >= LEAST_SHOWN]
    places = [_place(a, paths) for a in rows]
    column = max(map(len, [*places, "line"]))
    indent = NUMBERS_CHARS + column
    yield Row((f"   {unit:>9}     value  {'line':<{column}}  feature", "dim"))
    for adjustment, place in zip(rows, places, strict=True):
        meaning = meanings.get(adjustment.feature, "")
        label = f"{adjustment.feature}: {meaning}" if meaning else adjustment.feature
        lead = f"    {adjustment.log_odds:>+8.2f}  {adjustment.value:>8.2f}  {place:<{column}}  "
        if width - indent >= MIN_MEANING_CHARS:
            yield from wrap_rows(label, width, indent, lead)
        else:
            yield Row((lead, "title"))
            yield from wrap_rows(label, width, NARROW_INDENT)


def _place(adjustment: Adjustment, paths: Paths) -> str:
    if adjustment.source is None or adjustment.line is None:
        return ""
    return cut_text(paths.place(adjustment.source, adjustment.line), LEDGER_PLACE_CHARS, 1)[0]
