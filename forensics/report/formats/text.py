"""The report as text: the answer on the first screen, then its proof, what followed, what to do, what is not known.

The first screen of the text report: what ended and how, why, where, since when, what to do first, what else.

A memory limit was hit   host_memory.oom_cgroup                              97 %
train.log ended with a failure: see its last lines
where     rank 37 on node04, GPU 3, job 4711; 63 other ranks waited or failed with it
when      2026-11-21 08:46:17 dmesg.log: A memory limit was hit --2.4 s--> jupyter.log: The notebook kernel died
do first  Ask for more memory than the 400 MiB it had
incidents 200 in these logs, number 1 is shown here; --incident N shows another
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from forensics.core.text import number_ranges, with_noun
from forensics.model import Advice, Finding, MessageGroup, Proof, Report
from forensics.report import course, overview, phrases
from forensics.report.course import FOLLOWED, UNCONFIRMED, consequences, course_steps, delay_text, unconfirmed_consequences
from forensics.report.curves import SPARKLINE_CHARS, first_to_last, relevant_curves, sparkline
from forensics.report.difference import BASELINE_HEAD, baseline_rows
from forensics.report.overview import NoticeGroup, notice_groups, seen_before
from forensics.report.overview import other_incidents as incidents_beside
from forensics.report.paths import Paths
from forensics.report.rows import MIN_SAID_CHARS, Row, coloured_text, cut_text, plain_text, wrap_rows
from forensics.report.style import Style
from forensics.report.subjects import Group, ending_sentence

SUMMARY_ROWS = 6  # of a screen of 24 rows
LABELLED_ROWS = 2  # for each of the three labels, so that it fits on one screen
STEP_ROWS = 4  # chosen by hand: for what to do first, of which nothing may be cut: a warning may stand at its end
MAX_RANK_STATES, RANK_COLUMNS = 6, 12  # of those that are shown, and of the numbers before them
LABEL_COLUMNS = 10  # the width of `where`, `when`, `do first`


def labelled(width: int, label: str, text: str, most: int = LABELLED_ROWS) -> Iterator[Row]:
    """`text` after its label; no row if it is empty."""
    for i, row in enumerate(cut_text(text, width - LABEL_COLUMNS, most) if text else ()):
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
        share, named = phrases.odds_text(self.report), not phrases.is_guess(self.report)
        title = phrases.headline(self.report)
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
        yield from wrap_rows(phrases.verdict(self.report), self.width, style="title")
        happened = phrases.what_happened(self.report) if told else ""
        if happened:
            yield Row()
            yield from (Row((row, "")) for row in cut_text(happened, self.width, SUMMARY_ROWS))
        yield from wrap_rows(seen_before(self.report), self.width, style="main")

    def _overview(self) -> Iterator[Row]:
        """Where, since when, and what to do first."""
        rows = [*labelled(self.width, "where", overview.location(self.report)), *self._when()]
        rows += labelled(self.width, "do first", overview.do_first(self.report), STEP_ROWS)
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
        number = f"{len(self.report.incidents):,} in these logs, number {self.report.incidents[0].id} is shown here"
        yield from wrap_rows(f"{number}; --incident N shows another", self.width, LABEL_COLUMNS, "incidents".ljust(LABEL_COLUMNS))
        for group in others[: overview.MAX_LISTED_INCIDENTS]:
            yield from self._group(group)
        more = sum(len(g.ids) for g in others[overview.MAX_LISTED_INCIDENTS :])
        rest = [f"{more:,} more that ended badly; --all shows them" if more else ""]
        rest += [f"{with_noun(quiet, 'stretch', 'stretches')} of time in which nothing visibly ended badly" if quiet else ""]
        if any(rest):
            yield Row(("  and " + ", and ".join(filter(None, rest)), "dim"))

    def _group(self, group: Group) -> Iterator[Row]:
        share = phrases.percent_text(group.probability) if group.probability is not None else ""
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


Section = tuple[str, Iterable[Row], str]  # its heading, its rows, and what stands beside the heading
ENDED_AS_ASKED = ("ended_well", "going_on")  # outcomes of which three lines are enough
MAX_TEXT_PROOFS = 5  # with the cause and the first remedy they fit on a terminal's first screen or two
REMEDY_COLUMNS = 11  # the width of `  1 you    `
IN_FULL = 2  # chosen by hand: remedies with reason, command and reference; the others in one line
MAX_NAMED_SOURCES = 8  # chosen by hand: logs that are named one by one; json names all
MAX_TEXT_CURVES = 2  # chosen by hand: the two that are most relevant to the cause; the page shows more
MIN_CURVE_CHARS = 8  # chosen by hand: of a curve, however narrow the page is
MAX_PLACE_COLUMN_CHARS = 40  # of 100 columns: more than half is left to what the lines say
MIN_PAGE_CHARS = 40  # chosen by hand: on a narrower page the places of lines would leave no room for what they say
MAX_CURVE_NAME_CHARS = 24  # of 100 columns: a sparkline, two values and their places are beside it
MIN_ONLY_SEEN_PROBABILITY = 0.8  # of the first cause: then the others were seen, but are hardly the answer


def render(report: Report, style: Style) -> str:
    """The whole text, ending with a line end."""
    rows = _Text(report, style).rows()
    return coloured_text(rows, style.width) if style.colour else plain_text(rows)


def is_short(report: Report) -> bool:
    """Is there nothing to tell but that it ended well, or goes on? Then three lines are enough."""
    subject = report.subject
    as_asked = subject is not None and subject.outcome in ENDED_AS_ASKED and phrases.shows_no_crash(report)
    return as_asked and not (phrases.also_possible(report) or incidents_beside(report) or phrases.warning_notes(report))


def _below(head: str, rows: Iterable[Row], beside: str = "") -> Iterator[Row]:
    """A section: its rows below their heading, with some words beside it; nothing without rows."""
    drawn = list(rows)
    if drawn:
        yield Row()
        yield Row((head.lower(), "head"), (f"  {beside}" if beside else "", "dim"))
        yield from drawn


class _Text:
    def __init__(self, report: Report, style: Style) -> None:
        self.report, self.width, self.every = report, max(MIN_PAGE_CHARS, style.width), style.every_incident
        self.first = report.causes[0]
        self.paths = Paths.of(report)

    def rows(self) -> Iterator[Row]:
        if is_short(self.report) and not self.every:
            yield from self._in_short()
            return
        yield from FirstScreen(self.report, self.width).rows()
        yield from self._evidence()
        yield from self._numbers()
        yield from self._baseline()
        for head, rows, beside in self._sections():
            yield from _below(head, rows, beside)
        yield from self._every_incident()
        yield from _below("read", self._read())

    def _sections(self) -> Iterator[Section]:
        """The sections between the evidence and what was read, in reading order."""
        report = self.report
        yield "ranks", self._ranks(), self._if_fits("ranks", "all of them, and their last calls: forensics ranks FOLDER")
        yield "lines to read first", self._messages(phrases.lines_to_read(report)), phrases.UNUSUAL
        yield phrases.LAST_WORDS_HEAD, self._messages(phrases.last_words(report)), ""
        yield FOLLOWED, self._others(consequences(report), lambda f: delay_text(f, self.first)), ""
        yield UNCONFIRMED, self._others(unconfirmed_consequences(report), lambda _: ""), ""
        head = "also seen" if self.first.probability >= MIN_ONLY_SEEN_PROBABILITY else phrases.others_head(report)
        yield head, self._others(phrases.also_possible(report), lambda f: phrases.percent_text(f.probability)), ""
        yield "what to do", self._remedies(), ""
        yield phrases.POSSIBLE_HEAD, self._possible(), ""
        yield "not known", self._unknown(), self._if_fits("not known", "forensics doctor shows what can be read on this machine")
        yield from self._beside()

    def _beside(self) -> Iterator[Section]:
        """What is worth knowing beside the end that is told."""
        head = course.heading(self.report)
        yield head, self._earlier(), self._if_fits(head, course.introduction(self.report))
        yield from ((group.head, self._notices(group), "") for group in notice_groups(self.report))

    def _if_fits(self, head: str, beside: str) -> str:
        return beside if len(head) + 2 + len(beside) <= self.width else ""

    def _in_short(self) -> Iterator[Row]:
        """How it ended and what was read; then only what is worth knowing."""
        yield from FirstScreen(self.report, self.width).head(told=False)
        sources = self.report.sources
        others = f" and {with_noun(len(sources) - 1, 'other source')}" if len(sources) > 1 else ""
        lines = with_noun(sum(s.lines for s in sources), "line")
        more, room = "; more: --format json", self.width - LABEL_COLUMNS
        said = f"{lines} in {self.paths.short(sources[0].name)}{others}"
        said += more if len(said + more) <= room else ""
        yield Row(("read".ljust(LABEL_COLUMNS), "head"), (cut_text(said, room, 1)[0], "dim"))
        for head, rows, beside in (("not known", self._unknown(), ""), *self._beside()):
            yield from _below(head, rows, beside)

    def _numbers(self) -> Iterator[Row]:
        """The curves that are relevant to the cause, small, with their places if there is room."""
        for curve in relevant_curves(self.report)[:MAX_TEXT_CURVES]:
            place = f"  {self.paths.short(curve.source)}{f', rank {curve.rank}' if curve.rank is not None else ''}"
            name, values = f"{cut_text(curve.name, MAX_CURVE_NAME_CHARS, 1)[0]}  ", f"  {first_to_last(curve)}"
            drawn = sparkline(curve, min(SPARKLINE_CHARS, max(MIN_CURVE_CHARS, self.width - len(name + values))))
            fits = len(name + drawn + values + place) <= self.width
            yield Row()
            yield Row((name, "head"), (drawn, "main"), (values, ""), (place if fits else "", "dim"))

    def _ranks(self) -> Iterator[Row]:
        """What all ranks do, those in one state together, where one of them keeps others waiting."""
        from forensics.report.ranks import folded_states  # most reports have none

        seen = self.report.ranks
        for state, ranks in list(folded_states(seen.rows).items())[:MAX_RANK_STATES] if seen and seen.odd else ():
            who = cut_text(number_ranges(ranks), RANK_COLUMNS, 1)[0]
            yield Row((f"  {who:<{RANK_COLUMNS}}  ", "place"), (cut_text(state, self.width - RANK_COLUMNS - 4, 1)[0], "main"))

    def _baseline(self) -> Iterator[Row]:
        """How it differs from the good run that was given with it."""
        beside, rows = baseline_rows(self.report)
        if not beside:
            return
        yield Row()
        yield Row((BASELINE_HEAD.lower(), "head"), ("  " + cut_text(beside, self.width - len(BASELINE_HEAD) - 2, 1)[0], "dim"))
        column = min(MAX_PLACE_COLUMN_CHARS, max((len(name) for name, _ in rows), default=0))
        for name, text in rows:
            yield Row(
                (f"  {name.ljust(column)}", "place"),
                ("  " + cut_text(text, self.width - max(column, len(name)) - 4, 1)[0], "main"),
            )

    def _evidence(self) -> Iterator[Row]:
        proofs = phrases.quoted_evidence(self.first, MAX_TEXT_PROOFS)
        if not proofs:
            return
        best = self.first.evidence[0]
        told = best.weight != "hint" or phrases.is_guess(self.report)  # of a guess it is the line to read first
        main = best if told and not phrases.shows_no_crash(self.report) else None
        folder = f"in {self.paths.shared}" if self.paths.shared else ""
        head, worth = phrases.evidence_head(self.report).lower(), phrases.evidence_worth(self.report)
        beside = ", ".join(filter(None, (folder, worth)))
        yield Row()
        if len(head) + 2 + len(beside) <= self.width:
            yield Row((head, "head"), (f"  {beside}", "dim"))
        else:
            yield Row((head, "head"), (f"  {folder}" if folder else "", "dim"))
            yield from wrap_rows(worth, self.width, 2, style="dim")
        column = min(MAX_PLACE_COLUMN_CHARS, max(len(self._place(p)) for p in proofs))
        shown: set[str] = set()
        for proof in sorted(proofs, key=lambda p: p != best):  # the one that decided, then the others in their order
            yield from self._proof(proof, column, proof == main)
            if proof.linked_by and proof.source not in shown:
                yield from self._linked(f"linked by {proof.linked_by}", column + 4)
                shown.add(proof.source)
        more = phrases.left_out(self.first, proofs)
        if more > 0:
            yield Row((f"  and {with_noun(more, 'more line')}, all in --format json", "dim"))

    def _place(self, proof: Proof) -> str:
        return self.paths.place(proof.source, proof.line)

    def _proof(self, proof: Proof, column: int, main: bool, context: bool = True) -> Iterator[Row]:
        before, after = phrases.neighbours_shown(self.first, proof) if context else ((), ())
        for line in before:
            yield from self._line(str(line.number).rjust(column), line.text, column, 1, "dim")
        place = self._place(proof)
        mark, rows, room = "> " if main else "  ", 3 if main else 2, self.width - column - 4
        if len(place) > column:  # too long for one row with its text
            yield Row((mark, "cause"), (place, "place"), link=proof.source)
            yield from self._line("", phrases.line_excerpt(proof, rows * room), column, rows, "main" if main else "")
        else:
            lines = cut_text(phrases.line_excerpt(proof, rows * room), room, rows)
            yield Row(
                (mark, "cause"), (place.ljust(column), "place"), ("  " + lines[0], "main" if main else ""), link=proof.source
            )
            yield from (Row((" " * (column + 4) + text, "main" if main else "")) for text in lines[1:])
        for line in after:
            yield from self._line(str(line.number).rjust(column), line.text, column, 1, "dim")

    def _linked(self, link: str, indent: int) -> Iterator[Row]:
        yield from wrap_rows(self.paths.within(link), self.width, min(indent, self.width // 2), style="dim")

    def _line(self, label: str, text: str, column: int, most: int, style: str) -> Iterator[Row]:
        for i, piece in enumerate(cut_text(text, self.width - column - 4, most)):
            yield Row((f"  {label if i == 0 else '':<{column}}  {piece}", style))

    def _others(self, findings: Sequence[Finding], remark: Callable[[Finding], str]) -> Iterator[Row]:
        for finding in findings:
            yield from self._other(finding, finding.title, remark(finding))

    def _other(self, finding: Finding, title: str, remark: str) -> Iterator[Row]:
        room = self.width - len(title) - 2
        remark = f"  {remark}" if remark else ""
        own_name = title.startswith("Xid ")  # NVIDIA's: the cause below is that of other events, too
        name = f"  {finding.id}" if len(finding.id) + 2 + len(remark) <= room and not own_name else ""
        beside = len(remark) <= room
        if room < 0:
            yield from wrap_rows(title, self.width, 2, style="symptom")
        else:
            yield Row((f"  {title}", "symptom"), (name + remark if beside else "", "dim"))
        if not beside:
            yield Row((f"  {remark}", "dim"))
        best, machine = finding.evidence[:1], self.report.subject is not None and self.report.subject.kind == "machine"
        above = [p for p in finding.evidence[1:] if machine and p.source == best[0].source and p.line < best[0].line]
        for proof in (*above[:1], *best):  # where a fault of a machine began, and what shows it best
            room = self.width - len(self._place(proof)) - 6
            yield self._quoted(4, proof.source, proof.line, phrases.line_excerpt(proof, room))
            if finding.role == "symptom" and proof.linked_by:
                yield from self._linked(phrases.link_text(proof.linked_by), 6 + len(self._place(proof)))

    def _quoted(self, indent: int, source: str, line: int, text: str) -> Row:
        """A line of a log in one row behind its place."""
        place = self.paths.place(source, line)
        said = cut_text(text, self.width - len(place) - indent - 2, 1)[0]
        return Row((" " * indent, ""), (place, "place"), (f"  {said}", ""), link=source)

    def _messages(self, messages: Sequence[MessageGroup]) -> Iterator[Row]:
        column = min(MAX_PLACE_COLUMN_CHARS, max((len(self.paths.place(m.source, m.line)) for m in messages), default=0))
        for message in messages:
            place, again = self.paths.place(message.source, message.line), phrases.repetition_text(message)
            room = self.width - max(column, len(place)) - 4
            if room - len(again) < MIN_SAID_CHARS:
                again = again.rpartition(", last on")[0]
            said = cut_text(message.text, room - len(again), 1)[0]
            mark, style = ("  ", "dim") if message.context else ("> ", "main" if message.alarming else "")
            yield Row((mark, ""), (place.ljust(column), "place"), (f"  {said}", style), (again, "dim"), link=message.source)

    def _remedies(self) -> Iterator[Row]:
        advice = phrases.remedies(self.report)
        for i, remedy in enumerate(advice):
            yield from self._remedy(remedy, full=i < IN_FULL)
        if more := [a.rank for a in advice[IN_FULL:] if a.commands or a.why]:
            yield Row((f"  more on {' and '.join(map(str, more))}: --format markdown", "dim"))

    def _remedy(self, remedy: Advice, full: bool) -> Iterator[Row]:
        who = phrases.WHO.get(remedy.who, remedy.who)
        yield from wrap_rows(remedy.action, self.width, REMEDY_COLUMNS, f"  {remedy.rank} {who:<5}  ")
        if not full:
            return
        yield from wrap_rows(remedy.why, self.width, REMEDY_COLUMNS, style="dim")
        yield from (Row((" " * REMEDY_COLUMNS + phrases.prompt(c), "dim"), (c, "command")) for c in remedy.commands)
        if remedy.reference:
            clause = f" ({said})" if (said := phrases.confirmed_text(remedy.confirmed)) else ""
            yield Row((" " * REMEDY_COLUMNS + remedy.reference + clause, "dim"))

    def _unknown(self) -> Iterator[Row]:
        for unknown in self.report.missing:
            yield from wrap_rows(f"{unknown.what}. {unknown.why}", self.width, 2)
            yield Row(("    " + phrases.prompt(unknown.command), "dim"), (unknown.command, "command"))

    def _possible(self) -> Iterator[Row]:
        """What it may be, each with the observation that tells it, and what the logs rule out."""
        for number, told in enumerate(phrases.possible_shown(self.report), 1):
            yield from wrap_rows(told.sign, self.width, 4, f"  {number} ")
            yield from (Row(("    " + phrases.prompt(c), "dim"), (c, "command")) for c in told.commands)
            yield from wrap_rows(f"then: {told.first}", self.width, 4, style="dim")
        for told in phrases.excluded(self.report):
            place = self.paths.place(told.source, told.line)
            yield from wrap_rows(f"ruled out: {', '.join(told.causes)}; {told.why} ({place})", self.width, 2)

    def _earlier(self) -> Iterator[Row]:
        for attempt in course.attempts_shown(self.report):
            remark = f"  {course.title_remark(attempt)}" if attempt.same_cause else ""
            lead = f"  {attempt.number:<3} "
            title = cut_text(attempt.title, self.width - len(lead) - len(remark), 1)[0]
            yield Row((lead, "dim"), (title, "symptom"), (remark, "dim"))
            yield self._quoted(6, attempt.source, attempt.line, attempt.text)
            yield from wrap_rows(course.changes_clause(attempt), self.width, 6)
        if more := course.left_out_note(self.report):
            yield Row((f"  {more}", "dim"))

    def _every_incident(self) -> Iterator[Row]:
        """Each incident after the first in full, if the style asks for it."""
        total = len(self.report.incidents)
        for incident in self.report.incidents[1:] if self.every else ():
            if not incident.findings:
                continue
            first = incident.findings[0]
            share = phrases.percent_text(first.probability)
            yield Row()
            yield Row((f"incident {incident.id} of {total}", "head"), (f"  {first.title}  {first.id}  {share}", "sure"))
            yield from wrap_rows(first.summary, self.width, 2)
            time = incident.time or incident.start
            yield from labelled(self.width, "  where", first.where)
            yield from labelled(self.width, "  when", course.clock_text(time, "", self.report))
            yield from labelled(self.width, "  do first", first.remediations[0].action if first.remediations else "", STEP_ROWS)
            proofs = phrases.quoted_evidence(first, MAX_TEXT_PROOFS)
            column = min(MAX_PLACE_COLUMN_CHARS, max((len(self._place(p)) for p in proofs), default=0))
            for proof in proofs:
                yield from self._proof(proof, column, proof == first.evidence[0] and proof.weight != "hint", context=False)

    def _notices(self, group: NoticeGroup) -> Iterator[Row]:
        for notice, why in group.shown:
            yield self._quoted(2, notice.source, notice.line, notice.text)
            yield from wrap_rows(why, self.width, 6, style="dim")
        if group.more:
            yield Row((f"  and {group.more} more, all in --format json", "dim"))

    def _read(self) -> Iterator[Row]:
        for s in self.report.sources[:MAX_NAMED_SOURCES]:
            lines = phrases.lines_read(s)
            told = ", ".join(filter(None, (lines, phrases.kind_of_source(s), s.compression)))
            yield Row((f"  {s.name}", ""), (f"  {told}", "dim"))
        if len(self.report.sources) > MAX_NAMED_SOURCES:
            yield Row((f"  and {with_noun(len(self.report.sources) - MAX_NAMED_SOURCES, 'more source')}", "dim"))
        if self.report.environment:
            settings = dict.fromkeys(f"{s.name} {s.value}" for s in self.report.environment)
            yield from wrap_rows("running on " + ", ".join(settings), self.width, 2)
        for where, message in phrases.warning_notes(self.report):
            yield from wrap_rows(f"note: {self.paths.short(where) + ': ' if where else ''}{message}", self.width, 2, style="dim")
