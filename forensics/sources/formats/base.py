"""The interface of a format: how a file is recognised by its first bytes, and how its records become lines."""

from collections.abc import Callable, Iterator
from functools import cached_property

from msgspec import Struct

from forensics.sources.origin import Piece

Note = Callable[[str, str, int | None], None]
"""note(kind, message, line): reports a problem or an assumption, which becomes a Warning of this source."""
Decode = Callable[[Iterator[bytes], Note], Iterator[Piece]]
ISO_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"


class Head:
    """The first part of the text of a source. `complete`: this part is the whole text."""

    def __init__(self, data: bytes, complete: bool = True) -> None:
        self.data, self.complete = data, complete

    @cached_property
    def text(self) -> str:
        """The text, decoded; bad bytes are replaced."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """Its complete lines, without line ends. The last line may be cut, so it is included then only if it is the only line."""
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

    `sample`: an example of the start of such a file. `plain`: the text has a line format, which is reported instead of `name`.
    `raw`: the format needs the original bytes, with NUL bytes. `rank`: the format with the smallest rank is tried first. `falls`:
    if the times of its records fall so often, and never rise, the newest stands first, and they are turned around; 0: never.
    """

    name: str
    recognises: Callable[[Head], bool]
    decode: Decode
    sample: bytes
    plain: bool = False
    raw: bool = False
    rank: int = 50
    falls: int = 0
