"""`--remember`: a report that was made goes into the history, and says what the history knows of others like it.

    remembered(report)            where the configuration names a history
    remembered(report, True)      always: in the user's own one where none is named

A history that cannot be opened never costs the report: a line on stderr says so.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forensics.core.errors import ForensicsError, unexpected

if TYPE_CHECKING:
    from forensics.model import Report

R = TypeVar("R", bound="Report")


def history_place(named: str | None = None, signatures: Sequence[Path] = ()) -> str:
    """Where the history lies: as named, as the configuration says, else in the user's data folder."""
    from forensics.config import config
    from forensics.history.opening import default_place

    return named or config(signatures).history or default_place()


def remembered(report: R, remember: bool | None = None, job: str = "") -> R:
    """`report` with what is remembered of others like it; itself is remembered, too. As it was where nobody asked for it.

    `remember`: None as the configuration says. `job`: its number, where the logs may not tell it.
    """
    try:
        from forensics.config import config

        if remember is False or not (remember or config().history):
            return report
        return _remembered(report, history_place(), job)
    except ForensicsError as error:
        print(f"forensics: not remembered: {error}", file=sys.stderr)
    except Exception as error:
        print(f"forensics: not remembered: {unexpected(error)}", file=sys.stderr)
    return report


def _remembered(report: R, place: str, job: str) -> R:
    from msgspec.structs import replace

    from forensics.history.again import seen_before
    from forensics.history.incident import Known, incident_of
    from forensics.history.opening import open_store

    store = open_store(place)
    try:
        incident = incident_of(report, int(time.time()), store.salt, Known(job=job))
        store.add([incident])
        return replace(report, history=seen_before(store, incident))
    finally:
        store.close()
