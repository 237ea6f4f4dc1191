"""The processor time that one input may take, all its files, archives and sources together.

    an archive of 1 MB that unpacks to hundreds of MB, again and again  ->  some seconds; the report names what was not read
    a log of 1 GB                                                       ->  minutes, which it never takes

What may be spent follows from the bytes and the number of the files (members of an archive are no files). A part of it is for
opening, as archives have to be unpacked to find their members. The rest is for reading, and each source has a share of it.
"""

import time

from msgspec import Struct

from forensics.core import limits

OPENING_PART = 0.4  # of the time: an archive is unpacked once to find its members, and at least once more to read them
READING_PART = 0.85  # by then all sources must have been read; the rest is for lines that are read again
SHARE_TO_READ = 0.75  # of the share of a source; the rest is for reaching its end, whose lines tell most
RAMP_S_PER_MIB = 2.0  # from `small_time` to `time`: a log that was packed twentyfold is read in less
LEEWAY = 10  # times the limit in force: what is advised where more should be read


class InputTime:
    """The time of one input. `part`: how much of it may be spent at this stage. For one thread; what others do is added."""

    def __init__(self, size: int = 0) -> None:
        self.bytes, self.files, self.spent, self.part = 0, 0, 0.0, OPENING_PART
        self.add_bytes(size)
        self.resume()

    def add_bytes(self, size: int) -> None:
        """`size` more bytes belong to the input."""
        self.bytes += size
        self.granted, self.limit = _granted(self.bytes, self.files)

    def add_file(self, size: int) -> None:
        """One more file, of `size` bytes, belongs to the input."""
        self.files += 1
        self.add_bytes(size)

    def resume(self) -> None:
        """What this thread did since the last look was not for this input."""
        self.looked = time.thread_time()

    def add(self, seconds: float) -> None:
        """Another process or thread spent `seconds` for this input."""
        self.spent += seconds

    def now(self) -> float:
        """The part of the time that is spent."""
        looked = time.thread_time()
        self.spent += max(0.0, looked - self.looked)  # in a forked process the clock begins at 0 again
        self.looked = looked
        return self.spent / self.granted

    def is_over(self) -> bool:
        """Is all spent that may be spent at this stage?"""
        return self.now() >= self.part

    def told(self) -> str:
        """Why something is left out, and how to have it read."""
        more = f"FORENSICS_LIMIT_{self.limit.upper()}={getattr(limits.current, self.limit) * LEEWAY:g}"
        return f"the processor time for an input of this size is spent; to have all read, set {more}"


def _granted(size: int, files: int) -> tuple[float, str]:
    """The seconds for an input of `size` bytes in so many files, and the limit that most of them come from."""
    now, mib = limits.current, size / limits.MIB
    ramp = now.small_time + max(0.0, mib - 1) * RAMP_S_PER_MIB
    of_bytes = max(min((ramp, "small_time"), (now.time, "time")), (now.more_time * mib, "more_time"))
    of_files = now.file_time * max(0, files - 1)
    return of_bytes[0] + of_files, max(of_bytes, (of_files, "file_time"))[1]


class Share(Struct, frozen=True):
    """What one source may take. `read`, `all`: the parts of the input's time at which its reading ends, and all work on it."""

    time: InputTime
    read: float
    all: float

    def is_read(self) -> bool:
        """May no more be read of this source but its end?"""
        return self.time.now() >= self.read

    def is_over(self) -> bool:
        """Is all of it spent?"""
        return self.time.now() >= self.all
