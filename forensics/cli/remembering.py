"""`--remember`: a report that was made goes into the history, and says what the history knows of others like it.

A history that cannot be opened never costs the report: a line on stderr says so.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.errors import ForensicsError, unexpected

if TYPE_CHECKING:
    from forensics.model import Report

Remember = Annotated[
    bool | None,
    typer.Option(
        "--remember/--no-remember",
        help="Keep it in your history, and say whether it was seen before; `history:` in the configuration does so always.",
        show_default=False,
    ),
]


def history_place(named: str | None = None, signatures: Sequence[Path] = ()) -> str:
    """Where the history lies: as named, as the configuration says, else in the user's data folder."""
    from forensics.config import config
    from forensics.history import default_place

    return named or config(signatures).history or default_place()


def remembered(report: "Report", remember: bool | None) -> "Report":
    """`report` with what is remembered of others like it; itself is remembered, too. As it was where nobody asked for it."""
    from forensics.config import config

    if remember is False or not (remember or config().history):
        return report
    try:
        return _remembered(report, history_place())
    except ForensicsError as error:
        print(f"forensics: not remembered: {error}", file=sys.stderr)
    except Exception as error:
        print(f"forensics: not remembered: {unexpected(error)}", file=sys.stderr)
    return report


def _remembered(report: "Report", place: str) -> "Report":
    from msgspec.structs import replace

    from forensics.history import incident_of, open_store
    from forensics.history.again import seen_before

    store = open_store(place)
    try:
        incident = incident_of(report, int(time.time()), store.salt)
        store.add([incident])
        return replace(report, history=seen_before(store, incident))
    finally:
        store.close()
