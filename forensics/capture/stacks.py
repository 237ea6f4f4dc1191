"""Take the stacks of Python processes with py-spy, if it is installed and the system allows tracing.

py-spy dump --pid 4711  ->  stacks/4711.txt, and its innermost own frame: "MainThread: acquire (threading.py:327)"
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time

from forensics.capture import proc
from forensics.capture.proc import child_text
from forensics.capture.times import time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from forensics.capture.tree import Process

    Dump = subprocess.Popen[str] | str  # py-spy at work, or why it did not start
    Found = tuple[str, list[str], tuple[str, str], list[str]]

STACKS_PREFIX = "forensics run: stacks of pid "
MAX_STACK_PROCESSES = 16  # eight ranks with one loader each; py-spy stops each process for a moment and takes up to DUMP_S
DUMP_S = 10.0  # chosen by hand: py-spy answers at once unless the memory of the process is swapped out
MEANWHILE_S = 0.05  # between two looks at what else happens to the job
KILLED_S = 0.5  # by which py-spy has ended that was killed, unless it waits for a device that does not answer
MAX_STACKS_FILES = 8  # of one process; a silent job is looked at each time when its silence is twice as long
STOPPED_CALL = "do_signal_stop"  # where the kernel holds a process that SIGSTOP or a terminal stopped
FROZEN_CALL = "cgroup_freeze"  # what its function of that name did to a process, which its control group holds
WITH_VALUES = ("--locals", "--locals")  # the second one: longer values
LIBRARY = ("threading.py", "selectors.py", "connection.py", "queue.py", "socket.py", "subprocess.py", "popen_fork.py",
           "synchronize.py")  # fmt: skip


def take_stacks(
    processes: Iterable[Process],
    folder: str,
    children: Mapping[int, tuple[int, int]],
    silent_since: float = 0.0,
    goes_on: Callable[[set[int]], bool] = lambda _: True,
) -> tuple[list[dict[str, str]], str]:
    """Write the stacks of the Python processes among `processes` to `folder`. `children`: as child_numbers() gives them.
    `silent_since`: the moment since which the job prints nothing, 0 where it does not matter. `goes_on`: asked again and again
    with the process ids of the helpers that were started; where the job does not go on, no more time is spent.

    Returns one record for each process, and the reason if one of them was refused.
    """
    # Most jobs never fall silent.
    from forensics.capture.live_stacks import numbers_of, py_spy_path, ranks_of, waiting_for_themselves

    given = list(processes)
    command = py_spy_path([p.command for p in given])
    if not command:
        return [], "py-spy is not installed"
    taken, moment = [], time_text(time.time()) + (f", silent since {time_text(silent_since)}" if silent_since else "")
    chosen = [p for p in given if "python" in f"{p.comm} {p.command}"][:MAX_STACK_PROCESSES]
    rows = {one.pid: (one.pid, one.ppid, [*one.marks]) for one in given}
    told = ranks_of(list(rows.values()))
    found, why = _dumps(command, chosen, goes_on)
    for pid, (_, numbers, _, _) in found.items():
        rows[pid][2].extend([] if told else numbers)  # a variable may tell the rank
    told = told or ranks_of(list(rows.values()))
    children = {**children, **{pid: (n, rows[pid][1]) for pid, n in numbers_of(list(rows.values())).items()}}
    chosen = [process for process in chosen if found[process.pid][0]]
    stuck = waiting_for_themselves({p.pid: found[p.pid][0] for p in chosen}, lambda wait_s: _pause(wait_s, goes_on))
    for process in chosen:
        text, _, call, source = found[process.pid]
        os.makedirs(folder, exist_ok=True)
        with open(free_path(folder, str(process.pid)), "w", encoding="utf-8") as file:
            whose = rank_or_child(told.get(process.pid, ""), children.get(process.pid), socket.gethostname())
            head = stacks_head(process.pid, process.comm, whose, moment, call)
            file.write("\n".join([head, *source, text[:200_000]]))
        record = {"pid": str(process.pid), "comm": process.comm, "at": innermost_frames(text)}
        taken.append({**record, "stuck": str(stuck[process.pid])} if process.pid in stuck else record)
    return taken, why


def _pause(wait_s: float, goes_on: Callable[[set[int]], bool]) -> None:
    """Wait, unless the job ends."""
    end = time.monotonic() + wait_s
    while time.monotonic() < end and goes_on(set()):
        time.sleep(MEANWHILE_S)


def _dumps(command: str, chosen: list[Process], goes_on: Callable[[set[int]], bool]) -> tuple[dict[int, Found], str]:
    """By pid what py-spy printed, the numbers among its variables, the system call before, and what the source tells; and why
    one was refused."""
    from forensics.capture.cgroups import frozen
    from forensics.capture.live_stacks import system_call, without_locals
    from forensics.capture.source_lines import lines_of_spy

    states = [proc.stat(process.pid) for process in chosen]  # before py-spy stops it
    held = dict.fromkeys(frozen(process.pid for process in chosen), FROZEN_CALL)
    held.update({p.pid: STOPPED_CALL for p, found in zip(chosen, states) if found and found.state in "Tt"})  # noqa: B905 - as below
    # py-spy would wait for one in an uninterruptible wait, too, as for a device that does not answer
    stopped = [p.pid in held or (found is not None and found.state == "D") for p, found in zip(chosen, states)]  # noqa: B905
    calls = [(held[p.pid], "") if p.pid in held else system_call(p.pid) for p in chosen]
    started = [_start(command, p.pid, still) for p, still in zip(chosen, stopped)]  # noqa: B905
    end, why = time.monotonic() + DUMP_S, ""
    found: dict[int, Found] = {}

    def waits() -> bool:
        at_work = [dump for dump in started if not isinstance(dump, str)]
        return goes_on({dump.pid for dump in at_work if dump.poll() is None}) and time.monotonic() < end

    for process, before, dump, call, still in zip(chosen, states, started, calls, stopped):  # noqa: B905 - not in older Pythons
        text, refused = _finish(dump, waits)
        if refused and proc.stat(process.pid) and waits():  # a value may be one that it cannot read
            started.append(_start(command, process.pid, still, ()))
            text, refused = _finish(started[-1], waits)
        if refused:
            _resume(process.pid, before)
        why = refused or why
        found[process.pid] = (*without_locals(text), call, lines_of_spy(text, process.pid))
    return found, why


def stacks_head(pid: int, comm: str, whose: str, moment: str, call: tuple[str, str] = ("", "")) -> str:
    """The line before the stacks of a process: `... of pid 4711 (python), rank 3 on gpu-04 at 2026-11-29T20:55:59.370000+00:00;
    in the kernel: read of /data/x`. `whose`: as rank_or_child() gives it. `moment`: one for all processes that are looked at;
    empty of a process that looks at itself."""
    where = f"; in the kernel: {call[0]}{f' of {call[1]}' if call[1] else ''}" if call[0] else ""
    at = f" at {moment}" if moment else ""
    return f"{STACKS_PREFIX}{pid} ({comm}){whose}{at}{' '.join(where.split())}"


def rank_or_child(rank: str, child: tuple[int, int] | None, host: str) -> str:
    """`, rank 3 on gpu-04`; of a process without a rank its number among the children of its parent, if it has one."""
    whose = f", rank {rank}" if rank.isdigit() else child_text(child)
    return f"{whose} on {host}" if whose else ""


def free_path(folder: str, stem: str) -> str:
    """A file for stacks that replaces none of an earlier moment, up to MAX_STACKS_FILES: 4711.txt, 4711-2.txt."""
    names = [stem, *(f"{stem}-{number}" for number in range(2, MAX_STACKS_FILES + 1))]
    paths = [os.path.join(folder, f"{name}.txt") for name in names]
    return next((path for path in paths if not os.path.exists(path)), paths[-1])


def _start(command: str, pid: int, stopped: bool, more: Sequence[str] = WITH_VALUES) -> Dump:
    """py-spy at work, so that the stacks of all processes are of one moment; the reason where it does not start. `stopped`: it
    would wait for ever until a process stops that was stopped before. Of the variables that it shows, those are kept that may
    tell the rank, and the path for which a loop looks."""
    try:
        # Safe: this thread starts and reaps it, by its process id; nothing else here waits for children it did not start.
        return subprocess.Popen(
            [command, "dump", "--pid", str(pid), "--full-filenames", *more, *(["--nonblocking"] if stopped else [])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        return f"py-spy: {type(error).__name__}"


def _finish(dump: Dump, waits: Callable[[], bool]) -> tuple[str, str]:
    """What py-spy printed, or why it printed nothing. `waits`: is there time to wait for it?"""
    if isinstance(dump, str):
        return "", dump
    while True:
        try:
            out, error = dump.communicate(timeout=MEANWHILE_S)
            break
        except subprocess.TimeoutExpired:
            if waits():
                continue
            dump.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                dump.communicate(timeout=KILLED_S)
            return "", "py-spy: it did not answer in time"
        except OSError as failed:
            dump.kill()
            return "", f"py-spy: {type(failed).__name__}"
    from forensics.capture.live_stacks import refusal

    return ("", refusal(error)) if dump.returncode or not out else (out, "")


def _resume(pid: int, before: proc.Stat | None) -> None:
    """Continue a process that py-spy stopped and did not continue, because it was killed itself: else the job would hang."""
    now = proc.stat(pid)
    if before is None or now is None or now.start_ticks != before.start_ticks or before.state in "Tt" or now.state not in "Tt":
        return
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGCONT)  # safe: the same process as before, as its start shows


def innermost_frames(text: str) -> str:
    """The innermost frame of the main thread, and the innermost one outside of libraries."""
    frames: list[str] = []
    at = text.find("\nThread ")  # the command is before it, and may be a program of many lines
    for line in text[at + 1 :].splitlines() if at >= 0 else []:
        if line.startswith("Thread ") and frames:
            break
        if line.startswith("    ") and "(" in line:
            frames.append(line.strip())
    own = next((f for f in frames if not f.partition("(")[2].partition(":")[0].endswith(LIBRARY)), "")
    return frames[0] + (f", called from {own}" if own and own != frames[0] else "") if frames else ""
