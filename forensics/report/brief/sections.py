"""The sections of a brief in reading order, from a report. What has no item has no section.

The number beside each item is its worth: 0 is taken first, and a brief of 600 tokens ends at about 4, one of 2,000 at 12.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from forensics.core import lazy
from forensics.core.text import number_ranges
from forensics.model import Curve, Finding, MessageGroup, Proof, Report
from forensics.report import course, overview, phrases
from forensics.report.brief.voices import Item, Section, Speech
from forensics.report.course import FOLLOWED, UNCONFIRMED, consequences, delay_text, unconfirmed_consequences
from forensics.report.curves import relevant_curves, value_text
from forensics.report.difference import BASELINE_HEAD, baseline_rows
from forensics.report.overview import notice_groups, seen_before
from forensics.report.paths import Paths
from forensics.report.ranks import folded_states
from forensics.report.subjects import ending_sentence

SHOWN_WIDTHS = (2000, 600, 240, 120)  # characters of a line in its forms: as the report has it, then a third of that and less


ANY_NUMBER = lazy.regex(r"\d+")
RANKS_PER_WORTH = 4  # chosen by hand: the lines of evidence that are taken before something else gets its turn
FIRST_LINE_SHARE, LINE_SHARE = 0.4, 0.15  # of the budget: the best line may be long, and others must have their place
CONTEXT_WORTH = 5  # of a line beside one that matters
FEW_LINES = 5  # chosen by hand: of the end of a log, taken before something else gets its turn


def cut(text: str, room: int) -> str:
    """The first `room` characters."""
    return text if len(text) <= room else text[: room - 1] + "…"


def forms_of(lead: str, proof: Proof, end: str = "") -> tuple[tuple[str, ...], ...]:
    """A line of evidence behind `lead`, whole and shortened around what was matched."""
    rows = (f"{lead}{cut(phrases.line_excerpt(proof, width), width)}{end}".rstrip() for width in SHOWN_WIDTHS)
    return tuple((row,) for row in dict.fromkeys(rows))


def evidence_items(finding: Finding, paths: Paths, worth: int, more: int, mark: bool) -> Iterator[Item]:
    """The lines of `finding` by source and line, each once; of lines that differ only in numbers the best and the last one.

    `worth`: of the best line. `more`: of the others, which grows with their rank. `mark`: the best line is marked.
    """
    best = phrases.told_evidence(finding)
    sources = list(dict.fromkeys(p.source for p in best))
    made: dict[tuple[str, int], Item] = {}
    for rank, (proof, alike) in enumerate(_folded(best)):
        least = worth if not rank else more + rank // RANKS_PER_WORTH
        place = f"{'> ' if mark and not rank else ''}{paths.place(proof.source, proof.line)}: "
        forms = forms_of(place, proof, f"  ({alike:,} more like it)" if alike else "")
        made[proof.source, proof.line] = Item(
            least, forms, share=LINE_SHARE if rank else FIRST_LINE_SHARE, place=(proof.source, proof.line)
        )
        before, after = phrases.neighbours_shown(finding, proof)
        continued = proof.after[: proof.continued]
        for line in (*before, *after):
            near = least + (1 if line in continued else 2)
            made.setdefault((proof.source, line.number), quoted_item(proof.source, line.number, line.text, paths, near))
    yield from (made[key] for key in sorted(made, key=lambda k: (sources.index(k[0]), k[1])))


def _folded(proofs: Sequence[Proof]) -> list[tuple[Proof, int]]:
    """The proofs that are shown, in order, each with the number of those like it that are not."""
    groups: dict[tuple[bool, str], list[Proof]] = {}
    for proof in proofs:
        groups.setdefault((proof.earlier, ANY_NUMBER.sub("0", proof.text)), []).append(proof)
    last = {id(g[0]): max(g[1:], key=lambda p: (p.source, p.line)) for g in groups.values() if len(g) > 1}
    shown = [(g[0], max(0, len(g) - 2)) for g in groups.values()]
    kept = {id(p): alike for p, alike in shown} | {id(p): 0 for p in last.values()}
    return [(p, kept[id(p)]) for p in proofs if id(p) in kept]


def quoted_item(source: str, number: int, text: str, paths: Paths, worth: int, end: str = "", lead: str = "") -> Item:
    """Any line of a log. `lead`, `end`: words around it."""
    rows = (f"{lead}{paths.place(source, number)}: {cut(text, width)}{end}".rstrip() for width in SHOWN_WIDTHS)
    return Item(worth, tuple((row,) for row in dict.fromkeys(rows)), place=(source, number))


def message_items(messages: Iterable[MessageGroup], paths: Paths, worth: int) -> Iterator[Item]:
    """Lines that were chosen by their words, each with how often it occurs; their neighbours are worth less."""
    for message in messages:
        rank = worth + CONTEXT_WORTH * message.context
        yield quoted_item(message.source, message.line, message.text, paths, rank, phrases.repetition_text(message))


def last_items(messages: Sequence[MessageGroup], paths: Paths, worth: int) -> Iterator[Item]:
    """The last lines of each source, the later and the alarming ones worth more."""
    behind = {source: sum(m.source == source for m in messages) for source in {m.source for m in messages}}
    for message in messages:
        behind[message.source] -= 1
        end = f"  ({message.count:,} like it)" if message.count > 1 else ""
        rank = worth + behind[message.source] // FEW_LINES - message.alarming
        yield quoted_item(message.source, message.line, message.text, paths, rank, end)


def titled_item(lead: str, proofs: Sequence[Proof], paths: Paths, worth: int) -> Item:
    """A title with its best line in one row; where the line stands elsewhere, with its place alone."""
    if not proofs:
        return Item(worth, ((lead,),))
    proof, place = proofs[0], paths.place(proofs[0].source, proofs[0].line)
    forms = (*forms_of(f"{lead}; {place}: ", proof), (f"{lead}; {place}",))
    return Item(worth, forms, place=(proof.source, proof.line), again=f"{lead}; {place}, quoted elsewhere")


NO_DOUBT_PROBABILITY = 0.9  # chosen by hand: the probability from which on a reader needs no other explanation
MAX_BRIEF_CURVES = 6  # chosen by hand: losses, rates and memory of a run; json has all
MAX_RIVAL_LINES = 3  # chosen by hand: of each other cause behind its best line


class Told(NamedTuple):
    """What the sections are made of."""

    report: Report
    paths: Paths
    speech: Speech

    @property
    def open(self) -> bool:
        """Is nothing sure, so that the lines themselves are worth more than what is said of them?"""
        return phrases.is_guess(self.report) or phrases.shows_no_crash(self.report)

    @property
    def doubtful(self) -> bool:
        """Is the first cause not sure, so that the end of the log is worth more than what is said of it?"""
        return self.report.verdict != "crash" or self.report.causes[0].probability < NO_DOUBT_PROBABILITY


def told(report: Report) -> Told:
    """A report with what all its sections need."""
    return Told(report, Paths.of(report), Speech(report))


def sections(about: Told) -> list[Section]:
    """All sections that have something to say, in reading order."""
    report = about.report
    found = [
        Section("How it ended", (*_account(about),)),
        Section(phrases.evidence_head(report), (*_event(about),)),
        Section(BASELINE_HEAD, (*_baseline(about),)),
        Section("Lines to read first", (*message_items(phrases.lines_to_read(report), about.paths, 2),)),
        Section("What to do first", (*_first_step(about),)),
        Section("Ranks", (*_ranks(about),)),
        Section(FOLLOWED, (*_followed(about, FOLLOWED),)),
        Section(UNCONFIRMED, (*_followed(about, UNCONFIRMED),)),
        Section(course.heading(report), (*_attempts(about),)),
        Section(phrases.others_head(report), (*_rivals(about),)),
        Section("Other incidents", (*_incidents(about),)),
        *_notices(about),
        Section("Last lines", (*last_items(report.last_lines, about.paths, 3 if about.doubtful else 12),)),
        Section("In numbers", (*_numbers(about),)),
        Section("Environment", (*_environment(about),)),
        Section("What is missing", (*_missing(about),)),
        Section("More remedies", (*_more_remedies(about),)),
        Section("What was read", (*_read(about),)),
    ]
    return [section for section in found if section.items]


def _own_or_logged(about: Told, worth: int, *rows: str, share: float = 0.15) -> Item:
    """One sentence in forms of falling length; the log's if one of them has its words."""
    given = tuple((row,) for row in dict.fromkeys(filter(None, rows)))
    return Item(worth, given, about.speech.voice(rows[0]), share)


