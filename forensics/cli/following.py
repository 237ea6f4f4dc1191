"""Follow logs that are still written to, and notice when what writes them dies, stalls or diverges.

Tail("train.log").look()            the bytes that came since the last look; a log that was truncated or rotated is followed on
Follower([tail], rules).step(now)   Happening("died", report), Happening("stalled", report) ... or None while all is well

Of each log the last FOLLOWED_BYTES are kept and analysed, so memory and time have a bound however long the log is.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from forensics.core.limits import MIB

if TYPE_CHECKING:
    from forensics.database import Database
    from forensics.model import Report, Source, Warn, Warning

FOLLOWED_BYTES = 2 * MIB  # chosen by hand: an hour of an ordinary log, a tenth of a second to analyse
BLOCK_READ_BYTES = MIB
MAX_BLOCKS_PER_LOOK = 64  # a log that grows faster than that is read on at the next look
SETTLE_S = 10.0  # chosen by hand: a launcher needs some seconds to write the rest of its last words
ENDED_OUTCOMES = ("failed", "stopped", "stalled")  # outcomes after which a run does not go on
GO_ON = ("machine", "notebook")  # subjects whose log goes on behind the end of what ran on them
IDLE_SHARE = 20  # chosen by hand: an analysis is followed by so many times its duration without one


class Tail:
    """The end of one log. `dropped`: lines before the kept ones; `restarts`: how often it was truncated or rotated."""

    def __init__(self, path: Path) -> None:
        self.path, self.kept, self.dropped, self.restarts, self.position = path, bytearray(), 0, 0, 0
        self._file: BinaryIO = path.open("rb")
        self._identity = self._identify(os.fstat(self._file.fileno()))

    def look(self) -> int:
        """How many bytes came since the last look."""
        came = self._read()
        try:
            there = self.path.stat()
        except OSError:  # moved away, and no new one yet
            return came
        if self._identify(there) != self._identity:
            self._file.close()
            self._file = self.path.open("rb")
            self._identity = self._identify(os.fstat(self._file.fileno()))
        elif there.st_size < self.position:
            self._file.seek(0)
        else:
            return came
        self.restarts, self.position = self.restarts + 1, 0
        return came + self._read()

    def source(self) -> "Source":
        """What is kept, as a source whose lines have the numbers of the file."""
        from forensics.model import Source

        kept, dropped = bytes(self.kept), self.dropped

        def blocks(_warn: "Warn") -> Iterator[bytes]:
            yield kept

        return Source(name=str(self.path), blocks=blocks, origin=(lambda line: line + dropped) if dropped else None)

    def last_line(self) -> str:
        """The last line with a text in it."""
        lines = bytes(self.kept[-4 * 1024 :]).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Give up the file."""
        self._file.close()

    def _read(self) -> int:
        came = 0
        for _ in range(MAX_BLOCKS_PER_LOOK):
            block = self._file.read(BLOCK_READ_BYTES)
            if not block:
                break
            came += len(block)
            self.kept += block
            if len(self.kept) > FOLLOWED_BYTES:
                cut = self.kept.find(b"\n", len(self.kept) - FOLLOWED_BYTES) + 1 or len(self.kept) - FOLLOWED_BYTES
                self.dropped += self.kept.count(b"\n", 0, cut)
                del self.kept[:cut]
        self.position += came
        return came

    @staticmethod
    def _identify(found: os.stat_result) -> tuple[int, int]:
        return found.st_dev, found.st_ino


class Happening(NamedTuple):
    """What was noticed: `died`, `stalled`, `diverges`, `went wrong` or `ended`, how the report puts it, and the report itself."""

    what: str
    said: str
    report: "Report"

    @property
    def is_last(self) -> bool:
        """Is there nothing to follow any more?"""
        return self.what in ("died", "ended")


class Rules(NamedTuple):
    """When it is said to stall, and after which quiet time its last lines are taken for its last ones."""

    stall_s: float = 900.0
    settle_s: float = SETTLE_S


