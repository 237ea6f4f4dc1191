"""The modules of a package by its files. `pkgutil` does this, too, and loads `inspect`, which takes 10 ms.

readers/gpu/xid.py  ->  gpu.xid
"""

import os
from collections.abc import Iterable, Iterator


def modules(folders: Iterable[str]) -> dict[str, os.DirEntry[str]]:
    """The file of each module in the `folders` of a package, by name, in order; `gpu.xid` for one in a package below."""
    return dict(sorted((name, entry) for folder in folders for name, entry in _below(folder, "")))


def _below(folder: str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        if entry.name.endswith(".py"):
            if entry.name != "__init__.py":
                yield prefix + entry.name.removesuffix(".py"), entry
        elif entry.is_dir() and os.access(os.path.join(entry.path, "__init__.py"), os.R_OK):  # noqa: PTH118
            yield from _below(entry.path, f"{prefix}{entry.name}.")
