"""Convert JSON logs with one object for each record to lines `TIME LEVEL message`; the lines of a traceback follow.

    {"pid":7,"type":"jupyter","level":40,"msg":"AsyncIOLoopKernelRestarter: ...","time":"2023-07-29T14:32:52.000Z"}   (Colab)
    {"textPayload":"Killed","timestamp":"2026-08-22T03:00:07.123Z","severity":"ERROR", ...}            (Google Cloud, one a line
    [{"stream_name":"stderr","time":12.3,"data":"Killed\\n"}                                (Kaggle)    or a list of them)
    {"events":[{"timestamp":1755831607123,"message":"Killed"}, ...]}                                   (CloudWatch)
    {"results":[[{"field":"@message","value":"Killed"}, ...], ...]}                                    (CloudWatch Insights)
    {"t":{"$date":"2026-08-22T03:00:07.123+00:00"},"s":"W","c":"CONTROL","ctx":"main","msg":"...","attr":{...}}       (MongoDB)
    {"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"Killed"}, ...}]}]}]}         (OpenTelemetry)

A log with the newest record first is reversed. A line that is not a record passes unchanged.
"""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from forensics.core import lazy, limits
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import fields_of, objects, parsed
from forensics.sources.formats.stamps import from_value
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece
from forensics.sources.turning import MIN_FALLS_OF_PIECES

