"""watch() and guard(): another process watches a running one, and the next run of the program says why the last one died.

    with guard():                                  # in a notebook, a Trainer script, a Lightning module
        trainer.fit(model)

    held = watch(kernel_pid, name="train.ipynb")   # another process; held.bundle, held.write(text), held.close()

In the process itself guard() adds little: faulthandler writes the stacks of a crash into the bundle, an exception that ends the
block is written there, and in a rank of a distributed job a thread waits to be asked for a dump of its collective calls.
Everything else is recorded by a second, small process.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import json
import os
import socket
import subprocess
import sys
import threading
import traceback
import weakref

from forensics.capture import proc
from forensics.capture.bundle import new_name, read_json, read_run, size_of, state_folder
from forensics.capture.cell_output import CELL_OUTPUT, CellOutput
from forensics.capture.options import Options
from forensics.capture.own_files import OwnFile, new_file
from forensics.capture.rank_dumps import Listener, listen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any

READY_S = 30.0  # chosen by hand, for a busy machine: the end of a process that ends before it is watched is lost
CLOSE_S = 10.0  # chosen by hand: longer than an analysis of an ordinary bundle takes; the program waits for it
SEND_S = 1.0  # chosen by hand: so long the program waits, once, for a watching process that does not read
PIPE_READ_BYTES = 1 << 16  # a pipe holds as much
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)  # a program may have SIGPIPE end it
REPORTED_FILE = "told"  # an empty file in a bundle: the death was reported to the next process


class Watch:
    """A process that is being watched. `bundle`: the folder that is filled; removed after a good end by default."""

    def __init__(self, pid: int, bundle: str, link: OwnFile, over: OwnFile) -> None:
        self.pid, self.bundle = pid, bundle
        self._link, self._socket = link, socket.socket(fileno=link.fd)
        self._socket.settimeout(SEND_S)
        self._over = over  # a pipe that the watching process has open until it ends
        self._owner = os.getpid()  # a copy of the program has the handle, too, and says nothing

    def write(self, text: str) -> None:
        """Add text to job.log, as if the process had printed it."""
        self._send({"text": text})

    def note(self, **facts: object) -> None:
        """Add facts to run.json, under `notes`: {"notebook": "train.ipynb", "cell": 4}."""
        self._send({"note": facts})

    def close(self, error: str = "", wait: bool = False) -> None:
        """End the watch. `error`: a traceback, empty for a good end. `wait`: wait until the report is written."""
        self._send({"close": True, "error": error} | ({"text": error.rstrip() + "\n"} if error else {}))
        self.release()
        if wait:
            self.wait(CLOSE_S)

    def release(self) -> None:
        """Give up this handle; the process is watched until it ends."""
        self._socket.detach()
        self._link.close()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the process has ended and the bundle is complete; False if that takes longer than `timeout_s`."""
        if self._over.is_own and not proc.readable(self._over.fd, timeout_s):
            return False
        self._over.close()
        return True

    def __del__(self) -> None:
        """Close both ends; the process is watched until it ends."""
        self.release()
        self._over.close()

    def _send(self, message: dict[str, Any]) -> None:
        """Send a message, whatever facts the program notes. A watching process that does not read ends the sending."""
        if not self._link.is_own or os.getpid() != self._owner:
            return
        try:
            left = memoryview((json.dumps(message, default=str) + "\n").encode())
        except Exception:  # a value that is part of itself, or whose text cannot be made
            return
        try:
            while left:
                left = left[self._socket.send(left, NO_SIGNAL) :]
        except OSError:  # it is gone, or has not read for SEND_S
            self.release()


