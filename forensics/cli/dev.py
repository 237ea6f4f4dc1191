"""`forensics dev train|evaluate|rates`: for those who change the answers: learn weights, measure how often they are right."""

import typer

from forensics.cli import evaluate, rates, train
from forensics.cli.unknown import Commands


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        help="For developers: train weights, measure answers, count firings, on labelled incidents.",
    )
    for module in (train, evaluate, rates):
        module.register(group)
    app.add_typer(group, name="dev")
