"""`forensics help [COMMAND]`: the same as `forensics COMMAND --help`; of all commands a manual page for `man`, or Markdown.

    forensics help --man > ~/.local/share/man/man1/forensics.1

Both are written from what `forensics COMMAND --help` says, so they cannot fall behind it.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer

from forensics.cli.app import no_command
from forensics.version import DISTRIBUTION, VERSION

PARAGRAPH_KEPT = "\b"  # click's mark in front of a paragraph whose lines stay as they are


class Command(NamedTuple):
    """One command. `name`: `forensics history list`. `paragraphs`: its help; `options`: each form with what it does."""

    name: str
    usage: str
    paragraphs: tuple[str, ...]
    options: tuple[tuple[str, str], ...]


def commands(context: Any) -> Iterator[Command]:
    """The command at `context` (click's) and all commands below it, in the order of `--help`; hidden ones are left out."""
    command = context.command
    records = (p.get_help_record(context) for p in command.params if not getattr(p, "hidden", False))
    yield Command(
        name=context.command_path,
        usage=" ".join((context.command_path, *command.collect_usage_pieces(context))),
        paragraphs=tuple((command.help or "").split("\n\n")),
        options=tuple(r for r in records if r is not None),
    )
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from commands(type(context)(below, info_name=name, parent=context))


def man_page(context: Any) -> str:
    """The page in the roff macros of man(7)."""
    top, *others = commands(context)
    lines = [f'.TH FORENSICS 1 "" "{DISTRIBUTION} {VERSION}"', ".SH NAME", rf"forensics \- {_roff(_plain(top.paragraphs[0]))}"]
    lines += [".SH SYNOPSIS", rf"\fB{_roff(top.usage)}\fR", *_roff_options(top), ".SH COMMANDS"]
    for command in others:
        lines += [f".SS {_roff(command.name)}", rf"\fB{_roff(command.usage)}\fR", *_roff_text(command), *_roff_options(command)]
    lines += [
        ".SH EXIT STATUS",
        r"0 analysed; 1 with \fB\-\-exit\-code\fR where a crash was found; 2 nothing could be read, or wrong usage.",
    ]
    return "\n".join(lines) + "\n"


def markdown_page(context: Any) -> str:
    """The page in Markdown: a section for each command."""
    top, *others = commands(context)
    parts = ["# Commands", _plain(top.paragraphs[0])]
    for command in others:
        parts += [f"## {command.name}", f"```text\n{command.usage}\n```"]
        for paragraph in command.paragraphs:
            is_kept = paragraph.startswith(PARAGRAPH_KEPT)
            parts.append(f"```text\n{_plain(paragraph)}\n```" if is_kept else _plain(paragraph).replace("<", "&lt;"))
        if command.options:
            cells = ("\n".join(f"| `{form}` | {_cell(does)} |" for form, does in command.options)).replace("`|`", "`\\|`")
            parts.append(f"| option | does |\n| --- | --- |\n{cells}")
    return "\n\n".join(parts) + "\n"


def _plain(paragraph: str) -> str:
    return paragraph.removeprefix(PARAGRAPH_KEPT).strip("\n")


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;")


def _roff(text: str) -> str:
    return re.sub(r"(?m)^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"))


def _roff_text(command: Command) -> Iterator[str]:
    for paragraph in command.paragraphs:
        yield ".PP"
        if paragraph.startswith(PARAGRAPH_KEPT):
            yield from (".nf", _roff(_plain(paragraph)), ".fi")
        else:
            yield _roff(_plain(paragraph))


def _roff_options(command: Command) -> Iterator[str]:
    for form, does in command.options:
        yield from (".TP", rf"\fB{_roff(form)}\fR", _roff(re.sub(r"\s+", " ", does)))


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("help")
    def help_(
        context: typer.Context,
        command: Annotated[list[str] | None, typer.Argument(help="A command, and one of its sub-commands.")] = None,
        man: Annotated[bool, typer.Option("--man", help="Print a manual page of all commands, for man.")] = False,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print the same in Markdown.")] = False,
    ) -> None:
        """Show what a command does and its options.

        \b
        Examples:
          forensics help
          forensics help analyze
          forensics help --man | man -l -
        """
        at: Any = context.parent or context
        if man or markdown:
            print(man_page(at) if man else markdown_page(at), end="")
            return
        for name in command or ():
            at = _below(at, name)
        print(at.get_help())


def _below(at: Any, name: str) -> Any:
    """The context of the command `name` in the group at the context `at`; raises UsageError if there is none."""
    commands: dict[str, Any] = getattr(at.command, "commands", {})
    if name in commands:
        return type(at)(commands[name], info_name=name, parent=at)
    raise no_command(name, commands)
