"""Escape text of logs for Markdown and HTML.

`<img src=x onerror=...> **bold** @you #1` -> a backslash before every character that has a meaning there
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from forensics.core import lazy
from forensics.core.text import MAX_ROW_CHARS, hidden_characters, printable


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> Iterator[str]:
    """The lines of GitHub's Markdown for `rows`; a column whose cells are all empty is left out.

    `head`: the names of the columns. `right`: the names of those that are aligned to the right.
    """
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    yield _table_line([head[i] for i in kept])
    yield "|" + "|".join("--:" if head[i] in right else "---" for i in kept) + "|"
    for row in rows:
        yield _table_line([row[i] for i in kept])


def _table_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


# `@` and `#` are in it as they would notify somebody or point at another issue, `$` and `{` as they start formulas and macros.
ACTIVE_CHARACTERS = lazy.regex(r"([\\`*_{}\[\]<>|#~@&$])")
LINE_START_PATTERN = lazy.regex(r"^(?:([-+=!>])|(\d+)([.)])(?=\s|$))")  # at the start of a line: a list, a heading, a quotation
# Words that GitHub turns into links, mentions, pictures or commands: @you, #1, GH-1, a/b#1, a commit's hash, :tada:, $x$, URLs.
RISKY = r"\S*(?:@|#\d|\b[Gg][Hh]-\d|://|\bwww\.|:[A-Za-z]\w*:|\$|\b[0-9a-f]{7,40}\b)\S*"
SPAN = r"`(?P<span>[^`]+)`"
PLACE_NUMBER = lazy.regex(r":\d+\Z")
WORTH_QUOTING = lazy.regex(r"[^\W\d_].|[^\w\s]\S")  # a number or a single letter is not quoted
URL_PATTERN = lazy.regex(r"(?i)(https?|ftp|mailto)(:)|\b(www)(\.)")  # would become a link


def escape(text: str) -> str:
    """Text on one line in which nothing is interpreted as Markdown or HTML."""
    line = ACTIVE_CHARACTERS.sub(r"\\\1", printable(" ".join(text.split()), MAX_ROW_CHARS))
    line = URL_PATTERN.sub(lambda m: f"{m[1] or m[3]}\\{m[2] or m[4]}", line)
    return LINE_START_PATTERN.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


def prose(text: str, logged: Iterable[str] = ()) -> str:
    """A sentence of the report as Markdown; quotations from a log become code spans. `logged`: the parts that come from a log.

    What stands between backticks is a code span already. A backslash does not stop GitHub from linking `@name`, `#123` or an
    address; a code span does. So every word with such a sign becomes one.

        "It came from @me/x.py:3" with logged ["@me/x.py"] -> It came from `@me/x.py:3`
    """
    line = printable(" ".join(text.split()), MAX_ROW_CHARS)
    pieces = sorted({printable(" ".join(p.split())) for p in logged if WORTH_QUOTING.search(p)}, key=len, reverse=True)
    quoted = "|".join(map(re.escape, pieces))
    pattern = re.compile(rf"{SPAN}|(?<!\w)(?:{quoted})(?::\d+)?(?!\w)|{RISKY}" if pieces else f"{SPAN}|{RISKY}")
    written, at = "", 0
    for found in pattern.finditer(line):
        if not found[0]:
            continue
        is_risky = found["span"] is None and PLACE_NUMBER.sub("", found[0]) not in pieces
        end = found.start() + len(found[0].rstrip(".,;:!?)")) if is_risky else found.end()
        written += _spaced(line[at : found.start()]) + code(found["span"] or line[found.start() : end])
        at = end
    return written + _spaced(line[at:])


def _spaced(text: str) -> str:
    """`escape`, but spaces at both ends are kept."""
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if text.strip() else ""
    return f"{lead}{escape(text)}{tail}"


def code(text: str) -> str:
    """Text as inline code that backticks in it cannot end. A bar would end a table's cell, so it becomes `¦`."""
    text = printable(" ".join(text.split()), MAX_ROW_CHARS)
    fence = "`" * (1 + longest_run(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def code_cell(text: str) -> str:
    """Inline code for a table's cell."""
    return code(text.replace("|", "¦"))


def fenced_block(lines: list[str], language: str = "text") -> list[str]:
    """Lines in a fenced block that no line can close."""
    safe = [printable(line, MAX_ROW_CHARS) for line in lines]
    fence = "`" * max(3, 1 + max(map(longest_run, safe), default=0))
    return [fence + language, *safe, fence]


def longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)


def link_text(url: str) -> str:
    """A reference as a link; if it is no plain https URL, as code."""
    return f"<{url}>" if re.fullmatch(r"https?://[\w./?=&%#:+~,;@!()-]{3,400}", url) else code(url)


def escape_controls(document: str) -> str:
    """A JSON document with every character that is not seen or that acts written as an escape."""
    if document.isascii() and document.replace("\n", "").isprintable():
        return document
    return str(hidden_characters().sub(_json_escape, document))


def json_text(value: object, indent: int) -> str:
    """`value` as a JSON document in which no character acts or hides, with a final line end."""
    return escape_controls(json.dumps(value, indent=indent, ensure_ascii=False, default=str)) + "\n"


def _json_escape(found: "re.Match[str]") -> str:
    character = found[0]
    if character == "\n" or "\ud800" <= character <= "\udfff":  # the document's own lines; a byte of a name that is no text
        return character
    return json.dumps(character)[1:-1]


def escape_html(text: str) -> str:
    """Text inside an HTML element of a Markdown document."""
    import html  # loads the names of all characters, which most reports do not need

    return html.escape(printable(" ".join(text.split()), MAX_ROW_CHARS))
