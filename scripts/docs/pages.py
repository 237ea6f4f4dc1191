"""All pages of the site as text, by their path below its top: those of docs/, those of the repository, those that are written.

README.md -> index.md, docs/slurm.md -> slurm.md,
signatures/README.md -> signatures.md; signatures/tables/xid.csv -> codes/xid-79.md
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import typer

from forensics.cli import help
from forensics.cli.app import build
from forensics.database import builtin_folder, load, read_folders
from scripts.docs import ROOT
from scripts.docs.causes import cause_pages
from scripts.docs.codes import code_pages
from scripts.docs.schema import schema_page

FROM_REPOSITORY = {  # files that are pages of the site under another name
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/NOTES.md": "benchmark-notes.md",
    "benchmarks/README.md": "benchmarks.md",
    "sample_logs/README.md": "sample-logs.md",
    "signatures/README.md": "signatures.md",
    "tests/hostile/README.md": "hostile.md",
}
# A link in Markdown, outside of code: its text and where it leads.
LINK = re.compile(r"(?P<code>```.*?```|`[^`\n]*`)|(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<to>[^()\s]+)\)", re.S)


def repository_pages() -> Mapping[str, str]:
    """The Markdown of the repository that is part of the site, by its path in the repository."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    named = {path.relative_to(ROOT).as_posix() for path in found} | set(FROM_REPOSITORY)
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in sorted(named) if (ROOT / name).is_file()}


def pages() -> dict[str, str]:
    """All pages of the site."""
    read, _ = read_folders([builtin_folder()])
    causes = {cause.id: cause for cause in read}
    kept = repository_pages()
    site = {place(name): _moved(name, text, kept) for name, text in kept.items()}
    site |= dict(cause_pages(causes, load())) | dict(code_pages(causes))
    site["report-schema.md"] = schema_page()
    site["commands.md"] = _commands()
    return site


def place(name: str) -> str:
    """Where a file of the repository stands on the site."""
    return FROM_REPOSITORY.get(name, name.removeprefix("docs/"))


def links(text: str) -> Iterator[tuple[str, str]]:
    """(text, target) of each link and picture."""
    yield from ((m["text"], m["to"]) for m in LINK.finditer(text) if not m["code"])


def _moved(name: str, text: str, kept: Mapping[str, str]) -> str:
    """A page of the repository with links as they are on the site; what is no page of it is named without a link."""

    def link(found: re.Match[str]) -> str:
        if found["code"] or ":" in found["to"] or found["to"].startswith("#"):
            return found[0]
        path, sharp, anchor = found["to"].partition("#")
        target = os.path.normpath(PurePosixPath(name).parent / path)
        if target not in kept and not (target.startswith("docs/") and (ROOT / target).is_file()):
            return found["text"]
        here = PurePosixPath(place(name)).parent
        return f"{found['image']}[{found['text']}]({os.path.relpath(place(target), here)}{sharp}{anchor})"

    return LINK.sub(link, text)


def _commands() -> str:
    top = typer.main.get_command(build())
    return help.markdown_page(top.context_class(top, info_name="forensics"))
