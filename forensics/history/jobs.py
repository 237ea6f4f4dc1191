"""Read a scheduler's accounting: rows for the table `jobs`, and the hours that each node worked.

    sacct -a -P -o JobID,JobName,User,State,Start,End,NodeList,ReqMem,Timelimit,AllocTRES --starttime 2026-10-01 > sacct.csv

    4711|train|alice|OUT_OF_MEMORY|2026-11-21T10:00:00|2026-11-21T11:30:00|gpu-[0412-0413]|32G|1-00:00:00|gres/gpu=8,node=2
    -> job 4711, run train, asked "--mem 32G" and "--time 1-00:00:00", 8 GPUs, 1.5 hours on each of gpu-0412 and gpu-0413

A file with the columns `node,hours` (or `gpu,hours` ...) also gives hours of work ("exposure").

A captured run as a row of `jobs`: its name, its node, its options, how it ended.

    run.json   {"command": {"arguments": ["python", "train.py", "--batch-size", "32", "--name", "alice"], "pid": 4711 ...}, ...
                "groups": [{"own": true, "limit_bytes": 419430400 ...}], "host": {"name": "gpu-0412"}, "status": {"exit_code": 1}}
    ->  run train.py, job 20261122T181534-4711@gpu-0412, asked "a memory limit of 400 MiB" and "--batch-size 32", FAILED

Of the command line only the script's name and options with a number or a precision as their value are stored: other values may be
names of persons.
"""

import contextlib
import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.core.errors import UsageError, files_at
from forensics.core.limits import MIB
from forensics.history.fingerprint import RunFacts

NEEDED = ("JobID", "Start", "End", "NodeList")
HOST_LIST = lazy.regex(r"(?P<head>[^,\[\]]*)(?:\[(?P<numbers>[^\[\]]*)\](?P<tail>[^,\[\]]*))?(?:,|\Z)")
GPU_COUNT_PATTERN = lazy.regex(r"gres/gpu(?::[\w.-]+)?=(?P<count>\d+)")
MAX_ACCOUNTED_NODES = 200_000  # of one host list: several times the largest cluster; a list like n[1-999999999] is a mistake
SACCT_COMMAND = "sacct -a -P -o JobID,JobName,User,State,Start,End,NodeList,ReqMem,Timelimit,AllocTRES"


def read_jobs(path: Path) -> list[dict[str, Any]]:
    """The finished jobs in a file that sacct wrote, without their steps. Raises UsageError if columns are missing."""
    found = [job_row(row) for row in _rows(path) if "." not in row["JobID"]]
    return [job for job in found if job]


def read_exposure(path: Path) -> dict[str, float]:
    """Hours of work by node (or other unit): a file of two columns, or one that sacct wrote."""
    with _opened(path) as file:
        first = file.readline()
    if re.split(r"[|,;\t]", first.strip().lower())[1:2] == ["hours"]:
        return {row[0]: _number(row[1], path) for row in _table(path)[1:] if len(row) > 1}
    hours: dict[str, float] = {}
    for job in read_jobs(path):
        for node in job["nodes"].split(","):
            if node:
                hours[node] = hours.get(node, 0.0) + (job["end"] - job["start"]) / 3600
    return hours


def expand_nodes(nodes: str) -> list[str]:
    """The names of `gpu-[01-03,07]`, Slurm's host list; raises ValueError for other text or more than MAX_ACCOUNTED_NODES."""
    names: list[str] = []
    for found in HOST_LIST.finditer(nodes):
        head, tail = found["head"], found["tail"] or ""
        if found["numbers"] is None:
            names += [head] if head else []
            continue
        for part in found["numbers"].split(","):
            low, _, high = part.partition("-")
            names += [f"{head}{n:0{len(low)}d}{tail}" for n in range(int(low), int(high or low) + 1)]
            if len(names) > MAX_ACCOUNTED_NODES:
                raise ValueError("too many nodes")
    return names


def stored_request(each: Iterable[str]) -> str:
    """The options of a run in the form that is stored: `--mem 32G;--time 1:00:00;`."""
    return "".join(f"{a.replace(';', ',')};" for a in each)


def requested_options(stored: str) -> list[str]:
    """`--mem 32G;--time 1:00:00;` -> [`--mem 32G`, `--time 1:00:00`]. Earlier versions stored no semicolons."""
    if ";" in stored:
        return stored.rstrip(";").split(";")
    words = stored.split(" ")
    return [" ".join(pair) for pair in zip(words[::2], words[1::2], strict=False)]


def job_row(row: Mapping[str, str]) -> dict[str, Any] | None:
    """A row of sacct as a row of `jobs`; None for a job that has not ended."""
    try:
        start, end = _seconds(row["Start"]), _seconds(row["End"])
        nodes = expand_nodes(row["NodeList"]) if "None" not in row["NodeList"] else []
    except ValueError:
        return None  # still running, never started
    gpus = GPU_COUNT_PATTERN.search(row.get("AllocTRES") or "")
    asked = (("--mem", row.get("ReqMem")), ("--time", row.get("Timelimit")), ("--gpus", gpus and gpus["count"]))
    return {
        "job": row["JobID"],
        "run": row.get("JobName") or "",
        "user": row.get("User") or "",
        "state": (row.get("State") or "").split()[0] if row.get("State") else "",
        "start": start,
        "end": max(end, start),
        "nodes": ",".join(nodes),
        "asked": stored_request(f"{name} {value}" for name, value in asked if value),
        "gpus": int(gpus["count"]) if gpus else 0,
    }


