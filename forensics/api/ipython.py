"""`%load_ext forensics`, then `%forensics PATH...` in a notebook or in IPython.

%forensics slurm-4711.out --job 4711      -> the Report, shown as a page in a notebook, as text in a terminal
"""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from forensics.errors import ForensicsError, UsageError

if TYPE_CHECKING:
    from forensics.api.report import Report


def load_ipython_extension(shell: Any) -> None:
    """Add `%forensics` to `shell`; IPython calls this for `%load_ext forensics`."""

    def forensics(line: str) -> "Report | None":
        """%forensics PATH... [--job ID] [--since TIME] [--until TIME] [--pid PID] [--last]: say why the run died.

        The Report is the value of the line: `report = %forensics train.log`. `%forensics --help` tells the options.
        """
        try:
            report = _asked(line)
        except ForensicsError as error:
            print(f"forensics: {error}", file=sys.stderr)
            return None
        if report is not None and not hasattr(shell, "kernel"):  # a terminal, which shows no HTML
            print(report.to_text())
        return report

    shell.register_magic_function(forensics, "line", "forensics")


class _Parser(argparse.ArgumentParser):
    """Wrong options are an error of usage, not the end of the notebook's kernel."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, "%forensics", "%forensics --help tells the options")


def _asked(line: str) -> "Report | None":
    """The Report that `line` asks for; None where it asks for help."""
    from forensics.api.analysis import analyze

    parser = _Parser("%forensics", add_help=False, description="Say why the run died, from the logs in PATH.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="log files and folders")
    for name, told in (("since", "only what happened from then on: 10:00, -2h"), ("until", "only what happened up to then"),
                       ("job", "only this Slurm job, pod or container")):  # fmt: skip
        parser.add_argument(f"--{name}", help=told)
    parser.add_argument("--pid", type=int, help="only this process")
    parser.add_argument("--last", action="store_true", help="only the last incident")
    parser.add_argument("--help", "-h", action="store_true", help="this text")
    try:
        asked = vars(parser.parse_args(shlex.split(line)))
    except ValueError as error:  # a quotation mark that nothing closes
        raise UsageError(str(error).lower(), "%forensics") from error
    if asked.pop("help"):
        print(parser.format_help())
        return None
    return analyze(asked.pop("paths"), **asked)
