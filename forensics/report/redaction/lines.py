r"""Secrets that only the lines before them tell: the lines of a private key, and a value below its name.

db.password                                     the name of a setting that pydantic rejects
  Input should be ... [type=..., input_value='hunter2', input_type=str]

curl https://host/token \                        a command that goes on in the next line
  --user bob:hunter2

connect(user, password)                         a traceback that draws its variables
|             └ 'hunter2'

The way out for text that is no report: every line that a command prints or writes loses its secrets here.

masked_text(text)         a whole text, its lines one after the other
MaskedStream(sys.stderr)  a stream for everything that is printed line by line
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from msgspec import Struct, field

from forensics.core import lazy
from forensics.report.redaction.rules import EMPTY_VALUE_PATTERN, SECRET_NAME, looks_random, name_at_end
from forensics.report.redaction.secrets import LONE_KEY_LINE, MASK, mask_text, swept

KEY_HEAD = "PRIVATE KEY"
KEY_END = lazy.regex(r"-----END|\bPrivate-MAC:")
KEY_LINE = lazy.regex(r"\A\S*+(?<=[A-Za-z0-9+/=]{4})\s*\Z")
KEY_START = lazy.regex(r"-----BEGIN [A-Z0-9 _-]{0,100}PRIVATE KEY|\bPrivate-Lines:")
INPUT_VALUE = lazy.regex(r"\binput_value=(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote)).){1,400})")
LONE_VALUE = lazy.regex(r"\A[\s\"'`>|]*(?P<secret>[^\s\"'`<>]{4,400})[\"'`,;]?\s*\Z")
DRAWN_VALUE = lazy.regex(r"└[ \t]*(?:b|f|r)?(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote)).){1,400})")
DRAWN_ONLY = lazy.regex(r"[\s│└|]*\Z")
WORD_AT = lazy.regex(r"[\w.]+")
HINT = lazy.regex(r"input_value=|└|-----BEGIN|-----END|private-lines|\\\s*\Z|(?<!\S)(?:-u|--user)[ =]", re.IGNORECASE)
GOES_ON = lazy.regex(r"\\\s*\Z")  # a shell's command in the next line
MAX_COMMAND_CHARS = 300  # of the lines before: so far from its program an option may stand
LINES_ABOVE = 12  # that a drawing of variables has between a value and its name
MAX_HINT_CHARS = 400  # a longer line names no value below it


class LineMasker(Struct):
    """Masks the lines of one log one after the other. `seen`: the secrets so far, with their masks; several logs may share it."""

    seen: dict[str, str] = field(default_factory=dict)
    above: list[str] = field(default_factory=list)
    in_key: bool = False
    command: str = ""  # the lines so far of a command that goes on

    def mask(self, line: str) -> str:
        """`line` without its secrets."""
        if KEY_START.search(line):
            self.in_key = True
        elif self.in_key and (KEY_END.search(line) or not KEY_LINE.match(line)):
            self.in_key = False
        elif self.in_key:
            return MASK.format("key-material")
        masked = swept(mask_text(line, self.seen), self.seen)
        if self.command and masked == line:
            masked = mask_text(self.command + line).removeprefix(self.command)
        if self.above and masked == line:
            masked = _below(self.above, line)
        going_on = GOES_ON.search(masked)
        self.command = f"{self.command}{masked[: going_on.start()]} "[-MAX_COMMAND_CHARS:] if going_on else ""
        self.above = [*self.above[1 - LINES_ABOVE :], line[:MAX_HINT_CHARS]]
        return masked


def mask_lines(lines: Iterable[str]) -> list[str]:
    """Lines that follow each other in a log, without their secrets."""
    masker = LineMasker()
    masked = [masker.mask(line) for line in lines]
    return [swept(line, masker.seen) for line in masked] if masker.seen else masked


def needs_neighbours(text: str) -> bool:
    """May this line tell a secret that the next one shows, or the other way round?"""
    return len(text) <= MAX_HINT_CHARS and bool(HINT.search(text) or name_at_end(text) or LONE_KEY_LINE.match(text))


def _below(above: list[str], line: str) -> str:
    """`line` without the value that a line above it names."""
    for start, end in _values(above, line):
        return f"{line[:start]}{MASK.format('secret')}{line[end:]}"
    return line


def _values(above: list[str], line: str) -> Iterator[tuple[int, int]]:
    drawn = DRAWN_VALUE.search(line)
    if drawn and (name := _name_above(above, drawn.start())) and _is_value(name, drawn["secret"]):
        yield drawn.span("secret")
    named = name_at_end(above[-1])
    if named:
        found = INPUT_VALUE.search(line) or (LONE_VALUE.match(line) if named["colon"] else None)
        if found and _is_value(named["name"], found["secret"]):
            yield found.span("secret")


def _name_above(above: list[str], column: int) -> str:
    """The word of the line of code that stands above this column."""
    for line in reversed(above):
        if not DRAWN_ONLY.match(line[column : column + 1]):
            return next((m[0] for m in WORD_AT.finditer(line) if m.start() <= column < m.end()), "")
    return ""


def _is_value(name: str, value: str) -> bool:
    found = SECRET_NAME.search(name)
    if not found or EMPTY_VALUE_PATTERN.match(value) or "[REDACTED:" in value:
        return False
    return found["password"] is not None or looks_random(value)


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
