"""Read a flight recorder's pickle without building all of its calls: of most of them, a few numbers are needed.

    ... }(h*K\x05 h+M\x10\x27 ... u  }(h*K\x06 h+M\x11\x27 ... u  ...      PyTorch stores a text once, and a mark of it later
        ->  the pickle with the number 2 in their place, and the columns "pg_id": [5, 6], "collective_seq_id": [10000, 10001], ...

A call that has only marks and numbers defines nothing that comes after it: the rest of the pickle stays what it was, and is
checked as any other. A dump of another writer has no such calls, and is read whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

from msgspec import Struct

from forensics.sources.rank_dumps.base import MAX_ENTRIES, DumpError
from forensics.sources.rank_dumps.pickled import read_plain_pickle

STORED_NUMBER, STORED_TEXT, STORED_FLAG = rb"(?:M..|K.|J.{4}|\x8a\x08.{8})", rb"(?:h.|j.{4})", rb"[\x88\x89]"
FIELDS = {  # how the value of each field of a call is stored
    STORED_NUMBER: "record_id pg_id collective_seq_id p2p_seq_id op_id time_created_ns timeout_ms",
    STORED_TEXT: "thread_name thread_id profiling_name state",
    rb"\](?:\((?:h.h.h.h.h.h.|" + STORED_TEXT + rb")*+e)?+": "frames input_dtypes output_dtypes",
    rb"\](?:\((?:\](?:\(" + STORED_NUMBER + rb"*+e)?+)*+e)?+": "input_sizes output_sizes",
    STORED_FLAG: "retired is_p2p",
    rb"(?:N|" + STORED_NUMBER + rb")": "time_discovered_started_ns time_discovered_completed_ns",
    rb"G.{8}": "duration_ms",
    STORED_TEXT + STORED_TEXT + rb"\x86": "process_group",
}
KIND_OF = {name: kind for kind, names in FIELDS.items() for name in names.split()}
COLUMNS = ("process_group", "collective_seq_id", "time_created_ns", "state", "retired", "is_p2p")
OPTIONAL = ("duration_ms",)
MIN_BYTES = 64 << 10  # a smaller dump is read whole in the time that it takes to learn its form
STORED_TRUE = b"\x88"


class Calls(Struct, frozen=True):
    """The calls of a dump. `entries`: those that are whole, and how many were left out in each place. `left_out`: what is known
    of these, by the name of the field, in order."""

    entries: Sequence[Any]
    left_out: Mapping[str, Sequence[Any]] = {}

    def column(self, key: str, default: Any = None) -> list[Any]:
        """The value of one field in each call."""
        if not self.left_out:
            return [one.get(key, default) for one in self.entries]
        given, found, at = self.left_out[key], list[Any](), 0
        for one in self.entries:
            if type(one) is int:
                found += given[at : at + one]
                at += one
            else:
                found.append(one.get(key, default))
        return found

    def in_place(self) -> list[Any]:
        """The calls that are whole, each in its place; None for those that were left out."""
        if sum(one for one in self.entries if type(one) is int) != len(self.left_out.get("state", ())):
            raise DumpError("it is damaged (calls outside of its list of calls)")
        return [each for one in self.entries for each in ([None] * one if type(one) is int else [one])]


def read_thinned(data: bytes, last: int, pending: int) -> Any:
    """The values of a flight recorder's pickle, its `entries` as Calls. Of each group, the `last` calls and the first `pending`
    ones are whole."""
    order = _order(data) if len(data) >= MIN_BYTES else ()
    if not order:
        return read_plain_pickle(data)
    names = [name for name, _ in order if name in COLUMNS]
    pieces = _pattern(order).split(data, MAX_ENTRIES)
    step = len(names) + 2
    between, calls = pieces[::step], pieces[1::step]
    stored = {name: pieces[at::step] for at, name in enumerate(names, 2)}
    kept = _kept(stored, _mark(data, "completed"), last, pending)
    left = bytearray(b"\x01") * len(calls)
    for at in kept:
        left[at] = 0
    columns = [b"](" + b"".join(compress(column, left)) + b"e" for column in stored.values()]
    try:
        values, found = read_plain_pickle(b"".join(_thinned(between, calls, kept)), b"](" + b"".join(columns) + b"e")
        return {**values, "entries": Calls(values["entries"], dict(zip(names, found, strict=True)))}
    except (ValueError, TypeError, LookupError) as error:
        raise error if isinstance(error, DumpError) else DumpError("it is damaged (its parts do not fit)") from None


def _mark(data: bytes, text: str) -> bytes:
    """The operation that stands for `text` where it comes again; empty where `data` does not store it so."""
    stored = b"X" + len(text).to_bytes(4, "little") + text.encode()
    end = data.find(stored) + len(stored)
    operation = data[end : end + 1] if end >= len(stored) else b""
    return {b"q": b"h" + data[end + 1 : end + 2], b"r": b"j" + data[end + 1 : end + 5]}.get(operation, b"")


def _order(data: bytes) -> tuple[tuple[str, bytes], ...]:
    """The fields of a call in the order of the dump, each with the mark of its name; empty where one that is needed lacks."""
    marks = {name: mark for name in KIND_OF if (mark := _mark(data, name))}
    placed = sorted(marks, key=lambda name: data.find(name.encode()))
    return tuple((name, marks[name]) for name in placed) if all(name in marks for name in COLUMNS) else ()


@lru_cache(maxsize=64)  # the ranks of a job differ little
def _pattern(order: Sequence[tuple[str, bytes]]) -> re.Pattern[bytes]:
    parts = []
    for name, mark in order:
        kind = KIND_OF[name]
        value = b"(" + kind + b")" if name in COLUMNS else kind
        parts.append(b"(?:" + re.escape(mark) + value + b")" + (b"?+" if name in OPTIONAL else b""))
    return re.compile(rb"(?s)(\}\(" + b"".join(parts) + b"u)")


def _kept(stored: Mapping[str, Sequence[bytes]], completed: bytes, last: int, pending: int) -> set[int]:
    """The calls that stay, by their position."""
    groups, states = stored["process_group"], stored["state"]
    waiting = (at for at, retired in enumerate(stored["retired"]) if retired != STORED_TRUE and states[at] != completed)
    names = set(groups)
    newest = _first_of_each(reversed(range(len(groups))), groups, dict.fromkeys(names, last))
    return {*newest, *_first_of_each(waiting, groups, dict.fromkeys(names, pending))}


def _first_of_each(places: Iterable[int], groups: Sequence[bytes], left: dict[bytes, int]) -> Iterator[int]:
    """The first of `places` in each group. `left`: how many of each."""
    for at in places:
        if group_left := left.get(groups[at]):
            yield at
            left[groups[at]] = group_left - 1
            if group_left == 1 and not any(left.values()):
                return


def _thinned(between: Sequence[bytes], calls: Sequence[bytes], kept: set[int]) -> Iterator[bytes]:
    begun = 0  # of the run of calls that are left out
    for at in sorted({*kept, *(at for at, piece in enumerate(between) if piece)}):
        if at > begun:
            yield b"J" + (at - begun).to_bytes(4, "little")
        yield between[at]
        if at in kept:
            yield calls[at]
        begun = at + (at in kept)
