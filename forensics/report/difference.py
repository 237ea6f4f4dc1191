"""A Difference as text, Markdown or JSON: what a bad run says of itself otherwise than a good one, and the messages that only it
has; adjacent lines form a passage.

different  reached  step 199 -> step 120
           --lr     1e-4 -> 3e-4
train.log
      14 >  Traceback (most recent call last):
            ... 8 more lines
      23 >  KeyError: 'label'

`>` marks lines with an error word. Secrets are masked as in a report.
"""

import json
from collections.abc import Iterator, Sequence

from forensics.core.text import with_noun
from forensics.model import Difference, MessageGroup, Report
from forensics.report.document import plain
from forensics.report.escape import code, code_cell, escape, escape_controls, fenced_block, table_lines
from forensics.report.paths import Paths
from forensics.report.redaction import mask_secrets
from forensics.report.rows import Row, coloured_text, cut_text, plain_text, wrap_rows
from forensics.report.style import Style

COMPARE_SCHEMA = "forensics-compare/1"
DIFFERENCE_FORMATS = ("text", "markdown", "json")
MAX_PASSAGE_GAP_LINES = 3  # new lines that are no further apart form one passage
MAX_WHOLE_PASSAGE_LINES = 4  # chosen by hand: a longer passage is shown with its first and last line and those with error words
CHANGES_HEAD = "different"
BASELINE_HEAD = "Unlike the good run"
MAX_BASELINE_ROWS = 5  # chosen by hand: with the heading six rows, so that what to do stays on the first screens
MIN_BASELINE_LINES = 2  # chosen by hand: of them for lines of the log, where it has some
MAX_DIFFERENCE_LINE_CHARS = 400  # four rows of 100 columns; two lines mostly differ before that


def render_difference(found: Difference, form: str, most: int, style: Style) -> str:
    """`found` in one of DIFFERENCE_FORMATS, ending with a line end. `most`: the number of passages; JSON has all of them."""
    found = mask_secrets(found)
    if form == "json":
        return escape_controls(json.dumps({"schema": COMPARE_SCHEMA, **plain(found)}, indent=2, ensure_ascii=False)) + "\n"
    if form == "markdown":
        return "\n".join(_markdown(found, most)) + "\n"
    rows = _text(found, most, style.width)
    return coloured_text(rows, style.width) if style.colour else plain_text(rows)


def baseline_rows(report: Report) -> tuple[str, list[tuple[str, str]]]:
    """How the run differs from the good one that was given with it: what is left out, and at most MAX_BASELINE_ROWS rows, each a
    name or place with its text, lines that alarm first. Passages with a line of evidence are told already."""
    found = report.baseline
    if found is None:
        return "", []
    quoted, paths = {(p.source, p.line) for f in report.causes[:1] for p in f.evidence}, Paths.of(report)
    new = [p for p in passages(found.messages) if not any((m.source, m.line) in quoted for m in p)]
    told = sorted((m for passage in new for m in passage), key=lambda m: not m.alarming)
    shown = found.changes[: MAX_BASELINE_ROWS - min(MIN_BASELINE_LINES, len(told))]
    lines = told[: MAX_BASELINE_ROWS - len(shown)]
    rows = [(c.what, f"{c.then} -> {c.last}") for c in shown]
    rows += [(paths.place(m.source, m.line), m.text + _again(m, paths)) for m in lines]
    alone, left = len(found.messages) + found.left_out, len(found.changes) - len(shown)
    more = [f"{with_noun(alone, 'message')} it does not have"] if alone else []
    more += [with_noun(left, "more setting")] if left else []
    return f"{_names(found.good, 1)}{': ' if more else ''}{', '.join(more)}; all: forensics compare", rows


def passages(messages: Sequence[MessageGroup]) -> list[list[MessageGroup]]:
    """The messages in passages: those whose first lines are close to each other."""
    made: list[list[MessageGroup]] = []
    for message in messages:
        last = made[-1][-1] if made else None
        if last and last.source == message.source and 0 <= message.line - last.line <= MAX_PASSAGE_GAP_LINES:
            made[-1].append(message)
        else:
            made.append([message])
    return made


def shorten_passage(passage: Sequence[MessageGroup]) -> list[MessageGroup | int]:
    """The messages to show of a passage, and between them the numbers of messages left out."""
    last = len(passage) - 1
    kept = [m if last < MAX_WHOLE_PASSAGE_LINES or i in (0, last) or m.alarming else None for i, m in enumerate(passage)]
    shown: list[MessageGroup | int] = []
    for message in kept:
        if message is not None:
            shown.append(message)
        elif shown and isinstance(shown[-1], int):
            shown[-1] += 1
        else:
            shown.append(1)
    return shown


