"""PyTorch's flight recorder: the last collective calls of one rank, as a pickle or as JSON, versions 2.1 to 2.10.

    {"version": "2.10", "pg_config": {"0": {"desc": "default_pg", "ranks": "[0, 1]"}}, "pg_status": {"0": {...}},
     "entries": [{"collective_seq_id": 6, "profiling_name": "gloo:barrier", "state": "scheduled", "retired": False, ...}, ...]}
        -> Dump(rank 3, groups (default_pg: enqueued 6, first pending 6), ...)

Written by torch/csrc/distributed/c10d/FlightRecorder*.hpp for NCCL (on a time-out), by `_dump_fr_trace` for any backend, and by
torchcomms, which numbers the calls of all groups together. Gloo never changes the state `scheduled`: only `retired` shows the end
of a call. It tells no members of a group.
"""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from forensics.core import lazy
from forensics.model.dumps import Call, Dump, Frame, GroupCalls
from forensics.sources.rank_dumps.base import MAX_DUMP_BYTES, MAX_ENTRIES, PROTOCOLS, DumpError

if TYPE_CHECKING:
    from forensics.sources.rank_dumps.thinned import Calls

KEPT_CALLS = 32  # of each group: what led to a hang stands in the last few
KEPT_PENDING = 16  # first pending calls of a group; the first one is what a rank waits in
MAX_CALL_FRAMES = 256  # of one call; Python's own limit of depth is 1,000, and programs nest some thirty deep
MIN_ONE_COUNT = 8  # calls in a row, over several groups: fewer can be consecutive by chance
MAX_RANKS = 1 << 16  # of one group; shapes that show more are made to do harm
NAME_CHARS = 120  # of a group's name or an operation; longer ones are made to do harm
Text = Annotated[str, Meta(max_length=4096)]
Sizes = Annotated[list[Annotated[list[int], Meta(max_length=32)]], Meta(max_length=4096)]
FILE_ATTEMPT_PATTERN = lazy.regex(r"(?:\A|/)attempt_(\d{1,6})_rank_\d{1,7}\Z")  # as guard() writes it
FILE_RANK_PATTERN = lazy.regex(r"rank[_-]?(\d{1,7})(?!.*rank[_-]?\d)|(\d{1,7})(?:\.\w{1,8}){0,2}\Z", re.IGNORECASE)
MEMBER_PATTERN = lazy.regex(r"\d{1,7}")


class _Frame(Struct):
    filename: Text = ""
    line: int = 0
    name: Text = ""


class _Frames:
    """The frames of a dump, each read once: a program calls from a few places, and a pickle has one value for each."""

    def __init__(self) -> None:
        self.read, self.stacks = dict[int, tuple[Any, Frame]](), dict[tuple[int, ...], tuple[Frame, ...]]()

    def stack(self, raw: list[Any]) -> tuple[Frame, ...]:
        """The frames that `raw` tells, innermost first."""
        ids = tuple(map(id, raw))
        found = self.stacks.get(ids)
        if found is None:
            found = self.stacks[ids] = tuple(map(self._frame, raw))
        return found

    def _frame(self, raw: Any) -> Frame:
        found = self.read.get(id(raw))
        if found is None:
            one = msgspec.convert(raw, _Frame, strict=False)
            found = self.read[id(raw)] = raw, Frame(one.filename, one.line, one.name)  # with `raw`, which keeps its id
        return found[1]


class _Columns(Struct, frozen=True, gc=False):
    """What is needed of every call, one list each. All else is read of the calls that are kept alone."""

    groups: list[str]
    seqs: "array[int]"
    created_ns: "array[int]"
    pending: list[bool]
    between_two: list[bool]


