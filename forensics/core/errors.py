"""All exception classes of the package. Each says what is wrong, where, and what to do; a command prints one line and exits 2.

A bug in this program is reported, too: `unexpected` makes the sentence for a Warning, and the analysis continues without the
part that failed.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePath


class ForensicsError(Exception):
    """A fault in the usage or in the installation. Bad data never raises it: bad data becomes a Warning of the report."""

    def __init__(self, what: str, where: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.advice = what, where, advice

    def __str__(self) -> str:
        """`where: what; advice`, on one line, control characters escaped."""
        text = f"{self.where + ': ' if self.where else ''}{self.what}{'; ' + self.advice if self.advice else ''}"
        from forensics.core.text import escaped, inert  # needed for a fault only

        return inert(escaped(text))


class UsageError(ForensicsError):
    """The command line or a call asks for something impossible: a missing path, an unknown format."""


def or_the_path(asked: str, advice: str) -> str:
    """The advice where no job or pod is called so; that to read the file or folder of this name, if there is one."""
    import shlex

    there = bool(asked) and Path(asked).exists()
    return f"to read what lies here by that name: forensics analyze {shlex.quote(asked)}" if there else advice


class SourceError(ForensicsError):
    """None of the given paths could be read."""


class DatabaseError(ForensicsError):
    """The signature database is wrong; `where` is `path:line`."""


class RegistrationError(ForensicsError):
    """A module of this package lacks what its folder needs, or uses a name of another module. For authors of modules."""


@contextlib.contextmanager
def files_at(where: object, wrong: str = "cannot be read", advice: str = "") -> Iterator[None]:
    """What the file system refuses in the block is a UsageError: `run7.log: cannot be read (No such file or directory)`."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{wrong} ({error.strerror or error})", str(where), advice) from error


def missing_module(name: str) -> ForensicsError:
    """The error for a module of this package that is not there: a folder was moved, or the installation is damaged."""
    return RegistrationError(f"the module {name} is missing", "", "reinstall the package, or put its file or folder back")


def unexpected(error: Exception) -> str:
    """The message for an exception that no code expects: `internal error (KeyError, gather.py:88), please report it`. When
    $FORENSICS_DEBUG is set, as in the tests, `error` is raised again instead."""
    if os.environ.get("FORENSICS_DEBUG"):
        raise error
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f", {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"internal error ({type(error).__name__}{where}), please report it"
