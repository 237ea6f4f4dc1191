"""Rows of styled text, from which the text report for a terminal or a pipe is made.

    Row(("train.log:7", "place"), ("  RuntimeError: ...", "")) -> `train.log:7  RuntimeError: ...`, the place in colour

A pipe gets the texts joined. A terminal gets colours, and places as links that a click opens.
"""

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from forensics.core.text import MAX_ROW_CHARS, printable

STYLE_COLOURS = {
    "title": "bold",
    "sure": "bold red",
    "fine": "bold green",
    "head": "bold cyan",
    "dim": "dim",
    "place": "blue",
    "main": "bold",
    "command": "green",
    "cause": "bold red",
    "symptom": "yellow",
}
MAX_PARAGRAPH_CHARS = 20_000  # chosen by hand: ten times the longest line that a report quotes; more is no sentence
MIN_SAID_CHARS = 20  # chosen by hand: three words, which say something in however narrow a column
LINK_CHARS = 400  # chosen by hand: room for the address of a link, which takes no columns of a terminal
Span = tuple[str, str]


class Row:
    """Texts side by side, each with the name of its style. All of them are made safe to print."""

    def __init__(self, *spans: Span, link: str = "") -> None:
        self.spans = [(printable(text, MAX_ROW_CHARS), style) for text, style in spans]
        self.link = link

    def plain(self) -> str:
        """The row without styles or trailing space."""
        return "".join(text for text, _ in self.spans).rstrip()


def wrap_rows(text: str, width: int, indent: int = 0, first: str | None = None, style: str = "") -> Iterator[Row]:
    """`text` in rows of at most `width`, after `indent` spaces; the first row after `first` if it is given."""
    lead = " " * indent
    lines = textwrap.wrap(
        printable(text, MAX_PARAGRAPH_CHARS),
        max(width, indent + MIN_SAID_CHARS),
        initial_indent=lead,
        subsequent_indent=lead,
        break_on_hyphens=False,
    )
    for i, line in enumerate(lines):
        yield Row((first, "title"), (line[indent:], style)) if i == 0 and first is not None else Row((line, style))


def cut_text(text: str, width: int, most: int) -> list[str]:
    """`text` in at most `most` pieces of `width`, broken at spaces if possible; an ellipsis replaces the rest.

    Each piece is unchanged text, also its tabs, so that `grep -F` finds it.
    """
    text, room = printable(text, MAX_ROW_CHARS).rstrip(), max(width, MIN_SAID_CHARS)
    if most == 1:
        return [text if len(text) <= width else text[: room - 2].rstrip() + " …"]
    lines = textwrap.wrap(text, room, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][: room - 2].rstrip() + " …"]
    lead = text[: len(text) - len(text.lstrip())]
    return [lead[: width // 3] + lines[0].lstrip(), *lines[1:]]


def plain_text(rows: Iterable[Row]) -> str:
    """The rows as plain text, ending with a line end."""
    return "\n".join(row.plain() for row in rows) + "\n"


def coloured_text(rows: Iterable[Row], width: int) -> str:
    """The rows for a terminal: colours by rich, places as links to the files where these exist."""
    import io

    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=io.StringIO(), force_terminal=True, width=max(width, MIN_SAID_CHARS) + LINK_CHARS, highlight=False, soft_wrap=True
    )
    with console.capture() as captured:
        for row in rows:
            line = Text(end="")
            for text, style in row.spans:
                link = _target(row.link) if style == "place" and row.link else ""
                line.append(text, f"{STYLE_COLOURS.get(style, '')} link {link}".strip() if link else STYLE_COLOURS.get(style, ""))
            line.rstrip()
            console.print(line, soft_wrap=True)
    return captured.get()


def _target(source: str) -> str:
    """The `file:` URL of a source that is a plain file on this machine; empty for others, such as members of archives."""
    try:
        path = Path(source).absolute()
        return path.as_uri() if path.is_file() else ""
    except (OSError, ValueError):
        return ""
