"""What is kept of each of thousands of sources until the decision, and what a process sends of them: packed until asked for.

    45 lines of 5 KB, 20 times, in objects 31 KiB   ->   2 KiB packed

Sources that are read together are packed together. Nearly all of it is never asked for: a report quotes a few lines of a few
sources.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

from isal.isal_zlib import compress, decompress
from msgspec import msgpack
from msgspec.structs import replace

from forensics.model import Line, Scan
from forensics.readers.stamps.clock_samples import ClockSample, SamplesOfLines, samples_of

T = TypeVar("T")
FAST_LEVEL = 1  # the level of compression: the others take twice the time for a tenth less


class Packed(Sequence[T], Generic[T]):
    """Values of one kind, packed. Those of the last few that were asked for are kept as they are."""

    __slots__ = ("data", "kind", "size")

    def __init__(self, values: Sequence[T], kind: type[T]) -> None:
        self.data, self.size, self.kind = msgpack.encode(values), len(values), kind

    def __reduce__(self) -> tuple[Any, ...]:  # takes half the time to pickle
        return _packed, (self.data, self.size, self.kind)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return _unpacked(self)[at]

    def __iter__(self) -> Iterator[T]:
        return iter(_unpacked(self))


@lru_cache(maxsize=4)  # a stage looks at one source after the other
def _unpacked(packed: Packed[Any]) -> tuple[Any, ...]:
    found: tuple[Any, ...] = msgpack.decode(packed.data, type=tuple[packed.kind, ...])  # type: ignore[name-defined]
    return found


def _packed(data: bytes, size: int, kind: type[Any]) -> Packed[Any]:
    made = Packed[Any].__new__(Packed)
    made.data, made.size, made.kind = data, size, kind
    return made


class PackedText:
    """The lines of several sources, packed together."""

    __slots__ = ("data",)

    def __init__(self, texts: Iterable[bytes]) -> None:
        self.data = compress(b"".join(texts), FAST_LEVEL)


class PackedLines(Sequence[Line]):
    """`size` lines that follow one another, the first of them number `first`: from byte `begin` to `end` of `text`."""

    __slots__ = ("begin", "end", "first", "size", "text")

    def __init__(self, text: PackedText, begin: int, end: int, first: int, size: int) -> None:
        self.text, self.begin, self.end, self.first, self.size = text, begin, end, first, size

    def __reduce__(self) -> tuple[Any, ...]:  # takes half the time to pickle
        return PackedLines, (self.text, self.begin, self.end, self.first, self.size)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | Sequence[Line]:
        return _lines(self)[at]

    def __iter__(self) -> Iterator[Line]:
        return iter(_lines(self))


@lru_cache(maxsize=2)
def _text(packed: PackedText) -> bytes:
    text: bytes = decompress(packed.data)
    return text


@lru_cache(maxsize=4)  # a stage looks at one source after the other
def _lines(packed: PackedLines) -> tuple[Line, ...]:
    rows = _text(packed.text)[packed.begin : packed.end].decode("utf-8", "surrogatepass").split("\n") if packed.size else []
    return tuple(map(Line, range(packed.first, packed.first + packed.size), rows))


def parked_scans(scans: Sequence[Scan]) -> list[Scan]:
    """`scans` with their first and last lines packed; of a short source they are the same."""
    ends = [own for scan in scans for own in ((scan.head,) if scan.tail == scan.head else (scan.head, scan.tail))]
    texts = ["\n".join([line.text for line in own]).encode("utf-8", "surrogatepass") for own in ends]
    packed, begin, made = PackedText(texts), 0, list[PackedLines]()
    for own, text in zip(ends, texts, strict=True):
        made.append(PackedLines(packed, begin, begin + len(text), own[0].number if own else 1, len(own)))
        begin += len(text)
    left = iter(made)
    return [replace(scan, head=(head := next(left)), tail=head if scan.tail == scan.head else next(left)) for scan in scans]


class SamplesOf(Sequence[ClockSample]):
    """What lines that are packed show about the clock of their source, where nothing else shows more."""

    __slots__ = ("lines", "size")

    def __init__(self, lines: Sequence[Line], size: int) -> None:
        self.lines, self.size = lines, size

    def __reduce__(self) -> tuple[Any, ...]:
        return SamplesOf, (self.lines, self.size)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> ClockSample: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ClockSample]: ...
    def __getitem__(self, at: int | slice) -> ClockSample | Sequence[ClockSample]:
        return samples_of(self.lines)[at]


def parked_samples(samples: Sequence[ClockSample], head: Sequence[Line]) -> Sequence[ClockSample]:
    """`samples` in little memory. `head`: the first lines of their source, packed."""
    return SamplesOf(head, len(samples)) if isinstance(samples, SamplesOfLines) else Packed(samples, ClockSample)
