"""The templates of the pages. Every text is escaped, and made safe to print by the filter `shown`."""

import base64
import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.core.text import escaped, printable
from forensics.model import Report
from forensics.report import overview
from forensics.report.course import consequences
from forensics.report.overview import notice_groups
from forensics.report.paths import Paths
from forensics.report.phrases import (
    WHO,
    evidence_head,
    headline,
    odds_text,
    percent_text,
    quoted_evidence,
    remedies,
    verdict,
    what_happened,
)
from forensics.report.redaction import without_secrets
from forensics.report.subjects import ending_sentence

if TYPE_CHECKING:
    from jinja2 import Environment, Template


FOLDER = Path(__file__).parent
LONG_PATH_PATTERN = re.compile(r"[^\s,]*/(?=[^/\s,]+/[^/\s,]+)")  # all but a file and its folder
BREAK_PATTERN = re.compile(r"(?<=_)(?=\w)")  # where a name may go on in the next line


def template(name: str) -> "Template":
    """The template in the file of this name."""
    return _environment().get_template(name)


def text_of(name: str) -> str:
    """A style or a script that comes with this package."""
    return (FOLDER / name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """The content security policy of a page: only its own style and script, by their hashes."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'; form-action 'none'"


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "percent": percent_text,
        "shown": printable,
        "share": lambda value: f"{100 * value:.3f}%",
        "reference": _reference,
        "near": lambda text: LONG_PATH_PATTERN.sub("…/", text),
        "breakable": lambda text: Markup("<wbr>").join(BREAK_PATTERN.split(printable(text))),
        "quoted": lambda text: Markup("").join(
            Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(printable(text).split("`"))
        ),
        "own": Markup,  # for the style and script of this package, and for data that was made safe before
    }
    return environment


def _reference(url: Any) -> str:
    """A URL that a click may open; empty for any other scheme."""
    return url if isinstance(url, str) and re.match(r"https?://", url) else ""


MAX_FRAGMENT_PROOFS = 6  # chosen by hand: it is a part of another page or of a notebook; the full report is linked
MAX_FRAGMENT_REMEDIES = 3  # as many as the text report shows in full


def fragment(report: Report) -> str:
    """One `<div>`, without secrets."""
    report = without_secrets(report)
    advised = remedies(report)
    return template("fragment.html.j2").render(
        report=report,
        first=report.causes[0],
        headline=headline(report),
        odds=odds_text(report),
        ending=str(ending_sentence(report) or ""),
        verdict=verdict(report),
        where=overview.location(report),
        happened=what_happened(report),
        evidence_head=evidence_head(report),
        proofs=quoted_evidence(report.causes[0], MAX_FRAGMENT_PROOFS),
        advised=advised[:MAX_FRAGMENT_REMEDIES],
        more_advice=len(advised) - MAX_FRAGMENT_REMEDIES,
        followed=consequences(report),
        notices=notice_groups(report),
        paths=Paths.of(report),
        who=WHO,
    )
