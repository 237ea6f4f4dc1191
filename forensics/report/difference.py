"""A Difference as text, Markdown or JSON: what a bad run says that a good one never did, lines that stand together as a passage.

train.log
      14 >  Traceback (most recent call last):
            ... 8 more lines
      23 >  KeyError: 'label'

`>` marks lines with a word that failures use. Secrets are masked as in a report.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from forensics.core.text import counted, shown
from forensics.model import Difference, Message
from forensics.report.escape import cell, code, fenced, plain, visible
from forensics.report.paths import Paths
from forensics.report.redaction import cleared
from forensics.report.rows import Row, coloured, cut, joined, wrapped
from forensics.report.style import Style

COMPARE_SCHEMA = "forensics-compare/1"
DIFFERENCE_FORMATS = ("text", "markdown", "json")
MAX_PASSAGE_GAP_LINES = 3  # new lines no further apart stand together
MAX_WHOLE_PASSAGE_LINES = 4  # lines of a passage that is shown whole; of a longer one its first and last and the alarming ones
MAX_DIFFERENCE_LINE_CHARS = 400


def render_difference(found: Difference, form: str, most: int, style: Style) -> str:
    """`found` in one of DIFFERENCE_FORMATS, ending with a line end. `most`: passages that people are shown; JSON has
    everything."""
    found = cleared(found)
    if form == "json":
        return visible(json.dumps(_document(found), indent=2, ensure_ascii=False)) + "\n"
    if form == "markdown":
        return "\n".join(_markdown(found, most)) + "\n"
    rows = _text(found, most, style.width)
    return coloured(rows, style.width) if style.colour else joined(rows)


def passages(messages: Sequence[Message]) -> list[list[Message]]:
    """Messages whose first lines stand beside each other, together."""
    made: list[list[Message]] = []
    for message in messages:
        last = made[-1][-1] if made else None
        if last and last.source == message.source and 0 <= message.line - last.line <= MAX_PASSAGE_GAP_LINES:
            made[-1].append(message)
        else:
            made.append([message])
    return made


def shortened(passage: Sequence[Message]) -> list[Message | int]:
    """What is shown of a passage, and between it how many messages are not."""
    last = len(passage) - 1
    kept = [m if last < MAX_WHOLE_PASSAGE_LINES or i in (0, last) or m.alarming else None for i, m in enumerate(passage)]
    told: list[Message | int] = []
    for message in kept:
        if message is not None:
            told.append(message)
        elif told and isinstance(told[-1], int):
            told[-1] += 1
        else:
            told.append(1)
    return told


def _head(found: Difference) -> str:
    new, all_ = len(found.messages) + found.left_out, len(found.messages) + found.left_out + found.known
    every = counted(all_, "different message")
    if not new:
        return f"Everything that the bad run says, {every} in {counted(found.lines, 'line')}, the good one says too."
    are = "is" if new == 1 else "are"
    return f"{new} of the {every} of the bad run ({counted(found.lines, 'line')}) {are} never in the good one."


def _ends(found: Difference, left: int) -> Iterator[str]:
    if left > 0:
        yield f"and {counted(left, 'more passage')}: --most shows more, --format json all"
    if found.left_out:
        yield f"{counted(found.left_out, 'further different message')} {'was' if found.left_out == 1 else 'were'} counted only"


def _again(message: Message, paths: Paths) -> str:
    """How often, and where last."""
    if message.count < 2:
        return ""
    there = message.last_source == message.source
    where = f"{message.last_line}" if there else paths.place(message.last_source, message.last_line)
    return f"  ({message.count:,} times, last on {where})"


def _text(found: Difference, most: int, width: int) -> Iterator[Row]:
    yield from wrapped(_head(found), width, style="title")
    parts = passages(found.messages)
    paths = Paths.among(found.bad)
    source = None
    for passage in parts[:most]:
        if passage[0].source != source:
            source = passage[0].source
            yield Row()
            yield Row((source, "place"), link=source)
        for item in shortened(passage):
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
        yield from wrapped(f"note: {warning.source + ': ' if warning.source else ''}{warning.message}", width, style="dim")


def _message(message: Message, again: str, width: int) -> Iterator[Row]:
    pieces = cut(message.text, width - 12 - len(again), 2 if message.alarming else 1)
    mark, style = (" >  ", "main") if message.alarming else ("    ", "")
    yield Row((f"{message.line:>8}", "dim"), (mark, "cause"), (pieces[0], style), (again, "dim"))
    yield from (Row((" " * 12 + piece, style)) for piece in pieces[1:])


def _names(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "") or "nothing"


def _markdown(found: Difference, most: int) -> Iterator[str]:
    yield from ("## What only the bad run says", "", plain(_head(found)))
    parts, paths = passages(found.messages), Paths.among(found.bad)
    for passage in parts[:most]:
        lines: list[str] = []
        for item in shortened(passage):
            if isinstance(item, int):
                lines.append(f"    ... {item} more line{'s' if item > 1 else ''}")
            else:
                lines.append(
                    f"{item.line}:{'>' if item.alarming else ' '} {item.text[:MAX_DIFFERENCE_LINE_CHARS]}{_again(item, paths)}"
                )
        yield from ("", code(passage[0].source), "", *fenced(lines))
    yield ""
    yield from (f"- {plain(line)}" for line in _ends(found, len(parts) - most))
    yield f"- good: {cell(_names(found.good))}"
    yield f"- bad: {cell(_names(found.bad))}"
    yield from (f"- {plain(w.source + ': ' if w.source else '')}{plain(w.message)}" for w in found.warnings)


def _document(found: Difference) -> dict[str, Any]:
    return {
        "schema": COMPARE_SCHEMA,
        "good": list(found.good),
        "bad": list(found.bad),
        "lines": found.lines,
        "known": found.known,
        "left_out": found.left_out,
        "messages": [_message_document(m) for m in found.messages],
        "warnings": [{"source": w.source, "line": w.line, "kind": w.kind, "message": shown(w.message)} for w in found.warnings],
    }


def _message_document(message: Message) -> dict[str, Any]:
    return {
        "source": message.source,
        "line": message.line,
        "last_source": message.last_source,
        "last_line": message.last_line,
        "count": message.count,
        "text": shown(message.text),
        "alarming": message.alarming,
    }
