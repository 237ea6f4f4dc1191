"""Decode the bytes of a log to text; format numbers, sizes and text for output.

A line ends at `\\n`. Its text is decoded as UTF-8 (invalid bytes replaced), and terminal colours are removed. A progress bar
redraws itself with carriage returns: each redraw is a frame, and one frame of the line is used.
"""

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from forensics.core import lazy, limits

COUNT_CHUNK_BYTES = 128 << 10  # fits into the processor's L2 cache together with the comparison's result
MIN_NUMPY_BYTES = 128 << 20  # with less to count in a process, the import of numpy (0.1 s) costs more than it saves
MIN_NUMPY_CHUNK_BYTES = 16 << 10  # below this, bytes.count is as fast
MAX_QUOTED_CHARS = 2000  # of a line of a log; the report promises as many
MAX_ROW_CHARS = 2 * MAX_QUOTED_CHARS  # of a row or a cell: a quoted line with its place, and with its marks escaped
CUT = "[…]"  # in place of what is left out of a line in front of its text
FORMULA_START_CHARS = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")  # the last four are those of full width
LINE_COMMAND_PATTERN = lazy.regex(r"(?:(?<=[\r\n])|\A)([^\S\r\n]*):(?=:)")  # a runner takes off the blanks in front
ANYWHERE_COMMAND_PATTERN = lazy.regex(r"#(?=#\w*\[)")
DIGITS_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")  # lines that differ only in numbers become equal
ASCII_UPPERCASE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # as in the module `string`, which compiles a pattern when it is loaded
ASCII_LOWER = str.maketrans(ASCII_UPPERCASE, ASCII_UPPERCASE.lower())
ANSI = lazy.regex(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])")


_counted_bytes = 0  # by this process; it selects the faster of two ways to count and does not affect the result


def line_ends(data: bytes, start: int = 0, end: int | None = None) -> int:
    """The number of line ends in data[start:end]. Large data is counted by numpy: three times as fast, without the GIL."""
    global _counted_bytes
    end = len(data) if end is None else end
    _counted_bytes += end - start
    if _counted_bytes < MIN_NUMPY_BYTES or end - start < MIN_NUMPY_CHUNK_BYTES:
        return data.count(10, start, end)  # counting an integer is faster than counting b"\n"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle OpenBLAS threads would spin and use processor time
    import numpy as np

    array = np.frombuffer(data, np.uint8, max(0, end - start), start)
    chunks = (array[i : i + COUNT_CHUNK_BYTES] for i in range(0, len(array), COUNT_CHUNK_BYTES))
    return sum(int(np.count_nonzero(chunk == 10)) for chunk in chunks)


def ascii_lower(text: str) -> str:
    """`text` with its ASCII letters in lower case, as the scanner compares it."""
    return text.lower() if text.isascii() else text.translate(ASCII_LOWER)


def decode_line(raw: bytes) -> str:
    """The text of `raw`, without terminal escapes; invalid bytes are replaced."""
    text = raw.decode("utf-8", "replace")
    return ANSI.sub("", text) if "\x1b" in text else text


def decode_rest(raw: bytes) -> str:
    """The text of a line whose beginning is left out: it begins with CUT, behind which half a word may stand."""
    return CUT + decode_line(raw)


def decoded_rows(data: bytes, rows: Sequence[bytes]) -> Sequence[str]:
    """decode_line() of each of `rows`, into which `data` was divided; together where that is possible."""
    if data.isascii() and b"\x1b" not in data:
        return data.decode("ascii").split("\n")
    return [*map(decode_line, rows)]


def last_frame(raw: bytes) -> str:
    """The text of a line after its last carriage return, at most `limits.text` bytes."""
    raw = raw.rstrip(b"\r")
    return decode_line(raw[raw.rfind(b"\r") + 1 :][: limits.current.text])


def last_frames(lines: Sequence[bytes]) -> list[str]:
    """last_frame() of each of `lines`, which are decoded together where none has several frames or escapes."""
    joined = b"\n".join(lines)
    if not lines or b"\r" in joined or b"\x1b" in joined or len(joined) > limits.current.text:
        return [last_frame(raw) for raw in lines]
    return joined.decode("utf-8", "replace").split("\n")


