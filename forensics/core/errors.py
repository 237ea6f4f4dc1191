"""One tree of errors: each says what, where and what to do; the command line prints it as one line and exits 2.

A fault of this program itself is reported, too: `unexpected` makes a sentence for a Warning, and the rest is still analysed.
"""

import os
import traceback
from pathlib import PurePath


class ForensicsError(Exception):
    """Trouble in the usage or in the installation. Trouble in the data is never an error: it is a Warning of the report."""

    def __init__(self, what: str, where: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.advice = what, where, advice

    def __str__(self) -> str:
        """`where: what; advice`, on one line, control characters escaped."""
        text = f"{self.where + ': ' if self.where else ''}{self.what}{'; ' + self.advice if self.advice else ''}"
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class UsageError(ForensicsError):
    """The command was asked for something it cannot do: a missing path, an unknown format."""


class SourceError(ForensicsError):
    """Nothing at all could be read of what was given."""


class DatabaseError(ForensicsError):
    """The signature database is wrong; `where` is `path:line`."""


def unexpected(error: Exception) -> str:
    """`internal error (KeyError, gather.py:88), please report it`: the sentence for an error that nobody foresaw.

    Where $FORENSICS_DEBUG is set, as it is in the tests, `error` is raised again instead.
    """
    if os.environ.get("FORENSICS_DEBUG"):
        raise error
    frames = traceback.extract_tb(error.__traceback__)
    where = f", {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"internal error ({type(error).__name__}{where}), please report it"
