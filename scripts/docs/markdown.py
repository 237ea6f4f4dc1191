"""Texts of the database as Markdown: words that stay words, lines of a log as code, tables."""

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"([\\`*_\[\]>|#])")


def plain(text: str) -> str:
    """Text in which nothing is markup; addresses become links."""
    parts = re.split(r"(https?://[^\s,;)]+)", " ".join(text.split()))
    return "".join(
        f"<{p}>" if i % 2 else SPECIAL.sub(r"\\\1", p.replace("&", "&amp;").replace("<", "&lt;")) for i, p in enumerate(parts)
    )


def code(text: str) -> str:
    """Text in a span of code. In a table, too, its pipes stay as they are: so Python-Markdown wants them."""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def block(lines: Iterable[str], language: str = "text") -> str:
    """Lines as a block of code."""
    text = "\n".join(lines)
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int = 0) -> str:
    """A table; the last `right` columns are numbers. Cells are Markdown already."""
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def page(title: str, *parts: str) -> str:
    """A page of its title and its parts, empty ones left out."""
    return "\n\n".join((f"# {title}", *filter(None, parts))) + "\n"
