"""OpenTelemetry: one log record, written by the SDK. `endpoint`: of a collector (OTLP over HTTP)."""

from collections.abc import Mapping
from typing import Any

from forensics.sinks.message import Message

SINK_ANSWER_S = 10.0  # chosen by hand, as that of a webhook


def send(message: Message, setting: Mapping[str, Any], exporter: Any = None) -> None:
    """Export one record; raises if the exporter does not take it. `exporter`: another one than that of `endpoint`."""
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk._logs.export import LogRecordExportResult
    from opentelemetry.sdk.resources import Resource

    if exporter is None:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

        exporter = OTLPLogExporter(endpoint=str(setting["endpoint"]), timeout=SINK_ANSWER_S)
    at = int(message.time * 1e9)
    attributes: dict[str, Any] = {
        "forensics.cause": message.cause,
        "forensics.id": message.id,
        "forensics.probability": message.probability,
    }
    record = LogRecord(
        timestamp=at, observed_timestamp=at, severity_text="ERROR", severity_number=SeverityNumber.ERROR,
        body=message.text, attributes=attributes, event_name="forensics.death",
    )  # fmt: skip
    resource = Resource({"service.name": "forensics", "host.name": message.node})
    if exporter.export([ReadableLogRecord(record, resource)]) is not LogRecordExportResult.SUCCESS:
        raise ConnectionError("the exporter did not take the record")
