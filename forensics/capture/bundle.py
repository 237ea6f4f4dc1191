"""The bundle: a folder with everything that was captured of one run, in the format `forensics-run/1`.

run.json       what ran where, how it ended, limits and counters, what could not be read      (schema: bundle.schema.json)
job.log        its output, then our lines about how each process ended
job.times      offsets in job.log, each with its time
exits.jsonl    every process that ended: pid, parent, command, rank, times, status, how the status is known
memory.jsonl   samples: memory of the processes, of the group, of the host, pressure
kernel.log     the kernel's records of that time
stacks/        stacks of its processes      fr/  flight-recorder dumps     torchrun/  logs and error files of ranks
report.txt     report.json                  the analysis; report.short.txt: its first 4,096 bytes, for a container's message
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, BinaryIO

CLOSING_WAIT_S = 1.0  # chosen by hand: so long a job waits for the capture of one that has just ended well to leave its folder
CLOSING_POLL_S = 0.02  # chosen by hand: between two looks within CLOSING_WAIT_S
MAX_KEPT_BUNDLES = 50  # chosen by hand: in the state folder; older ones are removed
RUN_FILE = "run.json"
JOB_LOG = "job.log"
REPORT = "report.txt"
REPORT_HEAD = "forensics report on this run\n"  # its first line marks the report, which is no evidence itself
OF_A_RUN = (
    *(RUN_FILE, JOB_LOG, "job.tail", "job.times", "exits.jsonl", "memory.jsonl", "kernel.log", "faulthandler.log"),
    *("stacks", "fr", "torchrun", REPORT, "report.json", "report.short.txt", "report.failed", "watch.failed"),
)


def state_folder() -> str:
    """The default folder of bundles: $FORENSICS_RUNS, else $XDG_STATE_HOME/forensics, else ~/.local/state/forensics."""
    if named := os.environ.get("FORENSICS_RUNS"):
        return named
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "forensics")


def newest_first() -> list[str]:
    """The bundles in the state folder, and those that it links to; of jobs that ended the last one to end comes first."""
    found: list[tuple[float, str]] = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(state_folder()):
            with contextlib.suppress(OSError):
                folder = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                found.append((os.stat(os.path.join(folder, RUN_FILE)).st_mtime, folder))
    return [path for _, path in sorted(found, reverse=True)]


def is_running(folder: str) -> bool:
    """Does the job of a bundle still run here? Of a capture that was killed with its job there is no end, and no process."""
    run = read_run(folder)
    return _lives(run, run.get("command", {}).get("pid", 0))


def is_closing(run: dict[str, Any]) -> bool:
    """Has the job ended, while the process that captured it still writes what it has? `run`: run.json."""
    return _lives(run, run.get("tool", {}).get("pid", 0))


def _lives(run: dict[str, Any], pid: object) -> bool:
    """Is `pid` of an incomplete bundle still the process that it was?"""
    if run.get("complete", True) or run.get("host", {}).get("boot_id") != proc.boot_id():
        return False
    found = proc.stat(int(str(pid)))
    # A later process with the same pid began after the bundle did.
    return (
        found is not None
        and found.state not in "ZX"
        and found.start_ticks / proc.TICKS <= run.get("clock", {}).get("since_boot_s", 0)
    )


def read_run(folder: str) -> dict[str, Any]:
    """run.json of a bundle; empty if it cannot be read."""
    return read_json(os.path.join(folder, RUN_FILE))


def read_json(path: str) -> dict[str, Any]:
    """The object in a file of JSON; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def size_of(path: str) -> int:
    """The bytes of a file; 0 if there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def safe_name(name: str) -> str:
    """The last part of a path as a part of a file's name, 40 characters at most."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in os.path.basename(name))[:40]


