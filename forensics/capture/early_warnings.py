"""Start the process that reads a job's losses while it runs, and take what it says. Nothing of the analyser is loaded here.

It is no child of the process that watches: a shell starts it in the background and ends, so that whoever reaps the job's orphans
never takes it for one. It ends when nobody reads its pipe any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

IN_BACKGROUND = '"$@" &'  # for a shell: its arguments as a command
MAX_SAID_BYTES = 4096  # at one look: a few lines


class EarlyWarnings:
    """The warnings on the logs `files`, each with the byte from which on it is the job's."""

    def __init__(self, files: Iterable[tuple[str, int]]) -> None:
        self._reads, writes = os.pipe()
        command = [sys.executable, "-P", "-m", "forensics.series.live", json.dumps(list(files))]
        try:
            # Safe: before orphans are adopted; it starts the process and ends at once, and is reaped here.
            subprocess.run(
                ["/bin/sh", "-c", IN_BACKGROUND, "sh", *command],
                stdin=subprocess.DEVNULL, stdout=writes, stderr=subprocess.DEVNULL, start_new_session=True, check=False,
            )  # fmt: skip
        finally:
            os.close(writes)

    def said(self) -> list[str]:
        """The lines that it said since the last call."""
        if self._reads < 0 or not proc.readable(self._reads, 0):
            return []
        data = os.read(self._reads, MAX_SAID_BYTES)
        if not data:
            self.close()
        return data.decode("utf-8", "replace").splitlines()

    def close(self) -> None:
        """End it."""
        if self._reads >= 0:
            with contextlib.suppress(OSError):
                os.close(self._reads)
            self._reads = -1
