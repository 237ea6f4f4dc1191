"""The option `--remember/--no-remember` of every command that makes reports; see forensics.history.remember."""

from typing import Annotated

import typer

Remember = Annotated[
    bool | None,
    typer.Option(
        "--remember/--no-remember",
        help="Keep it in your history, and say whether it was seen before; `history:` in the configuration does so always.",
        show_default=False,
    ),
]