class _Entry(Struct):
    """A call that is kept."""

    process_group: tuple[Text, Text] = ("", "")
    profiling_name: Text = ""
    state: Text = ""
    input_sizes: Sizes = field(default_factory=list)
    output_sizes: Sizes = field(default_factory=list)
    input_dtypes: Annotated[list[Text], Meta(max_length=4096)] = field(default_factory=list)
    time_discovered_started_ns: int | None = None
    frames: Annotated[list[Any], Meta(max_length=MAX_CALL_FRAMES)] = field(default_factory=list)  # see _Frames
    timeout_ms: int = 0


class _Config(Struct):
    name: Text = ""
    desc: Text = ""
    ranks: Annotated[str, Meta(max_length=1 << 20)] = ""


class _Status(Struct):
    last_enqueued_collective: int = -1
    last_started_collective: int = -1
    last_completed_collective: int = -1


class _Head(Struct):
    version: Text = ""
    rank: int | None = None
    pg_config: Annotated[dict[str, _Config], Meta(max_length=65536)] = field(default_factory=dict)
    pg_status: Annotated[dict[str, _Status], Meta(max_length=65536)] = field(default_factory=dict)


def read_flight_recorder(data: bytes, source: str) -> Dump:
    """The dump in `data`; DumpError where it is damaged or not of this kind. `source`: its name, which tells the rank."""
    from forensics.sources.rank_dumps.thinned import Calls, read_thinned  # its libraries take 6 ms at each start

    raw = read_thinned(data, KEPT_CALLS, KEPT_PENDING) if data[:2] in PROTOCOLS else _json(data)
    try:
        told = raw.pop("entries", None) or []
        head = msgspec.convert(raw, _Head, strict=False)
        calls = told if isinstance(told, Calls) else Calls(told)
        given = calls.in_place() if isinstance(calls.entries, list | tuple) else [None] * (MAX_ENTRIES + 1)
        if len(given) > MAX_ENTRIES:
            raise DumpError(f"its entries are no list, or more than {MAX_ENTRIES:,}")
        columns = _columns(calls)
        if _has_one_count(columns):
            columns = _counted_by_group(columns)
        called = {one.get("pg_id", 0): name for one, name in zip(given, columns.groups, strict=True) if one is not None}
        status = _status_by_name(head, called)
    except OverflowError:
        raise DumpError("a number in it is larger than 64 bits") from None
    except (ValueError, AttributeError, TypeError, LookupError, RecursionError) as error:
        if isinstance(error, DumpError):
            raise
        raise DumpError(f"it is no flight recorder's dump ({str(error)[:100]})") from None
    if not head.version.startswith("2."):
        raise DumpError(f"its version {head.version[:20]!r} is unknown")
    by_group = defaultdict[str, list[int]](list)
    for index, name in enumerate(columns.groups):
        by_group[name].append(index)
    names = list(dict.fromkeys([*by_group, *status]))
    frames = _Frames()
    try:
        groups = tuple(_group(name, by_group.get(name, []), columns, given, head, status.get(name), frames) for name in names)
    except (ValueError, TypeError) as error:  # ValueError: text with half a character, too
        raise DumpError(f"a call in it has another form ({str(error)[:100]})") from None
    first = str(next((one["profiling_name"] for one in given if one and "profiling_name" in one), ""))
    rank = head.rank if head.rank is not None else rank_of_name(source)
    backend, attempt = first[: max(first.find(":"), 0)][:20], FILE_ATTEMPT_PATTERN.search(source)
    made = Dump(source, rank, head.version[:20], backend, groups, len(given), attempt=int(attempt[1]) if attempt else 0)
    return as_text(made)


def _columns(calls: "Calls") -> _Columns:
    named = calls.column("collective_seq_id")
    states, retired = calls.column("state", ""), calls.column("retired", False)
    return _Columns(
        list(map(str, map(itemgetter(0), calls.column("process_group", ("",))))),
        _numbers(calls.column("seq_id", -1) if None in named else named),  # its name before 2.2
        _numbers(calls.column("time_created_ns", 0)),
        [not done and state != "completed" for done, state in zip(retired, states, strict=True)],
        list(map(bool, calls.column("is_p2p", False))),
    )


