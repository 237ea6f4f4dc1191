"""What a word gets that is no command: the command that is near, or the one that reads it if it is a file or folder."""

import difflib
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer.core

from forensics.core.errors import UsageError


class Commands(typer.core.TyperGroup):
    """A group of commands; an unknown one is a UsageError, in this program's words and in one line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` begin with; raises UsageError if there is none."""
        if not args[0].startswith("-") and args[0] not in self.commands:
            raise no_command(args[0], self.commands)
        return super().resolve_command(ctx, args)


def no_command(word: str, commands: Iterable[str]) -> UsageError:
    """The error for `word`, which is none of `commands`."""
    names = list(commands)
    if "analyze" in names and Path(word).exists():
        return UsageError(f"no command {word!r}", advice=f"to read this file or folder: forensics analyze {shlex.quote(word)}")
    near = difflib.get_close_matches(word, names, 1)
    advice = f"did you mean {near[0]}?" if near else f"commands are {', '.join(names)}" if names else "it has no commands"
    return UsageError(f"no command {word!r}", advice=advice)
