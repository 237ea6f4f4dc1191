"""Call the command line in a separate process: a log that is too large for it cannot end the server.

Mask secrets, and replace names by stand-ins that stay the same for a session: host-1 of one answer is host-1 of the next.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream

from forensics.api import Report
from forensics.core.errors import UsageError
from forensics.report import with_stand_ins
from forensics.report.redaction.names import Names
from forensics.report.redaction.secrets import mask_text, swept

ANALYSIS_TIMEOUT_S = 600.0  # chosen by hand: an agent that waits longer has given up
MAX_KEPT_STDERR_BYTES = 4096  # enough for the one line of a usage error, or for the end of a traceback
ROOT_VARIABLE = "FORENSICS_ROOT"  # what forensics/sources/files.py reads: the folders outside of which nothing is read
MAX_PATHS = 50  # chosen by hand: the list of an agent is shorter; a folder has no such limit


class AllowedPaths:
    """The paths that may be read: those below `roots`, or all without roots."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.roots = [root.resolve() for root in roots]

    def checked(self, paths: Sequence[str]) -> list[str]:
        """The paths as arguments of the command; a relative one counts from the first root. Raises UsageError for a path that
        does not exist, or that leads elsewhere, also by a symbolic link."""
        if not paths:
            raise UsageError("no path was given", advice="give files or folders")
        if len(paths) > MAX_PATHS:
            raise UsageError(f"more than {MAX_PATHS} paths", advice="give their folder")
        found = []
        for given in paths:
            check_text(given)
            path = Path(*self.roots[:1], Path(given).expanduser())
            place = path.resolve()
            if self.roots and not any(place.is_relative_to(root) for root in self.roots):
                raise UsageError("is outside the folders that this server may read", given, f"give a path below {self.roots[0]}")
            if not place.exists():
                raise UsageError("no such file or folder", given)
            found.append(str(path))
        return found

    def environment(self) -> dict[str, str]:
        """The environment of a command that may read below the roots only: what is checked here may be another file by then."""
        return {ROOT_VARIABLE: os.pathsep.join(map(str, self.roots))} if self.roots else {}


def check_text(text: str) -> None:
    """Raise UsageError for a text that no command line can hold."""
    if "\0" in text:
        raise UsageError("a NUL character is in it", advice="give text without it")


async def run_command_line(
    arguments: Sequence[str], max_bytes: int, allowed: Sequence[int] = (0,), more_environment: Mapping[str, str] | None = None
) -> tuple[str, bool]:
    """The first `max_bytes` of the output of `forensics ARGUMENTS...`, and whether there was more. `allowed`: exit statuses that
    are no fault. Raises UsageError with the line on stderr for any other, and after the time limit."""
    for argument in arguments:
        check_text(argument)
    command = [sys.executable, "-P", "-m", "forensics", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", **(more_environment or {})}
    try:
        with anyio.fail_after(ANALYSIS_TIMEOUT_S):
            async with await anyio.open_process(command, stdin=-3, env=environment) as process:
                assert process.stdout is not None
                assert process.stderr is not None
                said: list[bytes] = []
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_drain, process.stderr, MAX_KEPT_STDERR_BYTES, said)
                    text, more = await _first(process.stdout, max_bytes)
                    if more:
                        with contextlib.suppress(ProcessLookupError):  # safe: it may have ended and been reaped by the loop
                            process.kill()
                status = await process.wait()  # safe: this child alone; after the limit it is ended and reaped on the way out
    except TimeoutError as error:
        raise UsageError(
            f"no answer within {ANALYSIS_TIMEOUT_S:.0f} s", advice="give less: a single file, or a time span"
        ) from error
    if status not in allowed and not more:
        last = b"".join(said).decode("utf-8", "replace").strip().splitlines()
        raise UsageError(last[-1].removeprefix("forensics: ") if last else f"exit status {status}")
    return text, more


async def _first(stream: ByteReceiveStream, max_bytes: int) -> tuple[str, bool]:
    taken = bytearray()
    async for piece in stream:
        taken += piece
        if len(taken) > max_bytes:
            return taken[:max_bytes].decode("utf-8", "replace"), True
    return taken.decode("utf-8", "replace"), False


async def _drain(stream: ByteReceiveStream, max_bytes: int, said: list[bytes]) -> None:
    """Read to the end, so that the process never waits for a reader; keep the last bytes."""
    kept = b""
    async for piece in stream:
        kept = (kept + piece)[-max_bytes:]
    said.append(kept)


class Redactor:
    """Redacts the answers of a session. `names`: names are shown; secrets never are."""

    def __init__(self, names: bool = False) -> None:
        self.names = names
        self._known = Names.among([], [])
        self._secrets: dict[str, str] = {}  # so far, with their masks

    def text(self, text: str) -> str:
        """`text` without secrets and, unless names are shown, without names."""
        lines = [swept(mask_text(line, self._secrets), self._secrets) for line in text.split("\n")]
        if not self.names:
            self._learn([], lines)
            lines = [self._known.hide(line) for line in lines]
        return "\n".join(lines)

    def report(self, report: Report) -> None:
        """Learn the names of a report: its records have more of them than its text."""
        if not self.names:
            self._learn(_pairs(with_stand_ins(report, folder=False)[1]), [])

    def revealed(self, path: str) -> str:
        """A path that an agent took from an answer, with the names for which its stand-ins stand."""
        known = self._known.key()
        for stand_in in sorted(known, key=len, reverse=True):
            path = path.replace(stand_in, known[stand_in])
        return path

    def _learn(self, pairs: Iterable[tuple[str, str]], lines: Iterable[str]) -> None:
        self._known = Names.among([*_pairs(self._known.key()), *pairs], lines)  # the old ones first: each keeps its number


def _pairs(key: dict[str, str]) -> list[tuple[str, str]]:
    """A key of stand-ins as kinds and names: {"host-1": "gpu17"} -> [("host", "gpu17")]."""
    return [(stand_in.rpartition("-")[0], name) for stand_in, name in key.items()]
