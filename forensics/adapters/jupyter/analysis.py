"""A separate process that analyses bundles, so that neither a server nor a pipeline loads the database or waits for it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any

from forensics.adapters.jupyter.message import death_message
from forensics.capture.proc import readable

WORKER_COMMAND = [sys.executable, "-P", "-m", "forensics.adapters.jupyter.worker"]


class Analysis:
    """Starts the process when it is first needed and keeps it running; several threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    def warm(self) -> None:
        """Begin to load the database before it is needed. Raises OSError if no process can be started."""
        with self._lock:
            self._start()

    def of(self, facts: dict[str, Any], within_s: float) -> dict[str, Any]:
        """The message on a death (see `message.death_message`); without a report if that takes longer than `within_s`."""
        until = time.monotonic() + within_s
        with self._lock:
            try:
                process = self._start()
                assert process.stdin is not None
                if self._ready or self._line(until) is not None:
                    self._ready = True
                    process.stdin.write(json.dumps(facts).encode() + b"\n")
                    process.stdin.flush()
                    if found := self._line(until):
                        return found
            except (OSError, ValueError) as error:
                return death_message(None, facts) | {"fault": str(error)}
            if self._ready:  # a late answer would be taken for the next one
                self._stop()
        return death_message(None, facts)

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:  # safe: this child alone, under the lock
            self._ready = False
            # Safe: a session of its own, so that no signal of a terminal reaches it; reaped here or in _stop.
            self._process = subprocess.Popen(
                WORKER_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        return self._process

    def _line(self, until: float) -> dict[str, Any] | None:
        assert self._process is not None
        assert self._process.stdout is not None
        if not readable(self._process.stdout.fileno(), max(0.0, until - time.monotonic())):
            return None
        found = json.loads(self._process.stdout.readline() or b"null")
        if found is None:
            raise OSError("the analysing process ended")
        return found if isinstance(found, dict) else {}

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # safe: Popen sends nothing to a child that it has reaped
            self._process.wait()  # safe: this child alone, which SIGKILL ends
            self._process = None
