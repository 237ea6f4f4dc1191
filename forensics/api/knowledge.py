"""The signatures, loaded once and used for many analyses."""

import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from forensics import pipeline
from forensics.config import Config, config

if TYPE_CHECKING:
    from forensics.database import Database


class Knowledge:
    """All causes and signatures: the built-in ones, extended and overridden by those of your own folders.

    `signatures`: folders of cause files; later ones override earlier ones. Loading takes about a tenth of a second; after a
    change they are compiled first, which takes some seconds. Raises ForensicsError for a missing or faulty folder.

    >>> import forensics
    >>> knowledge = forensics.Knowledge()
    >>> reports = [forensics.analyze(f"sample_logs/{case}", knowledge=knowledge) for case in ("nan_loss", "healthy_train")]
    >>> [report.causes[0].id for report in reports]
    ['numerics.nan', 'none.healthy']
    """

    def __init__(self, signatures: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._database = pipeline.database([Path(folder) for folder in signatures])

    @property
    def causes(self) -> dict[str, str]:
        """Cause id -> its title, for every cause.

        >>> import forensics
        >>> forensics.Knowledge().causes["host_memory.oom_cgroup"]
        'A memory limit was hit'
        """
        return {name: cause.title for name, cause in sorted(self._database.causes.items())}

    @property
    def hash(self) -> str:
        """A hash of the signatures, 16 hexadecimal digits, as in `report.tool["signatures"]`.

        >>> import forensics
        >>> len(forensics.Knowledge().hash)
        16
        """
        return self._database.hash[:16]

    def __repr__(self) -> str:
        signatures = sum(len(c.signatures) for c in self._database.causes.values())
        return f"<forensics.Knowledge {len(self._database.causes)} causes, {signatures} signatures, {self.hash}>"


def database_of(knowledge: Knowledge) -> "Database":
    """The internal Database of `knowledge`, for the stages of an analysis."""
    return knowledge._database


def default_knowledge() -> Knowledge:
    """The built-in signatures and those of the configuration, loaded once per process."""
    return _loaded(config())


@functools.lru_cache(maxsize=1)
def _loaded(_settings: Config) -> Knowledge:
    return Knowledge()
