"""Binary systemd journals become text, if `journalctl` is installed: its output (`-o json`) for `system.journal` is decoded.

The file format changes with systemd's version (compression, hashes, "compact mode"), so systemd's own tool reads it. A journal
has no lines, so its entries are counted as lines.
"""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from forensics.core import limits
from forensics.model import Source, Warn, Warning
from forensics.sources.blob import BLOCK_BYTES, Blob, error_text, first_bytes, warning_kind
from forensics.sources.formats.journal_json import decode
from forensics.sources.origin import LineOrigin, line_blocks

MEMORY_FOLDER = Path("/dev/shm")  # in memory: journalctl needs a file with a name, and nothing is unpacked to disk
EXPORT_ADVICE = "binary systemd journal; export it where systemd is: journalctl --file {name} -o short-iso-precise > journal.txt"


def journal_source(blob: Blob, warn: Warn) -> Iterator[Source]:
    """The Source of a journal file that `journalctl` can open here; else a Warning with the command that exports it."""
    tool = shutil.which("journalctl")
    packed = bool(blob.packing) or "!" in blob.name
    if tool is None or (packed and not MEMORY_FOLDER.is_dir()):
        warn(Warning("binary", f"not read: {EXPORT_ADVICE.format(name=blob.name.rpartition('!')[2])}", blob.name))
        return
    origin = LineOrigin()

    def blocks(warn: Warn) -> Iterator[bytes]:
        def note(kind: str, message: str, line: int | None) -> None:
            warn(Warning(kind, message, blob.name, line))

        return line_blocks(decode(_printed(tool, blob, packed, warn), note), origin)

    yield Source(blob.name, blocks, blob.compression, blob.modified, origin, format="journal binary")


def _printed(tool: str, blob: Blob, packed: bool, warn: Warn) -> Iterator[bytes]:
    """The output of journalctl for `blob`. If journalctl fails, that becomes a Warning."""
    command = [tool, "-o", "json", "--all", "--no-pager", "--quiet", "--file"]
    with contextlib.ExitStack() as stack:
        try:
            path, handles = (stack.enter_context(_in_memory(blob)), ()) if packed else _handed_over(blob, stack)
        except (OSError, EOFError) as error:
            warn(Warning(warning_kind(error), f"the journal could not be opened: {error_text(error)}", blob.name))
            return
        running = stack.enter_context(
            subprocess.Popen(
                [*command, path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=handles,
            )
        )
        assert running.stdout is not None
        while block := running.stdout.read(BLOCK_BYTES):
            yield block
        if running.wait():
            warn(Warning("truncated", f"journalctl could not read it to its end (status {running.returncode})", blob.name))


def _handed_over(blob: Blob, stack: contextlib.ExitStack) -> tuple[str, tuple[int, ...]]:
    """The path by which another process reads the file that is opened here, and the handle that it inherits for that."""
    handle = stack.enter_context(contextlib.closing(blob.open())).fileno()
    return f"/proc/self/fd/{handle}", (handle,)


@contextlib.contextmanager
def _in_memory(blob: Blob) -> Iterator[str]:
    """The path of a file in memory with the contents of `blob`. Raises OSError if they exceed the limit or do not fit."""
    with contextlib.closing(blob.open()) as file:
        data = first_bytes(file, limits.current.journal + 1)
    if len(data) > limits.current.journal:
        raise OSError(f"it is larger than {limits.current.journal >> 20} MiB; unpack it first")
    with tempfile.NamedTemporaryFile(dir=MEMORY_FOLDER, prefix="forensics-", suffix=".journal") as held:
        held.write(data)
        held.flush()
        yield held.name
