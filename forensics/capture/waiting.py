"""A thread that is started while there is room for one, and gets its work later."""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class WaitingThread:
    """A thread that is started early and gets its work later."""

    def __init__(self) -> None:
        self._work: Callable[[], object] | None = None
        self._wanted = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to wait. Raises RuntimeError if the system allows no further thread."""
        self._thread.start()

    def do(self, work: Callable[[], object]) -> None:
        """Do `work` now."""
        self._work = work
        self._wanted.set()
        if self._thread.ident is None:
            self.start()

    def join(self, timeout_s: float) -> None:
        """Wait for its end, at most `timeout_s`."""
        if self._wanted.is_set() and self._thread.ident is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        self._wanted.wait()
        if self._work:
            self._work()
