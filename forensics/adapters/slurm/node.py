"""Take the lines about one job, and no other, from a node's logs: the kernel's, slurmd's, and on the controller slurmctld's.

[2026-11-22T21:19:51.009] [1.batch] error: Detected 1 oom-kill event(s) in StepId=1.batch    names job 1
2026-11-22T21:19:50.534368 Memory cgroup out of memory: Killed process 25268 (python3)       in a report on /slurm_n1/.../job_1/
2026-11-22T21:20:02.386945 python3[25650]: segfault at 0                                     of which job? see leave_out_crashes
"""

from __future__ import annotations

import os
import re
import socket
from datetime import datetime, timedelta
from pathlib import Path

from forensics.adapters.slurm import accounting
from forensics.adapters.slurm.accounting import SacctRow
from forensics.capture.kernel import KernelLog
from forensics.model import OpenQuestion

MAX_DAEMON_LOG_BYTES = 64 << 20  # bounds time: read from the end of a daemon's log
KERNEL_LOG_MARGIN = timedelta(minutes=2)  # the kernel's lines on a kill may be later than the end that Slurm records
CRASH_PATTERN = re.compile(r"\[(?P<pid>\d+)\]:? (?:segfault at|general protection|trap |bad frame)")
WHOLE_HOST = "Out of memory: Killed process"
CGROUP_LINE_PATTERN = re.compile(
    r"\A(?>.*?\bcgroups?\b).*\s/[\w.-]"
)  # cgroup: fork rejected by pids controller in /system.slice/other.service
KILLED_PROCESS_PATTERN = re.compile(r"(?:Killed process|oom_reaper: (?:reaped|unable to reap)[\w ]*?) (?:pid:)?(?P<pid>\d+)")
CGROUP_KILL_PATTERN = re.compile(r"CONSTRAINT_MEMCG|Memory cgroup out of memory|killed as a result of limit of")
MAX_REPORT_LINES = 300  # chosen by hand: of one kill: the tasks of a large group
OUTPUT_END_BYTES = 1 << 20  # of a command's output: the end of the job is at its end, some 10,000 lines
DAEMONS = {"slurmd.log": "SlurmdLogFile", "slurmctld.log": "SlurmctldLogFile"}
LOGS = (*DAEMONS, "kernel.log")


def node_logs(concerned: tuple[SacctRow, ...], missing: list[OpenQuestion]) -> dict[str, list[str]]:
    """The lines of this machine's daemons and kernel on jobs that ran here, as far as they may be read."""
    ran = [row for row in concerned if row.started]
    config = dict(re.findall(r"(?m)^(\w+)\s*= (.*?)\s*$", accounting.run_program(["scontrol", "show", "config"]).text))
    here = local_nodes()
    nodes = [n for n in here if any(n in node_names(row["NodeList"]) for row in ran)]
    found: dict[str, list[str]] = {}
    for name, key in DAEMONS.items():
        patterns = [config.get(key, "")] if name == "slurmctld.log" else [_for_node(config.get(key, ""), n) for n in nodes]
        lines = [line for path in dict.fromkeys(patterns) for line in _naming(path, {r["JobIDRaw"] for r in concerned})]
        found[name] = lines
    if ran and nodes:
        lines, why = kernel_log(ran)
        found["kernel.log"] = lines
        if why:
            missing.append(OpenQuestion("the kernel's log of the node", why, "sudo journalctl -k --since ... --until ..."))
    elif ran and (first := node_names(ran[0]["NodeList"])):
        span = f"--since '{ran[0]['Start'].replace('T', ' ')}'"
        command = f"ssh {first[0]} journalctl -k {span} > kernel.log   # then: forensics analyze kernel.log and the job's output"
        missing.append(OpenQuestion(f"the kernel's log of {first[0]}", "this is another machine", command))
    return found


def local_nodes() -> list[str]:
    """The names of this machine in Slurm and in the system."""
    aliases = accounting.run_program(["scontrol", "show", "aliases"]).text.split()
    host = socket.gethostname()
    return list(dict.fromkeys([*aliases, host, host.partition(".")[0]]))


def node_names(listed: str) -> list[str]:
    """`n[1-3,7],login` -> n1, n2, n3, n7, login; at most a thousand."""
    names: list[str] = []
    for found in re.finditer(r"(?P<head>[\w.-]+)(?:\[(?P<numbers>[\d,-]+)\])?", listed):
        for part in (found["numbers"] or "").split(","):
            low, _, high = part.partition("-")
            count = range(int(low), min(int(high or low), int(low) + 999) + 1) if low else [None]
            names += [found["head"] + ("" if n is None else f"{n:0{len(low)}d}") for n in count]
    return names[:1000]


