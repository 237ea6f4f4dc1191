"""The report as Markdown for an issue or a ticket: log text only inside fences and code spans that it cannot close.

It is made of blocks, each with its worth. What does not fit into the characters allowed is left out, the least important first,
and a sentence says so.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from forensics.core.text import format_size, with_noun
from forensics.model import Advice, Finding, MessageGroup, Proof, Report
from forensics.report import course, overview, phrases
from forensics.report.course import FOLLOWED, UNCONFIRMED, consequences, course_steps, unconfirmed_consequences
from forensics.report.curves import first_to_last, relevant_curves, sparkline
from forensics.report.difference import BASELINE_HEAD, baseline_rows
from forensics.report.escape import code, code_cell, escape, escape_html, fenced_block, link_text, prose, table_lines
from forensics.report.overview import NoticeGroup, notice_groups, seen_before
from forensics.report.paths import Paths
from forensics.report.style import Style
from forensics.report.subjects import ending_sentence

LEFT_OUT = "*Left out to fit: {}. `forensics analyze --format json` has all of it.*"


class Block(Struct, frozen=True):
    """Some lines of the document. `worth`: 0 is always kept; a block with a greater number is left out earlier."""

    name: str
    worth: int
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return sum(len(line) + 1 for line in self.lines)


def fit_blocks(blocks: Iterable[Block], room: int) -> str:
    """The lines of `blocks` in at most `room` characters, ending with a line end."""
    kept, gone = list(blocks), list[str]()
    while sum(map(len, kept)) + (len(LEFT_OUT) + sum(len(g) + 2 for g in gone) + 2 if gone else 0) > room:
        worst = max(kept, key=lambda b: b.worth)
        if worst.worth == 0:
            break
        kept.remove(worst)
        gone.append(worst.name)
    lines = [line for block in kept for line in block.lines]
    if gone:
        lines += ["", LEFT_OUT.format(", ".join(dict.fromkeys(reversed(gone))))]
    text = "\n".join(lines) + "\n"
    return text if len(text) <= room else text[: room - 2].rstrip("\\\n") + "…\n"


MAX_MARKDOWN_PROOFS = 8  # chosen by hand: a comment on an issue that is read without folding; json has all
MAX_MARKDOWN_LINE_CHARS = 500  # five rows of a page; GitHub does not wrap what is quoted as code
MAX_MARKDOWN_SUMMARY_CHARS = 3000  # chosen by hand: thirty rows of a page; a longer summary quotes a long message
MAX_TITLES_CHARS = 200  # two rows of a page, of a list that is folded
MAX_TABLE_ROWS = 40  # chosen by hand: of a table in an issue


def render(report: Report, style: Style) -> str:
    """The whole document, at most `style.max_chars` characters, ending with a line end."""
    return fit_blocks([b for b in _blocks(report, style.every_incident) if b.lines], style.max_chars)


def _blocks(report: Report, every: bool) -> Iterator[Block]:
    paths = Paths.of(report)
    first = report.causes[0]
    yield Block("summary", 0, tuple(_summary(report)))
    yield Block("where and when", 1, tuple(_overview(report)))
    yield Block("other incidents", 3, tuple(_incidents(report)))
    yield Block("course", 5, tuple(_course(report, paths)))
    head = phrases.evidence_head(report) + (f" in {code(paths.shared)}" if paths.shared else "")
    yield Block("evidence", 1, tuple(_below(head, _evidence(first, paths))))
    yield Block("what differs from the good run", 3, tuple(_below(BASELINE_HEAD, _baseline(report))))
    yield Block("what followed", 4, tuple(_others(FOLLOWED, consequences(report), paths, odds=False)))
    yield Block("what else was reported", 4, tuple(_others(UNCONFIRMED, unconfirmed_consequences(report), paths, odds=False)))
    yield Block("other causes", 6, tuple(_others(phrases.others_head(report), phrases.also_possible(report), paths, odds=True)))
    yield Block(
        "lines to read first",
        2,
        tuple(_below("Lines to read first", _messages(phrases.lines_to_read(report), paths, phrases.UNUSUAL))),
    )
    yield Block("last lines", 3, tuple(_below(phrases.LAST_WORDS_HEAD, _messages(phrases.last_words(report), paths))))
    advised = phrases.remedies(report)
    if advised:
        yield Block("what to do", 2, ("", "### What to do", ""))
    for advice in advised:
        yield Block(f"remedy {advice.rank}", 2 + advice.rank, tuple(_remedy(advice, _logged(report))))
    yield Block("what it may be", 3, tuple(_below(phrases.POSSIBLE_HEAD, _possible(report, paths))))
    yield Block("what is not known", 7, tuple(_below("Not known", _unknown(report))))
    yield Block("earlier attempts", 7, tuple(_below(course.heading(report), _earlier(report, paths))))
    for group in notice_groups(report):
        yield Block(group.head.lower(), 8, tuple(_below(group.head, _notices(group, paths))))
    yield Block("environment", 9, tuple(_below("Environment", _environment(report, paths))))
    yield Block("processes", 10, tuple(_processes(report)))
    if every:
        yield from _every_incident(report, paths)
    yield Block("what was read", 11, tuple(_read(report)))
    yield Block(
        "how it was made", 12, ("", f"<sub>forensics {escape(report.tool.get('version', ''))}, case {code(report.case)}</sub>")
    )


def _summary(report: Report) -> Iterator[str]:
    first = report.causes[0]
    if phrases.is_guess(report):
        yield from (f"## {phrases.headline(report)}", "", *_ending(report))
    else:
        odds = f" ({phrases.odds_text(report)})" if phrases.odds_text(report) else ""
        yield from (f"## {escape(phrases.headline(report))}{odds}", "", *_ending(report))
        yield from (f"{code(first.id)} {phrases.verdict(report)}".rstrip(), "")
    yield prose(phrases.what_happened(report)[:MAX_MARKDOWN_SUMMARY_CHARS], _logged(report))


def _overview(report: Report) -> Iterator[str]:
    answers = (
        ("Where", code(overview.location(report))),
        ("When", course.first_shown(report)),
        ("History", escape(seen_before(report))),
    )
    steps_first = prose(overview.do_first(report), _logged(report))
    rows = [f"- **{label}:** {text}" for label, text in (*answers, ("Do first", steps_first)) if text]
    yield from ("", *rows) if rows else ()


def _logged(report: Report) -> list[str]:
    """The texts of the log that may occur in the sentences about the first cause."""
    return [v for v in report.causes[0].facts.values() if isinstance(v, str)]


def _incidents(report: Report) -> Iterator[str]:
    """The other incidents, similar ones in one row."""
    others = overview.other_incidents(report)
    if not others:
        return
    number = report.incidents[0].id
    yield from ("", f"### {len(report.incidents):,} incidents; number {number} is shown here", "")
    rows = []
    for group in others[:MAX_TABLE_ROWS]:
        time = course.clock_text(group.start, "", report)
        share = phrases.percent_text(group.probability) if group.probability is not None else ""
        what = prose(overview.group_text(group), [group.subject]).replace("|", "¦")
        rows.append((overview.incident_numbers(group), time, what, share))
    yield from table_lines(("number", "time", "what", "probability"), rows, right=("probability",))
    quiet = overview.quiet_incidents(report)
    if quiet:
        yield from ("", f"In {with_noun(quiet, 'more stretch', 'more stretches')} of time, nothing visibly ended badly.")


def _every_incident(report: Report, paths: Paths) -> Iterator[Block]:
    """Each incident after the first in full."""
    for incident in report.incidents[1:]:
        if not incident.findings:
            continue
        finding = incident.findings[0]
        logged = [v for v in finding.facts.values() if isinstance(v, str)]
        odds = phrases.percent_text(finding.probability)
        lines = ["", f"### Incident {incident.id} of {len(report.incidents)}: {finding.title} ({odds})", ""]
        lines += [prose(finding.summary[:MAX_MARKDOWN_SUMMARY_CHARS], logged)]
        lines += ["", f"Where: {code(finding.where)}"] if finding.where else []
        proofs = phrases.quoted_evidence(finding, MAX_MARKDOWN_PROOFS)
        lines += ["", *fenced_block([_quoted_line(p, paths) for p in proofs])] if proofs else []
        lines += ["", f"Do first: {prose(finding.remediations[0].action, logged)}"] if finding.remediations else []
        yield Block(f"incident {incident.id}", 13, tuple(lines))


def _below(head: str, lines: Iterable[str]) -> Iterator[str]:
    """`lines` below their heading; nothing without lines."""
    if found := list(lines):
        yield from ("", f"### {head}", "", *found)


def _folded(head: str, lines: Iterable[str]) -> Iterator[str]:
    """`lines` that are shown on demand."""
    yield from ("", f"<details><summary>{head}</summary>", "", *lines, "", "</details>")


def _earlier(report: Report, paths: Paths) -> Iterator[str]:
    if not report.earlier_attempts:
        return
    lines = []
    for a in course.attempts_shown(report):
        remark = f" ({course.title_remark(a)})" if a.same_cause else ""
        lines += [f"attempt {a.number}: {a.title}{remark}", f"    {_quoted(paths, a.source, a.line, a.text)}"]
        lines += [f"    {changed}"] if (changed := course.changes_clause(a)) else []
    yield from (f"{course.introduction(report)}:".capitalize(), "", *fenced_block(lines))
    if more := course.left_out_note(report):
        yield from ("", more)


def _ending(report: Report) -> Iterator[str]:
    sentence = ending_sentence(report)
    if sentence:
        yield from (sentence.written(code, escape), "")


def _course(report: Report, paths: Paths) -> Iterator[str]:
    rows = []
    for i, step in enumerate(course_steps(report)):
        when = course.first_shown(report) if not i else f"+ {step.gap}" if step.gap else ""
        rows.append((when, code_cell(paths.place(step.source, step.line)), escape(step.title)))
    if rows:
        yield from ("", *table_lines(("when", "where", "what"), rows))
    for curve in relevant_curves(report)[:2]:
        yield ""
        yield f"{code(curve.name)} {sparkline(curve)} {first_to_last(curve)} ({code(paths.short(curve.source))})"


def _baseline(report: Report) -> Iterator[str]:
    beside, rows = baseline_rows(report)
    if beside:
        yield from (f"{escape(beside)}.", "")
        yield from (f"- {code(name)}: {code(text[:MAX_MARKDOWN_LINE_CHARS])}" for name, text in rows)


def _evidence(finding: Finding, paths: Paths) -> Iterator[str]:
    proofs = phrases.quoted_evidence(finding, MAX_MARKDOWN_PROOFS)
    if not proofs:
        return
    lines: list[str] = []
    for proof in proofs:
        before, after = phrases.neighbours_shown(finding, proof)
        lines += [f"{' ' * 4}{x.number}: {x.text[:MAX_MARKDOWN_LINE_CHARS]}" for x in before]
        lines.append(_quoted_line(proof, paths))
        lines += [f"{' ' * 4}{x.number}: {x.text[:MAX_MARKDOWN_LINE_CHARS]}" for x in after]
    yield from fenced_block(lines)
    links = {p.source: p.linked_by for p in reversed(proofs) if p.linked_by}
    if links:
        yield ""
    yield from (
        f"- {code(paths.short(source))} is linked by {code(paths.within(link))}" for source, link in reversed(links.items())
    )
    rest = phrases.left_out(finding, proofs)
    if rest > 0:
        yield from ("", f"and {with_noun(rest, 'more line')}")


def _quoted_line(proof: Proof, paths: Paths) -> str:
    return _quoted(paths, proof.source, proof.line, phrases.line_excerpt(proof, MAX_MARKDOWN_LINE_CHARS))


def _quoted(paths: Paths, source: str, line: int, text: str) -> str:
    return f"{paths.place(source, line)}: {text[:MAX_MARKDOWN_LINE_CHARS]}"


def _messages(messages: Sequence[MessageGroup], paths: Paths, lead: str = "") -> Iterator[str]:
    if messages:
        marks = ((" " if m.context else ">", m, m.text[:MAX_MARKDOWN_LINE_CHARS] + phrases.repetition_text(m)) for m in messages)
        lines = [f"{mark} {paths.place(m.source, m.line)}: {text}" for mark, m, text in marks]
        yield from (*((escape(lead), "") if lead else ()), *fenced_block(lines))


def _others(head: str, findings: list[Finding], paths: Paths, odds: bool) -> Iterator[str]:
    if not findings:
        return
    titles = "; ".join(f.title for f in findings)[:MAX_TITLES_CHARS]
    lines: list[str] = []
    for finding in findings:
        chance = f", {phrases.percent_text(finding.probability)}" if odds else ""
        lines.append(f"- {escape(finding.title)} ({code(finding.id)}{chance})")
        for proof in finding.evidence[:1]:
            lines += ["", *(f"  {x}" for x in fenced_block([_quoted_line(proof, paths)]))]
            lines += ["", f"  linked by {code(paths.within(proof.linked_by))}"] if proof.linked_by else []
    yield from _folded(f"{head}: {escape_html(titles)}", lines)


def _remedy(advice: Advice, logged: list[str]) -> Iterator[str]:
    who = phrases.WHO.get(advice.who, advice.who)
    yield f"- [ ] **{who}**: {prose(advice.action, logged)}. {prose(advice.why, logged)}".rstrip()
    if advice.commands:
        yield from ("", *(f"  {x}" for x in fenced_block(list(advice.commands), "sh")))
    if advice.reference:
        clause = f" ({said})" if (said := phrases.confirmed_text(advice.confirmed)) else ""
        yield from ("", f"  {link_text(advice.reference)}{clause}")


def _unknown(report: Report) -> Iterator[str]:
    logged = _logged(report)
    for unknown in report.missing:
        yield f"- {prose(unknown.what, logged)}: {prose(unknown.why, logged)} {code(unknown.command)}"


def _possible(report: Report, paths: Paths) -> Iterator[str]:
    """What it may be, each with the observation that tells it, and what the logs rule out."""
    for told in phrases.possible_shown(report):
        looks = "".join(f" {code(command)}" for command in told.commands)
        yield f"1. {told.sign}{looks}. Then: {told.first}"
    for told in phrases.excluded(report):
        yield f"- ruled out: {', '.join(map(code, told.causes))}; {told.why} ({code(paths.place(told.source, told.line))})"


def _notices(group: NoticeGroup, paths: Paths) -> Iterator[str]:
    """The notices in a fence with their reasons, which also have words of the log in them."""
    lines: list[str] = []
    for notice, why in group.shown:
        lines += [_quoted(paths, notice.source, notice.line, notice.text), *([f"    {why}"] if why else [])]
    yield from fenced_block(lines)
    if group.more:
        yield from ("", f"and {with_noun(group.more, 'more line')}")


def _environment(report: Report, paths: Paths) -> Iterator[str]:
    rows = [(escape(s.name), code_cell(s.value), code_cell(paths.place(s.source, s.line))) for s in report.environment]
    yield from table_lines(("what", "value", "where"), rows) if rows else ()


def _processes(report: Report) -> Iterator[str]:
    rows = [(str(p.pid), code_cell(p.task), format_size(p.rss_bytes), "killed" if p.killed else "") for p in report.processes]
    if rows:
        head, right = ("pid", "process", "resident, with files", " "), ("pid", "resident, with files")
        yield from _folded("Processes when memory ran out", table_lines(head, rows, right))


def _read(report: Report) -> Iterator[str]:
    rows = [(code_cell(s.name), str(s.lines), escape(s.format), escape(s.clock)) for s in report.sources[:MAX_TABLE_ROWS]]
    if len(report.sources) > MAX_TABLE_ROWS:
        rows.append((f"and {with_noun(len(report.sources) - MAX_TABLE_ROWS, 'more source')}", "", "", ""))
    found_notes = phrases.warning_notes(report)
    notes = [f"{f'{where}: ' if where else ''}{message}" for where, message in found_notes[:MAX_TABLE_ROWS]]
    notes += [f"and {with_noun(len(found_notes) - MAX_TABLE_ROWS, 'more note')}"] if len(found_notes) > MAX_TABLE_ROWS else []
    table = table_lines(("source", "lines", "format", "clock"), rows, right=("lines",))
    yield from _folded("What was read", [*table, *(["", *fenced_block(notes)] if notes else [])])
