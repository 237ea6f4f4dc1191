"""A captured run to what a history knows a run by: its name, where it ran, what it was given, how it ended.

    run.json   {"command": {"arguments": ["python", "train.py", "--batch-size", "32", "--name", "alice"], "pid": 4711 ...}, ...
                "groups": [{"own": true, "limit_bytes": 419430400 ...}], "host": {"name": "gpu-0412"}, "status": {"exit_code": 1}}
    ->  run train.py, job 20261122T181534-4711@gpu-0412, asked "a memory limit of 400 MiB" and "--batch-size 32", FAILED

Of the command line only the script's name is taken, and options whose value is a number or the name of a precision: others may
name persons.
"""

import contextlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.history.accounting import stored_request
from forensics.history.incident import RunFacts

MARK = "run.json"
SCRIPT_ARGUMENT_PATTERN = lazy.regex(r"[^\s;'\"]+\.(?:py|sh|ipynb|jl|R|pl|lua)")
ARGUMENT_PATTERN = lazy.regex(r"--?[A-Za-z][\w.-]{0,60}")
PLAIN_VALUE_PATTERN = lazy.regex(r"[+-]?\d[\w.:+-]{0,15}|true|false|bf16|fp\d{1,2}|tf32|int8", re.IGNORECASE)
BY_SOMEBODY = (1, 2, 15)  # signals that a user or a scheduler sends: such an end tells nothing of whether a change helped
MIB = 1 << 20


class CapturedRun(Struct, frozen=True):
    """`known`: what its incidents are stored with. `job`: its row in the table of jobs."""

    known: RunFacts
    job: dict[str, Any]


def captured_run(folder: Path) -> CapturedRun | None:
    """The run that the bundle in `folder` is of; None where that is no bundle, or one of a run whose end it does not tell."""
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
    """`train.py` of `torchrun --nproc-per-node 8 /home/u/train.py`, `pkg.train` of `python -m pkg.train`; else the program."""
    for before, word in zip(["", *arguments], arguments, strict=False):
        if before == "-m" and re.fullmatch(r"[\w.]+", word):
            return word
        if SCRIPT_ARGUMENT_PATTERN.fullmatch(word):
            return re.split(r"[/\\]", word)[-1]
        if before == "-c":
            break
    return re.split(r"[/\\]", arguments[0])[-1]


def _given(run_record: dict[str, Any]) -> list[str]:
    """The memory limit of its own group, and the plain options of its command."""
    limits = [g["limit_bytes"] for g in run_record.get("groups", ()) if g.get("own") and g.get("limit_bytes")]
    given = [f"a memory limit of {limits[0] / MIB:.0f} MiB"] if limits else []
    words = [str(a) for a in run_record["command"]["arguments"]]
    for word, behind in zip(words, [*words[1:], ""], strict=False):
        name, equal, value = word.partition("=")
        value = value if equal else behind
        if ARGUMENT_PATTERN.fullmatch(name) and PLAIN_VALUE_PATTERN.fullmatch(value):
            given.append(f"{name} {value}")
    return given


def _state(status: dict[str, Any]) -> str:
    """As a scheduler would say."""
    if status.get("exit_code") == 0:
        return "COMPLETED"
    stopped = status.get("signal") in BY_SOMEBODY or status.get("exit_code") in [128 + s for s in BY_SOMEBODY]
    return "CANCELLED" if stopped else "FAILED"