TIME_KEYS = (
    "timestamp", "time", "@timestamp", "ts", "asctime", "datetime", "eventTime", "receiveTimestamp", "date", "TimeGenerated",
    "Timestamp", "@t", "timeUnixNano", "observedTimeUnixNano",
)  # fmt: skip
TEXT_KEYS = (
    "message", "msg", "textPayload", "log", "@message", "MESSAGE", "data", "body", "line", "event", "text", "LogEntry",
    "LogMessage", "Message", "@m", "stringValue",
)  # fmt: skip
NESTED = ("jsonPayload", "log", "record", "message", "data", "fields", "body")
LEVEL_KEYS = ("level", "severity", "levelname", "loglevel", "log.level", "lvl", "severityText", "Level", "@l")
TRACES = ("traceback", "exc_info", "exc_text", "exception", "stack_trace", "stacktrace", "stack", "py_callstack")
LEVEL_VALUES = {"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL"}
MONGO_LEVELS = {"F": "FATAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "D": "DEBUG"}
BUNYAN = {10: "DEBUG", 20: "DEBUG", 30: "INFO", 40: "WARNING", 50: "ERROR", 60: "FATAL"}
JSON_LIST_PATTERN = lazy.regex(r'\A\s*(?:\[\s*(?=\{)|\{\s*"(events|entries|results)"\s*:\s*\[)')
PROBED_RECORDS = 60  # parsing is slow, and the format of a file shows in its first records
MIN_RECORD_SHARE = 0.6  # of the lines; chosen by hand: tracebacks and start-up messages may be between the records


def _text(record: dict[str, Any]) -> tuple[str, str] | None:
    """The message of a record, and the name of its field."""
    for name in TEXT_KEYS:
        if isinstance(record.get(name), str):
            return record[name], name
    for name in NESTED:
        if isinstance(record.get(name), dict) and (found := _text(record[name])):
            return found
    return None


def text_of(record: dict[str, Any]) -> str | None:
    """The message of a record that a log collector wrote; None if it has no message."""
    found = _text(record)
    return found[0] if found else None


def _time(record: dict[str, Any]) -> str | None:
    if "stream_name" in record:  # Kaggle counts seconds from the start of the run
        return None
    if _is_of_mongo(record) and isinstance(record["t"], dict):
        return from_value(record["t"].get("$date"))
    return next((t for name in TIME_KEYS if (t := from_value(record.get(name)))), None)


def _is_of_mongo(record: dict[str, Any]) -> bool:
    """Does it have the one-letter fields of MongoDB 4.4 and later: time, severity, component?"""
    return {"t", "s", "c", "ctx", "msg"} <= record.keys()


def _level(record: dict[str, Any]) -> str:
    if _is_of_mongo(record):
        return MONGO_LEVELS.get(str(record["s"])[:1], "")
    for name in LEVEL_KEYS:
        value = record.get(name)
        if isinstance(value, int) and value in BUNYAN:
            return BUNYAN[value]
        if isinstance(value, str) and value.upper() in LEVEL_VALUES:
            return value.upper()
    return ""


def _is_log(record: object) -> bool:
    if not isinstance(record, dict) or not _text(record):
        return False
    if isinstance(record.get("time"), str) and "stream" in record and str(record.get("log", "")).endswith("\n"):
        return False  # of Docker, which has a format of its own
    return bool(_time(record) or _level(record) or "stream_name" in record)


def _line(record: dict[str, Any]) -> str | None:
    """The lines of a record; None if it has no message."""
    found = _text(record)
    if found is None:
        return None
    text = found[0]
    if text.endswith(("\\r\\n", "\\n")):  # the serial consoles of Google Cloud escape twice (`is_text_escaped`)
        text = text.replace("\\r\\n", "\n").replace("\\n", "\n")
    if _is_of_mongo(record) and record.get("attr"):  # what the message is about
        text = f"{text} {json.dumps(record['attr'], ensure_ascii=False)}"
    traces = [v for name in TRACES if isinstance(v := record.get(name), str) and v.strip() not in text and "\n" in v]
    front = " ".join(p for p in (_time(record), _level(record)) if p)
    return "\n".join([f"{front} {text}".strip("\r\n") if front else text.strip("\r\n"), *(t.strip("\n") for t in traces)])


def _parsed(line: str | bytes) -> object:
    try:
        return parsed(line)
    except ValueError:
        return None


def _records(value: object) -> list[object]:
    """The records in a line: the line itself, or those of a batch of OpenTelemetry's collector."""
    if not isinstance(value, dict) or "resourceLogs" not in value:
        return [value]
    of_scopes = (scope for part in _lists(value, "resourceLogs") for scope in _lists(part, "scopeLogs"))
    return [record for scope in of_scopes for record in _lists(scope, "logRecords")]


def _lists(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = value.get(name)
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def _recognises_lines(head: Head) -> bool:
    if not head.first.lstrip().startswith("{"):
        return False
    lines = [line.strip() for line in head.written[:PROBED_RECORDS]]
    if sum(x.startswith("{") for x in lines) < MIN_RECORD_SHARE * len(lines):
        return False
    return sum(any(map(_is_log, _records(_parsed(line)))) for line in lines) >= MIN_RECORD_SHARE * len(lines)


def _decode_lines(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    for number, line in numbered_lines(blocks):
        records = _records(_parsed(line)) if line.lstrip().startswith(b"{") else []
        texts = [text for record in records if isinstance(record, dict) and (text := _line(record)) is not None]
        if texts:
            yield number, 0, "\n".join(texts).encode("utf-8", "replace")
        elif line.strip():
            yield number, 0, line


def _decode_list(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    """A piece for each record. Kaggle splits a stream into chunks, which are joined until a line end."""
    first = next(blocks, b"")
    inside = JSON_LIST_PATTERN.match(first[:4096].decode("utf-8", "replace"))
    start, chunk = 0, ""
    for line, record, raw in objects(chain((first,), blocks), note, inside[1] if inside else None):
        text, name = _text(record) or ("", "")
        line += raw.count("\n", 0, max(0, raw.find(f'"{name}"')))
        if "stream_name" not in record:
            if text := _line(record) or "":
                yield line, 0, text.encode("utf-8", "replace")
            continue
        start, chunk = (start, chunk + text) if chunk else (line, text)
        if chunk.endswith("\n") or len(chunk) > limits.current.line:
            yield start, 0, chunk.removesuffix("\n").encode("utf-8", "replace")
            chunk = ""
    if chunk:
        yield start, 0, chunk.encode("utf-8", "replace")


def _recognises_list(head: Head) -> bool:
    inside = JSON_LIST_PATTERN.match(head.text[:4096])
    if not inside:
        return False
    try:
        begin = inside.end() + len(head.text[inside.end() :]) - len(head.text[inside.end() :].lstrip())
        record, _ = json.JSONDecoder().raw_decode(head.text, begin)
    except (ValueError, RecursionError):
        return False
    return _is_log(fields_of(record) if isinstance(record, list) else record)


SAMPLE_LINE = b'{"time":"2026-08-22T03:00:07.123Z","level":"error","msg":"Killed"}\n'
CHUNK = b'[{"stream_name":"stderr","time":12.3,"data":"Killed\\n"}\n]\n'
FORMATS = (
    Format("json lines", _recognises_lines, _decode_lines, SAMPLE_LINE, rank=60, falls=MIN_FALLS_OF_PIECES),
    Format("json list", _recognises_list, _decode_list, CHUNK, rank=60, falls=MIN_FALLS_OF_PIECES),
)
