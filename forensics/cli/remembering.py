"""The option `--remember/--no-remember` of every command that makes reports; see forensics.history.remember."""

from typing import Annotated

import typer

Remember = Annotated[
    bool | None,
    typer.Option(
        "--remember/--no-remember",
        help="Store the report in your history and show earlier occurrences; `history:` in the configuration always does.",
        show_default=False,
    ),
]
