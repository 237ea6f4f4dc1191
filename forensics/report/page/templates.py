"""The templates of the pages: every text that they write is escaped, and made safe to print by the filter `shown`."""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.report.phrases import as_consequence, percent
from forensics.text import shown

if TYPE_CHECKING:
    from jinja2 import Environment, Template

FOLDER = Path(__file__).parent


def template(name: str) -> "Template":
    """The template of that file."""
    return _environment().get_template(name)


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "percent": percent,
        "shown": shown,
        "share": lambda value: f"{100 * value:.3f}%",
        "reference": _reference,
        "consequence": as_consequence,
        "own": Markup,  # for the style and script that come with this package, and for data that was made safe before
    }
    return environment


def _reference(url: Any) -> str:
    """An address that a click may open; nothing for any other scheme."""
    return url if isinstance(url, str) and re.match(r"https?://", url) else ""
