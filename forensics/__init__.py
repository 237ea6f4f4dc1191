"""Names why a training run or a notebook died, from whatever logs there are, and proves it line by line.

>>> from forensics import analyze
>>> report = analyze("logs/")
>>> report.causes[0].id, report.causes[0].probability
"""

from pathlib import Path
from typing import TYPE_CHECKING

from forensics.version import VERSION

if TYPE_CHECKING:
    from forensics.model import Report

__version__ = VERSION
__all__ = ["Report", "__version__", "analyze"]


def analyze(*paths: str | Path) -> "Report":
    """The Report on files and folders; raises forensics.errors.ForensicsError when nothing can be read."""
    from forensics import pipeline

    return pipeline.analyze_paths([Path(p) for p in paths], Path(paths[0]).name, pipeline.database())


def __getattr__(name: str) -> object:
    if name == "Report":
        from forensics.model import Report

        return Report
    raise AttributeError(name)
