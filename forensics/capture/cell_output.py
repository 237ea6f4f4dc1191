"""Copy what a notebook's cell prints to a file, line by line: it goes to the client, and not to a file that can be followed."""

from __future__ import annotations

import contextlib
import os
import sys

from forensics.capture.own_files import new_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CELL_OUTPUT = "cell.out"  # in a bundle, while the cell runs; then it is part of job.log
MAX_COPIED_CHARS = 64 << 20  # chosen by hand: of one cell; one that prints in a loop must not fill the disk


class CellOutput:
    """Copies to `path` until it is closed. Streams that cannot be copied, such as those of a terminal, are left as they are."""

    def __init__(self, path: str) -> None:
        self._left = MAX_COPIED_CHARS
        self._file = new_file(path)
        self._streams: list[Any] = [s for s in (sys.stdout, sys.stderr) if hasattr(s, "__dict__") and hasattr(s, "set_parent")]
        for stream in self._streams:
            stream.write = self._copying(stream.write)

    def _copying(self, write: Callable[[str], int]) -> Callable[[str], int]:
        def copying(text: str) -> int:
            """As the stream writes; then copy it."""
            count = write(text)
            if self._left > 0 and self._file.is_own:
                self._left -= len(text)
                with contextlib.suppress(OSError):
                    os.write(self._file.fd, text.encode("utf-8", "replace"))
            return count

        return copying

    def close(self) -> None:
        """End copying."""
        for stream in self._streams:
            vars(stream).pop("write", None)
        self._file.close()