class Run(NamedTuple):
    """A run of which more than its logs is known: does it live, and the report at its end; None if nothing shows a bad one."""

    lives: Callable[[], bool]
    report: Callable[[], "Report | None"]


class Follower:
    """Follows logs of one run. `run`: the run itself; None if only its logs are known."""

    def __init__(self, tails: Sequence[Tail], rules: Rules, knowledge: "Database", now: float, run: Run | None = None) -> None:
        self.tails, self.rules, self.knowledge, self.run = tails, rules, knowledge, run
        self.last, self.next_judgement = now, 0.0
        self.is_fresh, self.is_unsettled, self.is_stalled = False, False, False
        self.told = set[str]()
        self.report: Report | None = None

    def step(self, now: float) -> Happening | None:
        """Look once. `now`: monotonic seconds."""
        is_over = self.run is not None and not self.run.lives()  # first, so that its last lines are read after it
        if sum([tail.look() for tail in self.tails]):
            self.last, self.is_fresh, self.is_unsettled, self.is_stalled = now, True, True, False
        quiet = now - self.last
        if is_over:
            ended = self.run.report() if self.run else None
            report = ended or self._judged(now)
            is_bad = report.verdict == "crash" or (ended is not None and report.verdict != "no_crash")
            return Happening("died" if is_bad else "ended", _said(report), report)
        if self.is_unsettled and quiet >= self.rules.settle_s:
            self.is_unsettled = False
            return self._settled(now)
        if self.is_fresh and now >= self.next_judgement:
            return self._diverged(self._judged(now))
        if self.rules.stall_s and quiet >= self.rules.stall_s and not self.is_stalled:
            self.is_stalled = True
            report = self.report or self._judged(now)
            return Happening("stalled", f"no output for {quiet:.0f} s; its last line: {self._last_line()}", report)
        return None

    def _settled(self, now: float) -> Happening | None:
        """What the last lines tell after which nothing came."""
        report = self._judged(now) if self.is_fresh or self.report is None else self.report
        if self.run is None and report.subject is not None and report.subject.outcome == "ended_well":
            return Happening("ended", _said(report), report)
        if self.run is None and report.verdict == "crash" and _shows_end(report):
            return Happening("died", _said(report), report)
        if self.run is None and report.verdict == "crash" and report.subject and report.subject.kind in GO_ON:
            return self._once("went wrong", report)
        return self._diverged(report)

    def _diverged(self, report: "Report") -> Happening | None:
        """Its numbers went wrong."""
        spoiled = report.verdict == "crash" and report.subject is not None and report.subject.outcome == "spoiled"
        return self._once("diverges", report) if spoiled else None

    def _once(self, what: str, report: "Report") -> Happening | None:
        """Told once for each cause, as the log goes on behind it."""
        if report.causes[0].id in self.told:
            return None
        self.told.add(report.causes[0].id)
        return Happening(what, _said(report), report)

    def _judged(self, now: float) -> "Report":
        from forensics import pipeline

        started, noted = time.monotonic(), list["Warning"]()
        name = self.tails[0].path.name if self.tails else "watched"
        self.report = pipeline.analyze([tail.source() for tail in self.tails], name, self.knowledge, noted)
        self.is_fresh, self.next_judgement = False, now + IDLE_SHARE * (time.monotonic() - started)
        return self.report

    def _last_line(self) -> str:
        return next((line[:200] for line in (tail.last_line() for tail in self.tails) if line), "none")


def _shows_end(report: "Report") -> bool:
    """Does a line show that the run itself ended? A log may go on behind an error, and a server behind the end of a kernel."""
    subject = report.subject
    return subject is not None and bool(subject.why) and subject.kind not in GO_ON and subject.outcome in ENDED_OUTCOMES


def _said(report: "Report") -> str:
    first = report.causes[0]
    return first.title if report.verdict == "no_crash" else f"{first.title} ({first.id})"
