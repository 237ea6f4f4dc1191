"""`%load_ext forensics`, then in a notebook or in IPython:

%forensics slurm-4711.out --job 4711      -> the Report, shown as a page in a notebook, as text in a terminal
%why                                      -> the Report on the last death of this notebook's kernel
%%guard                                   -> the cell is watched; if it fails, the Report is displayed below its error
"""

import argparse
import contextlib
import importlib
import shlex
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from forensics.core.errors import ForensicsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.api.report import Report
    from forensics.capture.guard import Guard


KERNEL_STARTER = "ipykernel_launcher.py"
BEGIN = "get_ipython().run_cell_magic('guard', '', '\\n')\n"  # stands in place of a cell's line `%%guard`


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

    cells = _GuardedCells(shell)

    def guard(line: str, cell: str) -> None:
        """%%guard: run the cell while a second process watches the kernel; if the cell fails, the Report is displayed.

        The cell ends as it would without this line: its value, its exception, and whether the next cell is run.
        A line says so if the loss that the cell prints is NaN or diverges, or if memory will run out soon.
        Where the kernel itself dies, `%why` tells of it in the next one.
        """
        if cell.strip():  # called as a function, by a notebook that was made a script
            shell.run_cell(f"%%guard\n{cell}").raise_error()
        else:
            cells.begin()

    for magic, kind in ((forensics, "line"), (why, "line"), (guard, "cell")):
        shell.register_magic_function(magic, kind, magic.__name__)
    shell.input_transformers_cleanup.append(_begin_first)
    shell.events.register("pre_run_cell", cells.note_start)
    shell.events.register("post_run_cell", cells.end)


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


def _begin_first(lines: list[str]) -> list[str]:
    """A cell that starts with `%%guard`, with a line of Python in its place: IPython itself runs the rest, as any other cell."""
    if not lines or lines[0].split()[:1] != ["%%guard"]:
        return lines
    return [BEGIN, *importlib.import_module("IPython.core.inputtransformer2").cell_magic(lines[1:])]


class _GuardedCells(threading.local):
    """The cells that `shell` runs in this thread, the innermost last, each with its guard if it has one.

    A guard ends with its cell, behind everything that IPython shows of the cell's end.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._running: list[tuple[object, list[Guard]]] = []

    def note_start(self, info: object) -> None:
        """IPython calls this before it runs a cell that is not silent."""
        self._running.append((info, []))

    def begin(self) -> None:
        """Watch the rest of the running cell. A silent one shows nothing, and is not watched."""
        from forensics.capture.guard import Guard

        if self._running and not self._running[-1][1]:
            self._running[-1][1].append(Guard(keep="crash", warn=True).__enter__())

    def end(self, result: Any) -> None:
        """IPython calls this with the result of a cell that it ran. What goes wrong here is one line, no error of the cell."""
        while self._running:
            info, guards = self._running.pop()
            for watched in guards:
                try:
                    self._close(watched, getattr(result, "error_in_exec", None))
                except (Exception, KeyboardInterrupt) as error:
                    print(f"forensics: no report: {type(error).__name__}: {error}", file=sys.stderr)
            if info is getattr(result, "info", info):
                return

    def _close(self, watched: "Guard", error: BaseException | None) -> None:
        """End the watch of a cell that ended well or by `error`. If it raised, display the Report."""
        watched.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
        if not isinstance(error, Exception) or not watched.bundle:
            return
        report = _shown(self._shell, lambda: _analyzed(watched.bundle))
        if report is not None and hasattr(self._shell, "kernel"):
            importlib.import_module("IPython.display").display(report)


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
