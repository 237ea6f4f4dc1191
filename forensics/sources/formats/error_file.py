"""Extract the traceback from torchelastic's error file, which torchrun leaves for each rank that failed.

    {"message": {"message": "RuntimeError: ...", "extraInfo": {"py_callstack": "Traceback ...", "timestamp": "1755831607"}}}

The time is put before the first line. (Source: torch.distributed.elastic.multiprocessing.errors, TORCHELASTIC_ERROR_FILE.)
"""

from collections.abc import Iterator
from typing import Any

from forensics.core import lazy
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import parsed, whole
from forensics.sources.formats.stamps import from_value
from forensics.sources.origin import Piece

ERROR_FILE_PATTERN = lazy.regex(r'\A\s*\{\s*"message"\s*:\s*\{')
CALL_STACK_PATTERN = lazy.regex(r'"py_callstack"')


def _recognises(head: Head) -> bool:
    return bool(ERROR_FILE_PATTERN.match(head.text) and CALL_STACK_PATTERN.search(head.text))


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    text = whole(blocks, note)
    try:
        found: dict[str, Any] = parsed(text)["message"]
        extra = found.get("extraInfo") or {}
        stack, message = str(extra.get("py_callstack") or ""), str(found.get("message") or "")
        time = from_value(str(extra.get("timestamp")))
    except (ValueError, AttributeError, TypeError, KeyError):
        note("damaged", "the error file cannot be read", None)
        yield 1, 1, text.rstrip("\n").encode("utf-8", "replace")
        return
    line = text.count("\n", 0, text.index('"py_callstack"')) + 1
    lines = stack.rstrip("\n") if message.strip() in stack else f"{stack.rstrip()}\n{message}".strip("\n")
    yield line, 0, f"{time + ' ' if time else ''}{lines}".encode("utf-8", "replace")


SAMPLE = b'{"message": {"message": "E", "extraInfo": {"py_callstack": "Traceback", "timestamp": "1755831607"}}}\n'
FORMATS = (Format("torchelastic error file", _recognises, _decode, SAMPLE, rank=40),)
