"""Read a pickle of plain values. Nothing that names a class or calls anything is read, and its size is known before it is built.

PyTorch writes the flight recorder's dumps as pickles of dictionaries, lists, tuples, texts and numbers (pickler.cpp). A pickle is
a program. So its operations are looked at first, one by one, without executing them, and the first one that plain values do not
need refuses the dump. Only then Python's own reader builds the values, with a look-up of classes that finds none.
"""

import gc
import io
import pickle
import pickletools
from typing import Any, NoReturn

from forensics.core import lazy
from forensics.sources.rank_dumps.base import MAX_CONTAINERS, MAX_DUMP_BYTES, PROTOCOLS, DumpError

FIXED_PATTERN = lazy.regex(  # operations of a fixed size, in runs
    rb"(?s:h.(?:h.)*+|[N\x88\x89\]})(aesut\x85\x86\x87\x94]"  # constants, containers, marks, MEMOIZE
    rb"|[Kq].|M..|J....|[rj]..[\x00-\x0f]\x00"  # numbers; the memo, to 2**20: Python allocates up to the highest number used
    rb"|\x8a(?:\x00|\x01.|\x02..|\x03...|\x04....|\x05.{5}|\x06.{6}|\x07.{7}|\x08.{8})|[G\x95].{8})++"
)
READ_BYTES = 1 << 20  # at once: an unpickler asks a file that cannot look ahead for every single operation
CONTAINER_MAKERS = b"]})(t\x85\x86\x87"
TEXT_OPERATION, SHORT_TEXT_OPERATION, STOP_OPERATION = ord("X"), 0x8C, ord(".")


class _PlainUnpickler(pickle.Unpickler):
    """Finds no class and no object outside of the pickle."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse."""
        raise DumpError(f"it names the class {module}.{name}"[:120])

    def persistent_load(self, pid: object, /) -> NoReturn:
        """Refuse."""
        raise DumpError("it names an object outside of it")


def read_plain_pickle(data: bytes, more: bytes = b"") -> Any:
    """The values of a pickle; DumpError where it holds anything but plain values, is too large, or is damaged. `more`: operations
    that are known to be plain, and may refer to what `data` defined: then a pair, of the values of both."""
    if len(data) > MAX_DUMP_BYTES:
        raise DumpError(f"it is larger than {MAX_DUMP_BYTES >> 20} MiB")
    end = _check(data)
    if more:
        data = b"".join((data[:2], b"(", data[2:end], more, b"t."))
    # A few too many are counted: numbers and texts have these bytes, too.
    if len(data) > MAX_CONTAINERS and sum(map(data.count, CONTAINER_MAKERS)) > MAX_CONTAINERS:
        raise DumpError(f"it has more than {MAX_CONTAINERS:,} lists, tuples and dictionaries")
    collects = gc.isenabled()
    gc.disable()  # nothing of this can be collected yet, and the attempts take longer with each dump
    try:
        return _PlainUnpickler(io.BufferedReader(io.BytesIO(data), READ_BYTES)).load()
    except DumpError:
        raise
    except Exception as error:  # a pickle that ends too early or is no pickle raises almost anything
        raise DumpError(f"it is damaged ({type(error).__name__})") from None
    finally:
        if collects:
            gc.enable()


def _check(data: bytes) -> int:
    """Where the pickle ends. DumpError at the first operation that plain values do not need, or if a text claims more bytes than
    there are."""
    if data[:2] not in PROTOCOLS:
        raise DumpError("it is no pickle of a known protocol")
    at, end, fixed = 2, len(data), FIXED_PATTERN.match
    while True:
        if run := fixed(data, at):
            at = run.end()
        if at >= end:
            raise DumpError("it is cut")
        operation = data[at]
        if operation == TEXT_OPERATION:
            at += 5 + int.from_bytes(data[at + 1 : at + 5], "little")
        elif operation == SHORT_TEXT_OPERATION:
            at += 2 + int.from_bytes(data[at + 1 : at + 2], "little")
        elif operation == STOP_OPERATION:
            return at
        else:
            raise DumpError(_refused(data, at, end))


def _refused(data: bytes, at: int, end: int) -> str:
    if end - at < 10:  # an operation with its number, or a mark of the memo, may lack its end
        return "it is cut"
    known = pickletools.code2op.get(chr(data[at]))  # type: ignore[attr-defined]
    return f"it holds more than plain values (pickle operation {known.name if known else data[at]})"
