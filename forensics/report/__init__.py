"""Reporters: format a finished Report as text, Markdown, HTML, JSON and more. They decide nothing.

Each format is a module of `formats/` with `render(report, style) -> str`; it is registered by being in that folder. Secrets are
masked before a format gets the Report.
"""

import importlib
from typing import TYPE_CHECKING

from forensics.core.modules import modules
from forensics.core.text import inert
from forensics.report import formats as package
from forensics.report.style import Style

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forensics.model import Report


COMMAND_FORMATS = ("github",)  # their lines are commands to the system that runs the job


def formats() -> list[str]:
    """The names of all formats."""
    return [*modules(package.__path__)]


def render(report: "Report", form: str, style: Style | None = None) -> str:
    """`report` in the format `form`, ending with a line end; raises KeyError for a format that is not in formats()."""
    from forensics.report.redaction import without_secrets

    if form not in formats():
        raise KeyError(form)
    module = importlib.import_module(f"{package.__name__}.{form}")
    text: str = module.render(without_secrets(report), style or Style())
    return inert(text, commands=form in COMMAND_FORMATS)


def in_one_document(form: str) -> bool:
    """Are several reports one document in this format, as in a table with one head?"""
    return hasattr(importlib.import_module(f"{package.__name__}.{form}"), "render_many")


def render_many(reports: "Iterable[Report]", form: str, style: Style | None = None) -> str:
    """Several reports as one document, for a format with in_one_document()."""
    from forensics.report.redaction import without_secrets

    module = importlib.import_module(f"{package.__name__}.{form}")
    text: str = module.render_many([without_secrets(r) for r in reports], style or Style())
    return inert(text, commands=form in COMMAND_FORMATS)


def with_stand_ins(report: "Report", folder: bool = True) -> "tuple[Report, dict[str, str]]":
    """`report` without secrets, and with stand-ins for hosts, users, addresses and jobs; the key is stand-in -> name.

    `folder`: also for the folder of the case, whose name a reader beside the logs needs to open a place.
    """
    from forensics.report.redaction import without_names, without_secrets

    return without_names(without_secrets(report), folder)
