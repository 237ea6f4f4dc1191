"""A captured run as a row of `jobs`: its name, its node, its options, how it ended.

    run.json   {"command": {"arguments": ["python", "train.py", "--batch-size", "32", "--name", "alice"], "pid": 4711 ...}, ...
                "groups": [{"own": true, "limit_bytes": 419430400 ...}], "host": {"name": "gpu-0412"}, "status": {"exit_code": 1}}
    ->  run train.py, job 20261122T181534-4711@gpu-0412, asked "a memory limit of 400 MiB" and "--batch-size 32", FAILED

Of the command line only the script's name and options with a number or a precision as their value are stored: other values may be
names of persons.
"""

import contextlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.core.limits import MIB
from forensics.history.accounting import stored_request
from forensics.history.incident import RunFacts

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
        shared = {"job": known.job, "run": known.run, "user": "", "nodes": known.node}
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