def new_name(program: str, usual: str, end: object) -> str:
    """The name of a new bundle: 20261122-174701-train.py-4711. `usual`: where the program has none."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{safe_name(program) or usual}-{end}"


def report_text(folder: str) -> str:
    """The report in a bundle, without the first line that marks it as a report; empty if there is none."""
    try:
        with open(os.path.join(folder, REPORT), encoding="utf-8") as file:
            return file.read().removeprefix(REPORT_HEAD)
    except OSError:
        return ""


class Bundle:
    """A bundle that is being filled. Raises OSError if its folder cannot be made. `fault`: the first error of writing.
    `unwritten`: the names of the files that could not be written."""

    def __init__(self, folder: str = "", name: str = "") -> None:
        """`name`: what runs. One that is captured elsewhere than in the folder of `forensics runs` is listed there, too."""
        usual = os.path.join(state_folder(), new_name(name, "run", os.getpid()))
        if not folder:
            remove_oldest(state_folder())
        self.folder = os.path.abspath(folder or usual)
        self._claim: BinaryIO | None = None
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._claim_folder()
        if os.path.exists(self.path(RUN_FILE)):
            self._take_over()
        if folder and name:
            link_to(self.folder, usual)
        self.fault = ""
        self.unwritten: list[str] = []

    def _claim_folder(self) -> None:
        """Lock job.log before anything is written: of several tasks that begin at once one captures here, and the others are
        told. The system gives up the lock with this process. Where files cannot be locked, only runs that go on are noticed."""
        until = time.monotonic() + CLOSING_WAIT_S
        while self._claim is None:
            try:
                import fcntl

                file = open(self.path(JOB_LOG), "ab")  # noqa: SIM115  closed by `release`, or with this object
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until or not os.path.exists(self.path(RUN_FILE)) or is_running(self.folder):
                    raise self._is_busy() from None
                time.sleep(CLOSING_POLL_S)
                continue
            except (OSError, ImportError):
                return
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(self.path(JOB_LOG))):  # else it was removed meanwhile
                    self._claim = file
            os.makedirs(self.folder, mode=0o700, exist_ok=True)

    def _is_busy(self) -> OSError:
        return OSError(errno.EBUSY, "a run that is still going is captured there", self.folder)

    def release(self) -> None:
        """Let another run be captured in this folder."""
        if self._claim is not None:
            self._claim.close()

    def _take_over(self) -> None:
        """Remove what an earlier run left in a folder that is given again: its lines would be told as those of this one."""
        if is_running(self.folder):
            raise self._is_busy()
        self.empty()

    def empty(self) -> None:
        """Remove what a run leaves in its folder. A log that is claimed stays, without a byte."""
        for name in OF_A_RUN:
            if name == JOB_LOG and self._claim is not None and not self._claim.closed:
                self._claim.truncate(0)
                continue
            shutil.rmtree(self.path(name), ignore_errors=True)
            _unlink(self.path(name))

    def path(self, *names: str) -> str:
        """The path of a file inside the bundle."""
        return os.path.join(self.folder, *names)

    def write(self, name: str, text: str) -> None:
        """Write a complete file or none. An error is kept in `fault` and not raised."""
        target = self.path(name)
        try:
            with open(target + ".new", "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            os.replace(target + ".new", target)
        except OSError as error:
            self.fault = self.fault or f"{name}: {error.strerror}"
            self.unwritten += [name] if name not in self.unwritten else []
            try:
                os.unlink(target + ".new")
            except OSError:
                return

    def write_run(self, record: dict[str, Any]) -> None:
        """Write run.json, one name per line."""
        rows = (f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in record.items())
        self.write(RUN_FILE, "{\n" + ",\n".join(rows) + "\n}\n")

    def write_rows(self, name: str, rows: Iterable[object]) -> None:
        """Write a file with one JSON value per line; no file if there are no rows."""
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        if text:
            self.write(name, text)

    @property
    def has_output(self) -> bool:
        """Is there anything of what the job printed?"""
        return size_of(self.path(JOB_LOG)) > 0

    def discard(self) -> None:
        """Remove what was written here, and the folder if nothing else is in it."""
        self.release()
        self.empty()
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)

    def remove(self) -> None:
        """Delete the folder, if it is a bundle."""
        if os.path.exists(self.path(RUN_FILE)):
            shutil.rmtree(self.folder, ignore_errors=True)


def remove_oldest(top: str) -> None:
    """Keep only the newest bundles of the state folder."""
    try:
        found = sorted((e for e in os.scandir(top) if e.is_dir()), key=lambda e: e.stat().st_mtime)
    except OSError:
        return
    for entry in found[:-MAX_KEPT_BUNDLES]:
        writer = entry.name.rpartition("-")[2]
        if entry.is_symlink():
            _unlink(entry.path)
        elif os.path.exists(os.path.join(entry.path, RUN_FILE)) and not os.path.exists(f"/proc/{writer}"):
            shutil.rmtree(entry.path, ignore_errors=True)


def link_to(folder: str, name: str) -> None:
    """Link to a bundle that stands elsewhere from the state folder, as `name`, so that it is listed; where no link can be made it
    is not."""
    top = os.path.dirname(name)
    if os.path.realpath(os.path.dirname(folder)) == os.path.realpath(top):
        return
    with contextlib.suppress(OSError):
        os.makedirs(top, mode=0o700, exist_ok=True)
        for entry in os.scandir(top):
            if entry.is_symlink() and (os.path.realpath(entry.path) == folder or not os.path.exists(entry.path)):
                _unlink(entry.path)
        remove_oldest(top)
        os.symlink(folder, name)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
