"""Folders to files: every regular file below a folder, in order of name, never twice and never through a loop.

Of more files than the limit allows, those that are not empty are read first, then those with the name of a log, and among equals
the newest: lines about an end are written last.

    100,000 files:  run/train.log, run/rank7.err, data/00001.json, ...  ->  the logs, and the newest of data/
"""

import heapq
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from forensics.core import lazy, limits
from forensics.model import Warn, Warning
from forensics.sources.blob import error_text, warning_kind
from forensics.sources.files import RefusedError, check_inside, check_kind, folder_place, looked_at, open_folder

SKIPPED_FOLDERS = {".git", "__pycache__", ".ipynb_checkpoints"}
SKIPPED_FILES = {"expected.yaml", "labels.jsonl"}  # the labels of a labelled case are no logs
MAX_NAMES_PER_FILE = 50  # for each file that may be read, so many names are compared; more would take seconds
LOG_NAME_PATTERN = lazy.regex(
    r"(?i)(?:^|[._-])(?:logs?|out|err|errors?|stdout|stderr|dmesg|messages|syslog|kern|kmsg|journal|console|crash|ipynb)(?:[._-]|\d*$)"
)
MAX_NAMED_REFUSALS = 5  # chosen by hand: files that were not read for the same reason, each with its name; others are counted
Rank = tuple[bool, bool, float]  # holds something, has the name of a log, time of the last change


class FoundFile(NamedTuple):
    """A regular file. `inside`: the real path of the folder that it must be in."""

    path: str
    inside: str | None
    status: os.stat_result


def walk_files(top: Path, warn: Warn, within: str | None = None) -> Iterator[FoundFile]:
    """The regular files at or below `top`, each with its status, and with the real path of the folder that it must be in: that of
    `top`, or `within` where `top` is the file. Links to folders and links that lead out are not followed, pipes and devices are
    not opened."""
    if not top.is_dir():
        if status := _told(top, within, warn):
            yield FoundFile(str(top), within, status)
        return
    most = limits.current.files
    # A heap, the lowest rank first: rank, negative place in order, path, status.
    kept: list[tuple[Rank, int, str, os.stat_result]] = []
    seen, left = 0, ""
    try:
        inside = folder_place(top, within)
    except OSError as error:
        warn(_unreadable(error, top))
        return
    for path, status in _below(top, inside, warn):
        rank = _rank(path, status)
        seen += 1
        if seen > most * MAX_NAMES_PER_FILE:
            break
        if len(kept) < most:
            heapq.heappush(kept, (rank, -seen, path, status))
        else:
            left = heapq.heappushpop(kept, (rank, -seen, path, status))[2]
    if left:
        warn(Warning("limit", _left_out_message(seen, most, os.path.relpath(left, top)), str(top)))
    yield from (FoundFile(path, inside, status) for _, _, path, status in sorted(kept, key=lambda k: -k[1]))


def _left_out_message(seen: int, most: int, left: str) -> str:
    """The warning about files left out, with an example, and how to have them read."""
    stopped = f"; the folder holds more than {seen - 1:,}" if seen > most * MAX_NAMES_PER_FILE else ""
    return (
        f"{most:,} of {min(seen, most * MAX_NAMES_PER_FILE):,} files were read, those called like logs first, "
        f"then the newest{stopped}; "
        f"left out was {left}, for one. Give the folders that matter, or set FORENSICS_LIMIT_FILES={seen}"
    )


def _below(top: Path, inside: str, warn: Warn) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files below `top` with their status, in order of name, the files of a folder before its folders."""
    refused: Counter[str] = Counter()
    waiting = [str(top)]
    while waiting:
        folder = waiting.pop()
        try:
            place, found = open_folder(folder, inside)
        except OSError as error:
            warn(_unreadable(error, folder))
            continue
        entries = sorted(found)
        inner = [e.name for e in entries if e.is_folder and e.name not in SKIPPED_FOLDERS]
        waiting += [os.path.join(folder, name) for name in reversed(inner)]
        for entry in entries:
            if entry.name in SKIPPED_FILES or entry.is_folder:
                continue
            path = os.path.join(folder, entry.name)
            try:
                status = _status(path, inside, None if entry.is_link else f"{place}/{entry.name}")
            except IsADirectoryError:
                continue
            except RefusedError as error:
                refused[str(error)] += 1
                if refused[str(error)] <= MAX_NAMED_REFUSALS:
                    warn(Warning(error.kind, str(error), path))
            except OSError as error:
                warn(_unreadable(error, path))
            else:
                yield path, status
    for message, count in refused.items():
        if count > MAX_NAMED_REFUSALS:
            warn(Warning(RefusedError.kind, f"{count - MAX_NAMED_REFUSALS:,} more: {message}", str(top)))


def _rank(path: str, status: os.stat_result) -> Rank:
    """The rank of a file among those to read."""
    return status.st_size > 0, bool(LOG_NAME_PATTERN.search(os.path.basename(path))), status.st_mtime


def _status(path: str, inside: str | None, place: str | None = None) -> os.stat_result:
    """The status of a file that may be read. `place`: its real path, if that is known.

    Raises RefusedError for one that may not be read, IsADirectoryError for a link to a folder, OSError if it cannot be looked at.
    """
    if place is None:
        place, status = looked_at(path)
        check_inside(place, inside)
    else:
        status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError
    check_kind(status, place)
    return status


def _told(path: Path, inside: str | None, warn: Warn) -> os.stat_result | None:
    """The status of a file that may be read; None, and a warning that says why, for others."""
    try:
        return _status(str(path), inside)
    except OSError as error:
        warn(_unreadable(error, path))
        return None


def _unreadable(error: OSError, path: Path | str) -> Warning:
    return Warning(warning_kind(error, "unreadable"), error_text(error), str(path))
