"""One call of the command line in a separate process: a log that is too large for it cannot end the server."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream

from forensics.core.errors import UsageError

ANALYSIS_TIMEOUT_S = 600.0  # chosen by hand: an agent that waits longer has given up
MAX_STDERR_BYTES_KEPT = 4096  # the one line of a usage error, or the end of what went wrong, stands in them
MAX_PATHS = 50  # chosen by hand: a list that an agent writes by hand is shorter; a folder has no such limit


class AllowedPaths:
    """The paths that may be read: those below `roots`, or all without roots."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.roots = [root.resolve() for root in roots]

    def checked(self, paths: Sequence[str]) -> list[str]:
        """The paths as the command takes them; raises UsageError for one that is not there, or lies elsewhere (links too)."""
        if not paths:
            raise UsageError("no path was given", advice="give files or folders")
        if len(paths) > MAX_PATHS:
            raise UsageError(f"more than {MAX_PATHS} paths", advice="give their folder")
        found = []
        for given in paths:
            place = Path(given).expanduser().resolve()
            if self.roots and not any(place.is_relative_to(root) for root in self.roots):
                raise UsageError("is outside the folders that this server may read", given, f"give a path below {self.roots[0]}")
            if not place.exists():
                raise UsageError("no such file or folder", given)
            found.append(str(Path(given).expanduser()))
        return found


async def run_command_line(arguments: Sequence[str], most_bytes: int, allowed: Sequence[int] = (0,)) -> tuple[str, bool]:
    """What `forensics ARGUMENTS...` prints, its first `most_bytes` alone, and whether there was more.

    `allowed`: statuses that are no fault. Raises UsageError with the line on stderr for any other, and when time is up.
    """
    command = [sys.executable, "-P", "-m", "forensics", *arguments]
    environment = {**os.environ, "NO_COLOR": "1"}
    try:
        with anyio.fail_after(ANALYSIS_TIMEOUT_S):
            async with await anyio.open_process(command, stdin=-3, env=environment) as process:
                assert process.stdout is not None
                assert process.stderr is not None
                said: list[bytes] = []
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_take, process.stderr, MAX_STDERR_BYTES_KEPT, said)
                    text, more = await _first(process.stdout, most_bytes)
                    if more:
                        process.kill()
                status = await process.wait()
    except TimeoutError as error:
        raise UsageError(
            f"no answer within {ANALYSIS_TIMEOUT_S:.0f} s", advice="give less: a single file, or a time span"
        ) from error
    if status not in allowed and not more:
        last = b"".join(said).decode("utf-8", "replace").strip().splitlines()
        raise UsageError(last[-1].removeprefix("forensics: ") if last else f"exit status {status}")
    return text, more


async def _first(stream: ByteReceiveStream, most_bytes: int) -> tuple[str, bool]:
    taken = bytearray()
    async for piece in stream:
        taken += piece
        if len(taken) > most_bytes:
            return taken[:most_bytes].decode("utf-8", "replace"), True
    return taken.decode("utf-8", "replace"), False


async def _take(stream: ByteReceiveStream, most_bytes: int, said: list[bytes]) -> None:
    """Read to the end, so that the process never waits for us; keep the last bytes."""
    kept = b""
    async for piece in stream:
        kept = (kept + piece)[-most_bytes:]
    said.append(kept)
