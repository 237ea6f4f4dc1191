"""Collect a bundle from a job that runs or has ended already, by process, Slurm job or systemd unit.

collect(pid=4711)           processes, memory groups, stacks, its log files, the kernel's log since then
collect(job="4711")         the output of scontrol and sacct, the job's output files, its processes on this node
collect(unit="train")       the output of systemctl, the unit's journal, its memory group
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import time

from forensics.capture import account, proc
from forensics.capture.account import finish
from forensics.capture.asked import ask
from forensics.capture.bundle import Bundle, size_of
from forensics.capture.collector import Collector
from forensics.capture.joblog import JobLog
from forensics.capture.options import Options

COLLECT_QUERY_S = 20.0  # chosen by hand: a scheduler or a journal on a slow disk takes seconds, and the user waits for it
MAX_FILE_BYTES = 64 << 20  # per log; of a longer one the first half and the last are kept
MAX_FILES = 20  # logs that running processes write to; with MAX_FILE_BYTES it bounds a bundle at 1.25 GiB
FIRST_SAMPLE_S = 1.0  # between the two samples; processor time is counted in hundredths, so a rate is exact to 1 %
OutputFile = tuple[str, str]  # the name of a file of the bundle, and the output of a command that goes there


def collect(
    *, pid: int = 0, job: str = "", unit: str = "", since_s: float = 3600.0, bundle: str = "", stacks: bool = True
) -> tuple[str, list[str]]:
    """Fill a bundle and return its folder and what could not be read. `since_s`: how far back logs are read.

    Without pid, job and unit: only the kernel's log and the host. Raises OSError if the folder cannot be written.
    """
    made = Bundle(bundle, unit or job or (str(pid) if pid else "host"))
    missing: list[str] = []
    roots, files, asked = [pid] if pid else [], [], []  # type: list[int], list[str], list[OutputFile]
    if job:
        roots, files, asked = _slurm(job, missing)
    elif unit:
        roots, asked = _unit(unit, since_s, missing)
    alive = [p for p in roots if proc.stat(p) is not None]
    if roots and not alive:
        missing.append(f"process {roots[0]} is gone: its end, its memory group and its stacks can no longer be read")
    for name, text in asked:
        made.write(name, text)
    command = proc.command_line(alive[0]).split() if alive else []
    options = Options(command=command, name=unit or job, stall_s=0.0)
    log = JobLog(made.folder, 1 << 30)
    collector = Collector(options, made, alive[0] if alive else 0, False, log, lambda _: None)
    collector.tree.roots |= set(alive)
    collector.kernel.started = collector.started - since_s
    _look(collector, stacks, bool(alive))
    for path in [*files, *_log_files(alive)][:MAX_FILES]:
        log.append_file(path, max(0, size_of(path) - MAX_FILE_BYTES))
    lines = account.closing_lines(collector, None) if alive else []
    collector.kernel.stop_following()
    finish(collector, made, log, None, {"collected": True, "missing": missing}, lines)
    made.release()
    missing += [f"{c['what']}: {c['why']}" for c in collector.unavailable]
    if log.fault:
        missing.append(f"the end of {os.path.basename(log.path)}: {log.fault}")
    if made.fault:
        missing.append(f"the bundle is not complete: {', '.join(made.unwritten)}: {made.fault.rpartition(': ')[2]}")
    return made.folder, missing


def _look(collector: Collector, stacks: bool, alive: bool) -> None:
    """Take two samples, a second apart, so that a rate can be computed; then the stacks."""
    collector.start()
    if alive:
        time.sleep(FIRST_SAMPLE_S)
        if stacks:
            collector.take_stacks()
    collector.stop()


def packed(folder: str, target: str) -> None:
    """Write the bundle as one .tar.gz and remove the folder; raises OSError, and then leaves the folder and no archive."""
    part = target + ".part"
    try:
        with tarfile.open(part, "w:gz") as archive:
            archive.add(folder, os.path.basename(folder))
        os.replace(part, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _ask(command: list[str], missing: list[str]) -> str:
    """The output of a command; if it has none but an error, that is added to `missing`."""
    answer = ask(command, COLLECT_QUERY_S)
    if answer.fault and not answer.text.strip():
        missing.append(f"{' '.join(command[:3])}: {answer.fault}")
    return answer.text


def _slurm(job: str, missing: list[str]) -> tuple[list[int], list[str], list[OutputFile]]:
    """The processes of a Slurm job on this node, its output files, and Slurm's records of it."""
    shown = _ask(["scontrol", "show", "job", job], missing)
    answer = _ask(["sacct", "--jobs", job, "--format=ALL", "--parsable2"], missing)
    fields = dict(word.split("=", 1) for word in shown.split() if "=" in word)
    files = [fields[k] for k in ("StdOut", "StdErr") if k in fields and os.path.isfile(fields[k])]
    listed = _ask(["scontrol", "listpids", job], []) if shown else ""
    roots = [int(row.split()[0]) for row in listed.splitlines()[1:] if row.split() and row.split()[0].isdigit()]
    return sorted(roots), list(dict.fromkeys(files)), [x for x in (("scontrol.txt", shown), ("sacct.txt", answer)) if x[1]]


def _unit(unit: str, since_s: float, missing: list[str]) -> tuple[list[int], list[OutputFile]]:
    """The main process of a systemd unit, and the output of systemctl and journalctl."""
    shown = _ask(["systemctl", "show", unit], missing)
    fields = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    main = int(fields.get("MainPID", "0") or 0)
    since = f"--since=@{int(time.time() - since_s)}"
    journal = _ask(["journalctl", "--unit", unit, "--no-pager", "--output=short-iso-precise", since], missing)
    return [main] if main else [], [x for x in (("systemctl.txt", shown), ("journal.log", journal)) if x[1]]


def _log_files(pids: list[int]) -> list[str]:
    """The regular files to which the standard output and error of processes go."""
    found = []
    for pid in pids:
        for stream in (1, 2):
            try:
                path = os.readlink(f"/proc/{pid}/fd/{stream}")
            except OSError:
                continue
            if os.path.isfile(path):
                found.append(path)
    return list(dict.fromkeys(found))


def script() -> str:
    """A shell script that collects the same, as far as possible, on machines where nothing may be installed."""
    with open(os.path.join(os.path.dirname(__file__), "collect.sh"), encoding="utf-8") as file:
        return file.read()
