"""Compiled regular expressions on disk: a short run takes a quarter of its time to compile those that it needs.

    r"step (\\d+)"   ->   its program, in <cache>/patterns/<version of the interpreter>.marshal

A damaged file, or one of another interpreter, is made again. Programs are added as runs need more patterns.
"""

import contextlib
import marshal
import sys
import zlib

from forensics.core import lazy
from forensics.data_files import cache

MAX_KEPT_PATTERNS = 3000  # more than the package has; patterns of older versions would stay for ever
MAX_PATTERN_FILES = 4  # of versions of the interpreter
FORM = 2  # of a program
CHECKSUM_BYTES = 4  # in front of the programs


def _name() -> str:
    return f"{sys.implementation.cache_tag}-{sys.hexversion:x}-{FORM}.marshal"


def read_patterns() -> None:
    """Make the programs of earlier runs known."""
    with contextlib.suppress(OSError, RuntimeError, ValueError, EOFError, TypeError):
        data = (cache.folder() / "patterns" / _name()).read_bytes()
        if zlib.crc32(data[CHECKSUM_BYTES:]).to_bytes(CHECKSUM_BYTES, "little") == data[:CHECKSUM_BYTES]:
            lazy.known.update(marshal.loads(data[CHECKSUM_BYTES:]))


def keep_patterns() -> None:
    """Write the programs of the patterns that this run had to compile, with those that were known."""
    if not lazy.unknown:
        return
    kept = lazy.known if len(lazy.known) < MAX_KEPT_PATTERNS else {}
    with contextlib.suppress(OSError, RuntimeError, ImportError, AttributeError, ValueError):
        programs = kept | {pattern: lazy.program_of(*pattern) for pattern in lazy.unknown}
        data = marshal.dumps(programs)
        checksum = zlib.crc32(data).to_bytes(CHECKSUM_BYTES, "little")
        cache.write_file(cache.folder() / "patterns", _name(), checksum + data, MAX_PATTERN_FILES)
