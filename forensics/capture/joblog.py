"""Write the job's output to disk, bounded, with an index of times: job.log and job.times.

Lines of several streams are written whole, so that a line of stderr is never inside a line of stdout. Of a log above the size
limit the first half and the last are kept. The index has a row (offset in the log, monotonic seconds) at most every 100 ms. A
full or slow disk ends the log and never the job. The last lines are in memory, too: the disk that is full is often that of the
bundle, and the job's last words are those that tell.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque

from forensics.capture.bundle import size_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

MAX_PART_BYTES = 1 << 16  # bounds memory: of a line whose end has not come yet
MAX_WAITING_BYTES = 4 << 20  # bounds memory: of output that waits for the disk
WAKE_BYTES = 1 << 19  # an eighth of MAX_WAITING_BYTES: the writer starts long before the job must wait
WRITE_INTERVAL_S = 0.25  # chosen by hand: output of this time is written together
MAX_LAST_BYTES = 1 << 18  # bounds memory: of the last output, for the case that the disk is full
MAX_DISK_WAIT_S = 1.0  # chosen by hand: a slow disk delays the job once by so long; then lines are left out
INDEX_INTERVAL_S = 0.1  # chosen by hand: finer than the whole seconds of most logs
FLUSH_INTERVAL_S = 1.0  # chosen by hand: older output is on disk, whatever happens to this process
# At INDEX_INTERVAL_S each, five and a half hours of steady output, 24 MB; later output has no times of its own.
MAX_INDEX_ROWS = 200_000


class JobLog:
    """Takes blocks of bytes from the relaying threads. `fault`: why writing was given up, empty if it was not. `lacks_end`: after
    `close`, is the end of the output not on disk?"""

    def __init__(self, folder: str, most: int) -> None:
        self.path, self.tail_path = os.path.join(folder, "job.log"), os.path.join(folder, "job.tail")
        self.most = most
        self.bytes = 0  # of the job's output, kept or not
        self.last = time.monotonic()
        self.started = self.last
        self.longest_silence_s = 0.0
        self.fault, self.left_out, self.lacks_end = "", 0, False
        self.closing: list[str] = []
        self._last: deque[memoryview] = deque()
        self._last_bytes = self._stored = 0  # in `_last`; of all output that went through it
        self._parts: dict[str, bytes] = {}
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._waiting_bytes, self._ending = 0, False
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._late = False
        self._head_bytes = 0
        self._index: list[tuple[int, float]] = []
        self._indexed = 0.0
        self._begun = size_of(self.path)
        self._file: BinaryIO | None = None
        self._tail: BinaryIO | None = None
        try:
            self._file = open(self.path, "ab", buffering=1 << 16)  # noqa: SIM115  closed by `close`
        except OSError as error:
            self._give_up(error)
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()

    def add(self, stream: str, data: bytes) -> None:
        """Add `data`, which the job wrote to `stream`. Never fails and hardly ever waits."""
        self.grew(time.monotonic())
        self.bytes += len(data)
        if self._waiting_bytes > MAX_WAITING_BYTES and not self._has_room():
            self.left_out += len(data)
            return
        self._put(stream, data)

    def grew(self, moment: float, followed: bool = True) -> None:
        """Note that the job wrote something at `moment`, monotonic, here or elsewhere. `followed`: none was missed."""
        if moment > self.last:
            self.longest_silence_s = max(self.longest_silence_s, moment - self.last if followed else 0.0)
            self.last = moment

    def _put(self, stream: str, data: bytes) -> None:
        with self._lock:
            self._waiting.append((stream, data))
            self._waiting_bytes += len(data)
        if self._waiting_bytes > WAKE_BYTES:
            self._wake.set()

    def _has_room(self) -> bool:
        """Wait for a slow disk for a short time, and not again until it has caught up."""
        until = time.monotonic() + (0.0 if self._late else MAX_DISK_WAIT_S)
        while self._waiting_bytes > MAX_WAITING_BYTES and time.monotonic() < until:
            time.sleep(0.005)
        self._late = self._waiting_bytes > MAX_WAITING_BYTES
        return not self._late

    def _write_all(self) -> None:
        """Write the waiting output, many lines at a time: a thread that wakes for each line costs more than all the rest."""
        flushed = 0.0
        while True:
            ending = self._ending
            self._wake.wait(WRITE_INTERVAL_S)
            self._wake.clear()
            while self._waiting:
                with self._lock:
                    item = self._waiting.popleft()
                    self._waiting_bytes -= len(item[1])
                try:
                    self._take(*item)
                except OSError as error:
                    self._give_up(error)
            if ending:
                return
            now = time.monotonic()
            if now - flushed > FLUSH_INTERVAL_S:
                self._flush()
                flushed = now

    def _take(self, stream: str, data: bytes) -> None:
        if begun := self._parts.pop(stream, b""):
            data = begun + data
        whole = data.rfind(b"\n") + 1
        if len(data) - whole > MAX_PART_BYTES:
            whole = len(data)
        if whole < len(data):
            self._parts[stream] = data[whole:]
        if whole:
            self._store(memoryview(data)[:whole])  # of a fast job every copy counts

    def _store(self, data: memoryview) -> None:
        self._keep(data)
        if self._file is None:
            return
        now = time.monotonic()
        if now - self._indexed >= INDEX_INTERVAL_S and len(self._index) < MAX_INDEX_ROWS:
            self._index.append((self._head_bytes, now))
            self._indexed = now
        if self._head_bytes < self.most // 2:
            self._file.write(data)
            self._head_bytes += len(data)
            return
        self._roll(data)

    def _keep(self, data: memoryview) -> None:
        self._last.append(data)
        self._last_bytes += len(data)
        self._stored += len(data)
        while self._last_bytes - len(self._last[0]) > MAX_LAST_BYTES:
            self._last_bytes -= len(self._last.popleft())

    def _roll(self, data: memoryview) -> None:
        """Write the second half of the allowed size: into two files in turn, of which the older is dropped."""
        part = self._tail_file()
        part.write(data)
        if part.tell() > self.most // 4:
            part.close()
            self._tail = None
            with contextlib.suppress(OSError):
                self.left_out += os.path.getsize(self.tail_path + ".old")
            os.replace(self.tail_path, self.tail_path + ".old")

    def _tail_file(self) -> BinaryIO:
        if self._tail is None:
            self._tail = open(self.tail_path, "wb", buffering=1 << 16)  # noqa: SIM115
        return self._tail

    def _flush(self) -> None:
        try:
            if self._file is not None:
                self._file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.fault = self.fault or (error.strerror or type(error).__name__)
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()

    def append_file(self, path: str, start: int) -> None:
        """Copy a file that the job wrote, from byte `start` on; of a very long one the first part and the last."""
        try:
            with open(path, "rb") as file:
                end = file.seek(0, os.SEEK_END)
                start = start if start <= end else 0
                spans = (
                    [(start, end)] if end - start <= self.most else [(start, start + self.most // 2), (end - self.most // 2, end)]
                )
                for at, (first, last) in enumerate(spans):
                    if at:
                        self.add("file", b"\n[forensics run: %d bytes are left out here]\n" % (first - spans[0][1]))
                    file.seek(first)
                    while first < last and (block := file.read(min(1 << 16, last - first))):
                        first += len(block)
                        while self._waiting_bytes > MAX_WAITING_BYTES and not self.fault:
                            time.sleep(0.005)
                        self._put("file", block)
                self.bytes += end - start
        except OSError as error:
            self.fault = self.fault or f"{path}: {error.strerror}"

    def close(self, closing: list[str]) -> None:
        """Write the waiting output, the last part of a long log, and the `closing` lines."""
        self.closing = closing
        self._ending = True
        self._wake.set()
        self._thread.join(30)
        try:
            if self._file is None:
                self._resume()
            self._close(closing)
        except OSError as error:
            self._give_up(error)
            self.lacks_end = True

    def last_text(self) -> str:
        """The last lines and the closing ones, from memory."""
        text = b"".join([*self._last, *self._parts.values()])
        if self._stored > self._last_bytes:
            rest = text.partition(b"\n")[2]
            text = b"[forensics run: %d bytes are left out here]\n" % (self._stored - len(rest)) + rest
        text += b"" if text.endswith(b"\n") or not text else b"\n"
        return text.decode("utf-8", "replace") + "".join(line + "\n" for line in self.closing)

    def _resume(self) -> None:
        """Go on with a log whose disk was full a while ago: behind what is there come the last lines. Raises OSError."""
        for path in (self.tail_path + ".old", self.tail_path):
            with contextlib.suppress(OSError):
                os.unlink(path)
        self._tail, self.left_out = None, 0
        self._file = open(self.path, "ab")  # noqa: SIM115  closed by `_close`
        behind = self._stored - self._last_bytes - (self._file.tell() - self._begun)
        if behind > 0:
            self._file.write(b"\n[forensics run: %d bytes are left out here]\n" % behind)
        self._file.write(b"".join(self._last)[max(0, -behind) :])

    def _close(self, closing: list[str]) -> None:
        if self._file is None:
            return
        for rest in self._parts.values():
            self._file.write(rest)
        if self._tail is not None:
            self._tail.close()
        if self.left_out:
            self._file.write(b"\n[forensics run: %d bytes are left out here]\n" % self.left_out)
        for path in (self.tail_path + ".old", self.tail_path):
            if os.path.exists(path):
                with open(path, "rb") as part:
                    while block := part.read(1 << 20):
                        self._file.write(block)
                os.unlink(path)
        self._file.flush()
        if closing:
            with open(self.path, "rb") as read:
                size = read.seek(0, os.SEEK_END)
                read.seek(max(0, size - 1))
                ends_line = not size or read.read(1) == b"\n"
            self._file.write((b"" if ends_line else b"\n") + "".join(line + "\n" for line in closing).encode("utf-8", "replace"))
        self._file.close()
        self._file = None

    def times(self) -> list[tuple[int, float]]:
        """The index: (offset in job.log, monotonic seconds) of each row."""
        return self._index
