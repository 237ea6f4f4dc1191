"""Read a scheduler's accounting: rows for the table `jobs`, and the hours that each node worked.

    sacct -a -P -o JobID,JobName,User,State,Start,End,NodeList,ReqMem,Timelimit,AllocTRES --starttime 2026-10-01 > sacct.csv

    4711|train|alice|OUT_OF_MEMORY|2026-11-21T10:00:00|2026-11-21T11:30:00|gpu-[0412-0413]|32G|1-00:00:00|gres/gpu=8,node=2
    -> job 4711, run train, asked "--mem 32G" and "--time 1-00:00:00", 8 GPUs, 1.5 hours on each of gpu-0412 and gpu-0413

A file with the columns `node,hours` (or `gpu,hours` ...) also gives hours of work ("exposure").
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forensics.core import lazy
from forensics.core.errors import UsageError

NEEDED = ("JobID", "Start", "End", "NodeList")
HOST_LIST = lazy.regex(r"(?P<head>[^,\[\]]*)(?:\[(?P<numbers>[^\]]*)\](?P<tail>[^,\[\]]*))?(?:,|\Z)")
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
    try:
        return path.open(encoding="utf-8-sig", errors="replace", newline="")
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", str(path)) from error


def _number(text: str, path: Path) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a number of hours", str(path)) from error