def _for_node(pattern: str, node: str) -> str:
    return pattern.replace("%n", node).replace("%h", socket.gethostname().partition(".")[0])


def _naming(path: str, raws: set[str]) -> list[str]:
    """The lines of a daemon's log that name one of the jobs; empty if it may not be read."""
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_DAEMON_LOG_BYTES))
            lines = file.read(MAX_DAEMON_LOG_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    named = re.compile(rf"(?:(?:Job|Step)Id=|\[|(?i:job|step) )(?:{'|'.join(map(re.escape, sorted(raws)))})(?!\d)")
    return [line for line in lines if named.search(line)]


def kernel_log(ran: list[SacctRow]) -> tuple[list[str], str]:
    """The kernel's lines from the first start to KERNEL_LOG_MARGIN after the last end, and the reason if there are none."""
    start, end = _moment(ran[0]["Start"]), _moment(ran[-1]["End"])
    log = KernelLog()
    log.started = min(_moment(r["Start"]) for r in ran).timestamp() if start else log.started
    log.stop_following()
    lines = log.finish()
    last = max(end, start) + KERNEL_LOG_MARGIN
    lines = [text for text, moment in map(_local, lines) if moment is None or moment <= last]
    return without_others(lines, {r["JobIDRaw"] for r in ran}), "" if log.method else log.unavailable


def without_others(lines: list[str], raws: set[str]) -> list[str]:
    """The kernel's lines without those about control groups of other jobs, above all reports on their memory limits.

    Such reports say nothing about this job, and list other users' processes. A report whose first lines were overwritten counts
    as another job's, unless it names this one.
    """
    ours = re.compile(rf"/job_(?:{'|'.join(map(re.escape, sorted(raws)))})(?!\d)")
    kept: list[str] = []
    report: list[str] = []
    inside, first, theirs = False, True, set[str]()
    for number, line in enumerate(lines):
        killed = KILLED_PROCESS_PATTERN.search(line)
        if "invoked oom-killer" in line:
            kept += report
            report, inside, first = [line], True, False
        elif inside or (first and number < MAX_REPORT_LINES):  # the log may begin in the middle of a report
            report.append(line)
            if killed:
                text = "\n".join(report)
                group = CGROUP_KILL_PATTERN.search(text) or (first and WHOLE_HOST not in text)
                if group and not ours.search(text):
                    theirs.add(killed["pid"])
                else:
                    kept += report
                report, inside, first = [], False, False
        elif not (killed and killed["pid"] in theirs) and (not CGROUP_LINE_PATTERN.search(line) or ours.search(line)):
            kept += [*report, line]
            report = []
    return kept + report


def leave_out_crashes(folder: Path, rows: tuple[SacctRow, ...], outputs_of_it: list[str]) -> None:
    """Remove the crashes of other jobs' processes from kernel.log.

    The kernel names a process and no job. Slurm records for each step whether a signal ended it. If no step of the job was ended
    by the signal of a crash, a crash is kept only if the job's own output has the pid of its process.
    """
    path = folder / "kernel.log"
    if not path.is_file() or any(row.crashed for row in rows):
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    last = [_end_of(p) for p in outputs_of_it] if any(map(CRASH_PATTERN.search, lines)) else []

    def ours(line: str) -> bool:
        found = CRASH_PATTERN.search(line)
        return found is None or any(re.search(rf"(?<!\d){found['pid']}(?!\d)", text) for text in last)

    path.unlink()
    if kept := [line for line in lines if ours(line)]:
        path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def _end_of(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - OUTPUT_END_BYTES))
            return file.read(OUTPUT_END_BYTES).decode("utf-8", "replace")
    except OSError:  # a folder: a bundle has a kernel's log of its own
        return ""


def _moment(text: str) -> datetime:
    """A time of Slurm, which is local; the present time if it is not known yet."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return datetime.now().astimezone()


def _local(line: str) -> tuple[str, datetime | None]:
    """A line with its time in this machine's clock without a zone, as Slurm's own times are, so that both are on one clock."""
    stamp, _, text = line.partition(" ")
    try:
        moment = datetime.fromisoformat(stamp.replace(",", ".")).astimezone()
    except ValueError:
        return line, None
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')} {text}", moment
