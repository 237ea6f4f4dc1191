r"""Secrets that only the lines before them tell: the lines of a private key, and a value below its name.

db.password                                     the name of a setting that pydantic rejects
  Input should be ... [type=..., input_value='hunter2', input_type=str]

curl https://host/token \                        a command that goes on in the next line
  --user bob:hunter2

connect(user, password)                         a traceback that draws its variables
|             └ 'hunter2'

- name: DB_PASSWORD                             name and value in fields of their own
  value: hunter2

user,password                                   a table with a column of passwords
ana,hunter2

The way out for text that is no report: every line that a command prints or writes loses its secrets here.

masked_text(text)         a whole text, its lines one after the other
MaskedStream(sys.stderr)  a stream for everything that is printed line by line
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from msgspec import Struct, field

from forensics.core import lazy
from forensics.core.shapes import by_shape
from forensics.report.redaction.rules import EMPTY_VALUE_PATTERN, SECRET_NAME, is_mixed, looks_random, name_at_end
from forensics.report.redaction.secrets import MASK, mask_text, swept

KEY_HEAD = "PRIVATE KEY"
KEY_END = lazy.regex(r"-----END|\bPrivate-MAC:")
KEY_LINE = lazy.regex(r"\A\S*+(?<=[A-Za-z0-9+/=]{4})\s*\Z")
KEY_BEHIND_LABEL = lazy.regex(r"(?:\A|[\s|])(?P<secret>[A-Za-z0-9+/]{40,}+={0,2}+)\s*\Z")  # where several programs write
MAX_KEY_LINES = 200  # of keys whose lines stand between those of other programs: one of 4,096 bits has 50
KEY_START = lazy.regex(r"-----BEGIN [A-Z0-9 _-]{0,100}PRIVATE KEY|\bPrivate-Lines:")
INPUT_VALUE = lazy.regex(r"\binput_value=(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote)).){1,400})")
LONE_VALUE = lazy.regex(r"\A[\s\"'`>|]*(?P<secret>[^\s\"'`<>]{4,400})[\"'`,;]?\s*\Z")
DRAWN_VALUE = lazy.regex(r"└[ \t]*(?:b|f|r)?(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote)).){1,400})")
DRAWN_ONLY = lazy.regex(r"[\s│└|]*\Z")
WORD_AT = lazy.regex(r"[\w.]+")
FIELD_NAME = lazy.regex(
    r"(?i)(?<![a-z])(?:name|key|var|variable|env|field|header|param|parameter|option|setting)[\"']?\s{0,4}[:=]\s{0,4}"
    r"[\"']?(?P<name>[\w.-]{1,120})[\"']?,?\s*\Z"
)
FIELD_VALUE = lazy.regex(
    r"(?i)\A[\s|{-]*[\"']?(?:value|val|content)[\"']?\s{0,4}[:=]\s{0,4}"
    r"(?:(?P<quote>[\"'])(?P<secret>(?:(?!(?P=quote)).){1,4096})|(?P<plain>[^\s\"'{}]{1,4096}))"
)
PARAMETERS = lazy.regex(r"\[parameters: [\[({](?P<secret>.{3,4096})[\])}]\]")
COLUMN_SIGNS = ("|", ",", "\t", ";")
MIN_COLUMNS = 2  # one word alone in a line is no table
HINT = lazy.regex(
    r"input_value=|└|-----BEGIN|-----END|private-lines|\\\s*\Z|(?<!\S)(?:-u|--user)[ =]|\[parameters: ", re.IGNORECASE
)
GOES_ON = lazy.regex(r"\\\s*\Z")  # a shell's command in the next line
MAX_COMMAND_CHARS = 300  # of the lines before: so far from its program an option may stand
LINES_ABOVE = 12  # that a drawing of variables has between a value and its name
MAX_HINT_CHARS = 400  # a longer line names no value below it


class LineMasker(Struct):
    """Masks the lines of one log one after the other. `seen`: the secrets so far, with their masks; several logs may share it."""

    seen: dict[str, str] = field(default_factory=dict)
    above: list[str] = field(default_factory=list)
    in_key: bool = False
    key_lines: int = 0  # so many lines more may belong to a key that was begun
    command: str = ""  # the lines so far of a command that goes on
    columns: "SecretColumns | None" = None

    def mask(self, line: str) -> str:
        """`line` without its secrets."""
        if KEY_START.search(line):
            self.in_key, self.key_lines = True, MAX_KEY_LINES
        elif self.in_key and (KEY_END.search(line) or not KEY_LINE.match(line)):
            self.in_key = False
        elif self.in_key:
            return MASK.format("key-material")
        self.key_lines -= self.key_lines > 0
        if self.key_lines and (found := KEY_BEHIND_LABEL.search(line)) and is_mixed(found["secret"]):
            return line[: found.start("secret")] + MASK.format("key-material")
        masked = swept(mask_text(line, self.seen), self.seen)
        if self.command and masked == line:
            masked = mask_text(self.command + line).removeprefix(self.command)
        if masked == line:
            masked = self._below(line)
        going_on = GOES_ON.search(masked)
        self.command = f"{self.command}{masked[: going_on.start()]} "[-MAX_COMMAND_CHARS:] if going_on else ""
        self.above = [*self.above[1 - LINES_ABOVE :], line[:MAX_HINT_CHARS]]
        self.columns = (self.columns if self.columns and self.columns.holds(line) else None) or SecretColumns.of(line)
        return masked

    def _below(self, line: str) -> str:
        """`line` without the values that a line above it names."""
        spans = [*_values(self.above, line)] if self.above else []
        spans += self.columns.values(line) if self.columns else []
        for start, end in sorted(spans, reverse=True):
            self.seen.setdefault(line[start:end], MASK.format("secret"))
            line = f"{line[:start]}{MASK.format('secret')}{line[end:]}"
        return line


class SecretColumns(Struct, frozen=True):
    """The columns of a table whose heads are names of secrets. `sign` divides them; empty: blanks do, and the values of a column
    stand below its head. `heads`: name -> the number of the column, or the characters where the head begins and ends."""

    sign: str
    count: int
    heads: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, line: str) -> "SecretColumns | None":
        """Those of a line of heads, None if it is none."""
        if len(line) > MAX_HINT_CHARS:
            return None
        sign = next((s for s in COLUMN_SIGNS if s in line), "")
        first = line.partition(sign or "  ")[0].strip(" \"'")
        if not (sign or "  " in line) or not (first.isidentifier() or not first):
            return None
        cells = [cell.strip(" \"'\r") for cell in (line.split(sign) if sign else re.split(r"\s{2,}", line.strip()))]
        if len(cells) < MIN_COLUMNS or not all(cell.isidentifier() or not cell for cell in cells):
            return None
        at = [i for i, cell in enumerate(cells) if SECRET_NAME.search(cell)]
        heads = {cells[i]: (i, i) if sign else (line.index(cells[i]), line.index(cells[i]) + len(cells[i])) for i in at}
        return cls(sign, len(cells), heads) if heads else None

    def holds(self, line: str) -> bool:
        """Is it a row of the table, or the rule below its heads?"""
        if self.sign:
            return line.count(self.sign) == self.count - 1 or not re.search(r"\w", line)
        return len(line.split()) >= self.count

    def values(self, line: str) -> Iterator[tuple[int, int]]:
        """The places of the secrets in a row."""
        if not self.holds(line):
            return
        cells = self._cells(line)
        for name, (first, last) in self.heads.items():
            below = cells[first : first + 1] if self.sign else [c for c in cells if c[0] < last and c[0] + len(c[1]) > first]
            for start, cell in below:
                value = cell.strip(" \"'\r")
                if re.search(r"\w", value) and _is_value(name, value):
                    at = start + cell.index(value)
                    yield at, at + len(value)

    def _cells(self, line: str) -> list[tuple[int, str]]:
        """Where each cell begins, and its text."""
        if not self.sign:
            return [(m.start(), m[0]) for m in re.finditer(r"\S+", line)]
        texts = line.split(self.sign)
        starts = itertools.accumulate((len(text) + len(self.sign) for text in texts), initial=0)
        return [*zip(starts, texts, strict=False)]


def mask_lines(lines: Iterable[str], seen: dict[str, str] | None = None) -> list[str]:
    """Lines that follow each other in a log, without their secrets, which are added to `seen`."""
    masker = LineMasker({} if seen is None else seen)
    masked = [masker.mask(line) for line in lines]
    return [swept(line, masker.seen) for line in masked] if masker.seen else masked


@by_shape  # names of thousands of files differ in digits only, for which none of these asks
def needs_neighbours(text: str) -> bool:
    """May this line tell a secret that the next one shows, or the other way round?"""
    return len(text) <= MAX_HINT_CHARS and bool(
        HINT.search(text) or name_at_end(text) or KEY_BEHIND_LABEL.search(text) or _names_below(text)
    )


def _names_below(text: str) -> bool:
    """Is it a field with the name of a secret, or the heads of a table with one?"""
    found = FIELD_NAME.search(text)
    return bool(found and SECRET_NAME.search(found["name"])) or SecretColumns.of(text) is not None


def _values(above: list[str], line: str) -> Iterator[tuple[int, int]]:
    drawn = DRAWN_VALUE.search(line)
    if drawn and (name := _name_above(above, drawn.start())) and _is_value(name, drawn["secret"]):
        yield drawn.span("secret")
    value = FIELD_VALUE.match(line)
    named_field = FIELD_NAME.search(above[-1]) if value else None
    if named_field and value:
        shown = value["secret"] or value["plain"]
        if _is_value(named_field["name"], shown):
            yield value.span("secret" if value["secret"] else "plain")
        return
    parameters = PARAMETERS.search(line) if "[parameters: " in line else None
    if parameters and any(SECRET_NAME.search(text) for text in above[-2:]):
        yield parameters.span("secret")
        return
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
