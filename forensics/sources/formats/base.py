"""The form of a format: how it is recognised by its first bytes, and how its records become lines."""

from collections.abc import Callable, Iterator
from functools import cached_property

from msgspec import Struct

from forensics.sources.origin import Piece

Note = Callable[[str, str, int | None], None]
"""note(kind, message, line): trouble or an assumption, to become a Warning of this source."""
Decode = Callable[[Iterator[bytes], Note], Iterator[Piece]]
ISO_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"


class Head:
    """The first text of a source. `complete`: it is the whole text."""

    def __init__(self, data: bytes, complete: bool = True) -> None:
        self.data, self.complete = data, complete

    @cached_property
    def text(self) -> str:
        """The text, decoded; bad bytes are replaced."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """Its complete lines without line ends; the last line, which may be cut, only where it is the only one."""
        lines = self.text.split("\n")
        if len(lines) > 1 and (not self.complete or not lines[-1]):
            lines.pop()
        return [line.removesuffix("\r") for line in lines]

    @cached_property
    def written(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.lines if line.strip()]

    @cached_property
    def first(self) -> str:
        """The first line that is not blank."""
        return next((line for line in self.lines if line.strip()), "")


class Format(Struct, frozen=True):
    """One way to write records.

    `label`: as in the report's sources; None for plain text, whose line format is reported instead.
    `raw`: it is decoded from the undecoded bytes, with zeros. `rank`: a smaller one is tried first. `sample`: the start of a
    file.
    """

    name: str
    recognises: Callable[[Head], bool]
    decode: Decode
    sample: bytes
    label: str | None = None
    raw: bool = False
    rank: int = 50
