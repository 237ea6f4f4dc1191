"""What `sacct --json` tells. The documents are made for these tests, with the names of slurmrestd's schemas, old and new."""

import json
from pathlib import Path
from typing import Any

import pytest

from forensics import analyze
from forensics.sources.formats import slurm_json
from forensics.sources.formats.base import Head

BEGIN, END = 1796076001, 1796077301


def number(value: int, new: bool) -> Any:
    return {"set": True, "infinite": False, "number": value} if new else value


def step(name: str, state: str, peak: int, new: bool) -> dict[str, Any]:
    return {
        "exit_code": {"return_code": number(0, new), "signal": {"id": number(125, new)} if new else {"signal_id": 125}},
        "nodes": {"count": 1, "list": ["gpu07"]},
        "state": [state] if new else state,
        "step": {"id": f"8812.{name}" if new else {"job_id": 8812, "step_id": name}, "name": name},
        "time": {"elapsed": 1300, "start": number(BEGIN, new), "end": number(END, new)},
        "tres": {"requested": {"max": [{"type": "cpu", "count": 1}, {"type": "mem", "count": peak}]}},
    }


def document(new: bool, state: str = "OUT_OF_MEMORY", **more: Any) -> str:
    job = {
        "exit_code": {"return_code": number(0, new), "signal": {"id": number(125, new)} if new else {"signal_id": 125}},
        "job_id": 8812,
        "name": "seg|mentation",
        "nodes": "gpu07",
        "state": {"current": [state] if new else state, "reason": "None"},
        "steps": [step("batch", state, 5 << 20, new), step("0", state, 16380 << 20, new)],
        "time": {"elapsed": 1300, "limit": number(1440, new), "start": BEGIN, "end": END},
        "tres": {"requested": [{"type": "mem", "count": 16384}]},
        **more,
    }
    meta = {} if new else {"meta": {"plugin": {"type": "openapi/dbv0.0.38"}}, "errors": []}
    return json.dumps({**meta, "jobs": [job, {"job_id": 8813, "state": {}}], **({"meta": {}} if new else {})}, indent=2)


def rows(text: str) -> list[str]:
    (form,) = slurm_json.FORMATS
    found = form.decode(iter([text.encode()]), lambda *_: None)
    return [row for piece in found for row in piece[2].decode().split("\n")]


@pytest.mark.parametrize("new", [False, True])
def test_jobs_and_steps_become_the_rows_of_sacct(new: bool) -> None:
    head, job, batch, first, other = rows(document(new))
    told = dict(zip(head.split("|"), job.split("|"), strict=True))
    assert told == {
        "JobID": "8812",
        "JobName": "seg/mentation",
        "State": "OUT_OF_MEMORY",
        "ExitCode": "0:125",
        "Elapsed": "00:21:40",
        "Timelimit": "1-00:00:00",
        "ReqMem": "16384M",
        "MaxRSS": "",
        "NodeList": "gpu07",
        "Start": "2026-11-30T22:00:01Z",
        "End": "2026-11-30T22:21:41Z",
    }
    assert batch.startswith("8812.batch|batch|OUT_OF_MEMORY|0:125|00:21:40|||5120K|gpu07|")
    assert "|16773120K|" in first
    assert other.startswith("8813||")


def test_a_task_of_an_array_and_what_squeue_calls_otherwise() -> None:
    task = {"job_id": 9001, "array": {"job_id": 8812, "task_id": number(3, True)}}
    assert rows(json.dumps({"jobs": [task]}))[1].startswith("8812_3|")
    queued = {"job_id": 7, "job_state": ["TIMEOUT"], "start_time": number(BEGIN, True), "end_time": END, "time_limit": 90}
    row = rows(json.dumps({"jobs": [queued]}))[1]
    assert row == "7||TIMEOUT|0:0||01:30:00||||2026-11-30T22:00:01Z|2026-11-30T22:21:41Z"
    for odd in (
        {"state": 3, "time": [], "steps": {"a": 1}, "tres": None},
        {"time": {"start": 1e300, "end": -1}},
        {"array": {"job_id": 1}},
    ):
        assert len(rows(json.dumps({"jobs": [{"job_id": 1, **odd}]}))) == 2


@pytest.mark.seconds
@pytest.mark.parametrize("new", [False, True])
def test_the_report_names_the_job_its_end_and_what_it_asked_for(tmp_path: Path, new: bool) -> None:
    (tmp_path / "sacct.json").write_text(document(new))
    report = analyze(tmp_path / "sacct.json", workers=1)
    first = report.causes[0]
    assert (report.verdict, first.id) == ("crash", "host_memory.oom_cgroup")
    assert "job 8812" in first.where
    assert "16 GiB that job 8812 asked for" in first.remediations[0].action
    assert f"{first.evidence[0].time:%H:%M:%S}" == "22:21:41"


def test_other_lists_of_jobs_are_none() -> None:
    (form,) = slurm_json.FORMATS
    assert form.recognises(Head(form.sample))
    for text in ('{"total_count": 1, "jobs": [{"id": 1, "status": "completed"}]}', '{"jobs": [{"job_id": 1}]}', '{"jobs": []}'):
        assert not form.recognises(Head(text.encode()))
