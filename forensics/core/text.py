"""Bytes of a log to the text that everything else sees.

A line ends at `\\n`. Its text is decoded as UTF-8 (bad bytes replaced), without terminal colours; of a progress bar that was
redrawn with carriage returns, one frame counts.
"""

import os
import string

from forensics.core import lazy, limits

CACHED_BYTES = 128 << 10  # that lie in the processor's nearest caches together with what is computed from them
MIN_NUMPY_BYTES = 128 << 20  # counted without numpy, the import of which takes 0.1 s
MIN_NUMPY_CHUNK_BYTES = 16 << 10  # as soon counted without it
FORMULA = ("=", "+", "-", "@", "\t", "\r")
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
ANSI = lazy.regex(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])")


_counted = 0  # bytes of this process, about: which way they are counted makes no difference to the count


def line_ends(data: bytes, start: int = 0, end: int | None = None) -> int:
    """How many line ends data[start:end] holds. Of much data, numpy counts: three times as fast and outside the lock."""
    global _counted
    end = len(data) if end is None else end
    _counted += end - start
    if _counted < MIN_NUMPY_BYTES or end - start < MIN_NUMPY_CHUNK_BYTES:
        return data.count(10, start, end)  # an integer is counted faster than bytes
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else its threads, of no use here, spin while they wait for work
    import numpy as np

    counted = np.frombuffer(data, np.uint8, max(0, end - start), start)
    return sum(int(np.count_nonzero(counted[i : i + CACHED_BYTES] == 10)) for i in range(0, len(counted), CACHED_BYTES))


def ascii_lower(text: str) -> str:
    """`text` in lower case as the scanner folds it: ASCII alone."""
    return text.lower() if text.isascii() else text.translate(ASCII_LOWER)


def decode_line(raw: bytes) -> str:
    """Text of `raw`, bad bytes replaced, terminal escapes removed."""
    text = raw.decode("utf-8", "replace")
    return ANSI.sub("", text) if "\x1b" in text else text


def last_frame(raw: bytes) -> str:
    """Text of a line: what stands behind its last carriage return, `limits.text` bytes at most."""
    raw = raw.rstrip(b"\r")
    return decode_line(raw[raw.rfind(b"\r") + 1 :][: limits.current.text])


def frame_at(data: bytes, start: int, end: int, at: int) -> str:
    """Text of the frame that holds byte `at` in the line data[start:end]; a longer one is cut to a window around `at`."""
    most = limits.current.text
    near, far = max(start, at - most), min(end, at + most)  # nothing further away is in it; a line may have gigabytes
    left = max(near, data.rfind(b"\r", near, at) + 1)
    right = data.find(b"\r", at, far)
    right = far if right < 0 else right
    if right - left > most:
        left = max(left, at - most // 2)
        right = min(right, at + most // 2)
    return decode_line(data[left:right])


def printable(text: str, limit: int = 2000) -> str:
    """`text` safe to print: control and direction characters escaped, cut at `limit` characters."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" for c in text
    )


SIZE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def format_size(count: float) -> str:
    """Bytes for people, in the one convention of all reports: three significant digits of a power of 1024, `434 MiB`."""
    number, unit = float(count), 0
    while round(abs(number)) >= 1024 and unit < len(SIZE_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    text = f"{number:.0f}" if abs(number) >= 100 or unit == 0 else f"{number:.3g}"
    return "1 byte" if (text, unit) == ("1", 0) else f"{text} {SIZE_UNITS[unit]}"


def with_noun(count: int, thing: str, things: str = "") -> str:
    """`1 line`, `12 lines`, `2 processes`: a number with its noun. `things`: its plural where that is not with an `s`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def spreadsheet_safe(cell: object) -> object:
    """A cell of a table that a spreadsheet takes for text: one that would begin a formula gets a quote in front (OWASP)."""
    return "'" + cell if isinstance(cell, str) and cell.startswith(FORMULA) else cell
