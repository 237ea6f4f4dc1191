"""`forensics dev learn|evaluate|rates`: what those who change the answers use; it works in a clone, where `scripts/train` is.

forensics dev evaluate ./incidents    the same as python -m scripts.train evaluate ./incidents
"""

import os
import subprocess
import sys
from pathlib import Path

import typer

import forensics
from forensics.core.errors import UsageError

CLONE = Path(forensics.__file__).resolve().parent.parent


SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def dev(ctx: typer.Context) -> None:
    """Learn the weights, measure how often answers are right, count how often signatures fire (in a clone).

    Example: forensics dev evaluate ./incidents
    """
    if not (CLONE / "scripts" / "train").is_dir():
        raise UsageError("forensics dev needs a clone: an installed package only answers", advice="in one: pip install -e .")
    paths = os.pathsep.join(filter(None, (str(CLONE), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "scripts.train", *ctx.args]
    raise typer.Exit(subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, check=False).returncode)
