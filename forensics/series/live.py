"""Read a run's losses while it prints them: one line when they stop being numbers, one when they diverge.

    python -m forensics.series.live '[["/runs/x/job.log", 0]]' 3   ->   loss: NaN or infinite since step 20, 0.31 before

The numbers are found by the readers, and judged by the rules, of the report. A look costs the same however long the run is: of
its lines with numbers an even sample is kept. The process has the lowest priority, rests many times as long as it works, and
ends when nobody reads its output any more.
"""

import contextlib
import json
import math
import os
import select
import sys
import time
from collections import deque
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from forensics.core.text import decode_line
from forensics.model import Line, Observation, Region, Scan, Source
from forensics.readers.numbers.base import MIN_STRONG_READINGS, Series
from forensics.readers.numbers.gather import METRICS_TRIGGER, gather_numbers
from forensics.series.numerics import numeric_events

NAN_KIND, DIVERGENCE_KIND = "series/nan", "series/divergence"
MIN_LIVE_NAN_READINGS = 3  # chosen by hand: mixed precision skips a step or two and goes on
MIN_ABOVE_EARLIER = 2.0  # chosen by hand: the highest loss of an epoch is not the same in each
MAX_LIVE_LINES = 2000  # as many as the readers use at once; of more, every second one is dropped
LIVE_TAIL_LINES = 60  # as the scanner keeps of a log: an even sample may miss its end
MAX_LIVE_BYTES = 4 << 20  # at one look; of a log that grows faster the end is read
MAX_LIVE_LINE_BYTES = 4096  # a longer line is no line of numbers
LIVE_LOOK_S = 2.0  # chosen by hand: between two looks at a log
REST_FACTOR = 30  # chosen by hand: it rests so many times as long as it works, which is 3 % of one processor
ANCHORS = tuple(anchor.encode() for anchor in METRICS_TRIGGER.anchors)  # in small letters


class LiveNumbers:
    """The numbers of one log, as far as it was written. Each kind of warning is given once."""

    def __init__(self) -> None:
        self.told: set[str] = set()
        self._kept: list[Region] = []
        self._tail: deque[Line] = deque(maxlen=LIVE_TAIL_LINES)
        self._rest = b""
        self._lines = self._found = 0
        self._stride = 1

    def take(self, data: bytes) -> int:
        """Take what was written since the last call. Returns the number of new lines with numbers."""
        *rows, rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        self._rest = rest[-MAX_LIVE_LINE_BYTES:]
        before = self._found
        for row in rows:
            self._lines += 1
            if len(row) > MAX_LIVE_LINE_BYTES or not _has_numbers(row):
                continue
            line = Line(self._lines, decode_line(row))
            self._tail.append(line)
            if self._found % self._stride == 0:
                self._kept.append(Region("", line.number, line.text, end=len(row)))
            self._found += 1
            if len(self._kept) >= MAX_LIVE_LINES:
                del self._kept[1::2]
                self._stride *= 2
        return self._found - before

    def warnings(self) -> list[str]:
        """What the numbers show and was not told before."""
        if not self._kept or {NAN_KIND, DIVERGENCE_KIND} <= self.told:
            return []
        source = Source(name="", blocks=lambda _: iter(()))
        scan = Scan(source, 0, self._lines, (), {METRICS_TRIGGER.kind: tuple(self._kept)}, (), tuple(self._tail))
        losses = [one for one in gather_numbers(scan).series if one.quantity == "loss"]
        lost = [e for e in numeric_events(scan, losses, None) if e.kind == NAN_KIND]
        diverged = [e for one in losses if (e := _divergence(scan, one))]
        said = []
        for event in [*filter(_is_lasting, lost), *diverged]:
            if event.kind not in self.told:
                self.told.add(event.kind)
                said.append(_words(event))
        return said


def _has_numbers(row: bytes) -> bool:
    low = row.lower()
    return any(anchor in low for anchor in ANCHORS)


def _is_lasting(event: Observation) -> bool:
    """Is it more than a step or two that are skipped?"""
    return int(str(event.fields["nan_readings"])) >= MIN_LIVE_NAN_READINGS


def _divergence(scan: Scan, series: Series) -> Observation | None:
    """The divergence of the training that is running, if it is certain: at the end of a run more is known.

    Its losses begin where the steps last began anew. Means over a whole epoch begin near zero and rise in healthy runs, so a
    loss must first have fallen, unless the evidence is strong, and rise above all that an earlier epoch had.
    """
    values = series.values
    known = [(at, step) for at, step in enumerate(series.steps) if step is not None]
    start = max((at for (_, before), (at, step) in pairwise(known) if step < before), default=0)
    own, earlier = values[start:], [value for value in values[:start] if math.isfinite(value)]
    if len(own) < MIN_STRONG_READINGS or (earlier and own[-1] < MIN_ABOVE_EARLIER * max(earlier)):
        return None
    events = numeric_events(scan, [replace(series, readings=series.readings[start:])], None)
    found = next((e for e in events if e.kind == DIVERGENCE_KIND), None)
    has_fallen = own.index(min(own)) >= len(own) // 8
    return found if found and (has_fallen or found.weight == "strong") else None


def _words(event: Observation) -> str:
    fields = event.fields
    name, last = fields["series"], fields.get("last_finite")
    step = fields.get("step_no" if event.kind == NAN_KIND else "onset_step")
    of_epoch = f" of epoch {fields['epoch_of_step']}" if "epoch_of_step" in fields else ""
    since = f" since step {step}{of_epoch}" if step is not None else ""
    if event.kind == NAN_KIND:
        return f"{name}: NaN or infinite{since}" + (f", {last:g} before" if last is not None else "")
    return f"{name} diverges{since}: {last:g} now, {fields['lowest']:g} at its lowest"


class _Growing:
    """A file that grows, from byte `at` on; it may not be there yet."""

    def __init__(self, path: str, at: int) -> None:
        self.path, self.at, self.numbers = Path(path), at, LiveNumbers()

    def look(self, is_last: bool = False) -> list[str]:
        """The warnings on what was written since the last look. `is_last`: what is written is whole."""
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            self.at = max(self.at if self.at <= size else 0, size - MAX_LIVE_BYTES)
            file.seek(self.at)
            data = file.read(MAX_LIVE_BYTES)
            self.at += len(data)
            if self.numbers.take(data + b"\n" * is_last):
                return self.numbers.warnings()
        return []


def main() -> None:
    """Look at the files that the first argument names, [[path, first byte], ...], until nobody reads the output; once more when
    the other end of the pipe that the second argument numbers is closed: the run is over."""
    os.nice(19)
    files = [_Growing(path, at) for path, at in json.loads(sys.argv[1])]
    told: set[str] = set()
    ends = select.poll()
    ends.register(1, 0)  # an error alone is reported: the other end is closed
    ends.register(int(sys.argv[2]), 0)
    rest_s = LIVE_LOOK_S
    while 1 not in (ended := [fd for fd, _ in ends.poll(int(rest_s * 1000))]):
        began = time.process_time()
        for one in files:
            one.numbers.told = told  # of one run, whatever file it writes to
            for line in one.look(bool(ended)):
                os.write(1, line.encode() + b"\n")
        if ended:
            return
        rest_s = max(LIVE_LOOK_S, REST_FACTOR * (time.process_time() - began))


if __name__ == "__main__":
    main()
