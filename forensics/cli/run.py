"""`forensics run -- COMMAND`: run any command under watch and, if it fails, say why."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import Output, Redact, Remember, Tokens, warn_of_names
from forensics.cli.output import capture_settings, check_format, say
from forensics.core.errors import ForensicsError, UsageError
from forensics.report.style import BRIEF_TOKENS

Command = Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command with its arguments.")]
Folder = Annotated[Path | None, typer.Option(help="Folder for the captured files; default: one below ~/.local/state.")]
Form = Annotated[str, typer.Option("--format", "-f", help="Format of the report: text, brief, issue, markdown, html or json.")]
Keep = Annotated[str, typer.Option(help="When to keep the captured files: crash, always or never.")]
Every = Annotated[str, typer.Option(help="Time between two samples of memory.")]
Stall = Annotated[str, typer.Option(help="Record the stacks if there is no output for this long; 0 means never.")]
Env = Annotated[bool, typer.Option("--env/--no-env", help="Set PYTHONFAULTHANDLER and similar variables if they are not set.")]
MaxLog = Annotated[int, typer.Option(min=1, help="MiB of output to store.")]
WarnEarly = Annotated[
    bool,
    typer.Option("--warn", help="Print a line if the loss is NaN or diverges, memory will run out soon, or the output stops."),
]
Termination = Annotated[
    Path,
    typer.Option(
        envvar="FORENSICS_TERMINATION_FILE", show_envvar=False, help="Also write a short report to this file, if it exists."
    ),
]
OnCrash = Annotated[str, typer.Option(help="A shell command to run after a failure; {bundle} is the folder.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also print a line after a good end.")]
# A key or a supervisor may end us while the small process starts: what is blocked here waits for it, and is passed on.
BY_USER = ("COMMANDLINE", "ENVIRONMENT")  # where an option came from, as typer names it
OPTION_OF = {"every": "every_s", "stall": "stall_s", "env": "environment", "max_log": "max_log_bytes"}  # else of the same name
HELD_BACK = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")


SETTINGS = {"allow_interspersed_args": False}


def run(
    context: typer.Context,
    command: Command,
    output: Output = None,
    folder: Folder = None,
    form: Form = "text",
    keep: Keep = "crash",
    every: Every = "5s",
    stall: Stall = "15m",
    env: Env = True,
    max_log: MaxLog = 1024,
    warn: WarnEarly = False,
    termination_file: Termination = Path("/dev/termination-log"),
    on_crash: OnCrash = "",
    tokens: Tokens = BRIEF_TOKENS,
    redact: Redact = False,
    remember: Remember = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run COMMAND and, if it fails, say why.

    The command keeps its terminal, streams, signals and exit status, or ends by the same signal. The report goes to stderr
    or to the file of -o.

    \b
    Examples:
      forensics run -- python train.py
      forensics run --stall 5m -- torchrun --nproc-per-node 8 train.py
      srun forensics run -- python train.py
    """
    check_format(form)
    given: dict[str, object] = {"command": command, "form": form, **_paths(folder=folder, output=output)}
    given |= {**_checked(keep, every, stall, on_crash), "environment": env, "warn": warn}
    given |= {"max_log_bytes": max_log << 20, "termination_file": str(termination_file)}
    given |= {"tokens": tokens, "redact": redact, "remember": bool(remember), "quiet": quiet, "verbose": verbose}
    typed = _typed(context)
    if not quiet and (lacking := without_stacks(typed, given, command)):
        say(f"forensics: {lacking}")
    _become(given | _settings(typed, remember))


def without_stacks(typed: set[str], given: dict[str, object], command: Sequence[str] = ()) -> str:
    """What to say before the command starts if the user asked for the stacks of a stall and nothing here takes them, nor in the
    environment of `command`."""
    if "stall_s" not in typed or not given["stall_s"]:
        return ""
    import shutil

    from forensics.capture.live_stacks import py_spy_path

    started = shutil.which(command[0]) if command else None
    if py_spy_path([str(Path(started).absolute())] if started else []):
        return ""
    return (
        "--stall takes stacks with py-spy, which is not installed (pip install py-spy): a stall will be reported without stacks"
    )


def _paths(**given: Path | None) -> dict[str, str]:
    """The paths in full: the supervisor works elsewhere."""
    return {name: str(path.absolute()) if path else "" for name, path in given.items()}


def _checked(keep: str, every: str, stall: str, on_crash: str) -> dict[str, object]:
    """When to keep bundles, the durations in seconds and the hook; raises UsageError for a text that is none."""
    from forensics.config import KEEP_VALUES, seconds

    if keep not in KEEP_VALUES:
        raise UsageError(f"unknown value {keep!r} of --keep", advice=f"choose one of {', '.join(KEEP_VALUES)}")
    warn_of_names("run --on-crash", on_crash, ("bundle",))
    return {"keep": keep, "every_s": seconds(every), "stall_s": seconds(stall), "on_crash": on_crash}


def _remembers(asked: bool | None) -> bool:
    """Is the run stored in the history, even if it ends well?"""
    from forensics.config import config

    return bool(config().history) if asked is None else asked


def _typed(context: typer.Context) -> set[str]:
    """The options that the user gave, by the names of capture.options."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {OPTION_OF.get(n, n) for n, source in sources.items() if source is not None and source.name in BY_USER}


def _settings(typed: set[str], remember: bool | None) -> dict[str, object]:
    """The configured options of captured runs, without those that the user gave. A file that is wrong does not end the job."""
    try:
        settings = capture_settings() | {"remember": _remembers(remember)}
    except ForensicsError as error:
        say(f"forensics: {error}; the command runs without this configuration")
        return {}
    return {name: value for name, value in settings.items() if name not in typed or name == "remember"}


def _become(given: dict[str, object]) -> None:
    """Continue as a new process with less memory, because it stays as long as the job runs."""
    from forensics.capture.become import run_uncaptured, take_back_locale
    from forensics.capture.options import Options

    take_back_locale()
    options = Options(**given)
    if sys.stdout:
        sys.stdout.flush()
    if hasattr(signal, "pthread_sigmask"):
        options.blocked = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, {getattr(signal, name) for name in HELD_BACK}))
        signal.signal(signal.SIGINT, signal.SIG_DFL if signal.getsignal(signal.SIGINT) != signal.SIG_IGN else signal.SIG_IGN)
    try:
        os.execv(sys.executable, options.run_line())
    except OSError as error:  # such as arguments that just fit into what the system allows
        run_uncaptured(options, str(error.strerror))
