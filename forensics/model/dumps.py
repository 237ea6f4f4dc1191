"""What the dump of one rank holds: the calls of collective operations that it recorded."""

from array import array

from msgspec import Struct


class Frame(Struct, frozen=True, gc=False):
    """One frame of a stack. `line`: 0 where it is unknown, as in native code. `source`: text of the line, where it is known."""

    file: str
    line: int
    function: str

    @property
    def place(self) -> str:
        """`train.py:212`."""
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.line else self.file.rsplit("/", 1)[-1]


class Call(Struct, frozen=True, gc=False):
    """One call of a collective operation, or of a send or receive between two ranks.

    `seq`: its number among the calls of the group. `op`: `all_reduce`, `send 0->1`. `inputs`: shapes and types as text.
    `created_ns`: when the program called it, ns since 1970. `pending`: it was not finished when the dump was made. `started`: it
    ran on the device; None where nobody recorded that. `frames`: the program's stack, innermost first. `line`: that of the dump
    as text. `timeout_s`: after so long the program gives it up; 0 where the dump does not tell.
    """

    seq: int
    op: str
    inputs: str
    created_ns: int
    pending: bool
    between_two: bool
    started: bool | None
    frames: tuple[Frame, ...]
    line: int = 0
    timeout_s: float = 0.0


class GroupCalls(Struct, frozen=True):
    """The calls of one process group on one rank.

    `members`: the ranks of the group, empty where the dump does not tell. `enqueued`: the number of the last collective that was
    called; -1 where nothing shows it. `first_pending`: the number of the first one that is not finished, -1 for none. `calls`:
    the last ones, and those that are pending. `seqs`, `created_ns`: number and time of every collective in the dump, in order.
    `size`: from how many ranks a call gathered, as its shapes show; 0 without such a call.
    """

    name: str
    description: str
    members: tuple[int, ...]
    enqueued: int
    first_pending: int
    calls: tuple[Call, ...]
    seqs: "array[int]"
    created_ns: "array[int]"
    size: int = 0

    @property
    def title(self) -> str:
        """Description and name, as far as they say something: `dp (41)`."""
        return f"{self.description} ({self.name})" if self.description not in ("", "undefined") else self.name


class Dump(Struct, frozen=True):
    """The flight recorder's dump of one rank. `version`: of its format. `backend`: `nccl`, `gloo`. `text`: its lines as text.
    `attempt`: how often torchrun had started the ranks anew."""

    source: str
    rank: int | None
    version: str
    backend: str
    groups: tuple[GroupCalls, ...]
    entries: int
    text: tuple[str, ...] = ()
    attempt: int = 0

    @property
    def last_ns(self) -> int:
        """The time of the last call; 0 if there is none."""
        return max((call.created_ns for group in self.groups for call in group.calls), default=0)
