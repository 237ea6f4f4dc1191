"""Compiled regular expressions on disk: a short run takes a quarter of its time to compile those that it needs.

    r"step (\\d+)"   ->   its program, in <cache>/patterns/<version of the interpreter>.programs

    checksum of the rest | size of the places | places: number of a pattern -> where its program stands | programs

A run needs one in seven of the programs, so each is read when it is asked for. A damaged file, or one of another interpreter, is
made again. Programs are added as runs need more patterns.
"""

import contextlib
import marshal
import sys
import zlib

from forensics.core import lazy
from forensics.data_files import cache

MAX_KEPT_PATTERNS = 6000  # the package has 3,300; patterns of older versions would stay for ever
MAX_PATTERN_FILES = 4  # of versions of the interpreter
FORM = 3  # of a program
SIZE_BYTES = 4  # in front of the places


class KeptPrograms:
    """The programs that earlier runs made, as they stand in the file."""

    def __init__(self, places: dict[int, int], programs: bytes | memoryview) -> None:
        self.places = places
        self.programs = programs

    def get(self, pattern: lazy.Pattern) -> lazy.Program | None:
        """The program of `pattern`. Two patterns may have one number, so the pattern stands with its program."""
        place = self.places.get(_number(pattern))
        if place is None:
            return None
        named, program = marshal.loads(self.programs[place:])
        return program if named == pattern else None


def _number(pattern: lazy.Pattern) -> int:
    text, flags = pattern
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return zlib.crc32(data, flags if isinstance(flags, int) else zlib.crc32(flags.encode()))


def _name() -> str:
    return f"{sys.implementation.cache_tag}-{sys.hexversion:x}-{FORM}.programs"


def read_patterns() -> None:
    """Make the programs of earlier runs known."""
    with contextlib.suppress(OSError, RuntimeError, ValueError, EOFError, TypeError):
        data = (cache.folder() / "patterns" / _name()).read_bytes()
        rest = memoryview(data)[cache.CHECKSUM_BYTES :]
        if cache.checksum(rest) == data[: cache.CHECKSUM_BYTES]:
            end = SIZE_BYTES + int.from_bytes(rest[:SIZE_BYTES], "little")
            lazy.known = KeptPrograms(marshal.loads(rest[SIZE_BYTES:end]), rest[end:])


def keep_patterns() -> None:
    """Write the programs of the patterns that this run had to compile, with those that were known."""
    if not lazy.unknown:
        return
    kept = lazy.known if isinstance(lazy.known, KeptPrograms) and len(lazy.known.places) < MAX_KEPT_PATTERNS else NONE_KEPT
    with contextlib.suppress(OSError, RuntimeError, ImportError, AttributeError, ValueError):
        places, programs = dict(kept.places), bytearray(kept.programs)
        for pattern in lazy.unknown:
            places[_number(pattern)] = len(programs)
            programs += marshal.dumps((pattern, lazy.program_of(*pattern)))
        index = marshal.dumps(places)
        data = len(index).to_bytes(SIZE_BYTES, "little") + index + programs
        cache.write_file(cache.folder() / "patterns", _name(), cache.checksum(data) + data, MAX_PATTERN_FILES)


NONE_KEPT = KeptPrograms({}, b"")
