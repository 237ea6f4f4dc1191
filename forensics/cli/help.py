"""`forensics help [COMMAND]`: the same as `forensics COMMAND --help`."""

from typing import Annotated, Any

import typer

from forensics.cli import manual
from forensics.cli.unknown import no_command


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
            print(manual.man_page(at) if man else manual.markdown(at), end="")
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
