"""run(): run a command as a captured child process and, if it fails, analyse why.

forensics.run(["python", "train.py"], stall_s=300)  ->  Ran(status=137, bundle=..., report=<host_memory.oom_cgroup>)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forensics.api import Report, analyze


class Ran(NamedTuple):
    """How a command ended.

    `status`: as in a shell, 128 + n for signal n. `bundle`: the folder with the captured files; None if it was not kept.
    `report`: on the bundle; None after a good end.

    >>> from forensics import Ran
    >>> Ran(status=0, bundle=None, report=None).status
    0
    """

    status: int
    bundle: Path | None
    report: Report | None


def run(command: Sequence[str], *, bundle: str | Path = "", **options: object) -> Ran:
    """Run `command` with the standard streams of this process, watch it to its end, and analyse a failure.

    `bundle`: the folder for the captured files, by default a new one in the state folder; it is kept after a failure.
    `options`: see capture.options.Options, such as stall_s=300 or keep="always". Raises TypeError for an unknown option.

    >>> from forensics import run
    >>> run(["true"])
    Ran(status=0, bundle=None, report=None)
    """
    from forensics.capture.options import run_command

    status, folder = run_command(list(command), str(bundle), **options)
    died = folder is not None and status != 0
    return Ran(status, Path(folder) if folder else None, analyze(folder) if folder and died else None)
