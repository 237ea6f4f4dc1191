"""The command's entry: makes sure that `import forensics` finds this project's package before anything else of it runs.

Another project has the name `forensics` in the index and installs a folder `forensics/`, too. Where its files, or another
folder `forensics/` that comes first on the path, stand in the way, the command says so in a line instead of failing midway.
"""

import importlib
import signal
import sys

NAME = "training-forensics"


def main() -> None:
    """Run `forensics`, or exit with 2 and a line that says which other package stands in its way."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # until the command line can say that it was interrupted
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        found = importlib.import_module("forensics")
    except ImportError as error:
        _stop(f"`import forensics` failed ({error})")
    if getattr(found, "DISTRIBUTION", None) != NAME:
        places = getattr(found, "__file__", None) or ", ".join(map(str, found.__path__))
        _stop(f"`import forensics` finds another project's package, {places}")
    from forensics.cli import command

    command()


def _stop(what: str) -> None:
    from importlib.metadata import packages_distributions

    others = sorted(set(packages_distributions().get("forensics", ())) - {NAME})
    remove = f"`pip uninstall {' '.join(others)}`, then " if others else ""
    again = f"{remove}install {NAME} again from its repository with `pip install --force-reinstall`"
    print(f"forensics: {what}; give {NAME} an environment of its own, or {again}", file=sys.stderr)
    sys.exit(2)
