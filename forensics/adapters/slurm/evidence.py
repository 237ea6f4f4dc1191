"""All that can be had of a job, for the analysis: files of its own where they lie, answers and extracts in a folder.

sacct.txt       the rows of the accounting that concern the question
scontrol.txt    what slurmctld still knows of the job
slurmd.log      lines of the node's slurmd that name the job; slurmctld.log on the machine of the controller
kernel.log      the kernel's log of that node from the job's start to its end
/home/alice/slurm-4711.out, bundles of `forensics run`: as they lie
"""

from __future__ import annotations

import json
import os
import re
import socket
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from forensics.adapters.slurm import outputs, programs
from forensics.adapters.slurm.accounting import Job, Row, control_fields, read, table
from forensics.capture.bundle import MARK as RUN_FILE
from forensics.capture.bundle import state_folder
from forensics.capture.kernel import KernelLog
from forensics.errors import UsageError

MARK = "forensics: why this job ended"  # the first line of what an epilog adds to a job's output
ASKED = re.compile(r"(?P<job>\d{1,10})(?:_\d{1,7}|\+\d{1,3})?(?:\.(?:\d{1,10}|batch|extern|interactive))?")
MOST_OUTPUTS = 20
MOST_BUNDLES = 16
LOG_BYTES = 64 << 20  # of a daemon's log, from its end
OF_A_GROUP = re.compile(r"CONSTRAINT_MEMCG|Memory cgroup out of memory|killed as a result of limit of")
CRASH = re.compile(r"\[(?P<pid>\d+)\]:? (?:segfault at|general protection|trap |bad frame)")
KILLED = re.compile(r"(?:Killed process|oom_reaper: (?:reaped|unable to reap)[\w ]*?) (?:pid:)?(?P<pid>\d+)")
MOST_REPORT_LINES = 300  # of one kill: the tasks of a large group
OUTPUT_END_BYTES = 1 << 20
REPORT_BYTES = 64 << 10  # at the end of an output: an epilog's report is shorter
AROUND = timedelta(minutes=2)  # the kernel's words on a kill may come behind the end that Slurm notes
DAEMONS = {"slurmd.log": "SlurmdLogFile", "slurmctld.log": "SlurmctldLogFile"}


LOGS = (*DAEMONS, "kernel.log")


class Missing(NamedTuple):
    """What could not be had, why, and a command that gives it."""

    what: str
    why: str
    command: str


class Evidence(NamedTuple):
    """`paths`: what is to be analysed, files of `folder` by their bare names. `missing`: what could not be had."""

    job: Job
    control: dict[str, str]
    paths: list[str]
    missing: list[Missing]


def gather(asked: str, folder: Path, logs: bool = True) -> Evidence:
    """Fill `folder` with what Slurm and this machine tell of the job `asked`, and name the files it wrote.

    `logs`: look for the node's logs, too; without it those that lie in `folder` are taken. Raises UsageError for what is no job
    id, and where neither sacct nor scontrol knows it.
    """
    found = ASKED.fullmatch(asked)
    if found is None:
        raise UsageError(f"{asked!r} is no Slurm job", advice="write 4711, 4711.0, 4711_2 or 4711+1")
    number = asked.partition(".")[0]
    rows, shown = programs.ask_accounting(number), programs.ask(["scontrol", "show", "job", number])
    job = read(rows.text, asked)
    missing = [Missing("Slurm's accounting of the job", f"sacct: {rows.fault}", f"sacct -j {number}")] if rows.fault else []
    if not job.jobs and shown.text.strip():
        job = _known_to_controller(control_fields(shown.text))
    if not job.jobs:
        why = "; ".join(f"{n}: {a.fault or 'no such job'}" for n, a in (("sacct", rows), ("scontrol", shown)))
        raise UsageError(f"nothing is known of job {asked} ({why})", advice="ask on a machine where `sacct` answers")
    concerned = job.concerned
    control = _record(shown.text, concerned[0]["JobIDRaw"])
    paths = write(folder, {"sacct.txt": table(job) if rows.text else [], "scontrol.txt": _lines(shown.text, concerned)})
    for row in concerned[:MOST_OUTPUTS]:
        if row.started:
            _outputs(row, control, folder, paths, missing)
    paths += bundles({r["JobIDRaw"] for r in job.jobs})
    if logs:
        write(folder, node_logs(concerned, missing))
    _leave_out_crashes(folder, (*concerned, *job.steps), [p for p in paths if "/" in p])
    paths += [name for name in LOGS if (folder / name).is_file()]
    return Evidence(job, control, list(dict.fromkeys(paths)), missing)


