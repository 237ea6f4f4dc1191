"""Observations of series, with the lines that show them.

The outcomes that series can show. signatures/records.yaml names the cause of each.

gpu_memory_grows -> gpu_memory.leak
"""

from collections.abc import Iterable, Mapping

from forensics.database import ProvenCause
from forensics.model import Line, Observation, Proof, Scan, Value, Weight
from forensics.readers.numbers.base import Reading, Series, stamp_of

RECORD = "series"  # the key of these outcomes in that file
GPU_MEMORY_GROWS, HOST_MEMORY_GROWS = "gpu_memory_grows", "host_memory_grows"
FREE_GPU_MEMORY_SINKS = "free_gpu_memory_sinks"  # in a log with failed allocations
GROWS_TO_LIMIT = "grows_to_limit"  # the limit may be in another source
NOT_FINITE = "not_finite"
THROTTLED, STARVED, SILENT = "throttled", "starved", "silent"
WAITS_FOR_DATA, WAITS_FOR_PEERS = "waits_for_data", "waits_for_peers"
OUTCOMES = (
    *(GPU_MEMORY_GROWS, HOST_MEMORY_GROWS, FREE_GPU_MEMORY_SINKS, GROWS_TO_LIMIT, NOT_FINITE),
    *(THROTTLED, STARVED, SILENT, WAITS_FOR_DATA, WAITS_FOR_PEERS),
)
Proves = Mapping[str, ProvenCause]  # by outcome


def distinct_lines(readings: Iterable[Reading]) -> list[Line]:
    """The lines of `readings`, each once."""
    return [Line(n, t) for n, t in dict.fromkeys((r.line, r.text) for r in readings)]


def series_observation(
    scan: Scan, kind: str, cause: str | None, weight: Weight, lines: Iterable[Line], fields: Mapping[str, Value], count: int
) -> Observation:
    """An Observation with `lines` as its proofs, the best evidence first. Its timestamp is that of the last line that has one."""
    quoted = list(lines)
    ordered = sorted(quoted, key=lambda x: x.number)
    return Observation(
        kind=f"series/{kind}",
        cause=cause,
        weight=weight,
        source=scan.source.name,
        line=ordered[0].number,
        last_line=ordered[-1].number,
        proofs=tuple(Proof(scan.source.name, x.number, x.text, f"series/{kind}", weight) for x in quoted),
        fields=fields,
        count=count,
        stamp=next((s for x in reversed(ordered) if (s := stamp_of(x.text))), None),
    )


def scope_fields(series: Series) -> dict[str, Value]:
    """The scope of a series as fields: `rank 3, gpu 0` -> rank, gpu."""
    pairs = (part.split(" ") for part in series.scope.split(", ") if " " in part)
    named = {"device": "gpu", "cuda": "gpu"}
    return {named.get(k, k): int(v[:18]) for k, v in pairs if k in ("rank", "gpu", "cuda", "device", "pid") and v.isdigit()}