def watch(
    pid: int,
    *,
    bundle: str | os.PathLike[str] = "",
    name: str = "",
    files: Iterable[str] = (),
    say: Callable[[str], object] | None = None,
    **options: object,
) -> Watch:
    """Watch process `pid`, child or not, until it ends.

    `bundle`: the folder to fill, a new one in the state folder by default. `name`: the name by which later runs find it with
    `last_death`. `files`: logs that the process writes; lines that are added from now on become part of job.log. `say`: called
    in a thread with each early warning, if the option `warn` asks for them. `options`: those of capture.options.Options, for
    example every_s=5.0, keep="always", report=False. Raises OSError if no process can be started.

    >>> from forensics import watch
    >>> import os
    >>> held = watch(os.getpid(), name="train.ipynb")
    >>> held.note(cell=4)
    >>> held.close(wait=True)
    """
    folder = str(bundle) or _new_folder(new_name(name, "watch", pid))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    wanted = Options(**{"name": name, "command": proc.command_line(pid).split(), **options})
    link, theirs = socket.socketpair()
    ready, ready_out = os.pipe()
    over, over_out = os.pipe()
    heard, said = os.pipe() if say else (-1, -1)
    request = {"pid": pid, "bundle": folder, "link": theirs.fileno(), "ready": ready_out, "options": json.loads(wanted.to_json())}
    request |= {"files": [(path, size_of(path)) for path in files], "said": said}
    _start(request, [theirs.detach(), ready_out, over_out, *([said] if say else [])])
    if say:
        with contextlib.suppress(RuntimeError):  # the limit of processes is reached: nothing is said, and the pipe is never full
            threading.Thread(target=_pass_on, args=(OwnFile(heard), say), daemon=True).start()
    proc.readable(ready, READY_S)
    os.close(ready)
    return Watch(pid, folder, OwnFile(link.detach()), OwnFile(over))


def _start(request: dict[str, Any], fds: list[int]) -> None:
    """Start the watching process, which is no child of this one and gets `fds`. Raises OSError."""
    if not sys.executable:  # Python inside of another program
        raise OSError(errno.ENOENT, "no interpreter of Python is known")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONSTARTUP", "PYTHONINSPECT")}
    # Safe: it forks and ends at once and is reaped here, so that the watched program, which may wait for any child, never
    # finds a child that it did not start.
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "forensics.capture", "watch", json.dumps(request)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=tuple(fds), start_new_session=True, env=environment,
        )  # fmt: skip
        process.wait()
    finally:
        for fd in fds:
            os.close(fd)


def _pass_on(heard: OwnFile, say: Callable[[str], object]) -> None:
    """Say what comes, line by line, until the watching process ends."""
    kept = b""
    while heard.is_own and (more := os.read(heard.fd, PIPE_READ_BYTES)):
        *lines, kept = (kept + more).split(b"\n")
        for line in lines:
            say(line.decode("utf-8", "replace"))
    heard.close()


def _new_folder(name: str) -> str:
    """A new folder of the state folder, `name` or `name-2`: two cells of one second do not share what one of them removes."""
    number, folder = 1, os.path.join(state_folder(), name)
    while True:
        with contextlib.suppress(FileExistsError):
            os.makedirs(folder, mode=0o700)
            return folder
        number += 1
        folder = os.path.join(state_folder(), f"{name}-{number}")


