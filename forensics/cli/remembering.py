"""The option `--remember/--no-remember` of every command that makes reports; see forensics.history.remember."""

import importlib.util
from typing import Annotated

import typer

from forensics.core.errors import UsageError
from forensics.history.opening import INSTALL_HISTORY


def _check(remember: bool | None) -> bool | None:
    """`remember`; raises UsageError where it is asked for and cannot be done, before anything is read."""
    if remember and importlib.util.find_spec("sqlalchemy") is None:
        raise UsageError("--remember needs SQLAlchemy", advice=INSTALL_HISTORY)
    return remember


Remember = Annotated[
    bool | None,
    typer.Option(
        "--remember/--no-remember",
        help="Store the report in your history and show earlier occurrences; `history:` in the configuration always does.",
        show_default=False,
        callback=_check,
    ),
]