def _known_to_controller(control: dict[str, str]) -> Job:
    """A job that only slurmctld knows, where there is no accounting."""
    if "JobId" not in control:
        return Job((), (), ())
    names = {"JobID": "JobId", "JobIDRaw": "JobId", "JobName": "JobName", "State": "JobState", "ExitCode": "ExitCode"}
    names |= {"Reason": "Reason", "NodeList": "NodeList", "Timelimit": "TimeLimit", "Start": "StartTime", "End": "EndTime"}
    fields = {name: control.get(key, "") for name, key in (names | {"WorkDir": "WorkDir", "DerivedExitCode": ""}).items()}
    return Job((Row(fields | {"User": control.get("UserId", "").partition("(")[0]}),), (), ())


def _record(text: str, raw: str) -> dict[str, str]:
    """The fields of one job among those that scontrol showed."""
    records = [control_fields(part) for part in text.strip().split("\n\n")]
    return next((r for r in records if r.get("JobId") == raw), {})


def _lines(text: str, concerned: tuple[Row, ...]) -> list[str]:
    raws = {r["JobIDRaw"] for r in concerned if r.started}  # of one that waits it says how it was asked for
    parts = [p for p in text.strip().split("\n\n") if control_fields(p).get("JobId") in raws]
    return "\n\n".join(parts).splitlines()


def write(folder: Path, texts: dict[str, list[str]]) -> list[str]:
    """Files of `folder`, those with anything in them; their names."""
    for name, lines in texts.items():
        if lines:
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    return [name for name, lines in texts.items() if lines]


def _outputs(row: Row, control: dict[str, str], folder: Path, paths: list[str], missing: list[Missing]) -> None:
    for path in outputs.paths(row, control if control.get("JobId") == row["JobIDRaw"] else {}):
        if path == "/dev/null":
            missing.append(
                Missing("the job's output", "it was sent to /dev/null", f"sbatch -o slurm-%j.out ...   # job {row.id}")
            )
        elif Path(path).is_file() and os.access(path, os.R_OK):
            paths.append(_without_report(path, folder))
        else:
            why = "it may not be read" if Path(path).exists() else "there is no such file on this machine"
            missing.append(Missing(f"the output of job {row.id}, {path}", why, f"scontrol show job {row.id} | grep Std"))


def _without_report(path: str, folder: Path) -> str:
    """`path`, or a copy in `folder` where an epilog added a report at its end: what we said is no evidence."""
    with Path(path).open("rb") as file:
        first = max(0, file.seek(0, os.SEEK_END) - REPORT_BYTES)
        file.seek(first)
        at = file.read(REPORT_BYTES).find(MARK.encode())
        if at < 0:
            return path
        file.seek(0)
        copy, left = folder / Path(path).name, first + at
        with copy.open("wb") as target:
            while left > 0 and (block := file.read(min(left, 1 << 20))):
                left -= target.write(block)
    return copy.name


def bundles(raws: set[str]) -> list[str]:
    """What `forensics run` captured inside these jobs, below this user's state folder."""
    found = []
    try:
        entries = sorted(os.scandir(state_folder()), key=lambda e: e.name, reverse=True)
    except OSError:
        return []
    for entry in entries:
        try:
            told = json.loads(Path(entry.path, RUN_FILE).read_text(encoding="utf-8"))
            slurm = told["identity"]["slurm"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if slurm.get("SLURM_JOB_ID") in raws:
            found.append(entry.path)
    return found[:MOST_BUNDLES]


def node_logs(concerned: tuple[Row, ...], missing: list[Missing]) -> dict[str, list[str]]:
    """What the daemons and the kernel of this machine say of jobs that ran on it, as far as it may be read."""
    ran = [row for row in concerned if row.started]
    config = dict(re.findall(r"(?m)^(\w+)\s*= (.*?)\s*$", programs.ask(["scontrol", "show", "config"]).text))
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
            missing.append(Missing("the kernel's log of the node", why, "sudo journalctl -k --since ... --until ..."))
    elif ran and (first := node_names(ran[0]["NodeList"])):
        span = f"--since '{ran[0]['Start'].replace('T', ' ')}'"
        command = f"ssh {first[0]} journalctl -k {span} > kernel.log   # then: forensics analyze kernel.log and the job's output"
        missing.append(Missing(f"the kernel's log of {first[0]}", "this is another machine", command))
    return found


def local_nodes() -> list[str]:
    """What Slurm and the system call this machine."""
    aliases = programs.ask(["scontrol", "show", "aliases"]).text.split()
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
    """The lines of a daemon's log that name one of the jobs; none where it may not be read."""
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_BYTES))
            lines = file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    named = re.compile(rf"(?:(?:Job|Step)Id=|\[|(?i:job|step) )(?:{'|'.join(map(re.escape, sorted(raws)))})(?!\d)")
    return [line for line in lines if named.search(line)]


