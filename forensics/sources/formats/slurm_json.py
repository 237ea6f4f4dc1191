"""What `sacct --json` tells becomes the rows that `sacct --parsable2` prints, so one reader reads both.

    {"jobs": [{"job_id": 4711, "name": "fit", "state": {"current": ["OUT_OF_MEMORY"]}, "exit_code": {...}, "steps": [...]}]}
        -> JobID|JobName|State|ExitCode|Elapsed|Timelimit|ReqMem|MaxRSS|NodeList|Start|End
           4711|fit|OUT_OF_MEMORY|0:125|00:21:40|...
           4711.batch|batch|OUT_OF_MEMORY|0:125|00:21:40|...

`squeue --json` and `scontrol show job --json` have the same list with other names of some fields. A number is bare, or since
Slurm 23.02 an object, `{"set": true, "infinite": false, "number": 0}`; a state is a word, or since then a list of words. The
names are those of the schemas of slurmrestd (dbv0.0.36 to v0.0.42).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from forensics.core import lazy
from forensics.sources.formats.base import Format, Note
from forensics.sources.formats.documents import objects
from forensics.sources.origin import Piece

JOBS_PATTERN = lazy.regex(r'\A\s*\{\s*(?:"meta"\s*:[\s\S]{0,4000}?)?"jobs"\s*:\s*\[\s*\{')
FIELDS_PATTERN = lazy.regex(r'"(?:job_id|job_state|derived_exit_code|state)"\s*:')
ACCOUNT_COLUMNS = [
    "JobID",
    "JobName",
    "State",
    "ExitCode",
    "Elapsed",
    "Timelimit",
    "ReqMem",
    "MaxRSS",
    "NodeList",
    "Start",
    "End",
]
SAMPLE = b'{\n  "jobs": [\n    {\n      "job_id": 4711,\n      "state": {"current": ["TIMEOUT"]}\n    }\n  ]\n}\n'


def _is_account(text: str) -> bool:
    found = JOBS_PATTERN.match(text)
    return bool(found) and len(set(FIELDS_PATTERN.findall(text))) >= 2


def _rows(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    """A row for each job and each of its steps, at the line on which the job begins."""
    yield 1, 0, "|".join(ACCOUNT_COLUMNS).encode()
    for line, job, _ in objects(blocks, note, "jobs"):
        steps = [_step(job, step) for step in _list(job.get("steps"))]
        rows = (_job(job), *steps)
        yield line, 0, "\n".join("|".join(row.get(c, "") for c in ACCOUNT_COLUMNS) for row in rows).encode("utf-8", "replace")


def _job(job: dict[str, Any]) -> dict[str, str]:
    times = _dict(job.get("time"))
    memory = _memory(_dict(job.get("tres")).get("requested"))
    return {
        "JobID": _id(job),
        **_ended(job, job.get("state", job.get("job_state"))),
        "Timelimit": _span(_number(times.get("limit", job.get("time_limit"))), 60),
        "ReqMem": f"{memory}M" if memory else "",
        "NodeList": _word(job.get("nodes")),
        **_times(times or {"start": job.get("start_time"), "end": job.get("end_time")}),
    }


def _step(job: dict[str, Any], step: dict[str, Any]) -> dict[str, str]:
    named = _dict(step.get("step"))
    own = named.get("id")
    number = own.get("step_id") if isinstance(own, dict) else str(own).rpartition(".")[2]
    peak = _memory(_dict(_dict(step.get("tres")).get("requested")).get("max"))
    nodes = _dict(step.get("nodes")).get("list")
    return {
        "JobID": f"{_id(job)}.{_word(number)}",
        **_ended({"name": named.get("name"), **step}, step.get("state")),
        "MaxRSS": f"{peak >> 10}K" if peak else "",
        "NodeList": ",".join(map(str, nodes)) if isinstance(nodes, list) else _word(nodes),
        **_times(_dict(step.get("time"))),
    }


def _memory(tres: object) -> int | None:
    """The count of memory in a list of resources: of a job in MiB, of a step's peak in bytes."""
    return next((_number(t.get("count")) for t in _list(tres) if t.get("type") == "mem"), None)


def _id(job: dict[str, Any]) -> str:
    """The number of a job; of a task of an array that of the array and of the task."""
    array = _dict(job.get("array"))
    whole, task = _number(array.get("job_id", job.get("array_job_id"))), array.get("task_id", job.get("array_task_id"))
    is_task = bool(whole) and (task.get("set") if isinstance(task, dict) else task is not None)
    return f"{whole}_{_number(task)}" if is_task else _word(job.get("job_id"))


def _ended(record: dict[str, Any], state: object) -> dict[str, str]:
    """Name, state and exit code, `status:signal`."""
    current = state.get("current") if isinstance(state, dict) else state
    code = _dict(record.get("exit_code"))
    killed = _dict(code.get("signal"))
    signal = _number(killed.get("id", killed.get("signal_id")))
    word = current[0] if isinstance(current, list) and current else current
    status = _number(code.get("return_code", code.get("number")))
    return {"JobName": _word(record.get("name")), "State": _word(word), "ExitCode": f"{status or 0}:{signal or 0}"}


def _times(times: dict[str, Any]) -> dict[str, str]:
    start, end = _number(times.get("start")), _number(times.get("end"))
    return {"Elapsed": _span(_number(times.get("elapsed")), 1), "Start": _moment(start), "End": _moment(end)}


def _moment(seconds: int | None) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _span(count: int | None, unit: int) -> str:
    """`1-02:00:00`, as Slurm writes a length of time."""
    if count is None:
        return ""
    days, rest = divmod(count * unit, 86400)
    return (f"{days}-" if days else "") + f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def _number(value: object) -> int | None:
    if isinstance(value, dict):
        value = value.get("number") if value.get("set", True) and not value.get("infinite") else None
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1 << 62 else None


def _word(value: object) -> str:
    return "" if value is None else " ".join(str(value).replace("|", "/").split())


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[dict[str, Any]]:
    return [x for x in value if isinstance(x, dict)] if isinstance(value, list) else []


FORMATS = (Format("slurm json", lambda head: _is_account(head.text), _rows, SAMPLE, rank=20),)
