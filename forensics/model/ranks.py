"""The picture of who waits for whom: what each rank does, and the ranks that keep the others waiting."""

from typing import Literal

from msgspec import Struct

from forensics.model.dumps import Call, Frame

State = Literal["waits", "elsewhere", "outside", "done", "silent", "behind"]
Kind = Literal[
    "raised",
    "left",
    "ended_well",
    "computes",
    "lock",
    "hook",
    "outside",
    "elsewhere",
    "barrier",
    "left_out",
    "other_call",
    "other_shape",
    "other_order",
    "other_batches",
    "device",
    "late",
    "no_dump",
]


class RankProcess(Struct, frozen=True):
    """The process of a rank, as far as it is known. `gpu`: as the program counts."""

    pid: int | None = None
    host: str = ""
    gpu: int | None = None


def process_text(pid: object, host: object, gpu: object) -> str:
    """` (pid 4711 on gpu-04, GPU 3)`, to stand behind the rank; empty where nothing is known."""
    place = " on ".join(str(part) for part in (f"pid {pid}" if pid else "", host) if part)
    return f" ({', '.join(filter(None, (place, '' if gpu is None else f'GPU {gpu}')))})" if place or gpu is not None else ""


class ProofPlace(Struct, frozen=True):
    """A line that shows something: of a dump as text, of a file of stacks, or of a log."""

    source: str
    line: int
    text: str


class RankRow(Struct, frozen=True):
    """One rank. `state`: it waits in a call, is elsewhere, is in no call (and not waited for), is done with all its calls, has no
    dump, or its device is behind.

    `call`: the one it waits in, else its last one; `group`: of that call. `place`: the program's line of the call, or of its
    stack where it is in none. `pid`, `host`: as far as known. `shown`: what its stack shows, in words, where there are no dumps.
    """

    rank: int
    state: State
    group: str = ""
    call: Call | None = None
    place: Frame | None = None
    pid: int | None = None
    host: str = ""
    shown: str = ""


class LastCalls(Struct, frozen=True):
    """The last calls of an odd rank beside those of one that waits for it, oldest first, as text."""

    rank: int
    other: int
    own_calls: tuple[str, ...]
    other_calls: tuple[str, ...]


class GroupRow(Struct, frozen=True):
    """A row of the matrix: a group with its members, and by rank the number of its last call and of its first unfinished one
    (-1)."""

    name: str
    title: str
    members: tuple[int, ...]
    called: dict[int, int]
    unfinished: dict[int, int]


class OddRank(Struct, frozen=True):
    """A rank that keeps others waiting. `kind`: how. `place`: the program's line at which it is, or where it made the odd call.

    `doing`: what it does there, in words. `call`, `group`: the call that it did not enter, or that differs. `others`: the line at
    which the others wait or made the usual call. `waiting`: the ranks that wait for it, directly or not. `late_s`, `since`: by
    how much it is late, and since which call of the group. `cause`: that of its end, where a log tells the end. `last_ns`: when
    it made its last call, ns since 1970; 0 where nothing tells. `by_stacks`: stacks alone show it.
    `late_waits`: the silences of the job before in which the others waited for it, too, s. `rival`: where the evidence is thin,
    what it may be as well, and what would tell. `silent_since`: since when the job printed nothing, s since 1970.
    `fork`: the lines of the function in which its way parts from that of the others, where other functions make their calls.
    `is_held`: its process is stopped, as other files tell. `helper`: the pid of a process that is gone, for which it may wait.
    `beside`: those of `proofs` that show a trouble of their own, as in the kernel's log, which may be the reason.
    """

    rank: int
    kind: Kind
    doing: str
    group: str = ""
    call: str = ""
    place: Frame | None = None
    others: Frame | None = None
    waiting: tuple[int, ...] = ()
    pid: int | None = None
    host: str = ""
    gpu: int | None = None
    late_s: float = 0.0
    last_ns: int = 0
    since: int = -1
    proofs: tuple[ProofPlace, ...] = ()
    cause: str = ""
    by_stacks: bool = False
    late_waits: tuple[float, ...] = ()
    rival: str = ""
    silent_since: float | None = None
    fork: tuple[Frame, Frame] | None = None
    is_held: bool = False
    beside: tuple[ProofPlace, ...] = ()
    helper: int | None = None

    @property
    def is_only_late(self) -> bool:
        """Is it late to each call of a run that goes on? Then there is no call in which the others wait without end."""
        return self.kind == "late" and not self.call

    @property
    def named(self) -> str:
        """`rank 37 (pid 4711 on gpu-04, GPU 3)`."""
        return f"rank {self.rank}{process_text(self.pid, self.host, self.gpu)}"


class RankPicture(Struct, frozen=True):
    """All ranks, who waits for whom, and the odd ones, first the one to look at first. `world`: how many ranks there are, as far
    as dumps and logs tell. `edges`: (rank, rank that it waits for). `missing`: ranks without a dump. `waited_s`: for how long the
    ranks waited when the dumps were written, negative where that is unknown. `basis`: on what it rests, where there are no
    dumps. `awaited`: in place of `odd`, the ranks for which others wait at this moment, where nothing shows a hang."""

    world: int
    rows: tuple[RankRow, ...]
    edges: tuple[tuple[int, int], ...]
    odd: tuple[OddRank, ...]
    missing: tuple[int, ...] = ()
    waited_s: float = -1.0
    last: tuple[LastCalls, ...] = ()
    matrix: tuple[GroupRow, ...] = ()
    basis: str = ""
    awaited: tuple[OddRank, ...] = ()