def _has_one_count(columns: _Columns) -> bool:
    """Are the calls of all groups numbered together, as torchcomms does?"""
    count, seqs = len(columns.seqs), columns.seqs
    return count >= MIN_ONE_COUNT and len(set(columns.groups)) > 1 and list(seqs) == list(range(seqs[0], seqs[0] + count))


def _counted_by_group(columns: _Columns) -> _Columns:
    """The calls of each group, numbered from 1. Where the first ones were overwritten, nothing tells which belong together."""
    if columns.seqs[0] != 0:
        raise DumpError("its calls are numbered over all groups, and the first ones are overwritten: a larger buffer keeps them")
    seen: Counter[str] = Counter()
    seqs = array("q", columns.seqs)
    for index, name in enumerate(columns.groups):
        seen[name] += 1
        seqs[index] = seen[name]
    return replace(columns, seqs=seqs)


def _numbers(values: list[Any]) -> "array[int]":
    try:
        return array("q", values)
    except TypeError:  # numbers as text
        return array("q", map(int, values))


def rank_of_name(name: str) -> int | None:
    """The rank in the name of a file: `nccl_trace_rank_5`, `_dump_12`, `rank3.json`."""
    found = FILE_RANK_PATTERN.search(name.rpartition("/")[2])
    return int(found[1] or found[2]) if found else None


def _json(data: bytes) -> Any:
    if len(data) > MAX_DUMP_BYTES:
        raise DumpError(f"it is larger than {MAX_DUMP_BYTES >> 20} MiB")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DumpError(f"it is damaged or cut ({str(error)[:80]})") from None


def _status_by_name(head: _Head, called: Mapping[Any, str]) -> dict[str, _Status]:
    """The status of each group by the group's name. It is stored by a number that calls of the group have, too: `called`. A group
    without calls gets its number by order: both are counted in the order in which the groups were made."""
    names = {str(number): name for number, name in called.items()}
    rest = [name for name in head.pg_config if name not in names.values() and name.isdigit()]
    numbers = [number for number in head.pg_status if number not in names and number.isdigit()]
    if len(rest) == len(numbers):
        names |= dict(zip(sorted(numbers, key=int), sorted(rest, key=int), strict=True))
    return {names[number]: status for number, status in head.pg_status.items() if number in names}


def _group(
    name: str,
    indices: list[int],
    columns: _Columns,
    given: Sequence[Any],
    head: _Head,
    status: _Status | None,
    frames: _Frames,
) -> GroupCalls:
    whole = [i for i in indices if not columns.between_two[i]]
    pending = [i for i in indices if columns.pending[i]]
    seqs = array("q", [columns.seqs[i] for i in whole])
    kept = sorted({*indices[-KEPT_CALLS:], *pending[:KEPT_PENDING]})
    entries = list(zip(kept, msgspec.convert([given[i] for i in kept], list[_Entry], strict=False), strict=True))
    config = head.pg_config.get(name)
    enqueued = max(seqs, default=-1)
    if enqueued < 0 and status is not None:
        enqueued = status.last_enqueued_collective
    first = min((columns.seqs[i] for i in pending if not columns.between_two[i]), default=-1)
    if not whole and status is not None and status.last_completed_collective < status.last_enqueued_collective:
        first = status.last_completed_collective + 1
    return GroupCalls(
        name=name[:NAME_CHARS],
        description=next((e.process_group[1] for _, e in entries), config.desc if config else "")[:NAME_CHARS],
        members=_members(config.ranks) if config else (),
        enqueued=enqueued,
        first_pending=first,
        calls=tuple(_call(entry, i, columns, frames) for i, entry in entries),
        seqs=seqs,
        created_ns=array("q", [columns.created_ns[i] for i in whole]),
        size=next((_gathered(entry) for _, entry in entries if "all_gather" in entry.profiling_name), 0),
    )


