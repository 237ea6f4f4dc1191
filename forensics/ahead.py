"""A large source that has to be decoded: a forked process does it, ahead of the one that scans what comes out.

    container-json.log, 2 GB  ->  process 2: decodes block after block  ->  process 1: scans them

Where forking is not the custom, or fails, or the process dies, the source is decoded here: what came out before is skipped.
"""

import contextlib
import signal
import sys
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection

from msgspec.structs import replace

from forensics.model import Source, Warn, Warning
from forensics.sources.origin import Origin

LARGE_BYTES = 16 << 20  # what takes longer to decode than a process to start
PIPE_BYTES = 1 << 20  # a block; the system's 64 KiB would wake both processes sixteen times for each


def decoded_ahead(source: Source) -> Source:
    """`source` with its blocks made by another process, where that is worth it."""
    if source.parsed < LARGE_BYTES or not isinstance(source.origin, Origin) or sys.platform != "linux":
        return source
    return replace(source, blocks=partial(_blocks, source, source.origin))


def _blocks(source: Source, origin: Origin, warn: Warn) -> Iterator[bytes]:
    from multiprocessing import get_context

    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_decode, args=(source, origin, ours, theirs), daemon=True)
    passed = 0
    try:
        process.start()
        theirs.close()
        while not isinstance(told := _received(ours), Origin):
            if isinstance(told, Warning):
                warn(told)
            else:
                yield told
                passed += len(told)
        origin.learn(told)
    except (OSError, EOFError):  # no process to be had, or it was killed
        yield from _behind(passed, source.blocks(warn))
    finally:
        theirs.close()
        ours.close()
        if process.pid:
            process.terminate()
            process.join()


def _received(ours: Connection) -> bytes | Warning | Origin:
    """What comes next: a block, or behind an empty one something else."""
    return ours.recv_bytes() or ours.recv()


def _behind(passed: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        if passed < len(block):
            yield block[passed:]
        passed = max(0, passed - len(block))


def _decode(source: Source, origin: Origin, ours: Connection, theirs: Connection) -> None:
    from fcntl import F_SETPIPE_SZ, fcntl

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the first one ends the others
    ours.close()

    def tell(what: Warning | Origin) -> None:
        theirs.send_bytes(b"")
        theirs.send(what)

    with contextlib.suppress(OSError):  # nobody reads any more
        with contextlib.suppress(OSError):  # of a user who has many pipes
            fcntl(theirs.fileno(), F_SETPIPE_SZ, PIPE_BYTES)
        for block in source.blocks(tell):
            if block:
                theirs.send_bytes(block)
        tell(origin)