def _account(about: Told) -> Iterator[Item]:
    """How it ended, why, where and when: sentences that may repeat words of the log."""
    report = about.report
    ended, happened = str(ending_sentence(report) or ""), phrases.what_happened(report)
    parts = happened.split(". ")
    shorter = [". ".join(parts[:n]).rstrip(".") + "." for n in (2, 1)]
    if phrases.is_guess(report):
        yield Item(1, ((happened,), (shorter[1],)), "own", 0.2)
    elif happened:
        yield Item(1, tuple((row,) for row in dict.fromkeys((happened, *shorter))), share=0.2)
    answers = (
        (1, ended),
        (2, _labelled("where", overview.location(report))),
        (3, _labelled("when", course.first_shown(report))),
        (3, _labelled("folder", about.paths.shared)),
        (4, seen_before(report)),
    )
    yield from (Item(worth, ((row,),)) for worth, row in answers if row)
    if said := phrases.verdict(report):
        yield Item(3, ((said,),), "own")


def _labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if text else ""


def _event(about: Told) -> Iterator[Item]:
    first = about.report.causes[0]
    more = 6 if phrases.shows_no_crash(about.report) else 2 if about.open else 3
    yield from evidence_items(first, about.paths, 0, more, mark=not about.open)


def _baseline(about: Told) -> Iterator[Item]:
    beside, rows = baseline_rows(about.report)
    yield from (Item(4, tuple((f"{name}: {cut(text, width)}",) for width in (600, 120))) for name, text in rows)
    if beside:
        yield Item(9, ((beside,),))