def _head(found: Difference) -> str:
    new, all_ = len(found.messages) + found.left_out, len(found.messages) + found.left_out + found.known
    every = with_noun(all_, "different message")
    if not new:
        return f"Everything that the bad run says, {every} in {with_noun(found.lines, 'line')}, the good one says too."
    are = "is" if new == 1 else "are"
    return f"{new} of the {every} of the bad run ({with_noun(found.lines, 'line')}) {are} never in the good one."


def _ends(found: Difference, left: int) -> Iterator[str]:
    if left > 0:
        yield f"and {with_noun(left, 'more passage')}: --most shows more, --format json all"
    if found.left_out:
        yield f"{with_noun(found.left_out, 'further different message')} {'was' if found.left_out == 1 else 'were'} counted only"


def _again(message: MessageGroup, paths: Paths) -> str:
    """How often it occurs, and the last place."""
    if message.count < 2:
        return ""
    there = message.last_source == message.source
    where = f"{message.last_line}" if there else paths.place(message.last_source, message.last_line)
    return f"  ({message.count:,} times, last on {where})"


def _text(found: Difference, most: int, width: int) -> Iterator[Row]:
    yield from wrap_rows(_head(found), width, style="title")
    yield from _changes(found, width)
    parts = passages(found.messages)
    paths = Paths.among(found.bad)
    source = None
    for passage in parts[:most]:
        if passage[0].source != source:
            source = passage[0].source
            yield Row()
            yield Row((source, "place"), link=source)
        for item in shorten_passage(passage):
            if isinstance(item, int):
                yield Row((f"{'':12}... {item} more line{'s' if item > 1 else ''}", "dim"))
            else:
                yield from _message(item, _again(item, paths), width)
    yield Row()
    for line in _ends(found, len(parts) - most):
        yield Row((line, "dim"))
    yield Row((f"good: {_names(found.good)}", "dim"))
    yield Row((f"bad:  {_names(found.bad)}", "dim"))
    for warning in found.warnings:
        yield from wrap_rows(f"note: {warning.source + ': ' if warning.source else ''}{warning.message}", width, style="dim")


def _changes(found: Difference, width: int) -> Iterator[Row]:
    """The rows of what both runs say of themselves."""
    if found.changes:
        yield Row()
    names = max((len(c.what) for c in found.changes), default=0)
    for i, change in enumerate(found.changes):
        label, name = (CHANGES_HEAD if i == 0 else "").ljust(len(CHANGES_HEAD) + 2), change.what.ljust(names + 2)
        value = cut_text(f"{change.then} -> {change.last}", width - len(label + name), 1)[0]
        yield Row((label, "head"), (name, ""), (value, "main"))


def _message(message: MessageGroup, again: str, width: int) -> Iterator[Row]:
    pieces = cut_text(message.text, width - 12 - len(again), 2 if message.alarming else 1)
    mark, style = (" >  ", "main") if message.alarming else ("    ", "")
    yield Row((f"{message.line:>8}", "dim"), (mark, "cause"), (pieces[0], style), (again, "dim"))
    yield from (Row((" " * 12 + piece, style)) for piece in pieces[1:])


def _names(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "") or "nothing"


def _markdown(found: Difference, most: int) -> Iterator[str]:
    yield from ("## What only the bad run says", "", escape(_head(found)))
    changes = [(code_cell(c.what), code_cell(c.then), code_cell(c.last)) for c in found.changes]
    yield from ("", *table_lines((CHANGES_HEAD, "good", "bad"), changes)) if changes else ()
    parts, paths = passages(found.messages), Paths.among(found.bad)
    for passage in parts[:most]:
        lines: list[str] = []
        for item in shorten_passage(passage):
            if isinstance(item, int):
                lines.append(f"    ... {item} more line{'s' if item > 1 else ''}")
            else:
                lines.append(
                    f"{item.line}:{'>' if item.alarming else ' '} {item.text[:MAX_DIFFERENCE_LINE_CHARS]}{_again(item, paths)}"
                )
        yield from ("", code(passage[0].source), "", *fenced_block(lines))
    yield ""
    yield from (f"- {escape(line)}" for line in _ends(found, len(parts) - most))
    yield f"- good: {code_cell(_names(found.good))}"
    yield f"- bad: {code_cell(_names(found.bad))}"
    yield from (f"- {escape(w.source + ': ' if w.source else '')}{escape(w.message)}" for w in found.warnings)
