"""Folders to files: every regular file below a folder, in order of name, never twice and never through a loop."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from forensics import limits
from forensics.model import Warn, Warning

SKIPPED_FOLDERS = {".git", "__pycache__", ".ipynb_checkpoints"}
SKIPPED_FILES = {"expected.yaml", "labels.jsonl"}  # what a labelled case should be answered with is no log of it


def walk(top: Path, warn: Warn) -> Iterator[Path]:
    """The regular files at or below `top`; links to folders are not followed, pipes and devices are not opened."""
    if not top.is_dir():
        if _regular(top, warn):
            yield top
        return
    count = 0
    for folder, names, files in os.walk(top, onerror=lambda e: warn(_unreadable(e))):
        names[:] = sorted(n for n in names if n not in SKIPPED_FOLDERS)
        for name in sorted(set(files) - SKIPPED_FILES):
            path = Path(folder) / name
            if _regular(path, warn):
                count += 1
                if count > limits.current.files:
                    warn(Warning("limit", f"more than {limits.current.files} files; the rest was not read", str(top)))
                    return
                yield path


def _regular(path: Path, warn: Warn) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        warn(_unreadable(error))
        return False
    if not stat.S_ISREG(mode):
        warn(Warning("skipped", "not a regular file; it was not opened", str(path)))
        return False
    return True


def _unreadable(error: OSError) -> Warning:
    return Warning("unreadable", error.strerror or type(error).__name__, str(error.filename))