def frame_bounds(data: bytes, start: int, end: int, at: int) -> tuple[int, int]:
    """Start and end of the frame that holds byte `at` of the line data[start:end], at most `limits.text` bytes around `at`."""
    max_bytes = limits.current.text
    is_long = end - start > max_bytes  # a line may have gigabytes: it is searched near `at` only
    near, far = (max(start, at - max_bytes), min(end, at + max_bytes)) if is_long else (start, end)
    left = data.rfind(b"\r", near, at) + 1 or near
    right = data.find(b"\r", at, far)
    right = far if right < 0 else right
    if right - left > max_bytes:
        left = max(left, at - max_bytes // 2)
        right = min(right, at + max_bytes // 2)
    return left, right


def printable(text: str, limit: int = MAX_QUOTED_CHARS) -> str:
    """`text`, safe to print: escaped(), and cut at `limit` characters."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return escaped(text)


def escaped(text: str) -> str:
    """`text` with an escape for each character that is not seen or that acts: controls, directions, fillers, variation selectors.
    By the properties that Unicode gives them. A tab stays, and so does what joins the parts of an emoji."""
    if text.isascii() and text.isprintable():
        return text
    return str(hidden_characters().sub(lambda found: _escape(found[0]), text))


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 1 << 8 else f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


@functools.cache
def hidden_characters() -> Any:
    """The pattern of a character that escaped() escapes."""
    emoji = r"[\p{Extended_Pictographic}\p{Emoji_Modifier}]"
    in_emoji = rf"(?<={emoji})\uFE0F|(?<={emoji}\uFE0F?)\u200D(?={emoji})"
    # The last two are blank by their pictures: BRAILLE PATTERN BLANK, MUSICAL SYMBOL NULL NOTEHEAD.
    hidden = r"[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\U0001D159]--[ \t]]"
    return lazy.compiled_with_timeout(rf"(?V1)(?!{in_emoji}){hidden}")


def inert(text: str, commands: bool = False) -> str:
    """`text`, of any number of lines, in which a system that runs jobs finds no command to itself.

        ::add-mask::x  (GitHub, at the start of a line)  ->  \\u003a:add-mask::x
        a ##vso[task.complete]  (Azure, anywhere)        ->  a \\u0023#vso[task.complete]

    The escapes are those of JSON, so that a JSON document keeps its values. `commands`: the lines are commands of this program.
    """
    if "##" in text:
        text = ANYWHERE_COMMAND_PATTERN.sub(r"\\u0023", text)
    return text if commands or "::" not in text else LINE_COMMAND_PATTERN.sub(r"\1\\u003a", text)


SIZE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def format_size(count: float) -> str:
    """A number of bytes for people, `434 MiB`: three significant digits and a power of 1024, as in all reports."""
    number, unit = float(count), 0
    while round(abs(number)) >= 1024 and unit < len(SIZE_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    text = f"{number:.0f}" if abs(number) >= 100 or unit == 0 else f"{number:.3g}"
    return "1 byte" if (text, unit) == ("1", 0) else f"{text} {SIZE_UNITS[unit]}"


def with_noun(count: int, thing: str, things: str = "") -> str:
    """`1 line`, `12 lines`, `2 processes`: a number with its noun. `things`: the plural, where it is not `thing` with an `s`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def two_unit_duration(seconds: float) -> str:
    """A length of time in two units: `12.4 s`, `2 h 32 min`, `3 days 4 h`."""
    for size, unit, part, small in ((86400, "day", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            whole, rest = int(seconds // size), int(seconds % size // part)
            return f"{with_noun(whole, unit) if unit == 'day' else f'{whole} {unit}'}" + (f" {rest} {small}" if rest else "")
    return f"{seconds:.1f} s"


def number_ranges(numbers: Iterable[int]) -> str:
    """Numbers as a list of runs: 0, 1, 2, 5 -> `0-2, 5`."""
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in number_runs(numbers))


def number_runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last number of each run: 0, 1, 2, 5 -> (0, 2), (5, 5)."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def numbers_in_words(numbers: Iterable[int], most: int) -> str:
    """The first `most` runs of numbers in words: 2, 7, 8, 9 -> `2, 7 to 9`."""
    runs = number_ranges(numbers).split(", ")
    return ", ".join(run.replace("-", " to ") for run in runs[:most]) + (", …" if len(runs) > most else "")


def numbers_in(ranges: str) -> Iterator[int]:
    """The numbers that number_ranges() wrote."""
    for run in filter(None, ranges.split(", ")):
        first, _, last = run.partition("-")
        yield from range(int(first), int(last or first) + 1)


def spreadsheet_safe(cell: object) -> object:
    """A cell for a CSV file. Text that a spreadsheet would run as a formula gets a quote in front (OWASP, CSV injection)."""
    is_formula = isinstance(cell, str) and (cell.startswith(FORMULA_START_CHARS) or cell.lstrip().startswith(FORMULA_START_CHARS))
    return f"'{cell}" if is_formula else cell