def _gathered(entry: _Entry) -> int:
    """From how many ranks a call gathers."""
    given, got = (sum(map(prod, sizes)) for sizes in (entry.input_sizes, entry.output_sizes))
    return min(got // given, MAX_RANKS) if given > 0 else 0


@lru_cache(maxsize=64)  # all ranks of a group tell the same
def _members(ranks: str) -> tuple[int, ...]:
    return tuple(map(int, MEMBER_PATTERN.findall(ranks)))


def _call(entry: _Entry, index: int, columns: _Columns, frames: _Frames) -> Call:
    timed = bool(entry.time_discovered_started_ns) or entry.state == "started"
    return Call(
        seq=columns.seqs[index],
        op=entry.profiling_name.partition(":")[2][:NAME_CHARS] or entry.profiling_name[:NAME_CHARS],
        inputs=_shapes(entry.input_sizes, entry.input_dtypes),
        created_ns=columns.created_ns[index],
        pending=columns.pending[index],
        between_two=columns.between_two[index],
        started=True if timed else None,
        frames=frames.stack(entry.frames),
        timeout_s=entry.timeout_ms / 1000,
    )


def _shapes(sizes: list[list[int]], types: list[str]) -> str:
    """`Float[64]`, `BFloat16[4096x5120] and 3 more`."""
    if not sizes:
        return ""
    kind = types[0] if types else ""
    more = f" and {len(sizes) - 1} more" if len(sizes) > 1 else ""
    return f"{kind}[{'x'.join(map(str, sizes[0]))}]{more}"


def as_text(dump: Dump) -> Dump:
    """`dump` with its text: a head, a line for each group, one for each call that was kept, in order of time."""
    lines = [
        f"flight recorder {dump.version} of rank {'?' if dump.rank is None else dump.rank}, {dump.backend or 'backend unknown'}:"
        f" {dump.entries:,} calls in {len(dump.groups)} groups"
    ]
    for group in dump.groups:
        whose = f", ranks {', '.join(map(str, group.members))}" if group.members else ""
        waits = f"first unfinished {group.first_pending}" if group.first_pending >= 0 else "all finished"
        lines.append(f"group {group.title}{whose}: last called {group.enqueued}, {waits}")
    placed = sorted((call.created_ns, g, c) for g, group in enumerate(dump.groups) for c, call in enumerate(group.calls))
    numbered: dict[tuple[int, int], int] = {}
    for _, g, c in placed:
        lines.append(call_text(dump.groups[g].calls[c], dump.groups[g]))
        numbered[g, c] = len(lines)
    groups = tuple(
        replace(group, calls=tuple(replace(call, line=numbered[g, c]) for c, call in enumerate(group.calls)))
        for g, group in enumerate(dump.groups)
    )
    return replace(dump, groups=groups, text=tuple(lines))


def call_text(call: Call, group: GroupCalls) -> str:
    """`2026-11-28T20:24:21.436Z all_reduce no. 5 of group 0, Float[8], unfinished, called at step (/run/train.py:16) ...`."""
    seconds, rest = divmod(call.created_ns, 10**9)
    when = f"{_second(seconds)}.{rest // 10**6:03}Z " if 0 < call.created_ns < 4 * 10**18 else ""
    shapes = f", {call.inputs}" if call.inputs else ""
    state = "unfinished" if call.pending else "finished"
    return f"{when}{call.op} no. {call.seq} of group {group.title}{shapes}, {state}{_called_at(call.frames)}"


@lru_cache(maxsize=256)  # the last calls of all ranks are of the same few seconds
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(maxsize=256)  # a program calls from a few places
def _called_at(frames: tuple[Frame, ...]) -> str:
    return ", called at " + " < ".join(f"{f.function} ({f.file}:{f.line})" for f in frames[:8]) if frames else ""
