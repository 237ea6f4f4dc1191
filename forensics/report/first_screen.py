"""The first screen of the text report: what ended and how, why, where, since when, what to do first, what else.

A memory limit was hit   host_memory.oom_cgroup                              97 %
train.log ended badly: nothing shows that it went on behind the lines that tell of its end
where     rank 37 on node04, GPU 3, job 4711; 63 other ranks waited or failed with it
when      2026-11-21 08:46:17 dmesg.log: A memory limit was hit --2.4 s--> jupyter.log: The notebook kernel died
do first  Ask for more memory than the 400 MiB it had
incidents 200 in these logs, number 1 is told here; --incident N tells another
"""

from collections.abc import Iterator

from forensics.core.text import with_noun
from forensics.model import Report
from forensics.report import course, overview
from forensics.report.course import course_steps
from forensics.report.overview import seen_before
from forensics.report.phrases import headline, is_guess, odds_text, percent_text, verdict, what_happened
from forensics.report.rows import Row, cut_text, wrap_rows
from forensics.report.subjects import Group, ending_sentence

SUMMARY_ROWS = 6  # of a screen of 24 rows
LABELLED_ROWS = 2  # for each of the three labels, so that it fits on one screen
LABEL_COLUMNS = 10  # the width of `where`, `when`, `do first`


def labelled(width: int, label: str, text: str) -> Iterator[Row]:
    """`text` after its label; no row if it is empty."""
    for i, row in enumerate(cut_text(text, width - LABEL_COLUMNS, LABELLED_ROWS) if text else ()):
        yield Row((("" if i else label).ljust(LABEL_COLUMNS), "head"), (row, ""))


class FirstScreen:
    """The rows of the first screen, in `width` columns."""

    def __init__(self, report: Report, width: int) -> None:
        self.report, self.width, self.first = report, width, report.causes[0]

    def rows(self) -> Iterator[Row]:
        """All of them, in order."""
        yield from self.head()
        yield from self._overview()
        yield from self._incidents()

    def head(self, told: bool = True) -> Iterator[Row]:
        """The title and how it ended; `told`: with what happened."""
        share, named = odds_text(self.report), not is_guess(self.report)
        title = headline(self.report)
        style = "fine" if self.report.verdict == "no_crash" else "sure"
        room = self.width - len(share) - 2
        name = f"   {self.first.id}" if named else ""
        if len(title) + len(name) > room:
            name = ""
        gap = " " * (self.width - len(title) - len(name) - len(share))
        if len(title) > room:
            yield from wrap_rows(f"{title}  {share}", self.width, style=style)
        else:
            yield Row((title, style), (name, "dim"), (gap + share, style))
        if named and not name:
            yield Row((self.first.id, "dim"))
        yield from wrap_rows(str(ending_sentence(self.report) or ""), self.width)
        yield from wrap_rows(verdict(self.report), self.width, style="title")
        happened = what_happened(self.report) if told else ""
        if happened:
            yield Row()
            yield from (Row((row, "")) for row in cut_text(happened, self.width, SUMMARY_ROWS))
        yield from wrap_rows(seen_before(self.report), self.width, style="main")

    def _overview(self) -> Iterator[Row]:
        """Where, since when, and what to do first."""
        rows = [*labelled(self.width, "where", overview.location(self.report)), *self._when()]
        rows += labelled(self.width, "do first", overview.do_first(self.report))
        if rows:
            yield Row()
            yield from rows

    def _when(self) -> Iterator[Row]:
        strip = list(self._strip())
        since = course.first_shown(self.report)
        yield from strip or labelled(self.width, "when", since)

    def _incidents(self) -> Iterator[Row]:
        """The other incidents, similar ones in one row."""
        others, quiet = overview.other_incidents(self.report), overview.quiet_incidents(self.report)
        if not others:
            return
        yield Row()
        number = f"{len(self.report.incidents):,} in these logs, number {self.report.incidents[0].id} is told here"
        yield from wrap_rows(f"{number}; --incident N tells another", self.width, LABEL_COLUMNS, "incidents".ljust(LABEL_COLUMNS))
        for group in others[: overview.MAX_LISTED_INCIDENTS]:
            yield from self._group(group)
        more = sum(len(g.ids) for g in others[overview.MAX_LISTED_INCIDENTS :])
        rest = [f"{more:,} more that ended badly, --all shows them" if more else ""]
        rest += [
            f"{with_noun(quiet, 'stretch', 'stretches')} of time in which nothing is shown to have ended badly" if quiet else ""
        ]
        if any(rest):
            yield Row(("  and " + ", and ".join(filter(None, rest)), "dim"))

    def _group(self, group: Group) -> Iterator[Row]:
        share = percent_text(group.probability) if group.probability is not None else ""
        alone = group.start if len(group.ids) == 1 else None
        lead = f"  {overview.incident_numbers(group) + ' ':<6}" + (
            course.clock_text(alone, "", self.report) + "  " if alone else ""
        )
        room = self.width - len(lead) - len(share) - 2
        for i, piece in enumerate(cut_text(overview.group_text(group), room, 2)):
            if i == 0:
                yield Row((lead, "dim"), (piece.ljust(room), "cause"), (f"  {share}", ""))
            else:
                yield Row((" " * len(lead), ""), (piece, "cause"))

    def _strip(self) -> Iterator[Row]:
        steps = course_steps(self.report)
        if not any(s.gap for s in steps) and len({s.source for s in steps}) < 2:
            return
        since = course.first_shown(self.report)
        lead = f"{since} " if since else ""
        spans: list[tuple[str, str]] = [("when".ljust(LABEL_COLUMNS), "head"), (lead, "dim")]
        used = len(lead) + LABEL_COLUMNS
        for i, step in enumerate(steps):
            arrow = "" if not i else f" --{step.gap}--> " if step.gap else " --> "
            name = step.source.rsplit("/", 1)[-1]
            text = cut_text(f"{name}: {step.title}", self.width - (len(arrow) + LABEL_COLUMNS if i else used), 1)[0]
            if i and used + len(arrow) + len(text) > self.width:
                yield Row(*spans)
                spans, used = [(" " * (LABEL_COLUMNS - 1), "")], LABEL_COLUMNS - 1
            spans += [(arrow, "dim"), (text, "cause" if step.role == "root" else "symptom")]
            used += len(arrow) + len(text)
        yield Row(*spans)
