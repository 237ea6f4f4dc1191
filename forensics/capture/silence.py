"""Tell how long the job is silent, counted from the last growth of anything that it writes, and when stacks are due.

output at 3.0 s, then none; --stall 5s     -> stacks at 8.0 s, again at 13.0 s, 23.0 s ...
"""

from __future__ import annotations

import time

from forensics.capture.times import duration_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forensics.capture.growth import Growth
    from forensics.capture.joblog import JobLog
    from forensics.capture.options import Options

STACKS_BEFORE_LIMIT_S = 45.0  # chosen by hand: stacks are taken so long before a known time limit
MIN_STALL_S = 60.0  # chosen by hand: shorter silences are ordinary
MIN_OWN_FILES_S = 1.0  # chosen by hand: between two looks at the files of a silent job
OWN_FILES_SHARE = 0.05  # chosen by hand: of the silence that is asked for; a look at many files costs time


class Silence:
    """The silence of a job. `spell`: the last long one, its first and its last moment."""

    def __init__(self, options: Options, log: JobLog | None, growth: Growth) -> None:
        self.options, self.log, self.growth = options, log, growth
        self.spell: tuple[float, float] | None = None
        self._taken_for, self._next_stacks_s, self._limit_taken, self._next_files = -1.0, 0.0, False, 0.0

    def near_limit(self) -> bool:
        """Is a time limit near? True once."""
        near = 0 < self.options.time_limit_s - time.time() < STACKS_BEFORE_LIMIT_S and not self._limit_taken
        self._limit_taken |= near
        return near

    def look(self, pids: Iterable[int], folder: str, last: bool = False) -> float:
        """How long the job is silent, if that is longer than asked for; else 0. `last`: the last look, at the end."""
        log, stall_s = self.log, self.options.stall_s
        if log is None:
            return 0.0
        self._heard(self.growth.look(), True)
        if not stall_s or time.monotonic() - log.last < stall_s:
            return 0.0
        if last or time.monotonic() >= self._next_files:
            self._next_files = time.monotonic() + max(MIN_OWN_FILES_S, OWN_FILES_SHARE * stall_s)
            self._heard(self.growth.own_files(pids, folder, time.time() - (time.monotonic() - log.last)), False)
        silent_s = time.monotonic() - log.last
        if silent_s < stall_s:
            return 0.0
        self.spell = time.time() - silent_s, time.time()
        return silent_s

    def _heard(self, moment: float | None, followed: bool) -> None:
        if moment is not None and self.log is not None:
            self.log.grew(time.monotonic() - (time.time() - moment), followed)

    def stacks_due(self, silent_s: float, say: Callable[[str], None]) -> bool:
        """Are stacks due: at the beginning of a long silence, and each time when it is twice as long?"""
        assert self.log is not None
        if self._taken_for != self.log.last:
            self._taken_for, self._next_stacks_s = self.log.last, 0.0
            if self.options.warn and silent_s > max(MIN_STALL_S, self.log.longest_silence_s):
                say(f"no output for {duration_text(silent_s)}, longer than ever before; stacks are taken")
        if silent_s < self._next_stacks_s:
            return False
        self._next_stacks_s = 2 * silent_s
        return True
