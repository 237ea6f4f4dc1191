"""Gather the evidence on a job: its own files where they are, and records and extracts of logs in a folder.

sacct.txt       the rows of the accounting that concern the question
scontrol.txt    what slurmctld still knows of the job
slurmd.log      lines of the node's slurmd that name the job; slurmctld.log on the machine of the controller
kernel.log      the kernel's log of that node from the job's start to its end
/home/alice/slurm-4711.out, bundles of `forensics run`: read where they are

Find the paths of a job's output.

StdOut=/home/alice/slurm-4711.out of scontrol, which knows a job for some minutes after its end; else the options it was submitted
with, `sbatch -o logs/%x-%j.out train.sh`, or the `#SBATCH` lines of that script; else slurm-%j.out, slurm-%A_%a.out (sbatch(1)).
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from forensics.adapters.slurm import accounting
from forensics.adapters.slurm.accounting import Job, SacctRow, accounting_sentences, control_fields, read_accounting, sacct_table
from forensics.adapters.slurm.node import LOGS, leave_out_crashes, node_logs
from forensics.api import Report, analyze
from forensics.capture.bundle import newest_first, read_run
from forensics.core.errors import UsageError, or_the_path
from forensics.model import Notice, OpenQuestion

MAX_SCRIPT_BYTES = 1 << 20  # the directives are at the start of a script; a longer file is not read whole
NAME_SIGN_PATTERN = re.compile(r"%(?P<width>\d{0,2})(?P<sign>[%AajNnsutxJ])")
DIRECTIVE = re.compile(r"^#SBATCH\s+(?P<options>.+)$", re.MULTILINE)
OPTION_NAMES = {"-o": "output", "--output": "output", "-e": "error", "--error": "error", "-D": "chdir", "--chdir": "chdir"}


def output_paths(row: SacctRow, control: dict[str, str]) -> list[str]:
    """The files for the output and errors of job `row`, whether they can be read or not."""
    known = [control[k] for k in ("StdOut", "StdErr") if control.get("JobId") == row["JobIDRaw"] and control.get(k)]
    if known:
        return list(dict.fromkeys(known))
    options = _options(row["SubmitLine"], row["WorkDir"])
    base = options.get("chdir") or row["WorkDir"] or "."
    usual = "slurm-%A_%a.out" if "_" in row.id else "slurm-%j.out"
    patterns = [options.get("output") or usual, *([options["error"]] if "error" in options else [])]
    found = [str(Path(base, expand_pattern(p, row))) for p in patterns]
    return list(dict.fromkeys(found))


def expand_pattern(pattern: str, row: SacctRow) -> str:
    """A pattern of sbatch for this job: `%x-%j.out` -> `train-4711.out`."""
    array, _, task = row.id.partition("_")
    leader = row.id.partition("+")[0]
    values = {"%": "%", "A": array, "a": task or "4294967294", "j": row["JobIDRaw"] or leader, "x": row["JobName"]}
    values |= {"J": row["JobIDRaw"] or leader, "u": row["User"], "N": row["NodeList"].partition(",")[0], "n": "0", "t": "0"}
    values["s"] = "batch"

    def sign(found: re.Match[str]) -> str:
        value = values.get(found["sign"], "")
        return value.zfill(int(found["width"])) if found["width"] and value.isdigit() else value

    return NAME_SIGN_PATTERN.sub(sign, pattern.replace("\\\\", "\\"))


def _options(submitted: str, folder: str) -> dict[str, str]:
    """The options that name the output: of the command line, else of the script that it names."""
    words = _words(submitted)
    given = _read(words[1:])
    script = next((w for w in words[1:] if not w.startswith("-") and Path(folder, w).is_file()), "")
    if script:
        try:
            with Path(folder, script).open("rb") as file:
                text = file.read(MAX_SCRIPT_BYTES).decode("utf-8", "replace")
        except OSError:
            return given
        lines = [word for found in DIRECTIVE.finditer(text) for word in _words(found["options"].split(" #")[0])]
        return _read(lines) | given  # the command line wins
    return given


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _read(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for i, word in enumerate(words):
        name, eq, value = word.partition("=")
        if name in OPTION_NAMES:
            found[OPTION_NAMES[name]] = value if eq else (words[i + 1] if i + 1 < len(words) else "")
        elif word[:2] in OPTION_NAMES and len(word) > 2 and not word.startswith("--"):
            found[OPTION_NAMES[word[:2]]] = word[2:]
    return {k: v for k, v in found.items() if v}


EPILOG_FIRST_LINE = "forensics: why this job ended"  # the first line of the report that an epilog adds to a job's output
JOB_ARGUMENT_PATTERN = re.compile(r"(?P<job>\d{1,10})(?:_\d{1,7}|\+\d{1,3})?(?:\.(?:\d{1,10}|batch|extern|interactive))?")
MAX_OUTPUTS = 20  # chosen by hand: logs of steps and tasks; further ones repeat them
MAX_BUNDLES = 16  # chosen by hand: the latest ones of a job: a node's ranks and their retries
REPORT_BYTES = 64 << 10  # read from the end of an output; an epilog's report is shorter


class Evidence(NamedTuple):
    """The evidence on one job. `paths`: to analyse, files of the folder by their bare names. `missing`: what is not available."""

    job: Job
    control: dict[str, str]
    paths: list[str]
    missing: list[OpenQuestion]


def gather_evidence(asked: str, folder: Path, logs: bool = True) -> Evidence:
    """Fill `folder` with Slurm's and this machine's records of the job `asked`, and name the files that the job wrote.

    `logs`: read the node's logs, too; without it those in `folder` are used. Raises UsageError if `asked` is no job id, and if
    neither sacct nor scontrol knows it.
    """
    found = JOB_ARGUMENT_PATTERN.fullmatch(asked)
    if found is None:
        advice = or_the_path(asked, "write 4711, 4711.0, 4711_2 or 4711+1")
        raise UsageError(f"{asked!r} is not the id of a Slurm job", advice=advice)
    number = asked.partition(".")[0]
    rows, shown = accounting.run_sacct(number), accounting.run_program(["scontrol", "show", "job", number])
    job = read_accounting(rows.text, asked)
    missing = [OpenQuestion("Slurm's accounting of the job", rows.fault_of("sacct"), f"sacct -j {number}")] if rows.fault else []
    if not job.jobs and shown.text.strip():
        job = _known_to_controller(control_fields(shown.text))
    if not job.jobs:
        why = "; ".join(a.fault_of(n) if a.fault else f"{n}: no such job" for n, a in (("sacct", rows), ("scontrol", shown)))
        advice = or_the_path(asked, "run this on a machine where `sacct` works")
        raise UsageError(f"nothing is known of job {asked} ({why})", advice=advice)
    concerned = job.concerned
    control = _record(shown.text, concerned[0]["JobIDRaw"])
    paths = write(folder, {"sacct.txt": sacct_table(job) if rows.text else [], "scontrol.txt": _lines(shown.text, concerned)})
    for row in concerned[:MAX_OUTPUTS]:
        if row.started:
            _outputs(row, control, folder, paths, missing)
    paths += bundles_of_jobs({r["JobIDRaw"] for r in job.jobs})
    if logs:
        write(folder, node_logs(concerned, missing))
    leave_out_crashes(folder, (*concerned, *job.steps), [p for p in paths if "/" in p])
    paths += [name for name in LOGS if (folder / name).is_file()]
    return Evidence(job, control, list(dict.fromkeys(paths)), missing)


def _known_to_controller(control: dict[str, str]) -> Job:
    """The Job if only slurmctld knows it, as there is no accounting."""
    if "JobId" not in control:
        return Job((), (), ())
    names = {"JobID": "JobId", "JobIDRaw": "JobId", "JobName": "JobName", "State": "JobState", "ExitCode": "ExitCode"}
    names |= {"Reason": "Reason", "NodeList": "NodeList", "Timelimit": "TimeLimit", "Start": "StartTime", "End": "EndTime"}
    fields = {name: control.get(key, "") for name, key in (names | {"WorkDir": "WorkDir", "DerivedExitCode": ""}).items()}
    return Job((SacctRow(fields | {"User": control.get("UserId", "").partition("(")[0]}),), (), ())


def _record(text: str, raw: str) -> dict[str, str]:
    """The fields of one job in the output of scontrol."""
    records = [control_fields(part) for part in text.strip().split("\n\n")]
    return next((r for r in records if r.get("JobId") == raw), {})


def _lines(text: str, concerned: tuple[SacctRow, ...]) -> list[str]:
    raws = {r["JobIDRaw"] for r in concerned if r.started}  # of one that waits it says how it was asked for
    parts = [p for p in text.strip().split("\n\n") if control_fields(p).get("JobId") in raws]
    return "\n\n".join(parts).splitlines()


def write(folder: Path, texts: dict[str, list[str]]) -> list[str]:
    """Write those `texts` that are not empty as files of `folder`, and return their names."""
    for name, lines in texts.items():
        if lines:
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    return [name for name, lines in texts.items() if lines]


def _outputs(row: SacctRow, control: dict[str, str], folder: Path, paths: list[str], missing: list[OpenQuestion]) -> None:
    for path in output_paths(row, control if control.get("JobId") == row["JobIDRaw"] else {}):
        if path == "/dev/null":
            missing.append(
                OpenQuestion("the job's output", "it was sent to /dev/null", f"sbatch -o slurm-%j.out ...   # job {row.id}")
            )
        elif Path(path).is_file() and os.access(path, os.R_OK):
            paths.append(_without_report(path, folder))
        else:
            why = "it may not be read" if Path(path).exists() else "there is no such file on this machine"
            missing.append(OpenQuestion(f"the output of job {row.id}, {path}", why, f"scontrol show job {row.id} | grep Std"))


def _without_report(path: str, folder: Path) -> str:
    """`path`, or a copy in `folder` without the report that an epilog added at its end: our own report is no evidence."""
    with Path(path).open("rb") as file:
        first = max(0, file.seek(0, os.SEEK_END) - REPORT_BYTES)
        file.seek(first)
        at = file.read(REPORT_BYTES).find(EPILOG_FIRST_LINE.encode())
        if at < 0:
            return path
        file.seek(0)
        copy, left = folder / Path(path).name, first + at
        with copy.open("wb") as target:
            while left > 0 and (block := file.read(min(left, 1 << 20))):
                left -= target.write(block)
    return copy.name


def bundles_of_jobs(raws: set[str]) -> list[str]:
    """The bundles that `forensics run` captured inside these jobs, in this user's state folder."""
    found = []
    for path in sorted(newest_first(), reverse=True):
        with contextlib.suppress(KeyError, TypeError):
            found += [path] if read_run(path)["identity"]["slurm"]["SLURM_JOB_ID"] in raws else []
    return found[:MAX_BUNDLES]


