"""Start a kernel for clients without provisioners, such as VS Code, and say in the cell why it died.

    "argv": ["python", "-m", "forensics.adapters.jupyter.launcher", "{connection_file}", "python", "-m", "ipykernel", ...]

`python -m forensics.adapters.jupyter install` writes a kernel.json with such a line. The client sees this process: it ends after
its kernel has ended and the reason was published on the kernel's own ports. A client that ends this process ends the kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from forensics.adapters.jupyter.kernel_watch import STDERR, DeathReporter, Kernel, KernelWatch, Timeouts, new_bundle
from forensics.adapters.jupyter.message import Analysis

if TYPE_CHECKING:
    from types import FrameType

CONNECTION_PLACEHOLDER = "@connection_file@"  # VS Code replaces {connection_file} in one word of argv only
LAUNCHER_WAITS = Timeouts(capture_s=5, report_s=20, clients_s=2)  # the database is loaded only after the death
EDITOR_AGAIN = "Restart the kernel, then run the cells above this one (Execute Above Cells)"
ANSWERED_S = 2.0  # chosen by hand: a client that continues after a failed cell is answered so long
TERM_GRACE_S = 5.0  # chosen by hand: a kernel that has not ended so long after SIGTERM is killed
PARENT_POLL_S = 1.0  # as often as ipykernel checks whether its client is alive
PR_SET_PDEATHSIG = 1  # include/uapi/linux/prctl.h


def launch(connection_file: str, command: list[str]) -> int:
    """Start `command`, a kernel, and return its exit status, as in a shell, after its end was reported. Raises OSError."""
    command = [word.replace(CONNECTION_PLACEHOLDER, connection_file) for word in command]
    name = os.environ.get("JPY_SESSION_NAME") or str(Path.cwd())
    try:
        bundle = new_bundle(name, Path(connection_file).stem.removeprefix("kernel-"))
    except OSError as error:
        print(f"forensics: this kernel is not watched: {error.filename}: {error.strerror}", file=sys.stderr)
        os.execvp(command[0], command)
    connection = json.loads(Path(connection_file).read_text(encoding="utf-8"))
    client = os.getppid() if os.environ.get("JPY_PARENT_PID") == str(os.getppid()) else None
    environment = {"PYTHONFAULTHANDLER": "1", **os.environ, "JPY_PARENT_PID": str(os.getpid()), "JPY_SESSION_NAME": name}
    with Path(bundle, STDERR).open("ab") as file:
        # Safe: no thread runs yet, so the code in the child finds no lock that another thread holds.
        process = subprocess.Popen(command, stderr=file, env=environment, process_group=0, preexec_fn=_end_with_parent)
    watch = KernelWatch(
        Kernel(process, connection, bundle, name, process.pid),
        DeathReporter(Analysis(), LAUNCHER_WAITS, lambda _: "", answers=True, again=EDITOR_AGAIN, report_death=lambda _: None),
    )
    _pass_on_signals(watch)
    watch.start()
    while not watch.done.wait(PARENT_POLL_S):
        if client not in (None, os.getppid()):
            os.kill(os.getpid(), signal.SIGTERM)  # safe: this process itself, which passes it on to the kernel
    watch.left.wait(ANSWERED_S)
    watch.left.set()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(TERM_GRACE_S)  # safe: this child alone; Popen has a lock for the thread that looks at its status
    process.kill()  # safe: Popen sends nothing to a child that it has reaped
    watch.join(TERM_GRACE_S)
    status = process.wait()
    return status if status >= 0 else 128 - status


def _pass_on_signals(watch: KernelWatch) -> None:
    """Forward signals that this process receives to the kernel, as requested ends or interrupts."""

    def take(signum: int, _: FrameType | None) -> None:
        watch.ask(signum)
        if watch.kernel.process.returncode is None:  # safe: the kernel is not reaped, so its group is its own
            with contextlib.suppress(OSError):
                os.killpg(watch.kernel.process.pid, signum)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, take)  # safe: of the launcher; the kernel, which began before, has its own


def _end_with_parent() -> None:
    """In the kernel's process, before it begins: if the launcher is killed, the kernel is killed, too."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> NoReturn:
    """`launcher CONNECTION_FILE COMMAND...`"""
    if len(sys.argv) < 3:
        print(f"usage: python -m {__spec__.name} CONNECTION_FILE COMMAND...", file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(launch(sys.argv[1], sys.argv[2:]))
    except (OSError, ValueError) as error:
        print(f"forensics: the kernel could not be started: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
