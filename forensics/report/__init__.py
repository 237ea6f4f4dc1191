"""Tell: a finished Report as text, Markdown or JSON. A reporter writes; it decides nothing.

Each reporter is a module of this package with `NAME` and `render(report) -> str`. Being there is being registered.
"""

import importlib
import pkgutil

from forensics.model import Report

__all__ = ["formats", "render"]

HELPERS = {"document", "phrases"}


def formats() -> list[str]:
    """The names of all formats."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in HELPERS)


def render(report: Report, form: str) -> str:
    """`report` in the format `form`, ending with a line end; raises KeyError for a format that is not in formats()."""
    if form not in formats():
        raise KeyError(form)
    text: str = importlib.import_module(f"{__name__}.{form}").render(report)
    return text
