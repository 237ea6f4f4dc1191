"""Read the output of sacct and scontrol: as rows, and in sentences.

    17     step_oom  COMPLETED      0:0    0:125     ->  job 17 (step_oom): COMPLETED, exit status 0
    17.0   python3   OUT_OF_MEMORY  0:125            ->  step 17.0 (python3): OUT_OF_MEMORY

ExitCode is `status:signal`; 0:125 stands for a memory kill that Slurm saw (Slurm, job_exit_code documentation and slurm_errno.h).

Run the programs of Slurm. Their errors are returned as a fault, not raised.

sacct -j 4711 --duplicates --parsable2 ...        ["JobIDJobName...", ...]
scontrol show job 4711                            "JobId=4711 JobName=train ... StdOut=/home/alice/slurm-4711.out ..."
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec import Struct

from forensics.capture.asked import Answer, ask

SLURM_QUERY_TIMEOUT_S = 20.0  # chosen by hand: longer than a slow database takes
FIELD_DELIMITER = "\x1f"  # occurs in no name, command or path of a job, unlike |
SACCT_FIELDS = (
    *("JobID", "JobIDRaw", "JobName", "User", "State", "ExitCode", "DerivedExitCode", "Reason", "NodeList", "ReqMem", "MaxRSS"),
    *("Timelimit", "Elapsed", "Submit", "Start", "End", "WorkDir", "SubmitLine"),
)
FIELDS_SINCE_21_08 = ("SubmitLine",)


def sacct_command(job: str, fields: tuple[str, ...] = SACCT_FIELDS) -> list[str]:
    """The command that prints all rows of a job in the accounting, also of earlier attempts."""
    options = ["--duplicates", "--noconvert", "--parsable2", f"--delimiter={FIELD_DELIMITER}"]
    return ["sacct", f"--jobs={job}", *options, f"--format={','.join(fields)}"]


def run_program(command: list[str]) -> Answer:
    """The answer of a program of Slurm."""
    return ask(command, SLURM_QUERY_TIMEOUT_S)


def run_sacct(job: str) -> Answer:
    """The rows of sacct; for an older Slurm without the fields that it does not know."""
    found = run_program(sacct_command(job))
    if "nvalid field" in found.fault:
        return run_program(sacct_command(job, tuple(f for f in SACCT_FIELDS if f not in FIELDS_SINCE_21_08)))
    return found


GOOD_STATES, WAITING_STATES, LIVE_STATES, REQUEUED_STATES = (
    ("COMPLETED",),
    ("PENDING",),
    ("RUNNING", "COMPLETING", "SUSPENDED"),
    ("REQUEUED",),
)
CRASH_SIGNALS = {signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}
MEMORY_KILL_CODE = 125  # in place of a signal
SHOWN_FIELDS = (
    *("JobID", "JobName", "User", "State", "ExitCode", "DerivedExitCode", "Reason", "NodeList", "ReqMem", "MaxRSS"),
    *("Timelimit", "Elapsed", "Start", "End"),  # times come last, as in the tables of sacct
)
MAX_SACCT_ROWS = 200_000  # bounds memory: rows of an array with its steps
MAX_SHOWN_JOBS = 50  # chosen by hand: jobs of an array whose rows are analysed
MAX_REQUEUE_DELAY = timedelta(minutes=10)  # between the end of an attempt and its new submission


class SacctRow(Struct, frozen=True):
    """One row of sacct: a job, a task of an array, a component of a heterogeneous job, or a step of one of these."""

    fields: dict[str, str]

    def __getitem__(self, name: str) -> str:
        """The field of that name; empty if Slurm does not know it."""
        return self.fields.get(name, "")

    @property
    def id(self) -> str:
        """`17`, `11_2`, `18+1`, `17.0`, `17.batch`."""
        return self["JobID"]

    @property
    def job(self) -> str:
        """The id of the job of a step; of a job its own id."""
        return self.id.partition(".")[0]

    @property
    def is_step(self) -> bool:
        """Is it a step?"""
        return "." in self.id

    @property
    def state(self) -> str:
        """`CANCELLED` of `CANCELLED by 1001`."""
        return self["State"].partition(" ")[0].rstrip("+")

    @property
    def failed(self) -> bool:
        """Did it end badly? A job that waits or runs has not ended."""
        return bool(self.state) and self.state not in (*GOOD_STATES, *WAITING_STATES, *LIVE_STATES, *REQUEUED_STATES)

    @property
    def started(self) -> bool:
        """Did it ever start?"""
        return self["Start"][:1].isdigit() and (self.state not in WAITING_STATES)

    @property
    def crashed(self) -> bool:
        """Did a signal of a crash end it or a program in it? Also as an exit status: `0:11`, `139:0`, `11:0`."""
        codes = {int(n) for field in ("ExitCode", "DerivedExitCode") for n in self[field].split(":") if n.isdigit()}
        return any(n in CRASH_SIGNALS or n - 128 in CRASH_SIGNALS for n in codes)

    @property
    def end_known(self) -> bool:
        """Does the accounting have its end, or is there none because it never started?"""
        return self.state not in LIVE_STATES and (not self.started or self["End"][:1].isdigit())

    @property
    def ended(self) -> str:
        """How it ended, in words: `FAILED, exit status 1`, `CANCELLED by 1001, signal 15 (SIGTERM)`."""
        return ", ".join(filter(None, (self["State"], exit_text(self["ExitCode"], self.state))))


class Job(Struct, frozen=True):
    """All rows of one job. `jobs`: the last attempts; `earlier`: attempts before them, the first one first."""

    jobs: tuple[SacctRow, ...]
    steps: tuple[SacctRow, ...]
    earlier: tuple[SacctRow, ...]

    @property
    def failed_steps(self) -> tuple[SacctRow, ...]:
        """The steps that ended badly."""
        return tuple(s for s in self.steps if s.failed)

    @property
    def concerned(self) -> tuple[SacctRow, ...]:
        """The jobs to look at: of an array or a heterogeneous job those with a failure, if there are any."""
        bad = {s.job for s in self.failed_steps}
        chosen = tuple(j for j in self.jobs if j.failed or j.id in bad)
        return chosen or self.jobs

    @property
    def went_wrong(self) -> bool:
        """Does Slurm know of a job or step that ended badly?"""
        return any(j.failed for j in self.jobs) or bool(self.failed_steps)


def read_accounting(text: str, asked: str) -> Job:
    """The Job in the output of sacct. `asked`: 4711, 4711_2, 4711+1, or a step of these, 4711.0.

    sacct finds a number both as a job id and as the raw id of an array's task, and ids are used again after years. The result is
    the job with that id, in its latest use, with the attempts that were requeued into it.
    """
    head, *lines = text.splitlines() or [""]
    names = head.split(FIELD_DELIMITER)
    rows = [SacctRow(dict(zip(names, line.split(FIELD_DELIMITER), strict=False))) for line in lines[:MAX_SACCT_ROWS]]
    wanted, _, step = asked.partition(".")
    jobs = [r for r in rows if not r.is_step]
    named = [r for r in jobs if r.id == wanted or re.split(r"[_+]", r.id)[0] == wanted]
    jobs = named or [r for r in jobs if r["JobIDRaw"] == wanted]
    last = {r.id: r for r in jobs}
    earlier = [r for r in jobs if last[r.id] is not r and _requeued_into(r, jobs)]
    steps = [r for r in rows if r.is_step and r.job in last and last[r.job]["Start"] <= r["Start"]]
    return Job(tuple(last.values()), tuple(s for s in steps if not step or s.id.partition(".")[2] == step), tuple(earlier))


def _requeued_into(row: SacctRow, jobs: list[SacctRow]) -> bool:
    """Was one of the jobs submitted again when this one ended?"""
    try:
        end = datetime.fromisoformat(row["End"])
        again = [
            datetime.fromisoformat(j["Submit"]) for j in jobs if j.id == row.id and j is not row and j["Submit"] > row["Submit"]
        ]
    except ValueError:
        return False
    return any(abs(moment - end) <= MAX_REQUEUE_DELAY for moment in again)


def control_fields(text: str) -> dict[str, str]:
    """The first record of `scontrol show job`, by name: {"StdOut": "/home/alice/slurm-4711.out", ...}. A value may hold spaces;
    it ends where the next name begins."""
    record = text.strip().split("\n\n")[0]
    found = re.finditer(r"(?:^|\s)(?P<name>[A-Z][\w/:]{1,30})=(?P<value>.*?)(?=\s+[A-Z][\w/:]{1,30}=|\s*\Z)", record, re.DOTALL)
    return {m["name"]: m["value"].strip() for m in found}


def exit_text(code: str, state: str = "") -> str:
    """`1:0` -> `exit status 1`, `0:11` -> `signal 11 (SIGSEGV)`; empty for the code of a memory kill and if the state says it."""
    status, _, number = code.partition(":")
    if not status.isdigit() or not number.isdigit():
        return ""
    if int(number) == MEMORY_KILL_CODE:
        return ""
    if int(number):
        return f"signal {number} ({_signal_name(int(number))})"
    return f"exit status {status}" if int(status) or state in GOOD_STATES or state == "FAILED" else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def sacct_table(job: Job) -> list[str]:
    """The rows of the concerned jobs as sacct prints them with -P: the head, then jobs with their steps below them."""
    lines = ["|".join(SHOWN_FIELDS)]
    for one in job.concerned[:MAX_SHOWN_JOBS]:
        lines += [_line(row) for row in (one, *(s for s in job.steps if s.job == one.id))]
    return lines


def _line(row: SacctRow) -> str:
    return "|".join(row[name].replace("|", "/").replace("\n", " ") for name in SHOWN_FIELDS)


def accounting_sentences(job: Job, control: dict[str, str]) -> Iterator[tuple[str, SacctRow]]:
    """A sentence for each row that matters: the jobs, steps that contradict them, earlier attempts."""
    concerned = job.concerned
    if len(job.jobs) > 1:
        counts = Counter(j.state for j in job.jobs)
        every = ", ".join(f"{n} {state}" for state, n in counts.most_common())
        yield f"{len(job.jobs)} parts of one job: {every}", concerned[0]
    for one in concerned[:5]:
        yield _job_text(one, control), one
        steps = [s for s in job.failed_steps if s.job == one.id]
        steps = [s for s in steps if not s.id.endswith((".batch", ".extern"))] or steps
        for step in steps[:3]:
            yield f"step {step.id} ({step['JobName']}): {step.ended}", step
        if one.state in GOOD_STATES and steps:
            failed = "a step of it" if len(steps) == 1 else f"{len(steps)} steps of it"
            yield f"Slurm calls job {one.id} COMPLETED because its script ended with 0; {failed} did not end well", one
    for attempt in job.earlier[-3:]:
        until = f" until {attempt['End']}" if attempt["End"][:1].isdigit() else ""
        what = "was requeued" if attempt.state in REQUEUED_STATES else f"ended {attempt.ended}, and the job was requeued"
        yield f"an earlier attempt, started {attempt['Start']},{until} {what}", attempt


def _job_text(row: SacctRow, control: dict[str, str]) -> str:
    name = f"job {row.id} ({row['JobName']})" + (f" of {row['User']}" if row["User"] else "")
    if not row.started:
        reason = control.get("Reason") or row["Reason"]
        waits = control.get("Dependency", "")
        because = f": {reason}" if reason and reason != "None" else ""
        because += f", it waits for {waits}" if waits and waits != "(null)" else ""
        return f"{name} never started ({row['State']}){because}"
    times = f"{row['Start']} to {row['End']}" if row["End"][:1].isdigit() else f"since {row['Start']}"
    where = f" on {row['NodeList']}" if row["NodeList"] and not row["NodeList"].startswith("None") else ""
    asked = [
        f"memory asked {row['ReqMem']}" if row["ReqMem"] else "",
        f"time limit {row['Timelimit']}" if row["Timelimit"] else "",
    ]
    return ", ".join(filter(None, (f"{name}: {row.ended}", times + where, *asked)))