def _seconds(stamp: str) -> int:
    """Seconds since 1970. Slurm writes local time without a zone; it is read as UTC, as in logs without a zone."""
    then = datetime.fromisoformat(stamp)
    return int((then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp())


def _rows(path: Path) -> Iterator[dict[str, str]]:
    head, *rows = _table(path) or [[]]
    missing = [name for name in NEEDED if name not in head]
    if missing:
        raise UsageError(f"no column {', '.join(missing)}", str(path), f"make it with `{SACCT_COMMAND}`")
    for row in rows:
        if len(row) >= len(head) - 1:
            yield dict(zip(head, [*row, ""], strict=False))


def _table(path: Path) -> list[list[str]]:
    with _opened(path) as file:
        first = file.readline()
        mark = max("|,;\t", key=first.count)
        file.seek(0)
        return [row for row in csv.reader(file, delimiter=mark) if row]


def _opened(path: Path) -> Any:
    with files_at(path):
        return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _number(text: str, path: Path) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a number of hours", str(path)) from error


MARK = "run.json"
SCRIPT_ARGUMENT_PATTERN = lazy.regex(r"[^\s;'\"]+\.(?:py|sh|ipynb|jl|R|pl|lua)")
ARGUMENT_PATTERN = lazy.regex(r"--?[A-Za-z][\w.-]{0,60}")
PLAIN_VALUE_PATTERN = lazy.regex(r"[+-]?\d[\w.:+-]{0,15}|true|false|bf16|fp\d{1,2}|tf32|int8", re.IGNORECASE)
UNINFORMATIVE_SIGNALS = (1, 2, 15)  # a user or a scheduler sends them: such an end does not show whether a change helped


class CapturedRun(Struct, frozen=True):
    """`known`: the facts that are stored with its incidents. `job`: its row in the table of jobs."""

    known: RunFacts
    job: dict[str, Any]


def captured_run(folder: Path) -> CapturedRun | None:
    """The run of the bundle in `folder`; None if it is not a bundle or its run has no recorded end."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        run_record = json.loads((folder / MARK).read_bytes())
        if not run_record["command"]["arguments"] or not run_record["end"]:
            return None
        known = _known(run_record)
        start, end = (int(datetime.fromisoformat(run_record[name]).timestamp()) for name in ("start", "end"))
        shared = {"job": known.job, "run": _program(run_record, known), "user": "", "nodes": known.node}
        ended = {
            "state": _state(run_record["status"]),
            "start": start,
            "end": max(start, end),
            "gpus": len(run_record.get("gpus") or ()),
        }
        return CapturedRun(known, shared | ended | {"asked": stored_request(_given(run_record))})
    return None


def _known(run_record: dict[str, Any]) -> RunFacts:
    slurm = run_record.get("identity", {}).get("slurm", {})
    arguments = [str(a) for a in run_record["command"]["arguments"]]
    node = str(run_record.get("host", {}).get("name", ""))
    started = f"{datetime.fromisoformat(run_record['start']):%Y%m%dT%H%M%S}-{run_record['command'].get('pid', 0)}@{node}"
    run = slurm.get("SLURM_JOB_NAME") or run_record["command"].get("name") or name_of(arguments)
    return RunFacts(node=node, job=slurm.get("SLURM_JOB_ID", "") or started, run=run)


def _program(run_record: dict[str, Any], known: RunFacts) -> str:
    """What the next run is told by: the name that somebody gave the run, else its script in its folder."""
    named = known.run != name_of([str(a) for a in run_record["command"]["arguments"]])
    return known.run if named else f"{Path(str(run_record['command'].get('folder', ''))).name}/{known.run}"


def name_of(arguments: list[str]) -> str:
    """`train.py` for `torchrun --nproc-per-node 8 /home/u/train.py`, `pkg.train` for `python -m pkg.train`; else the program."""
    for before, word in zip(["", *arguments], arguments, strict=False):
        if before == "-m" and re.fullmatch(r"[\w.]+", word):
            return word
        if SCRIPT_ARGUMENT_PATTERN.fullmatch(word):
            return re.split(r"[/\\]", word)[-1]
        if before == "-c":
            break
    return re.split(r"[/\\]", arguments[0])[-1]


def _given(run_record: dict[str, Any]) -> list[str]:
    """The memory limit of the run's own cgroup, and the options of its command with harmless values."""
    limits = [g["limit_bytes"] for g in run_record.get("groups", ()) if g.get("own") and g.get("limit_bytes")]
    given = [f"a memory limit of {limits[0] / MIB:.0f} MiB"] if limits else []
    words = [str(a) for a in run_record["command"]["arguments"]]
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equal, value = word.partition("=")
        value = value if equal else following
        if ARGUMENT_PATTERN.fullmatch(name) and PLAIN_VALUE_PATTERN.fullmatch(value):
            given.append(f"{name} {value}")
    return given


def _state(status: dict[str, Any]) -> str:
    """The end in the words of Slurm's job states."""
    if status.get("exit_code") == 0:
        return "COMPLETED"
    stopped = status.get("signal") in UNINFORMATIVE_SIGNALS or status.get("exit_code") in [128 + s for s in UNINFORMATIVE_SIGNALS]
    return "CANCELLED" if stopped else "FAILED"
