"""The way out for text that is no report: every line that a command prints or writes loses its secrets here.

masked_text(text)         a whole text, its lines one after the other
MaskedStream(sys.stderr)  a stream for everything that is printed line by line
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO, cast

from forensics.report.redaction.lines import mask_lines
from forensics.report.redaction.secrets import mask_text, swept

if TYPE_CHECKING:
    from forensics.report.redaction.lines import LineMasker

__all__ = ["MaskedStream", "masked_stream", "masked_text", "unmasked"]


def masked_text(text: str) -> str:
    """`text` with the secrets of all its lines masked."""
    return "\n".join(mask_lines(text.split("\n")))


def masked_entry(text: str, masker: "LineMasker") -> str:
    """The lines of one entry of a log, whose earlier lines `masker` has seen."""
    return "\n".join(map(masker.mask, text.split("\n")))


class MaskedStream:
    """A text stream that masks what is written to it; everything else is that of the stream below."""

    def __init__(self, below: TextIO) -> None:
        self.below = below
        self.seen: dict[str, str] = {}  # secrets so far, with their masks

    def write(self, text: str) -> int:
        """Write `text` without its secrets."""
        return self.below.write("\n".join(swept(mask_text(line, self.seen), self.seen) for line in text.split("\n")))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each text without its secrets."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


def masked_stream(stream: TextIO) -> TextIO:
    """`stream`, which masks from now on."""
    return stream if isinstance(stream, MaskedStream) else cast("TextIO", MaskedStream(stream))


def unmasked(stream: TextIO) -> TextIO:
    """The stream below, for a writer whose lines are masked already."""
    return stream.below if isinstance(stream, MaskedStream) else stream
