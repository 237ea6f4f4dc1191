"""The stacks of all processes of a job that runs now and is not ours, as one line of JSON. It does no harm: nothing is stopped.

    python3 live_stacks.py pid 4711        the processes below 4711, and itself
    python3 live_stacks.py job 4711        those whose environment names this job
    python3 live_stacks.py all -           all that may be read, as in a container
        -> {"host": "gpu-04", "py_spy": "/usr/bin/py-spy", "processes": [{"pid": 4711, "rank": 3, "text": "Process ...", ...}]}

It stands alone, without another module of this package: on other nodes and in containers, this file is given to their Python.
py-spy reads the memory of each process without pausing it; where it is missing or refused, /proc tells in which system call a
process waits, and for which file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WATCHER = " -m forensics.capture "  # in the command of a process that guard() or `forensics run` started beside a job
RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")  # the first one that is set counts
MARK_NUMBER_PATTERN = re.compile(r"(?<![0-9])[0-9]{1,5}(?![0-9]|st|nd|rd|th)")
MAX_MARKS, MAX_MARK_CHARS = 64, 400  # of one process
SPY_LINE_PATTERN = re.compile(r"(?:Process \d|Python v|Thread |    \S[^\n(]*\(.+\)\s*$|\s*$)")  # a head or a frame
SPY_VARIABLE_PATTERN = re.compile(r"^ {12}([A-Za-z_]\w{0,60}): (\d{1,5})$")  # a variable, as py-spy shows it with --locals
JOB_NAMES = ("SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PBS_JOBID", "LSB_JOBID", "RAY_JOB_ID")
MAX_LIVE_PROCESSES = 512  # of one host: eight ranks with sixty loaders each
NO_PYTHON = "Failed to find python version"  # what py-spy says of a program that is no Python
AT_ONCE = 4  # py-spy takes little, and the job needs the cores
ONE_DUMP_S = 5.0  # of one process; py-spy answers at once unless its memory is swapped out
WHOLE_S = 45.0  # of one host
MAX_STACKS_CHARS = 100_000  # characters of the stacks of one process
LOOKS_APART_S = 0.5  # chosen by hand: a thread that works takes locks many times in it
FUTEX_PRIVATE, FUTEX_CALLS = 128, 127  # include/uapi/linux/futex.h: of one process; the other bits but that of the clock, 256
FUTEX_WAITS = (0, 6, 9, 11)  # the same file: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI
PATH_CALLS = {"openat", "newfstatat"}  # their second argument is the address of a path
FILE_CALLS = {"read", "pread64", "readv", "recvfrom", "recvmsg", "write", "pwrite64", "writev", "ioctl", "fsync", "fcntl",
              "flock", "sendto"}  # fmt: skip
SYSCALLS = {  # calls in which programs wait, by number
    "x86_64": {0: "read", 1: "write", 7: "poll", 16: "ioctl", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev",
               23: "select", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 47: "recvmsg",
               61: "wait4", 72: "fcntl", 73: "flock", 74: "fsync", 202: "futex", 219: "restart_syscall",
               230: "clock_nanosleep", 232: "epoll_wait", 247: "waitid", 257: "openat", 262: "newfstatat", 270: "pselect6",
               271: "ppoll", 281: "epoll_pwait"},
    "aarch64": {22: "epoll_pwait", 25: "fcntl", 29: "ioctl", 32: "flock", 56: "openat", 63: "read", 64: "write", 65: "readv",
                66: "writev", 67: "pread64",
                68: "pwrite64", 72: "pselect6", 73: "ppoll", 79: "newfstatat", 82: "fsync", 95: "waitid", 98: "futex",
                101: "nanosleep", 115: "clock_nanosleep", 202: "accept", 203: "connect", 206: "sendto", 207: "recvfrom",
                212: "recvmsg", 260: "wait4"},
}  # fmt: skip


def look(kind: str, value: str) -> dict[str, Any]:
    """The stacks of the processes of a tree (`pid`), of a job (`job`), or of all (`all`) on this host."""
    from concurrent.futures import ThreadPoolExecutor  # a job that is watched needs the ranks of its processes alone

    table = _table()
    chosen = _chosen(table, kind, value)
    left_out = max(0, len(chosen) - MAX_LIVE_PROCESSES)
    command, end, refused = "", time.monotonic() + WHOLE_S, ""
    found = [_about(pid, table[pid]) for pid in chosen[:MAX_LIVE_PROCESSES]]
    found = [one for one in found if WATCHER not in one["command"]]
    marks = {one["pid"]: marks_of(one["pid"]) for one in found}
    command = py_spy_path([str(one["command"]) for one in found])
    if command:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for one, (text, why) in zip(found, pool.map(lambda p: _dump(command, p, end), found)):  # noqa: B905 - not in older Pythons
                text, variables = without_locals(text)
                one["text"] = text[:MAX_STACKS_CHARS]
                marks[one["pid"]] += variables
                refused = refused or why
    for pid, count in waiting_for_themselves({one["pid"]: one["text"] for one in found}).items():
        next(one for one in found if one["pid"] == pid)["stuck"] = count
    rows = [(one["pid"], one["ppid"], marks[one["pid"]]) for one in found]
    ranks, numbers = ranks_of(rows), numbers_of(rows)
    for one in found:
        one["rank"] = int(ranks[one["pid"]]) if one["pid"] in ranks else None
        one["number"] = numbers.get(one["pid"])
    return {"host": socket.gethostname(), "py_spy": command, "refused": refused, "left_out": left_out, "processes": found}


def _read(path: str, most: int = 1 << 18) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""


def _table() -> dict[int, tuple[int, str, str]]:
    """Parent, name and state of each process."""
    found: dict[int, tuple[int, str, str]] = {}
    for name in os.listdir("/proc"):
        text = _read(f"/proc/{name}/stat", 4096) if name.isdigit() else ""
        head, bracket, rest = text.rpartition(")")
        fields = rest.split()
        if bracket and len(fields) > 1:
            found[int(name)] = (int(fields[1]), head.partition("(")[2], fields[0])
    return found


def _chosen(table: dict[int, tuple[int, str, str]], kind: str, value: str) -> list[int]:
    """The processes that were asked for, this one and its parents left out."""
    own, at = set(), os.getpid()
    while at in table and at not in own:
        own.add(at)
        at = table[at][0]
    if kind == "pid":
        below = {int(value)}
        for pid in sorted(table, key=lambda p: _depth(table, p)):
            if table[pid][0] in below:
                below.add(pid)
        return sorted(p for p in below if p in table and p not in own - {int(value)})
    others = sorted(pid for pid in table if pid not in own and table[pid][2] != "Z" and _read(f"/proc/{pid}/cmdline", 1))
    if kind == "all":
        return others
    return [pid for pid in others if _is_of_job(pid, value)]


def _is_of_job(pid: int, job: str) -> bool:
    pairs = (entry.partition("=") for entry in _read(f"/proc/{pid}/environ").split("\0"))
    return any(name in JOB_NAMES and value == job for name, _, value in pairs)


def _depth(table: dict[int, tuple[int, str, str]], pid: int) -> int:
    seen = set()
    while pid in table and pid not in seen:
        seen.add(pid)
        pid = table[pid][0]
    return len(seen)


def marks_of(pid: int) -> list[str]:
    """What may tell the rank of a process: numbers in its environment, its command, and the file that it prints to."""
    entries = _read(f"/proc/{pid}/environ").split("\0")
    numbers = [entry for entry in entries if entry.rpartition("=")[2].isdigit() and entry.count("=") == 1]
    words = _read(f"/proc/{pid}/cmdline", 4096).rstrip("\0").split("\0")
    options = [f"{name} {words[at]}" for at, name in enumerate(words[:-1], 1) if name.startswith("-")]
    marks = [*numbers, *options, *(word for word in words if "=" in word), " ".join(words)]
    with contextlib.suppress(OSError):
        output = os.readlink(f"/proc/{pid}/fd/1")
        marks += [output] if output.startswith("/") else []
    return [mark for mark in marks if len(mark) <= MAX_MARK_CHARS][-MAX_MARKS:]


def without_locals(text: str) -> tuple[str, list[str]]:
    """Stacks that py-spy took with --locals without the variables, and the numbers among them: `run rank=3`.

    Only heads and frames are kept, so that nothing of a value stays, whatever line breaks it holds.
    """
    kept, marks = [], []
    for line in text.splitlines(True):
        if SPY_LINE_PATTERN.match(line):
            kept.append(line)
        elif found := SPY_VARIABLE_PATTERN.match(line):
            marks.append(f"{kept[-1].split()[0] if kept and kept[-1].strip() else ''} {found[1]}={found[2]}")
    return "".join(kept), marks


def rank_of(marks: list[str]) -> str:
    """The rank of a process by the variables of its environment; empty where they do not tell it."""
    named = dict(mark.split("=", 1) for mark in marks if mark.count("=") == 1)
    local = named.get("LOCAL_RANK", "") if named.get("NODE_RANK", "0") == "0" else ""  # on the first host it is the rank
    return next(
        (number for name in RANK_VARIABLES if (number := named.get(name, "")).isdigit()), local if local.isdigit() else ""
    )


def ranks_of(processes: list[tuple[int, int, list[str]]]) -> dict[int, str]:
    """The ranks by pid. `processes`: pid, parent and marks of each. Where no environment tells a rank, the number by which
    processes differ does, if it is called so. A process without a rank that started rank 1, where no other is rank 0, is that
    one: a trainer of Lightning starts the others and trains, too."""
    found = {pid: rank for pid, _, marks in processes if (rank := rank_of(marks))}
    found = found or {pid: str(number) for pid, number in numbers_of(processes, "rank").items()}
    parents = {pid: parent for pid, parent, _ in processes}
    first = next((parents[pid] for pid, rank in found.items() if rank == "1" and parents[pid] not in found), None)
    if first not in parents or first is None or "0" in found.values():
        return found
    numbers = numbers_of(processes)  # those of its children, where they agree with their ranks, tell which of them is rank 0
    agree = all(str(numbers.get(pid)) == rank for pid, rank in found.items())
    children = [pid for pid, number in numbers.items() if agree and number == 0 and parents[pid] == first]
    return {(children or [first])[0]: "0", **found}


def numbers_of(processes: list[tuple[int, int, list[str]]], word: str = "") -> dict[int, int]:
    """The number by which processes that are otherwise marked alike differ: that of most processes, and the last of those.
    `word`: what must stand in the mark."""
    parents = {pid: parent for pid, parent, _ in processes}
    found = numbered([(pid, marks) for pid, _, marks in processes], word, parents)
    return max([{}, *found][::-1], key=lambda values: len(set(values.values())))


def numbered(marked: list[tuple[Any, list[str]]], word: str = "", parents: dict[Any, Any] = {}) -> list[dict[Any, int]]:  # noqa: B006
    """The numbers by which those that are otherwise marked alike differ, each from all others and counted from 0 or 1:
    `WORKER=3`, `trainer.rank=3`, `out/worker_3.log`, `run index=3`. None of them started another one."""
    forms: dict[str, dict[Any, int]] = {}
    for one, marks in marked:
        for mark in marks:
            for at in MARK_NUMBER_PATTERN.finditer(mark if word in mark.lower() else ""):
                forms.setdefault(f"{mark[: at.start()]}#{mark[at.end() :]}", {}).setdefault(one, int(at[0]))
    found = []
    for values in forms.values():
        own = {one: value for one, value in values.items() if values.get(parents.get(one)) != value}  # a helper has its parent's
        numbers = set(own.values())
        is_family = len(own) == len(numbers) > 1 and not any(parents.get(one) in values for one in own)
        if is_family and min(numbers) <= 1 and max(numbers) < 2 * len(own):
            found.append(values)
    return found


def _about(pid: int, row: tuple[int, str, str]) -> dict[str, Any]:
    call, file = system_call(pid)
    return {
        "pid": pid, "ppid": row[0], "comm": row[1], "state": row[2], "rank": None,
        "command": _read(f"/proc/{pid}/cmdline", 4096).rstrip("\0").replace("\0", " ")[:400],
        "wchan": _read(f"/proc/{pid}/wchan", 200).strip("0\n"), "call": call, "file": file, "text": "", "stuck": 0,
    }  # fmt: skip


def system_call(pid: int) -> tuple[str, str]:
    """The system call in which the main thread waits, and the file that it names; empty where it is in none."""
    words = _read(f"/proc/{pid}/syscall", 400).split()
    if not words or not words[0].isdigit():
        return "", ""
    name = SYSCALLS.get(os.uname().machine, {}).get(int(words[0]), f"system call {words[0]}")
    with contextlib.suppress(OSError, ValueError, IndexError):
        if name in FILE_CALLS:
            return name, os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}")[:400]
        if name in PATH_CALLS:
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                memory.seek(int(words[2], 16))
                return name, memory.read(400).partition(b"\0")[0].decode("utf-8", "replace")
    return name, ""


def waiting_for_themselves(stacks: dict[int, str], pause: Callable[[float], object] = time.sleep) -> dict[int, int]:
    """The processes of which each thread waits without a time limit for another one of them, and none ran for a while, by pid
    with the number of their threads: only a signal can end that. Those that may not be read are left out, and those of which
    fewer than two threads run code outside of installed packages: a service may wait for a signal so. `stacks`: as py-spy
    prints them."""
    several = [pid for pid, text in stacks.items() if sum(map(_has_own_frame, text.split("\nThread ")[1:])) > 1]
    before = {pid: waits for pid in several if (waits := _own_waits(pid))}
    if before:
        pause(LOOKS_APART_S)
    return {pid: len(waits) for pid, waits in before.items() if _own_waits(pid) == waits}


def _has_own_frame(thread: str) -> bool:
    return any(map(_is_own_frame, thread.splitlines()))


def _is_own_frame(line: str) -> bool:
    return line.startswith("    ") and ".py:" in line and "/lib/python" not in line and "-packages/" not in line


def _own_waits(pid: int) -> dict[str, str]:
    """By thread its call, and how often it gave its processor up; empty where a thread waits for something else."""
    found: dict[str, str] = {}
    futex = next((n for n, name in SYSCALLS.get(os.uname().machine, {}).items() if name == "futex"), -1)
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            words = _read(f"/proc/{pid}/task/{thread}/syscall", 400).split()
            number, _, operation, _, limit = (int(word, 0) for word in words[:5])
            if number != futex or not operation & FUTEX_PRIVATE or operation & FUTEX_CALLS not in FUTEX_WAITS or limit:
                return {}
            switches = [line for line in _read(f"/proc/{pid}/task/{thread}/status").splitlines() if "ctxt_switches" in line]
            found[thread] = " ".join([*words, *switches])
        return found
    return {}


def py_spy_path(commands: list[str]) -> str:
    """The path of py-spy: of this Python, of the PATH, or beside the Python of one of the processes; empty if there is none."""
    own = [os.path.dirname(sys.executable), *os.environ.get("PATH", "").split(os.pathsep)]
    found = next((p for f in own if f and os.access(p := os.path.join(f, "py-spy"), os.X_OK)), "")
    theirs = dict.fromkeys(os.path.dirname(c.split(" ")[0]) for c in commands if c.startswith("/"))
    return found or next((p for f in theirs if _may_run(p := os.path.join(f, "py-spy"))), "")


def _may_run(path: str) -> bool:
    """Root runs no program that another user may have put there."""
    with contextlib.suppress(OSError):
        return os.access(path, os.X_OK) and os.stat(path).st_uid in (0, os.geteuid())
    return False


def _dump(command: str, process: dict[str, Any], end: float) -> tuple[str, str]:
    """The stacks of one Python process, and the reason where there are none."""
    left = min(ONE_DUMP_S, end - time.monotonic())
    if not re.search("python|jupyter|ipykernel|torchrun", f"{process['comm']} {process['command']}") or left <= 0:
        return "", "" if left > 0 else "there was no time left"
    words, why = [command, "dump", "--nonblocking", "--full-filenames", "--pid", str(process["pid"])], ""
    for more in (["--locals"], [], []):  # it reads while the program goes on, so a reading may fail
        try:
            # Safe: this call starts py-spy, ends it after the limit, and reaps it; py-spy stops no process.
            done = subprocess.run([*words, *more], stdin=subprocess.DEVNULL, capture_output=True, timeout=left, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return "", f"py-spy: {type(error).__name__}"
        if done.returncode == 0 and done.stdout:
            return done.stdout.decode("utf-8", "replace"), ""
        why = refusal(done.stderr.decode("utf-8", "replace"))
    return "", why


def refusal(error: str) -> str:
    """Why py-spy gave no stacks, by what it printed; empty for one that is no Python, as `timeout` and a shell."""
    first = (error.strip().splitlines() or ["refused"])[0]
    return "" if NO_PYTHON in first else f"py-spy: {first[:200]}"


if __name__ == "__main__":
    print(json.dumps(look(sys.argv[1], sys.argv[2])))