def kernel_log(ran: list[Row]) -> tuple[list[str], str]:
    """The kernel's lines from the first start to AROUND behind the last end, and why there are none."""
    start, end = _moment(ran[0]["Start"]), _moment(ran[-1]["End"])
    log = KernelLog()
    log.started = min(_moment(r["Start"]) for r in ran).timestamp() if start else log.started
    log.follow_no_longer()
    lines = log.finish()
    last = max(end, start) + AROUND
    lines = [text for text, moment in map(_local, lines) if moment is None or moment <= last]
    return without_others(lines, {r["JobIDRaw"] for r in ran}), "" if log.way else log.closed


def without_others(lines: list[str], raws: set[str]) -> list[str]:
    """The kernel's lines without its reports on memory limits of other groups than these jobs': they tell nothing of the job, and
    list the processes of others. Of a report whose head the kernel has overwritten the lines that are left count as one."""
    ours = re.compile(rf"/job_(?:{'|'.join(map(re.escape, sorted(raws)))})(?!\d)")
    kept: list[str] = []
    report: list[str] = []
    inside, first, theirs = False, True, set[str]()
    for number, line in enumerate(lines):
        killed = KILLED.search(line)
        if "invoked oom-killer" in line:
            kept += report
            report, inside, first = [line], True, False
        elif inside or (first and number < MOST_REPORT_LINES):  # the log may begin in the middle of a report
            report.append(line)
            if killed:
                text = "\n".join(report)
                if OF_A_GROUP.search(text) and not ours.search(text):
                    theirs.add(killed["pid"])
                else:
                    kept += report
                report, inside, first = [], False, False
        elif not (killed and killed["pid"] in theirs):
            kept += [*report, line]
            report = []
    return kept + report


def _leave_out_crashes(folder: Path, rows: tuple[Row, ...], outputs_of_it: list[str]) -> None:
    """Take the crashes of other jobs' processes out of kernel.log.

    The kernel names a process and no job. Slurm says of each step whether a signal ended it: where none of a crash did, a crash
    counts only where the job's own output has its process's number.
    """
    path = folder / "kernel.log"
    if not path.is_file() or any(row.crashed for row in rows):
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    last = [_end_of(p) for p in outputs_of_it] if any(map(CRASH.search, lines)) else []

    def ours(line: str) -> bool:
        found = CRASH.search(line)
        return found is None or any(re.search(rf"(?<!\d){found['pid']}(?!\d)", text) for text in last)

    path.unlink()
    write(folder, {"kernel.log": [line for line in lines if ours(line)]})


def _end_of(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - OUTPUT_END_BYTES))
            return file.read(OUTPUT_END_BYTES).decode("utf-8", "replace")
    except OSError:  # a folder: a bundle has a kernel's log of its own
        return ""


def _moment(text: str) -> datetime:
    """A time of Slurm, which is local; now where it is not known yet."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return datetime.now().astimezone()


def _local(line: str) -> tuple[str, datetime | None]:
    """A line in the clock of this machine without its zone, as Slurm's own times are, so that both stay on one clock."""
    stamp, _, text = line.partition(" ")
    try:
        moment = datetime.fromisoformat(stamp.replace(",", ".")).astimezone()
    except ValueError:
        return line, None
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')} {text}", moment
