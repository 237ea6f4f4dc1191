"""`%load_ext forensics`, then in a notebook or in IPython:

%forensics slurm-4711.out --job 4711      -> the Report, shown as a page in a notebook, as text in a terminal
%why                                      -> the Report on the last death of this notebook's kernel
%%guard                                   -> the cell is watched; the Report if it fails
"""

import argparse
import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from forensics.core.errors import ForensicsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.api.report import Report


KERNEL_STARTER = "ipykernel_launcher.py"


def load_ipython_extension(shell: Any) -> None:
    """Add `%forensics`, `%why` and `%%guard` to `shell`; IPython calls this for `%load_ext forensics`."""

    def forensics(line: str) -> "Report | None":
        """%forensics PATH... [--job ID] [--since TIME] [--until TIME] [--pid PID] [--last]: say why the run died.

        The Report is the value of the line: `report = %forensics train.log`. `%forensics --help` tells the options.
        """
        return _shown(shell, lambda: _asked(line))

    def why(line: str) -> "Report | None":
        """%why [BUNDLE]: say why the last kernel of this notebook died, or the process of the captured BUNDLE."""
        return _shown(shell, lambda: _last(line.strip()))

    def guard(line: str, cell: str) -> "Report | None":
        """%%guard: run the cell while a second process watches the kernel; if the cell fails, its value is the Report.

        A line says so if the loss that the cell prints is NaN or diverges, or if memory will run out soon.
        Where the kernel itself dies, `%why` tells of it in the next one.
        """
        return _shown(shell, lambda: _guarded(shell, cell))

    for magic, kind in ((forensics, "line"), (why, "line"), (guard, "cell")):
        shell.register_magic_function(magic, kind, magic.__name__)


def _shown(shell: Any, ask: "Callable[[], Report | None]") -> "Report | None":
    """The Report that `ask` returns; on a terminal it is printed as text. An error is one line on stderr."""
    try:
        report = ask()
    except ForensicsError as error:
        print(f"forensics: {error}", file=sys.stderr)
        return None
    if report is not None and not hasattr(shell, "kernel"):
        print(report.to_text())
    return report


def _last(bundle: str) -> "Report":
    """The Report on `bundle`, by default on the last process of this notebook or script that ended badly."""
    from forensics.capture.guard import default_name, last_bundle

    found = bundle or last_bundle(default_name())
    if not found:
        name = default_name()  # of a notebook only where the server tells it; the file that starts each kernel names none
        advice = "%%guard watches a cell, and Jupyter's extension every kernel; what ends well is not kept"
        raise UsageError("no captured death", "" if name.endswith(KERNEL_STARTER) else name, advice)
    return _analyzed(found)


def _analyzed(bundle: str) -> "Report":
    """The Report on `bundle`, which marks it as reported, so that the next `%%guard` does not mention it again."""
    from forensics.api.analysis import analyze
    from forensics.capture.guard import REPORTED_FILE

    with contextlib.suppress(OSError):
        Path(bundle, REPORTED_FILE).touch()
    return analyze(bundle)


def _guarded(shell: Any, cell: str) -> "Report | None":
    """Run `cell`; early warnings appear in its output. The Report if it raised; None after a good end."""
    from forensics.capture.guard import Guard

    watched = Guard(keep="crash", warn=True).__enter__()
    result = shell.run_cell(cell)
    error = result.error_before_exec or result.error_in_exec
    watched.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
    failed = isinstance(error, Exception) and watched.bundle
    return _analyzed(watched.bundle) if failed else None


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError for wrong options, instead of ending the notebook's kernel."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, "%forensics", "%forensics --help lists the options")


def _asked(line: str) -> "Report | None":
    """The Report for the arguments in `line`; None if they ask for help."""
    from forensics.api.analysis import analyze

    parser = _Parser("%forensics", add_help=False, description="Say why the run died, from the logs in PATH.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="log files and folders")
    for name, help_text in (("since", "only what happened from then on: 10:00, -2h"), ("until", "only what happened up to then"),
                       ("job", "only this Slurm job, pod or container")):  # fmt: skip
        parser.add_argument(f"--{name}", help=help_text)
    parser.add_argument("--pid", type=int, help="only this process")
    parser.add_argument("--last", action="store_true", help="only the last incident")
    parser.add_argument("--help", "-h", action="store_true", help="this text")
    try:
        asked = vars(parser.parse_args(shlex.split(line)))
    except ValueError as error:  # a missing closing quotation mark
        raise UsageError(str(error).lower(), "%forensics") from error
    if asked.pop("help"):
        print(parser.format_help())
        return None
    return analyze(asked.pop("paths"), **asked)
