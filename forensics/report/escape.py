"""Text that is to be read as text where Markdown or HTML would act.

`<img src=x onerror=...> **bold** @you #1` -> every character that could start something stands behind a backslash
"""

import re
from collections.abc import Iterable

from forensics.core import lazy
from forensics.core.text import shown

# `@` and `#` are in it as they would notify somebody or point at another issue, `$` and `{` as they start formulas and macros.
ACTS = lazy.regex(r"([\\`*_{}\[\]<>|#~@&$])")
LEADS = lazy.regex(r"^(?:([-+=!>])|(\d+)([.)])(?=\s|$))")  # at the start of a line: a list, a heading, a quotation
UNSEEN = lazy.regex("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# Words that GitHub links, mentions, draws or closes by: @you, #1, GH-1, a/b#1, a commit's hash, :tada:, $x$, addresses.
RISKY = r"\S*(?:@|#\d|\b[Gg][Hh]-\d|://|\bwww\.|:[A-Za-z]\w*:|\$|\b[0-9a-f]{7,40}\b)\S*"
WORTH_QUOTING = lazy.regex(r"[^\W\d_].|[^\w\s]\S")  # a number, or one letter, is told as our own words are
URL_PATTERN = lazy.regex(r"(?i)(https?|ftp|mailto)(:)|\b(www)(\.)")  # would become a link


def plain(text: str) -> str:
    """Text in which nothing acts as Markdown or HTML, on one line."""
    line = ACTS.sub(r"\\\1", shown(" ".join(text.split()), 4000))
    line = URL_PATTERN.sub(lambda m: f"{m[1] or m[3]}\\{m[2] or m[4]}", line)
    return LEADS.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


def prose(text: str, logged: Iterable[str] = ()) -> str:
    """Our own sentence as Markdown, what it holds of a log in code spans. `logged`: the pieces that come from a log.

    A backslash does not keep GitHub from reading `@name`, `#123` or an address, a code span does: so does any other word with a
    sign that acts there.

        "It was raised at @me/x.py:3" with logged ["@me/x.py"] -> It was raised at `@me/x.py`:3
    """
    line = shown(" ".join(text.split()), 4000)
    pieces = sorted({shown(" ".join(p.split())) for p in logged if WORTH_QUOTING.search(p)}, key=len, reverse=True)
    quoted = "|".join(map(re.escape, pieces))
    pattern = re.compile(rf"(?<!\w)(?:{quoted})(?!\w)|{RISKY}" if pieces else RISKY)
    told, at = "", 0
    for found in pattern.finditer(line):
        if not found[0]:
            continue
        end = found.end() if found[0] in pieces else found.start() + len(found[0].rstrip(".,;:!?)"))
        told += _spaced(line[at : found.start()]) + code(line[found.start() : end])
        at = end
    return told + _spaced(line[at:])


def _spaced(text: str) -> str:
    """`plain`, which takes the space at the ends away, with it."""
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if text.strip() else ""
    return f"{lead}{plain(text)}{tail}"


def code(text: str) -> str:
    """Text as inline code that its own backticks cannot end; a bar would end a table's cell, so it is drawn broken."""
    text = shown(" ".join(text.split()), 4000)
    fence = "`" * (1 + longest_run(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def cell(text: str) -> str:
    """Inline code for a table's cell."""
    return code(text.replace("|", "¦"))


def fenced(lines: list[str], language: str = "text") -> list[str]:
    """Lines in a fenced block that none of them can close."""
    safe = [shown(line, 4000) for line in lines]
    fence = "`" * max(3, 1 + max(map(longest_run, safe), default=0))
    return [fence + language, *safe, fence]


def longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)


def address(url: str) -> str:
    """A reference as a link; one that is no plain https address as code."""
    return f"<{url}>" if re.fullmatch(r"https?://[\w./?=&%#:+~,;@!()-]{3,400}", url) else code(url)


def visible(document: str) -> str:
    """A JSON document in which direction marks and control characters of another program's terminal are written as escapes."""
    return UNSEEN.sub(lambda m: f"\\u{ord(m[0]):04x}", document)


def inside(text: str) -> str:
    """Text inside an HTML element of a Markdown document."""
    import html  # loads the names of all characters, which most reports do not need

    return html.escape(shown(" ".join(text.split()), 4000))
