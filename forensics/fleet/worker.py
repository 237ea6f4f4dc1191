"""What runs in a Dask worker: a case to its report, by a helper process that is ended when a case takes too long or too much.

A thread cannot be ended, and a worker that is killed takes its other work with it. So the worker itself analyses nothing: its
helper does, and the next case gets a new one.
"""

import atexit
import contextlib
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import msgspec

from forensics.fleet.cases import Case
from forensics.fleet.helper import HelperRequest

HELPER_LOOK_S = 0.05  # between looks at the helper's memory
LENGTH_FIELD_CHARS = 16  # in front of each answer, its length in bytes as decimal digits
RENEW_MIB = 112  # a helper that holds more between two cases is replaced: it starts with 50 and grows by 1 a case of a new kind
MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """Of one case. `memory_mib`: what the helper holds in all, its knowledge (some 50 MiB) included."""

    seconds: float = 600.0
    memory_mib: int = 2048
    signatures: tuple[str, ...] = ()


class Analysed(msgspec.Struct, frozen=True):
    """The report on a case as JSON. `failure`: why it could not be analysed, empty where it could. `seconds`: of the clock."""

    case: str
    report: bytes
    failure: str
    seconds: float


class OverLimitError(Exception):
    """The case took too much; its text says what."""


class Helper:
    """The process that analyses, started when it is first needed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, asked: HelperRequest, limits: Limits) -> bytes:
        """The report; raises OverLimitError, and has ended the process, where it took too much or died."""
        process = self.process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(msgspec.json.encode(asked) + b"\n")
            process.stdin.flush()
            return self._answer(process.stdout, process, limits)
        except OverLimitError:
            self.stop()
            raise
        except BrokenPipeError as error:
            self.stop()
            raise OverLimitError("its analysis died") from error

    def _start(self) -> "subprocess.Popen[bytes]":
        made = [sys.executable, "-m", "forensics.fleet.helper"]
        quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(made, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | quiet)
        return self.process

    def _answer(self, out: IO[bytes], process: "subprocess.Popen[bytes]", limits: Limits) -> bytes:
        until = time.monotonic() + limits.seconds
        got, needed = b"", LENGTH_FIELD_CHARS
        while len(got) < needed:
            if select.select([out], [], [], HELPER_LOOK_S)[0]:
                piece = os.read(out.fileno(), MIB)
                if not piece:
                    raise OverLimitError(f"its analysis died ({_status(process.wait())})")
                got += piece
                if len(got) >= LENGTH_FIELD_CHARS and needed == LENGTH_FIELD_CHARS:
                    needed = LENGTH_FIELD_CHARS + int(got[:LENGTH_FIELD_CHARS], 16)
                continue
            if time.monotonic() > until:
                raise OverLimitError(f"its analysis took longer than {limits.seconds:g} s and was stopped")
            if _held(process.pid) > limits.memory_mib * MIB:
                raise OverLimitError(f"its analysis held more than {limits.memory_mib} MiB of memory and was stopped")
        return got[LENGTH_FIELD_CHARS:]

    def renew(self) -> None:
        """End the process where it holds much of the cases that are done; the next one starts another."""
        if self.process and _held(self.process.pid) > RENEW_MIB * MIB:
            self.stop()

    def stop(self) -> None:
        """End the process."""
        if self.process:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):  # what was not read yet has nobody to read it
                    if pipe:
                        pipe.close()
            self.process = None


HELPER = Helper()
atexit.register(HELPER.stop)


def analyse_case(case: Case, limits: Limits) -> Analysed:
    """The report on `case`; one that took too much gets a report that says so."""
    start = time.monotonic()
    try:
        report = HELPER.ask(HelperRequest(case, "", limits.signatures), limits)
        HELPER.renew()
        return Analysed(case.name, report, "", time.monotonic() - start)
    except OverLimitError as error:
        return failed_case(case, str(error), time.monotonic() - start, limits)


def failed_case(case: Case, why: str, seconds: float, limits: Limits) -> Analysed:
    """The report on a case that could not be analysed."""
    report = HELPER.ask(HelperRequest(case, why, limits.signatures), Limits())
    return Analysed(case.name, report, why, seconds)


def _held(pid: int) -> int:
    """Bytes that the process has in memory; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _status(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"
