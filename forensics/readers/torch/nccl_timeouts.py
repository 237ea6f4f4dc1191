"""NCCL time-outs across several sources: torchrun writes one file for each rank, and each file has only its own rank's report.

rank_0/stderr.log, rank_1/stderr.log: waits in work 808, last enqueued 811      rank_2/stderr.log: last enqueued 807
    -> culprit_rank 2 on the events of all three
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from forensics.model import Observation, Value

if TYPE_CHECKING:
    from forensics.readers.torch.culprit_rank import Report

NCCL_TIMEOUT_KIND = "nccl_watchdog"
DECIDED = ("culprit_rank", "culprit_ranks")


def merge_nccl_timeouts(events: Mapping[str, Sequence[Observation]]) -> dict[str, list[Observation]]:
    """`events`, by source. If several sources report one time-out, their events get the fields on the rank that did not join."""
    reports = [e for found in events.values() for e in found if e.kind == NCCL_TIMEOUT_KIND]
    if len({e.source for e in reports}) < 2:
        return {source: [*found] for source, found in events.items()}
    from forensics.readers.torch.culprit_rank import find_culprit

    first_of_timeout: dict[int, Observation] = {}
    for group in _at_once(reports):
        if len({e.source for e in group}) < 2 or any(name in e.fields for e in group for name in DECIDED):
            continue
        decided = find_culprit([_report(e) for e in group]).fields
        # A rank that is missing in one file may report in another, so ranks that a single file lacks no longer count.
        stale = ("missing_ranks", "missing_reason")
        for event in group:
            fields: dict[str, Value] = {k: v for k, v in event.fields.items() if k not in stale}
            first_of_timeout[id(event)] = replace(event, fields={**fields, **decided})
    return {source: [first_of_timeout.get(id(e), e) for e in found] for source, found in events.items()}


def _at_once(reports: Sequence[Observation]) -> list[list[Observation]]:
    """Reports grouped by time-out. Each source gives its last report; reports with timestamps close together are one time-out."""
    groups: list[list[Observation]] = []
    for event in {e.source: e for e in reports}.values():
        near = next((g for g in groups if not _apart(g[0], event)), None)
        if near is None:
            groups.append([event])
        else:
            near.append(event)
    return groups


def _apart(a: Observation, b: Observation) -> bool:
    from forensics.readers.torch.nccl_watchdog import MAX_TIMEOUT_GAP_S

    gap = a.stamp.seconds_after(b.stamp) if a.stamp and b.stamp else None
    return gap is not None and abs(gap) > MAX_TIMEOUT_GAP_S


def _report(event: Observation) -> "Report":
    from forensics.readers.torch.culprit_rank import Report

    def number(name: str) -> int | None:
        value = event.fields.get(name)
        return value if isinstance(value, int) else None

    return Report(
        says="caught",
        rank=number("rank"),
        group_rank=number("group_rank") if "group_rank" in event.fields else number("rank"),
        group=str(event.fields.get("process_group", "")),
        seq=number("seq"),
        op=str(event.fields.get("op", "")),
        numel=(number("numel_in"), number("numel_out")),
        last_enqueued=number("last_enqueued"),
    )
