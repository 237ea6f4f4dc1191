"""Capture a run on systems other than Linux: exit status, output and memory, and a note on what is not captured.

The job is a child of this process. If its output is a terminal, the job keeps it and the output is not captured, as there is no
pty here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

from forensics.capture import identity
from forensics.capture.account import ACCOUNT_PREFIX, signal_name
from forensics.capture.bundle import Bundle
from forensics.capture.joblog import JobLog
from forensics.capture.times import duration_text, local_zone, time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any, NoReturn

    from forensics.capture.options import Options

NOT_CAPTURED = ("the end of other processes than the command", "memory groups", "the kernel's log", "who sent a signal", "stacks")
PLAIN_BLOCK_BYTES = 1 << 16  # a pipe holds as much


def main(options: Options) -> NoReturn:
    """Run the command to its end; exits with its status, 128 + n for signal n."""
    sys.exit(run(options))


def run(options: Options) -> int:
    """Run the command; its status as in a shell."""
    try:
        bundle = Bundle(options.folder, options.command[0])
    except OSError as error:  # the job runs even if nothing can be captured
        print(f"forensics: nothing is captured: {error.filename}: {error.strerror}", file=sys.stderr, flush=True)
        os.execvp(options.command[0], options.command)
    log = JobLog(bundle.folder, options.max_log_bytes)
    kept = not (os.isatty(1) or os.isatty(2))
    started = time.time()
    pipe = subprocess.PIPE if kept else None
    try:
        child = subprocess.Popen(options.command, stdout=pipe, stderr=pipe, close_fds=False)
    except OSError as error:
        print(f"forensics: {options.command[0]}: {error.strerror}", file=sys.stderr)
        bundle.remove()
        return 127
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda n, _: child.send_signal(n) if n != signal.SIGINT else None)
    relays = [threading.Thread(target=_copy, args=(s, to, log)) for s, to in ((child.stdout, 1), (child.stderr, 2)) if s]
    for relay in relays:
        relay.start()
    code = child.wait()  # safe: this child alone, by its process id
    for relay in relays:
        relay.join()
    try:
        _close(options, bundle, log, started, child.pid, code, kept)
    except Exception as error:  # an error of the capture is no exit status of the job
        print(f"forensics: the capture is not whole: {type(error).__name__}: {error}", file=sys.stderr)
    return code if code >= 0 else 128 - code


def _copy(source: IO[bytes], to: int, log: JobLog) -> None:
    while data := os.read(source.fileno(), PLAIN_BLOCK_BYTES):
        log.add(str(to), data)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(to, view) :]
        except OSError:
            break
    source.close()


def _close(options: Options, bundle: Bundle, log: JobLog, started: float, pid: int, code: int, kept: bool) -> None:
    now = time.time()
    ended = f"was ended by signal {-code} ({signal_name(-code)})" if code < 0 else f"ended with exit status {code}"
    told = (f"local times are {local_zone(now)}", f"the command, pid {pid}, {ended} after {duration_text(now - started)}")
    log.close([f"[{time_text(now)}] {ACCOUNT_PREFIX} {line}" for line in told])
    not_taken = [*NOT_CAPTURED, *([] if kept else ["the output, which went to a terminal"])]
    record: dict[str, Any] = {"schema": "forensics-run/1", "complete": True, "start": time_text(started), "end": time_text(now)}
    record |= {"command": {"arguments": options.command, "folder": os.getcwd(), "pid": pid, "name": options.name}}
    record |= {"status": {"how": "child", **({"signal": -code} if code < 0 else {"exit_code": code})}, "host": identity.host()}
    record |= {
        "clock": identity.clock(),
        "identity": identity.identity(os.environ),
        "limits": {},
        "groups": [],
        "signals": [],
        "stacks": [],
    }
    record |= {
        "memory": {"most_bytes": _peak_bytes(), "host_bytes": 0, "least_available_share": 1.0, "most_used_share_of_limit": None}
    }
    record["memory"]["host_kills"] = None
    record |= {
        "output": {"bytes": log.bytes, "last": None, "longest_silence_s": log.longest_silence_s, "fault": log.fault},
        "gpus": [],
    }
    record |= {"disks": {}, "core_dumps": {}, "exits": {"count": 1, "left_out": 0, "ways": ["child"]}, "faults": []}
    record["closed"] = [{"what": what, "why": f"not taken on {sys.platform}", "command": ""} for what in not_taken]
    record["tool"] = {"name": "forensics", "python": sys.version.split()[0]}
    bundle.write_run(record)
    if code and options.report:
        from forensics.capture.reporting import analyse_bundle

        with contextlib.suppress(TimeoutError):
            analyse_bundle(bundle.folder, options, _leave)
        _show(bundle, options)
    if options.keep == "never" or (not code and options.keep != "always"):
        bundle.remove()


def _leave() -> NoReturn:
    """The report is late: it is made behind this process, which ends with the status of the job."""
    raise TimeoutError


def _show(bundle: Bundle, options: Options) -> None:
    from forensics.capture.reporting import shown_report

    if not (text := shown_report(bundle.folder, options)) or options.quiet:
        return
    print(text, end="", file=sys.stderr)
    if options.keep == "never":
        return
    print(f"forensics: captured in {bundle.folder}; not taken on {sys.platform}: {', '.join(NOT_CAPTURED)}", file=sys.stderr)


def _peak_bytes() -> int:
    """The peak memory of a child, if the system counts it; else 0."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
