"""What services of clouds and collectors export as JSON is read as the lines that a program printed. All records are made here."""

import json
from collections.abc import Callable

import pytest

from tests.sources.helpers import read_bytes

TOLD = ["loading data", "Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "KeyError: 'lr'"]


def insights(lines: list[str]) -> str:
    rows = [
        [{"field": "@timestamp", "value": f"2026-01-05 10:11:1{i}.345"}, {"field": "@message", "value": line}, {"field": "@ptr", "value": "CnwK"}]
        for i, line in enumerate(lines)
    ]  # fmt: skip
    return json.dumps({"results": rows, "status": "Complete"}, indent=2)


def log_analytics(lines: list[str]) -> str:
    rows = [{"TimeGenerated": f"2026-01-05T10:11:1{i}Z", "LogEntry": line, "ContainerID": "abc"} for i, line in enumerate(lines)]
    return json.dumps(rows, indent=1)


def open_telemetry(lines: list[str]) -> str:
    """Two records in each line, as the collector writes a batch."""
    made = [
        {"timeUnixNano": str((1767607872 + i) * 10**9), "severityText": "INFO", "body": {"stringValue": line}}
        for i, line in enumerate(lines)
    ]
    batches = [{"resourceLogs": [{"scopeLogs": [{"logRecords": made[i : i + 2]}]}]} for i in range(0, len(made), 2)]
    return "".join(json.dumps(batch) + "\n" for batch in batches)


def fluent_bit(lines: list[str]) -> str:
    rows = ({"date": 1767607872.5 + i, "log": f"{line}\n", "stream": "stderr"} for i, line in enumerate(lines))
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


@pytest.mark.parametrize("form", [insights, log_analytics, open_telemetry, fluent_bit])
def test_each_record_is_what_the_program_printed_behind_its_time(form: Callable[[list[str]], str]) -> None:
    found = read_bytes(form(TOLD).encode())
    assert [line.partition("10:11:1")[2].lstrip("0123456789.:+Z ").removeprefix("INFO ").strip() for line in found.lines] == [
        line.strip() for line in TOLD
    ]


def test_a_list_of_other_fields_is_no_log() -> None:
    assert read_bytes(json.dumps({"results": [[1, 2], [3, 4]]}, indent=2).encode()).format is None