class Guard:
    """A context in which this process is watched; see `guard`."""

    def __init__(self, bundle: str = "", name: str = "", tell: bool = True, **options: object) -> None:
        self._wanted: dict[str, Any] = {"bundle": str(bundle), "name": name or default_name(), **options}
        self._tell = tell
        if options.get("warn"):
            self._wanted["say"] = _show
        self._owner = os.getpid()
        self._file: Any = None
        self._stacks: OwnFile | None = None
        self._output: CellOutput | None = None
        self._listener: Listener | None = None
        self.watch: Watch | None = None

    @property
    def bundle(self) -> str:
        """The folder that is filled; empty if nothing is captured."""
        return self.watch.bundle if self.watch else ""

    def __enter__(self) -> Guard:
        """Begin to watch. If the last process of this name died, the reason is written to stderr, once."""
        try:
            if self._tell and (line := last_death(self._wanted["name"])):
                _show(line)
            self._begin()
        except Exception as error:  # the program runs even if nothing can be captured
            if isinstance(error, TypeError) and "unknown option" in str(error):
                raise
            _show(f"nothing is captured: {getattr(error, 'strerror', '') or error}")
        return self

    def _begin(self) -> None:
        if "say" in self._wanted:
            self._wanted["bundle"] = self._wanted["bundle"] or _new_folder(new_name(self._wanted["name"], "watch", os.getpid()))
            self._wanted["files"] = [os.path.join(self._wanted["bundle"], CELL_OUTPUT)]
        self.watch = watch(os.getpid(), **self._wanted)
        if not faulthandler.is_enabled():
            with contextlib.suppress(OSError):
                self._stacks = new_file(os.path.join(self.bundle, "faulthandler.log"))
                self._file = open(self._stacks.fd, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  closed by `_end`
                faulthandler.enable(self._file)
        self._listener = listen(self.bundle, os.environ)
        if "say" in self._wanted:
            with contextlib.suppress(OSError):
                self._output = CellOutput(os.path.join(self.bundle, CELL_OUTPUT))

    def note(self, **facts: object) -> None:
        """Add facts to run.json: guard.note(epoch=3, dataset="imagenet")."""
        if self.watch:
            self.watch.note(**facts)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the watch. An exception that ends the block is written to the bundle and raised again."""
        if os.getpid() == self._owner:  # a copy of the program that leaves the block says nothing of this one
            with contextlib.suppress(Exception):
                self._end(kind, error, trace)

    def _end(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            kept, self._file = weakref.ref(self._file), None
            if (ours := kept()) is not None:  # else the program has since had its crashes written elsewhere
                faulthandler.disable()
                ours.close()
            if self._stacks is not None:
                self._stacks.close()
        if self._listener is not None:
            self._listener.close(failed=isinstance(error, Exception))
        if self._output is not None:
            self._output.close()
        if self.watch is not None:
            bad = error is not None and not (isinstance(error, SystemExit) and error.code in (None, 0))
            text = "".join(traceback.format_exception(kind, error, trace)) if bad else ""
            self.watch.close(text, wait=bad)


def _show(line: str) -> None:
    """Write a line to stderr, if there is one that can be written to."""
    with contextlib.suppress(Exception):
        sys.stderr.write(f"forensics: {line}\n")
        sys.stderr.flush()


def guard(bundle: str | os.PathLike[str] = "", *, name: str = "", tell: bool = True, **options: object) -> Guard:
    """A context in which a second process watches this one: `with forensics.guard(): train()`.

    `bundle`: the folder to fill, a new one in the state folder by default; it is removed after a good end. `name`: the name by
    which the next process finds it, the script or notebook by default. `tell`: write to stderr why the last process of this name
    died.
    `options`: those of capture.options.Options. With warn=True it says on stderr if memory will run out soon and, in a notebook,
    if a loss is NaN or diverges.

    >>> from forensics import guard
    >>> with guard(name="train.py", tell=False) as held:
    ...     held.note(epoch=3)
    """
    return Guard(str(bundle), name, tell, **options)


def default_name() -> str:
    """The name of this process, the same in each run: its notebook or script, with its folder."""
    notebook, program = os.environ.get("JPY_SESSION_NAME", ""), str(next(iter(sys.argv), None) or "python")
    try:
        return notebook or os.path.abspath(program)
    except OSError:  # the folder of this process was removed
        return program


def last_death(name: str) -> str:
    """Why the last process called `name` died, in one line; empty if it did not die, or if that was reported already. From now on
    it is marked as reported."""
    path = last_bundle(name)
    run, report = read_run(path), read_json(os.path.join(path, "report.json"))
    if not report or os.path.exists(os.path.join(path, REPORTED_FILE)):
        return ""
    with contextlib.suppress(OSError):
        open(os.path.join(path, REPORTED_FILE), "w").close()
    cause = next((c for c in report.get("causes") or () if isinstance(c, dict)), {})
    when = run.get("end") or run.get("start")
    what = f"{cause.get('title')} ({cause.get('id')})"
    return f"the last run of {os.path.basename(name)} ended badly at {when}: {what}; forensics why {path}"


def last_bundle(name: str, folder: str = "") -> str:
    """The newest complete bundle of a process called `name`; empty if there is none."""
    found: list[tuple[float, str]] = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder or state_folder()):
            with contextlib.suppress(OSError):  # another process may remove it now
                found += [(entry.stat().st_mtime, entry.path)] if entry.is_dir() else []
    for _, path in sorted(found, reverse=True):
        run = read_run(path)
        command = run.get("command")
        if isinstance(command, dict) and command.get("name") == name and run.get("complete"):
            return path
    return ""
