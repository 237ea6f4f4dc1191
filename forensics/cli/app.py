"""The typer application: every module of this package with a `register(app)` is a command."""

import importlib
import pkgutil

import typer

import forensics.cli as package
from forensics.cli.unknown import MOVED, READS_PATHS, Commands, can_be_read
from forensics.core.errors import RegistrationError
from forensics.version import VERSION

OF_ALL_COMMANDS = "help"  # tells of the others
NOT_COMMANDS = {
    *(
        "app",
        "captured_runs",
        "checks",
        "common",
        "following",
        "manual",
        "hooks",
        "naming",
        "exporting",
        "output",
        "print_table",
        "progress",
        "remembering",
    ),
    *("unknown", "evaluate", "rates", "train"),  # the last three are in the group `dev`
}


def build(asked: str = "") -> typer.Typer:
    """The application with all its commands, or with that of the name `asked` alone, if there is one: to make all takes as long
    as to read a short log."""
    app = typer.Typer(
        name="forensics",
        cls=Commands,
        help="Finds out why a training run or notebook died, from the available logs, and proves it line by line.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def _top(version: bool = typer.Option(False, "--version", "-V", help="Print the version and exit.", is_eager=True)) -> None:
        if version:
            print(f"forensics {VERSION}")
            raise typer.Exit

    names = {m.name for m in pkgutil.iter_modules(package.__path__)} - NOT_COMMANDS
    if asked not in names | set(MOVED) and asked and can_be_read(asked):
        asked = READS_PATHS
    for name in [asked] if asked in names - {OF_ALL_COMMANDS} else sorted(names):
        module = importlib.import_module(f"{package.__name__}.{name}")
        if not hasattr(module, "register"):
            raise RegistrationError("no register(app)", module.__name__, f"add it, or name the module in {__name__}.NOT_COMMANDS")
        module.register(app)
    return app
