"""A forked process decodes the records of a large source, a few blocks ahead of the process that scans them.

    container-json.log.gz  ->  process 2: decodes block after block  ->  shared memory  ->  process 1: scans them

Where forking is not the custom, or fails, or the process dies, the source is decoded here, and what came out before is skipped.
"""

import contextlib
import mmap
import signal
import sys
from collections.abc import Iterator
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from forensics.model import Source, Warn, Warning
from forensics.sources.origin import LineOrigin

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MIN_PREFETCHED_BYTES = 16 << 20  # less is decoded before a process has started
SLOT_BYTES = 2 << 20  # of the shared memory; a block is hardly ever longer
SLOTS = 4  # blocks that are decoded ahead


def read_ahead(source: Source) -> Source:
    """`source`, its blocks decoded by another process where that is worth it."""
    if source.coded < MIN_PREFETCHED_BYTES or not isinstance(source.origin, LineOrigin) or sys.platform != "linux":
        return source
    return replace(source, blocks=partial(_blocks, source, source.origin))


def _blocks(source: Source, origin: LineOrigin, warn: Warn) -> Iterator[bytes]:
    from multiprocessing import get_context

    context = get_context("fork")
    try:
        shared = mmap.mmap(-1, SLOTS * SLOT_BYTES)  # through a pipe all took a seventh longer
        ours, theirs = context.Pipe()
    except OSError:
        yield from source.blocks(warn)
        return
    process = context.Process(target=_decode, args=(source, origin, shared, ours, theirs), daemon=True)
    passed, spent = 0, 0.0
    try:
        process.start()
        theirs.close()
        for message in iter(ours.recv, None):
            if isinstance(message, Warning):
                warn(message)
            elif isinstance(message, LineOrigin):
                origin.learn(message)
            else:
                place, seconds = message
                block = place if isinstance(place, bytes) else shared[slice(*place)]
                if source.time:
                    source.time.add(seconds - spent)
                spent = seconds
                ours.send_bytes(b"read")
                yield block
                passed += len(block)
    except (OSError, EOFError):  # no process to be had, or it was killed
        yield from _skip_bytes(passed, source.blocks(warn))
    finally:
        theirs.close()
        ours.close()
        if process.pid:
            process.terminate()
            process.join()
        shared.close()


def _skip_bytes(passed: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
    for block in blocks:
        if passed < len(block):
            yield block[passed:]
        passed = max(0, passed - len(block))


def _decode(source: Source, origin: LineOrigin, shared: "mmap.mmap", ours: "Connection", theirs: "Connection") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the first one ends the others
    ours.close()
    with contextlib.suppress(Exception):  # the reader is gone; or an error, which is clearer when the first process raises it
        for number, block in enumerate(filter(None, source.blocks(theirs.send))):
            if number >= SLOTS:
                theirs.recv_bytes()  # wait until the block in this slot has been read
            start = number % SLOTS * SLOT_BYTES
            if len(block) <= SLOT_BYTES:
                shared[start : start + len(block)] = block
                theirs.send(((start, start + len(block)), thread_time()))
            else:
                theirs.send((block, thread_time()))
        theirs.send(origin)
        theirs.send(None)
        while True:  # until the other end is closed: the answers for the last blocks need a reader
            theirs.recv_bytes()
