"""run(): a command as a child of this program, captured and, after a death, analysed.

forensics.run(["python", "train.py"], stall_s=300)  ->  Ran(status=137, bundle=..., report=<host_memory.oom_cgroup>)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forensics.api import Report, analyze


class Ran(NamedTuple):
    """How a command ended.

    `status`: as a shell tells it, 128 + n for signal n. `bundle`: the folder with what was captured, None where none was kept.
    `report`: on the bundle, None after a good end.

    >>> from forensics import Ran
    >>> Ran(status=0, bundle=None, report=None).status
    0
    """

    status: int
    bundle: Path | None
    report: Report | None


def run(command: Sequence[str], *, bundle: str | Path = "", **options: object) -> Ran:
    """Run `command` with this process's streams, watched, to its end.

    `bundle`: the folder to fill, a new one of the state folder by default; kept after a death. `options`: those of
    capture.options.DEFAULTS, as stall_s=300 or keep="always". Raises TypeError for an unknown one.

    >>> from forensics import run
    >>> run(["true"])
    Ran(status=0, bundle=None, report=None)
    """
    from forensics.capture.command import run_command

    status, folder = run_command(list(command), str(bundle), **options)
    died = folder is not None and status != 0
    return Ran(status, Path(folder) if folder else None, analyze(folder) if folder and died else None)