def _first_step(about: Told) -> Iterator[Item]:
    """The first remedy, or the line to read, or the question to answer; then why, and its commands."""
    if step := overview.do_first(about.report):
        yield _own_or_logged(about, 1, step)
    for advice in phrases.remedies(about.report)[:1]:
        if advice.why:
            yield _own_or_logged(about, 6, advice.why)
        yield from _commands(about, 5, advice.commands)


def _commands(about: Told, worth: int, commands: tuple[str, ...]) -> Iterator[Item]:
    """Commands that this program proposes; none that has words of the log in it which are more than a name."""
    for command in commands:
        if about.speech.voice(command) == "own":
            yield Item(worth, (tuple(command.splitlines()),), "command", 0.2)


def _more_remedies(about: Told) -> Iterator[Item]:
    for advice in phrases.remedies(about.report)[1:]:
        clause = phrases.confirmed_text(advice.confirmed)
        said = f"- {phrases.WHO.get(advice.who, advice.who)}: {advice.action}" + (f" ({clause})" if clause else "")
        yield _own_or_logged(about, 9 + advice.rank, f"{said}. {advice.why}".rstrip(), said)
        yield from _commands(about, 11 + advice.rank, advice.commands)


def _ranks(about: Told) -> Iterator[Item]:
    """What the ranks do, folded by state; then the last calls of the odd ones beside those of a rank that waits for it."""
    seen = about.report.ranks
    if seen is None or not seen.odd:
        return
    for state, ranks in folded_states(seen.rows).items():
        yield Item(4, ((f"{number_ranges(ranks)}: {state}",),))
    for last in seen.last:
        rows = [f"{own or '-'}  |  {other or '-'}" for own, other in zip_longest(last.own_calls, last.other_calls, fillvalue="")]
        head = f"last calls of rank {last.rank}  |  of rank {last.other}"
        yield Item(8, tuple((head, *rows[-shown:]) for shown in (8, 3)))


def _followed(about: Told, head: str) -> Iterator[Item]:
    first = about.report.causes[0]
    for finding in (consequences if head == FOLLOWED else unconfirmed_consequences)(about.report):
        delay = delay_text(finding, first) if head == FOLLOWED else ""
        yield titled_item(", ".join(filter(None, (finding.title, delay))), finding.evidence, about.paths, 3)


