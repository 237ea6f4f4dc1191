"""The typer application: every module of this package is a command, by its function of that name. A wrong word is told so.

forensics job.log          a file or folder that is there, or - : the same as forensics analyze job.log
forensics < job.log        a log that is piped in, also with options alone: the same as forensics analyze -
forensics anlyze job.log   forensics: no command 'anlyze'; did you mean analyze?
forensics analyze --rdact  forensics: analyze has no option --rdact; did you mean --redact?
"""

import difflib
import importlib
import pkgutil
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
import typer.core
from typer.models import TyperPath

import forensics.cli as package
from forensics.core.errors import RegistrationError, UsageError
from forensics.version import VERSION

try:  # typer has its own copy of click from 0.26 on
    from typer import _click as click
except ImportError:
    import click  # type: ignore[no-redef, import-not-found, unused-ignore]

READS_PATHS = "analyze"  # the command that is meant where a path is given alone
REDACT = "redact"  # an option of several commands, looked for among them
DASH = "-"  # stands for standard input


def can_be_read(word: str) -> bool:
    """Is it a path that is there, or standard input?"""
    return word == DASH or (word != "" and Path(word).exists())


OF_THE_GROUP = ("-h", "--help", "-V", "--version", "--install-completion", "--show-completion")


def with_command(arguments: list[str]) -> list[str]:
    """`arguments` with the command that reads logs, where they begin with one of its options and a log is named or piped in."""
    from forensics.cli.output import is_piped

    if arguments and (arguments[0] == DASH or not arguments[0].startswith(DASH) or arguments[0] in OF_THE_GROUP):
        return arguments
    if not is_piped() and not any(map(can_be_read, arguments)):
        return arguments
    return [READS_PATHS, *arguments]


class Commands(typer.core.TyperGroup):
    """A group of commands; what is typed wrongly is a UsageError, in this program's words and in one line."""

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """The context of the group; raises UsageError for options of the group that it does not have."""
        with _InOneLine():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; raises UsageError for options and arguments that it does not take."""
        with _InOneLine():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` begin with; raises UsageError if there is none."""
        word = args[0]
        if word == DASH or not (word.startswith("-") or word in self.commands):
            if READS_PATHS not in self.commands or not can_be_read(word):
                raise no_command(word, self.commands)
            args = [READS_PATHS, *args]
        name, command, rest = super().resolve_command(ctx, args)
        for parameter in command.params if command else ():
            if parameter.param_type_name == "argument" and isinstance(parameter.type, TyperPath):
                parameter.type = _NamedPath()
        return name, command, rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of the commands, each with its whole first sentence: the library cuts it at the width of the terminal."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx) if not self.commands[name].hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join((c.help or "").split("\n\n")[0].split())) for name, c in commands])


class _NamedPath(TyperPath):
    """A path that is given by its name: an empty one would be the current folder."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """`value`, if it is not empty."""
        if value == "":
            self.fail("a path is empty; is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


class _InOneLine:
    """Turns what the library of command lines would say in four lines, usage and hints, into a UsageError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, click.exceptions.UsageError) and not isinstance(error, click.exceptions.NoArgsIsHelpError):
            raise _said(error) from None


def _said(error: Any) -> UsageError:
    """What is wrong with the options or arguments of a command, and what to do."""
    path = error.ctx.command_path if error.ctx else "forensics"
    name = path.removeprefix("forensics").strip() or "forensics"
    if not isinstance(error, click.exceptions.NoSuchOption):
        said = error.format_message().rstrip(".")
        is_here = isinstance(error, click.exceptions.MissingParameter) and Path(name).exists()
        advice = f"forensics ./{name} reads what is called so here" if is_here else f"{path} --help"
        return UsageError(f"{name}: {said}" if error.ctx else said, advice=advice)
    options = [form for p in error.ctx.command.params for form in (*p.opts, *p.secondary_opts)] if error.ctx else []
    near = difflib.get_close_matches(error.option_name, options, 1) or sorted(error.possibilities or ())[:1]
    of_all = "options come after the paths, as in forensics LOG -f html; - is standard input"
    advice = f"did you mean {near[0]}?" if near else of_all if name == "forensics" else f"{path} --help lists them"
    return UsageError(f"{name} has no option {error.option_name}", advice=advice)


def no_command(word: str, commands: Iterable[str]) -> UsageError:
    """The error for `word`, which is none of `commands`."""
    from forensics.report import formats

    names = list(commands)
    if not word.strip():
        return UsageError("a path is empty", advice="is a variable of the shell not set?")
    if "analyze" in names and word in (*formats(), REDACT):
        option = f"--{REDACT}" if word == REDACT else f"-f {word}"
        return UsageError(f"no command {word!r}", advice=f"it is an option: forensics analyze PATHS {option}")
    near = difflib.get_close_matches(word, names, 1)
    if "explain" in names and " " in word.strip():
        return UsageError(f"no command {word[:40]!r}", advice=f"what a message means: forensics explain {shlex.quote(word)}")
    advice = f"did you mean {near[0]}?" if near else f"commands are {', '.join(names)}" if names else "it has no commands"
    if "analyze" in names and not near and ("/" in word or "." in word):
        return UsageError(f"no command {word!r}, and no such file or folder", advice="forensics --help lists the commands")
    return UsageError(f"no command {word!r}", advice=advice)


OF_ALL_COMMANDS = "help"  # tells of the others
NOT_COMMANDS = {"app", "captured_runs", "common", "kept_code", "kept_modules", "output", "progress"}


def build(asked: str = "") -> typer.Typer:
    """The application with all its commands, or with that of the name `asked` alone, if there is one: to make all takes as long
    as to read a short log."""
    app = typer.Typer(
        name="forensics",
        cls=Commands,
        help="Finds out why a training run or notebook died, from the available logs, and proves it line by line: forensics LOG, "
        "forensics FOLDER, or a pipe: python train.py 2>&1 | forensics.",
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
    if asked not in names and asked and can_be_read(asked):
        asked = READS_PATHS
    for name in [asked] if asked in names - {OF_ALL_COMMANDS} else sorted(names):
        module = importlib.import_module(f"{package.__name__}.{name}")
        if hasattr(module, "register"):
            module.register(app)
        elif hasattr(module, name):
            app.command(context_settings=getattr(module, "SETTINGS", None))(getattr(module, name))
        else:
            advice = f"add it, or register(app) for a group, or name the module in {__name__}.NOT_COMMANDS"
            raise RegistrationError(f"no function {name}", module.__name__, advice)
    return app
