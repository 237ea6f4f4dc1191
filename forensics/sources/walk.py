"""Folders to files: every regular file below a folder, in order of name, never twice and never through a loop.

Of more files than the limit allows, those with the name of a log are read, and among equals the newest: lines about an end are
written last.

    100,000 files:  run/train.log, run/rank7.err, data/00001.json, ...  ->  the logs, and the newest of data/
"""

import heapq
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from forensics.core import lazy, limits
from forensics.model import Warn, Warning

SKIPPED_FOLDERS = {".git", "__pycache__", ".ipynb_checkpoints"}
SKIPPED_FILES = {"expected.yaml", "labels.jsonl"}  # the labels of a labelled case are no logs
MAX_NAMES_PER_FILE = 50  # for each file that may be read, so many names are compared; more would take seconds
LOG_NAME_PATTERN = lazy.regex(
    r"(?i)(?:^|[._-])(?:logs?|out|err|errors?|stdout|stderr|dmesg|messages|syslog|kern|kmsg|journal|console|crash|ipynb)(?:[._-]|\d*$)"
)
Rank = tuple[bool, float]  # has the name of a log, time of the last change


def walk_files(top: Path, warn: Warn) -> Iterator[Path]:
    """The regular files at or below `top`; links to folders are not followed, pipes and devices are not opened."""
    if not top.is_dir():
        if _rank(top, warn):
            yield top
        return
    most = limits.current.files
    kept: list[tuple[Rank, int, str]] = []  # a heap, the lowest rank first; (rank, negative place in order, path)
    seen, left = 0, ""
    for rank, path in _below(top, warn):
        seen += 1
        if seen > most * MAX_NAMES_PER_FILE:
            break
        if len(kept) < most:
            heapq.heappush(kept, (rank, -seen, path))
        else:
            left = heapq.heappushpop(kept, (rank, -seen, path))[2]
    if left:
        warn(Warning("limit", _left_out_message(seen, most, os.path.relpath(left, top)), str(top)))
    yield from (Path(path) for _, _, path in sorted(kept, key=lambda k: -k[1]))


def _left_out_message(seen: int, most: int, left: str) -> str:
    """The warning about files left out, with an example, and how to have them read."""
    stopped = f"; the folder holds more than {seen - 1:,}" if seen > most * MAX_NAMES_PER_FILE else ""
    return (
        f"{most:,} of {min(seen, most * MAX_NAMES_PER_FILE):,} files were read, those called like logs first, "
        f"then the newest{stopped}; "
        f"left out was {left}, for one. Give the folders that matter, or set FORENSICS_LIMIT_FILES={seen}"
    )


def _below(top: Path, warn: Warn) -> Iterator[tuple[Rank, str]]:
    """The regular files below `top`."""
    for folder, names, files in os.walk(top, onerror=lambda e: warn(_unreadable(e))):
        names[:] = sorted(n for n in names if n not in SKIPPED_FOLDERS)
        for name in sorted(set(files) - SKIPPED_FILES):
            path = Path(folder, name)
            rank = _rank(path, warn)
            if rank:
                yield rank, str(path)


def _rank(path: Path, warn: Warn) -> Rank | None:
    """The rank of a regular file among those to read; None for another kind of file, with a warning."""
    try:
        status = path.stat()
    except OSError as error:
        warn(_unreadable(error))
        return None
    if not stat.S_ISREG(status.st_mode):
        warn(Warning("skipped", "not a regular file; it was not opened", str(path)))
        return None
    return bool(LOG_NAME_PATTERN.search(path.name)), status.st_mtime


def _unreadable(error: OSError) -> Warning:
    return Warning("unreadable", error.strerror or type(error).__name__, str(error.filename))
