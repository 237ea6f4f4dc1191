"""Rank the lines that most likely say why a log ended badly, for logs whose reason no signature knows.

    Error: Ref "/docs/4.3" not found      ->  1.3     an error word, 3 lines before `npm ERR! Test failed`
    Executed Test_timer_catch_error()     -> -4.7     an error word, too, but 500 lines before it
    step 12 loss 0.4                      -> -1.7     one of 600 such lines

A linear model scores each line by its words (hashed as in ending_words.py) and by its place (STRUCTURE). It was learned from
lines that were marked in failed logs. The scores above are those of the shipped weights: log odds without their constant term, so
only their order and their differences have a meaning. The logs are read a second time; of a long log an even sample and its end.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from math import log1p

from msgspec import Struct

from forensics.core.text import last_frame
from forensics.line_formats import unlabelled
from forensics.model import Line, MessageGroup, Proof, Scan, Source
from forensics.model.answers import REASON_LINE
from forensics.outcome.ending_words import first_word, hashed_row, words_at
from forensics.readers.lanes.line_classes import (
    BAD_END,
    CLASS_NAMES,
    FRAME,
    GOES_ON,
    RUN_FAILED,
    TROUBLE,
    LineClasses,
    is_information,
    names_a_place_in_code,
    tells_no_reason,
)
from forensics.readers.templates import TemplateGroup, Templates, ignore_warning, known_templates, sample_blocks, split_rows
from forensics.readers.words import continued_lines

MAX_SHOWN_LINES = 10  # chosen by hand: with their context a screen, for a reader who decides if no message is known
MAX_GAP_TO_BEST = 4.0  # log odds; a line that is less likely by more than this is not shown
REASON_LINES = 3  # of 126 logs with marked lines 114 have one among these or the evidence; with two 112
MAX_REASON_GAP_TO_BEST = 3.0  # log odds; of the same logs 112 with 2, 115 with 4, which quotes half a line more per log
MAX_DECIDING_SOURCES = 200  # chosen by hand: bounds the time; a job with more logs repeats its messages in them
MAX_DECIDING_TEMPLATES = 3000  # bounds time: of all sources together; of each source its last ones
MIN_TEMPLATES_PER_SOURCE = 20  # if there are many sources
MAX_COUNTED_TEMPLATES = 50_000  # bounds memory; further templates count as new, which most of them are
WORD_ROWS = 1 << 14  # a power of two, so that the hash's bits choose a row; the weights of so many rows are 64 KiB
NEAR_LINES = 5  # before and after a line, in which lines of trouble are counted
MAX_NEAR_LINES = 8  # of both sides together, so that counts are comparable at the ends of a log
MAX_INDENT_CHARS = 20  # the model does not distinguish deeper text: columns of a table
CLOSE_LINES = 3  # lines that are this close mostly belong to one message: only the first is shown, with its neighbours
CONTEXT_LINES_BEFORE = 1  # shown around each line of trouble, blank lines not counted
CONTEXT_LINES_AFTER = 2  # a message continues after its first line more often than it begins before it
MAX_CONTEXT_CHARS = 300  # of a line of context
STRUCTURE = (
    *("from the end", "first", "last", "count", "no bad end behind", "to a bad end", "no trouble behind", "to trouble"),
    *("no trouble before", "from trouble", "trouble near", "indent", "chars", "place in code", "no bad end", "once"),
    *(f"is {name}" for name in CLASS_NAMES),
    *("from the end, squared", "last, squared", "to a bad end, squared", "to trouble, squared", "from trouble, squared"),
)


class LineWeights(Struct, frozen=True):
    """The weights of hashed words (`words` [WORD_ROWS], times `unit`) and of the place (`structure`, those of STRUCTURE)."""

    words: Sequence[float]
    structure: Sequence[float]
    unit: float = 1.0

    def score(self, line: "CandidateLine") -> float:
        """Log odds without their constant term: a line with a greater score more likely gives the reason."""
        by_place = sum(w * x for w, x in zip(self.structure, line.structure, strict=True))
        return by_place + self.unit * sum(self.words[r] for r in line.words) / (len(line.words) ** 0.5 or 1.0)


UNTRAINED_LINE_WEIGHTS = LineWeights((0.0,) * WORD_ROWS, (0.0,) * len(STRUCTURE))


class CandidateLine(Struct):
    """The lines of one template in one source.

    `line`, `last_line`: its first and last line in the source as it was read. `structure`: see STRUCTURE. `words`: hashed, see
    WORD_ROWS. `score`: see LineWeights.
    """

    source: Source
    text: str
    line: int
    last_line: int
    count: int
    classes: int = 0
    structure: tuple[float, ...] = ()
    words: tuple[int, ...] = ()
    score: float = 0.0

    @property
    def place(self) -> tuple[str, int]:
        """The name of its source, and the number of its first line in the original file."""
        return self.source.name, self.source.number_of(self.line)


def rank_lines(
    scans: Sequence[Scan], classes: LineClasses, weights: LineWeights, baseline: Sequence[Source] = ()
) -> list[CandidateLine]:
    """The lines of all sources with their `score`, most likely first. `baseline`: the logs of a good run; its messages are left
    out, and so are lines that can tell no reason: a frame of a stack says where, and another line why."""
    every = candidate_lines(scans, classes, baseline)
    ranked = [line for line in every if not line.classes & FRAME and not tells_no_reason(line.text)]
    for line in ranked:
        line.score = weights.score(line)
    return sorted(ranked, key=lambda line: (-line.score, line.source.name, line.line))


def lines_to_read(
    ranked: Sequence[CandidateLine],
    scans: Sequence[Scan],
    classes: LineClasses,
    quoted: Collection[tuple[str, int]] = (),
) -> tuple[MessageGroup, ...]:
    """The MAX_SHOWN_LINES best of `ranked`, by source and line; those with an error word have a few lines of context.

    `quoted`: (source, line) of lines that are shown elsewhere.
    """
    found = [line for line in _beside_trouble(ranked) if line.place not in quoted]
    shown = [] if not found else _spread_out(found, MAX_SHOWN_LINES, found[0].score - MAX_GAP_TO_BEST)
    made: list[MessageGroup] = []
    for scan in scans:
        own = {line.line: line for line in shown if line.source is scan.source}
        troubled = [number for number, line in own.items() if line.classes & TROUBLE]
        around = _lines_around(scan, troubled) if troubled else {}
        for number in sorted({*own, *around}):
            made.append(_message(own[number]) if number in own else _context(scan.source, number, around[number], classes))
    return tuple(made)


def reason_lines(
    ranked: Sequence[CandidateLine],
    scans: Sequence[Scan],
    since: Mapping[str, int],
    quoted: Collection[tuple[str, int]] = (),
) -> tuple[Proof, ...]:
    """Of `ranked` those that most likely say why the subject ended; lines that only count failures come last.

    `since`: the subject's own sources, each with the first line of its last attempt. `quoted`: (source, line) of lines that are
    evidence anyway; at most REASON_LINES others are added to them.
    """
    found = _beside_trouble([line for line in ranked if line.source.name in since and line.place[1] >= since[line.source.name]])
    likely = [] if not found else _spread_out(found, MAX_SHOWN_LINES, found[0].score - MAX_REASON_GAP_TO_BEST)
    fresh = [i for i, line in enumerate(likely) if line.place not in quoted][REASON_LINES:]
    shown = sorted(likely[: min(fresh, default=len(likely))], key=lambda line: bool(line.classes & RUN_FAILED))
    own = {name: [c.line for c in shown if c.source.name == name] for name in {c.source.name for c in shown}}
    around = {s.source.name: _lines_around(s, own[s.source.name]) for s in scans if s.source.name in own}
    return tuple(_reason(line, around[line.source.name]) for line in shown)


def _beside_trouble(ranked: Sequence[CandidateLine]) -> Sequence[CandidateLine]:
    """Without the lines that a program itself calls information, if the best one has a word of failure: they say no reason."""
    if not ranked or not ranked[0].classes & TROUBLE:
        return ranked
    return [line for line in ranked if line.classes & (TROUBLE | BAD_END | RUN_FAILED) or not is_information(line.text)]


def _lines_around(scan: Scan, numbers: Collection[int]) -> dict[int, str]:
    """Number -> text of the lines around those of `numbers`, blank ones left out."""
    found: dict[int, str] = {}
    for start, block in sample_blocks(scan):
        last = start + block.count(b"\n")
        inside = [n for n in numbers if start <= n <= last]
        lines = split_rows(block) if inside else []
        for number in inside:
            at = number - start
            for way, most in ((-1, CONTEXT_LINES_BEFORE), (1, CONTEXT_LINES_AFTER)):
                candidates = range(at + way, at + way * (CLOSE_LINES + 1), way)
                near = [i for i in candidates if 0 <= i < len(lines) and lines[i].strip()][:most]
                found |= {start + i: last_frame(lines[i])[:MAX_CONTEXT_CHARS] for i in near}
    return found


def candidate_lines(scans: Sequence[Scan], classes: LineClasses, baseline: Sequence[Source] = ()) -> list[CandidateLine]:
    """One for each template, in order. A template that occurs in several sources is counted with the first of them."""
    templates = Templates()
    baseline_templates, _ = known_templates(baseline, templates, ignore_warning)
    by_template: dict[str, CandidateLine] = {}
    max_templates = max(MIN_TEMPLATES_PER_SOURCE, MAX_DECIDING_TEMPLATES // max(1, len(scans)))
    for scan in scans[:MAX_DECIDING_SOURCES]:
        of_source: dict[str, CandidateLine] = {}
        for start, block in sample_blocks(scan):
            for group in templates.groups(split_rows(block)):
                if hash(group.template) not in baseline_templates:
                    _count(of_source, group, scan.source, start)
        late = sorted(of_source, key=lambda template: of_source[template].last_line)[-max_templates:]
        _describe([of_source[template] for template in late], scan.lines, classes, [t not in by_template for t in late])
        for template in late:
            if template in by_template:
                by_template[template].count += of_source[template].count
            else:
                by_template[template] = of_source[template]
    return list(by_template.values())


def _count(of_source: dict[str, CandidateLine], group: TemplateGroup, source: Source, start: int) -> None:
    found = of_source.get(group.template)
    if found is None:
        if len(of_source) >= MAX_COUNTED_TEMPLATES:
            return
        found = of_source[group.template] = CandidateLine(source, last_frame(group.text), start + group.first, start, 0)
    found.count += group.count
    found.last_line = max(found.last_line, start + group.last)


def _describe(lines: list[CandidateLine], total: int, classes: LineClasses, new: Sequence[bool]) -> None:
    """Fill in the classes of the lines of one source of `total` lines; of the `new` ones the structure and the words, too."""
    for line in lines:
        line.classes = classes.classify(unlabelled(line.text))
    not_taken_back = [c for c in lines if not c.classes & GOES_ON]
    ends = sorted(c.last_line for c in not_taken_back if c.classes & (BAD_END | RUN_FAILED))
    trouble = sorted({n for c in not_taken_back if c.classes & TROUBLE for n in (c.line, c.last_line)})
    for line in compress(lines, new):
        at = line.last_line
        end, after, before = bisect_right(ends, at), bisect_right(trouble, at), bisect_left(trouble, line.line) - 1
        trouble_near = bisect_left(trouble, at + NEAR_LINES + 1) - bisect_left(trouble, at - NEAR_LINES)
        from_end, last = log1p(max(total - at, 0)), at / max(total, 1)
        to_end = log1p(ends[end] - at) if end < len(ends) else 0.0
        to_trouble = log1p(trouble[after] - at) if after < len(trouble) else 0.0
        from_trouble = log1p(line.line - trouble[before]) if before >= 0 else 0.0
        line.structure = (
            from_end,
            line.line / max(total, 1),
            last,
            log1p(line.count),
            float(end == len(ends)),
            to_end,
            float(after == len(trouble)),
            to_trouble,
            float(before < 0),
            from_trouble,
            min(trouble_near, MAX_NEAR_LINES),
            min(len(line.text) - len(line.text.lstrip()), MAX_INDENT_CHARS),
            log1p(len(line.text)),
            float(names_a_place_in_code(line.text)),
            float(not ends),
            float(at == line.line),
            *(float(line.classes >> i & 1) for i in range(len(CLASS_NAMES))),
            *(x * x for x in (from_end, last, to_end, to_trouble, from_trouble)),
        )
        line.words = tuple(sorted({hashed_row(word, WORD_ROWS) for word in words_at("", [line.text]) | first_word(line.text)}))


def _spread_out(ranked: Sequence[CandidateLine], most: int, least_score: float) -> list[CandidateLine]:
    """The `most` best of `ranked` with a score of at least `least_score`; of lines that are close together only the best."""
    shown: list[CandidateLine] = []
    for line in ranked:
        if len(shown) == most or line.score < least_score:
            break
        if not any(c.source is line.source and abs(c.line - line.line) <= CLOSE_LINES for c in shown):
            shown.append(line)
    return shown


def _reason(line: CandidateLine, around: Mapping[int, str]) -> Proof:
    near = [Line(line.source.number_of(n), text) for n, text in sorted(around.items()) if abs(n - line.line) <= CLOSE_LINES]
    source, number = line.place
    before, after = (tuple(x for x in near if x.number < number), tuple(x for x in near if x.number > number))
    return Proof(
        source, number, line.text, REASON_LINE, "hint", before, after, continued=continued_lines(Line(number, line.text), after)
    )


def _message(line: CandidateLine) -> MessageGroup:
    name, first, last = line.source.name, line.source.number_of(line.line), line.source.number_of(line.last_line)
    return MessageGroup(name, first, name, last, line.count, line.text, bool(line.classes & TROUBLE))


def _context(source: Source, line: int, text: str, classes: LineClasses) -> MessageGroup:
    number = source.number_of(line)
    return MessageGroup(source.name, number, source.name, number, 1, text, bool(classes.classify(text) & TROUBLE), context=True)
