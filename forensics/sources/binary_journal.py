"""Binary systemd journals to text, by `journalctl` where there is one: `system.journal` -> what `-o json` prints, decoded.

The format is systemd's own affair (compression, hashes and "compact mode" change with it), so its own reader reads it. A
journal has no lines: entries are counted as lines.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

from forensics.model import Source, Warn, Warning
from forensics.sources.blob import BLOCK_BYTES, Blob, first_bytes
from forensics.sources.formats.journal_json import decode
from forensics.sources.origin import Origin, lined

JOURNAL = b"LPKSHHRH"
MAX_HELD = 256 << 20  # a packed journal is unpacked into memory; journald's own limit for a file is 128 MiB
ADVICE = "binary systemd journal; export it where systemd is: journalctl --file {name} -o short-iso-precise > journal.txt"


def journal_source(blob: Blob, warn: Warn) -> Iterator[Source]:
    """The Source of a journal file that `journalctl` can open here; else a Warning that tells how to export it."""
    tool = shutil.which("journalctl")
    packed = bool(blob.packing) or "!" in blob.name
    if tool is None or (packed and not hasattr(os, "memfd_create")):
        warn(Warning("binary", f"not read: {ADVICE.format(name=blob.name.rpartition('!')[2])}", blob.name))
        return
    origin = Origin()

    def blocks(warn: Warn) -> Iterator[bytes]:
        def note(kind: str, message: str, line: int | None) -> None:
            warn(Warning(kind, message, blob.name, line))

        return lined(decode(_printed(tool, blob, packed, warn), note), origin)

    yield Source(blob.name, blocks, blob.compression, blob.modified, origin, format="journal binary")


def _printed(tool: str, blob: Blob, packed: bool, warn: Warn) -> Iterator[bytes]:
    """What journalctl prints of `blob`; that it fails becomes a Warning."""
    command = [tool, "-o", "json", "--all", "--no-pager", "--quiet", "--file"]
    with contextlib.ExitStack() as stack:
        held: tuple[int, ...] = ()
        if packed:
            try:
                held = (stack.enter_context(_in_memory(blob)),)
            except (OSError, EOFError) as error:
                warn(Warning("truncated", f"the journal could not be unpacked: {error}", blob.name))
                return
        command.append(f"/proc/self/fd/{held[0]}" if held else blob.name)
        running = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=held)
        )
        assert running.stdout is not None
        while block := running.stdout.read(BLOCK_BYTES):
            yield block
        if running.wait():
            warn(Warning("truncated", f"journalctl could not read it to its end (status {running.returncode})", blob.name))


@contextlib.contextmanager
def _in_memory(blob: Blob) -> Iterator[int]:
    """A descriptor of a file in memory with what `blob` holds; raises OSError when that is more than MAX_HELD."""
    with contextlib.closing(blob.open()) as file:
        data = first_bytes(file, MAX_HELD + 1)
    if len(data) > MAX_HELD:
        raise OSError(f"it is larger than {MAX_HELD >> 20} MiB; unpack it first")
    handle = os.memfd_create("journal")
    try:
        os.write(handle, data)
        yield handle
    finally:
        os.close(handle)
