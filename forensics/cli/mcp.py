"""`forensics mcp`: this command line as tools for an agent."""

from pathlib import Path
from typing import Annotated

import typer

from forensics.core.errors import UsageError


def mcp(
    root: Annotated[list[Path] | None, typer.Option(help="Read only files below this folder; repeatable.")] = None,
    names: Annotated[bool, typer.Option("--names", help="Show hosts, users and addresses; secrets stay masked.")] = False,
) -> None:
    """Serve briefs, lines, searches and explanations to an agent (Model Context Protocol, standard input and output).

    \b
    Examples:
      claude mcp add forensics -- forensics mcp --root ~/runs
      forensics mcp --root /scratch/logs --names
    """
    for folder in root or ():
        if not folder.is_dir():
            raise UsageError("no such folder", str(folder))
    try:
        from forensics.adapters.mcp.server import build_server
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is not installed", advice="pip install 'mcp>=2.1,<3'") from error
    build_server(root or (), names).run()
