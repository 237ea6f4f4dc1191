"""How much the decoders may do for one input, whatever its archives hold in each other: bytes unpacked, members, processor time.

A file is granted what a real archive of its size needs. What it needs beyond that comes from a pool that all files of the input
share, of which one file gets half at most: an archive made to grow takes nothing from the logs beside it.

    budget = Budget(stored=4096, pool=Pool())
    budget.unpack(1 << 20)      LimitError when the decoders have unpacked too much, or the time is spent
    budget.enter(1)             LimitError when there were too many members
"""

from collections import OrderedDict
from threading import Lock
from typing import Any

from forensics.core import limits
from forensics.core.input_time import InputTime

PASSES = 2  # over the same bytes: to find the members and to read them; few logs shrink so much that more would not fit
STORED_BYTES_PER_MEMBER = 512  # a member takes a header of 512 bytes in a tar, and with its name some 200 in a zip
POOL_FILES = 2  # whose members may reach the limit however small the file is: many ranks with a line each pack well
MAX_HELD_ZIPS = 2  # zips that cannot be sought in are held in memory: one, and one in it
MAX_IDLE_STREAMS = 8  # of archives, each with its decoders, that wait for who reads their next member


class LimitError(OSError):
    """A limit of core/limits.py was reached: a decompression bomb, or simply too much data. `kind`: that of the warning."""

    kind = "limit"


class Pool:
    """What the files of one input share. `kept`: what would be slow to make again, only as much as memory allows."""

    def __init__(self) -> None:
        self.bytes = PASSES * limits.current.free
        self.members = POOL_FILES * limits.current.members
        self.time = InputTime()
        self.zips = Kept(MAX_HELD_ZIPS)
        self.streams = Kept(MAX_IDLE_STREAMS)


class Kept:
    """The `most` values that were kept last, each under the object that it belongs to. For any number of threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.values: OrderedDict[int, tuple[object, Any]] = OrderedDict()  # the object is held, so that its id stays its own
        self.lock = Lock()

    def put(self, owner: object, value: Any) -> list[Any]:
        """Keep `value`; returns what is kept no longer."""
        with self.lock:
            gone = [self.values.pop(id(owner), None)]
            self.values[id(owner)] = owner, value
            while len(self.values) > self.most:
                gone.append(self.values.popitem(last=False)[1])
        return [pair[1] for pair in gone if pair]

    def take(self, owner: object) -> Any:
        """The value of `owner`, which is kept no longer; None if there is none."""
        with self.lock:
            return self.values.pop(id(owner), (None, None))[1]


class Budget:
    """What is left for one file of the input. `stored`: its size in bytes. `there`: those of them that are there already.
    `is_counted`: the time for the file is granted already."""

    def __init__(self, stored: int = 0, pool: Pool | None = None, there: int | None = None, is_counted: bool = False) -> None:
        self.pool = pool or Pool()
        if not is_counted:
            self.pool.time.add_file(stored if there is None else there)
        self.bytes = PASSES * limits.current.ratio * stored
        self.members = min(stored // STORED_BYTES_PER_MEMBER, limits.current.members)
        self.shared_bytes, self.shared_members = self.pool.bytes, self.pool.members
        if pool:
            self.shared_bytes, self.shared_members = self.shared_bytes // 2, self.shared_members // 2
        self.entered = 0

    def unpack(self, count: int) -> None:
        """`count` more bytes were unpacked. Raises LimitError when that is too much, or took too long."""
        self._check_time()
        self.bytes -= count
        if self.bytes < 0:
            self.shared_bytes += self.bytes
            self.pool.bytes += self.bytes
            self.bytes = 0
            if self.shared_bytes < 0 or self.pool.bytes < 0:
                raise LimitError("the archives in this file grow too much when unpacked; the rest was not read")

    def enter(self, count: int) -> None:
        """`count` more members are read. Raises LimitError when these are too many, or took too long."""
        self._check_time()
        self.entered += count
        self.members -= count
        if self.members < 0:
            self.shared_members += self.members
            self.pool.members += self.members
            self.members = 0
        if self.entered > limits.current.members:
            raise LimitError(f"more than {limits.current.members} members; the rest was not read")
        if self.shared_members < 0 or self.pool.members < 0:
            raise LimitError("too many members in all its archives for a file of its size; the rest was not read")

    def _check_time(self) -> None:
        if self.pool.time.is_over():
            raise LimitError(f"the rest was not read: {self.pool.time.told()}")
