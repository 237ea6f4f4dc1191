"""Dumps of ranks become Sources: their text has a line for each group and each call, and their values are read by other stages.

    fr/rank_3 (a pickle)  ->  Source("fr/rank_3", format="flight recorder", dump=...)
        2026-11-28T20:24:21.436Z all_reduce no. 5 of group default_pg (0), Float[8], unfinished, called at step (/run/train.py:16)

A dump that is damaged, or made to do harm, is refused with a Warning.
"""

import contextlib
from collections.abc import Iterator
from typing import BinaryIO

from forensics.core.text import printable
from forensics.model import Source, Warn, Warning
from forensics.model.dumps import Dump
from forensics.sources.blob import Blob, error_text, warning_kind
from forensics.sources.rank_dumps import DumpError, read_flight_recorder
from forensics.sources.rank_dumps.base import MAX_DUMP_BYTES

DUMP_FORMAT = "flight recorder"


def dump_source(blob: Blob) -> Source:
    """The Source of a dump."""

    def dump(warn: Warn) -> Dump | None:
        try:
            with contextlib.closing(blob.open()) as file:
                return read_flight_recorder(_whole(file.read(MAX_DUMP_BYTES + 1), file), blob.name)
        except DumpError as error:
            warn(Warning("damaged", f"the dump was not read: {printable(str(error), 200)}", blob.name))
        except (OSError, EOFError) as error:
            warn(Warning(warning_kind(error), f"the dump was not read: {error_text(error)}", blob.name))
        return None

    def blocks(warn: Warn) -> Iterator[bytes]:
        found = dump(warn)
        yield from ((line + "\n").encode("utf-8", "replace") for line in (found.text if found else ()))

    return Source(blob.name, blocks, blob.compression, blob.modified, format=DUMP_FORMAT, coded=blob.stored, dump=dump)


def _whole(data: bytes, file: BinaryIO) -> bytes:
    """`data` and what follows it: a packed stream gives less than it is asked for."""
    parts = [data]
    while parts[-1] and sum(map(len, parts)) <= MAX_DUMP_BYTES:
        parts.append(file.read(MAX_DUMP_BYTES))
    return b"".join(parts)