def _attempts(about: Told) -> Iterator[Item]:
    """A line for each earlier attempt; the last ones are worth most."""
    shown = course.attempts_shown(about.report)
    for behind, attempt in zip(range(len(shown) - 1, -1, -1), shown, strict=True):
        said = "; ".join(filter(None, (attempt.title, course.title_remark(attempt), course.changes_clause(attempt))))
        lead = f"attempt {attempt.number}, lines {attempt.first_line} to {attempt.last_line}: {said}; "
        yield quoted_item(attempt.source, attempt.line, attempt.text, about.paths, 5 + behind, lead=lead)
    more = len(about.report.earlier_attempts) - len(shown)
    if more > 0:
        yield Item(8, ((f"{more} more before them",),), "own")


def _rivals(about: Told) -> Iterator[Item]:
    """Each other cause with its best line; then further lines of those, which fill what is left of the budget."""
    report = about.report
    likely = phrases.also_possible(report)
    rest = [
        f
        for f in report.causes[1:]
        if f not in likely and f.role != "symptom" and f.evidence and not f.id.startswith(phrases.NO_CAUSE)
    ]
    for finding in (*likely, *rest):
        at = 4 if finding in likely else 10
        lead = f"{phrases.percent_text(finding.probability)} {finding.id}: {finding.title}"
        yield titled_item(lead, finding.evidence, about.paths, at)
        for proof in finding.evidence[1 : 1 + MAX_RIVAL_LINES]:
            yield quoted_item(proof.source, proof.line, proof.text, about.paths, at + 7)


def _incidents(about: Told) -> Iterator[Item]:
    report = about.report
    for group in overview.other_incidents(report)[: overview.MAX_LISTED_INCIDENTS]:
        time = course.clock_text(group.start, "", report)
        said = ": ".join(filter(None, (time, overview.group_text(group))))
        yield Item(7, ((f"incident {overview.incident_numbers(group)}: {said}",),))


def _notices(about: Told) -> Iterator[Section]:
    """What ended nothing: own notices are what came before or beside it."""
    for group in notice_groups(about.report):
        items = []
        for notice, why in group.shown:
            end = f" ({why})" if why else ""
            items.append(quoted_item(notice.source, notice.line, notice.text, about.paths, 8, end))
        yield Section(group.head, tuple(items))


def _numbers(about: Told) -> Iterator[Item]:
    relevant = relevant_curves(about.report)
    others = [c for c in about.report.curves if c not in relevant]
    for curve in (*relevant, *others)[:MAX_BRIEF_CURVES]:
        yield Item(6 if curve in relevant else 11, ((_in_numbers(curve, about.paths),),))


def _in_numbers(curve: Curve, paths: Paths) -> str:
    """`loss: 2.31 on line 10, least 0.4 on 200, greatest 9 on 300, last NaN on 340; 38 readings of train.log`."""
    known = [(value, line) for line, value in curve.points if value is not None]
    told_points = [("", curve.points[0][1], curve.points[0][0])]
    if known:
        told_points += [("least ", *min(known)), ("greatest ", *max(known))]
    told_points.append(("last ", curve.points[-1][1], curve.points[-1][0]))
    once = {line: f"{name}{value_text(value, curve.unit)} on {line}" for name, value, line in told_points}
    rank = f", rank {curve.rank}" if curve.rank is not None else ""
    name = f"{paths.short(curve.source)}{rank}"
    return f"{curve.name}: {', '.join(once.values())}; {len(curve.points)} readings of {name}"


def _environment(about: Told) -> Iterator[Item]:
    settings = [*dict.fromkeys(f"{s.name} {s.value}" for s in about.report.environment)]
    if settings:
        yield Item(7, (("; ".join(settings),), ("; ".join(settings[:6]),)))


def _missing(about: Told) -> Iterator[Item]:
    for i, unknown in enumerate(about.report.missing):
        yield _own_or_logged(about, 5 + i, f"- {unknown.what}: {unknown.why}", f"- {unknown.what}")
        yield from _commands(about, 5 + i, (unknown.command,) if unknown.command else ())


def _read(about: Told) -> Iterator[Item]:
    for source in about.report.sources[:20]:
        told = ", ".join(filter(None, (phrases.lines_read(source), phrases.kind_of_source(source))))
        yield Item(13, ((f"{about.paths.short(source.name)}: {told}",),))
    for where, message in phrases.warning_notes(about.report):
        yield Item(13, ((f"note: {about.paths.short(where) + ': ' if where else ''}{message}",),))