SACCT_FILE = "sacct.txt"


class JobAnswer(NamedTuple):
    """The report. `sentences`: Slurm's records, the job itself first. `went_wrong`: according to Slurm's state or the report.
    `accounted`: the fields of sacct's row of the job, and of its restarts, by name."""

    sentences: tuple[str, ...]
    report: Report
    went_wrong: bool
    accounted: tuple[dict[str, str], ...] = ()


def answer_about_job(asked: str) -> JobAnswer:
    """Why the job `asked` ended: 4711, 4711.0, 4711_2, 4711+1. Raises UsageError if nothing is known about it."""
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        return answer_from_evidence(asked, gather_evidence(asked, Path(folder)), Path(folder))


def answer_from_evidence(asked: str, found: Evidence, folder: Path) -> JobAnswer:
    """The answer from the evidence in `folder`."""
    if not found.paths:
        raise UsageError(f"nothing about job {asked} can be read", advice="run this on a machine that can read its output")
    with contextlib.chdir(folder):  # so that the report names the file sacct.txt, without a folder that is removed later
        report = analyze(found.paths)
    sentences = tuple(accounting_sentences(found.job, found.control))
    notices = tuple(_notices(found.job, sentences)) + report.notices
    missing = (*report.missing, *found.missing)
    report = replace(report, case=f"job {asked}", notices=notices, missing=missing)
    wrong = found.job.went_wrong or report.verdict == "crash"
    return JobAnswer(tuple(text for text, _ in sentences), report, wrong, tuple(r.fields for r in found.job.concerned))


def _notices(job: Job, sentences: tuple[tuple[str, object], ...]) -> list[Notice]:
    """A notice for each sentence, with its row of the table; rows of earlier attempts are not in the table."""
    lines = sacct_table(job)
    made = []
    for text, row in sentences:
        name = getattr(row, "id", "")
        line = next((n for n, shown in enumerate(lines, 1) if shown.startswith(f"{name}|")), 1)
        made.append(Notice(SACCT_FILE, line, lines[line - 1], None, "subject", text))
    return made
