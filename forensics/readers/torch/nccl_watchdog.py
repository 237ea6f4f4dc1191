"""Reads the lines that PyTorch's NCCL watchdog prints on each rank. One record tells the time-out and the rank that did not join.

    [rank1]:[E626 06:24:44 ...] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=808, OpType=ALLREDUCE,
        NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.
    [rank1]:[E626 ...] [PG ID 0 PG GUID 0(default_pg) Rank 1] ... at work: 808, last enqueued NCCL work: 811, last completed: 807

Wordings of torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp and TraceUtils.h, PyTorch 1.8 (no number), 1.9 (SeqNum), 2.2
(sizes, "watchdog thread terminated"), 2.3 ([rankN]: in front, last enqueued), 2.4 ([PG 1 Rank 0]), 2.5 (PG GUID), 2.6
("failure detected by watchdog at work sequence id"), later "last started work". All ranks write at the same time, so lines can
be joined, broken or out of order.

NCCL time-outs across several sources: torchrun writes one file for each rank, and each file has only its own rank's report.

rank_0/stderr.log, rank_1/stderr.log: waits in work 808, last enqueued 811      rank_2/stderr.log: last enqueued 807
    -> culprit_rank 2 on the events of all three
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from forensics.core.text import number_ranges
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Observation, Region, Stamp, Trigger, Value, Weight
from forensics.readers.base import Record
from forensics.readers.torch.culprit_rank import Report, find_culprit

TRIGGER = Trigger("nccl_watchdog", of="nccl watchdog", after=2)
PATTERNS = patterns_of("nccl watchdog")
TIMEOUT = "timeout"
OUTCOMES = (TIMEOUT,)
MAX_TIMEOUT_GAP_S = 1800.0  # a restarted job times out again no sooner than its time limit, usually 10 or 30 minutes
MAX_QUOTED_LINES = 12  # chosen by hand: one line for each of eight ranks of a node, and some more


def read(region: Region) -> Record | None:
    """The record of one line. Its fields are the raw numbers of the line; `join` combines them."""
    text = _unwrapped(region)
    fields: dict[str, Value] = {}
    for name, pattern in (
        ("caught", PATTERNS.timed_out_work),
        ("status", PATTERNS.group_status),
        ("dump", PATTERNS.dump_signal),
        ("dump", PATTERNS.aborted_communicator),
    ):
        found = pattern.search(text)
        if found:
            fields["says"] = fields.get("says", name)
            fields |= {k: _value(k, v) for k, v in found.groupdict().items() if v and k not in fields}
    if fields.get("says") == "dump" and (numbers := PATTERNS.last_work.search(text)):
        fields |= {k: int(v[:18]) for k, v in numbers.groupdict().items()}
    for name, pattern in (
        ("joined", PATTERNS.joined_ranks),
        ("stayed_away", PATTERNS.not_joined_ranks),
        ("stayed_away", PATTERNS.lagging_ranks),
    ):
        if found := pattern.search(text):
            fields |= {
                "says": name,
                "ranks": found["ranks"],
                **({"seq": int(found["seq"][:18])} if "seq" in found.groupdict() else {}),
            }
    if "says" not in fields and (other := PATTERNS.other_watchdog_error.search(text)):
        fields |= {"says": "error", "error": other["error"].strip()}
    if "says" not in fields:
        return None
    fields |= _who(text)
    weight: Weight = "proof" if fields["says"] == "caught" else "strong"
    return Record("nccl_watchdog", region.number, region.number, TIMEOUT, weight, (region.line,), fields)


def join(records: list[Record]) -> list[Record]:
    """One record for each time-out, from the lines of all ranks. A gap of more than MAX_TIMEOUT_GAP_S starts a new one."""
    groups: list[list[Record]] = []
    last: Stamp | None = None
    for record in records:
        stamp = parse_prefix(record.quote[0].text).stamp
        gap = stamp.seconds_after(last) if stamp and last else None
        if not groups or (gap is not None and abs(gap) > MAX_TIMEOUT_GAP_S):
            groups.append([])
        groups[-1].append(record)
        last = stamp or last
    return [joined for group in groups if (joined := _joined(group))]


def _joined(group: list[Record]) -> Record | None:
    """The time-out that these lines report. None if they report no time-out."""
    first = next((r for r in group if r.fields["says"] == "caught"), None)
    if first is None:
        first = next((r for r in group if r.fields["says"] != "error"), None)
    if first is None:
        return None
    found = find_culprit([_report(r) for r in group])
    status = next((r.fields for r in group if "last_enqueued" in r.fields and _same_rank(r, first)), {})
    hidden = ("says", "ranks", "error", "timeout_ms", "pg_rank")
    fields: dict[str, Value] = {k: v for k, v in (*status.items(), *first.fields.items()) if k not in hidden}
    if "timeout_ms" in first.fields:
        fields["timeout_s"] = int(first.fields["timeout_ms"]) / 1000
    inner = status.get("pg_rank", first.fields.get("pg_rank"))
    if inner is not None and inner != fields.get("rank"):
        fields["group_rank"] = inner
    fields |= found.fields
    heard = {r.fields.get("rank") for r in group}
    if len(heard - {None}) > 1:
        fields["reporting_ranks"] = number_ranges(rank for rank in heard if isinstance(rank, int))
    lines = {line.number: line for r in (first, *(group[i] for i in found.lines), *_one_a_rank(group)) for line in r.quote}
    return Record(
        kind="nccl_watchdog",
        first=min(r.first for r in group),
        last=max(r.last for r in group),
        outcome=TIMEOUT,
        weight=first.weight if first.fields["says"] != "status" else _status_weight(first),
        quote=tuple(lines.values())[:MAX_QUOTED_LINES],
        fields=fields,
    )


def _status_weight(record: Record) -> Weight:
    """ "Timeout at" always means a time-out. "Exception (either an error or timeout)" and "failure detected" may be errors."""
    return "strong" if "Timeout at" in record.quote[0].text else "hint"


def _one_a_rank(group: Iterable[Record]) -> list[Record]:
    """The first line of each kind of each rank."""
    seen: dict[object, Record] = {}
    for record in group:
        seen.setdefault((record.fields["says"], record.fields.get("rank")), record)
    return list(seen.values())


def _same_rank(record: Record, other: Record) -> bool:
    return record.fields.get("rank") == other.fields.get("rank") or "rank" not in other.fields


def _report(record: Record) -> Report:
    fields = record.fields

    def number(name: str) -> int | None:
        value = fields.get(name)
        return int(value) if value is not None else None

    return Report(
        says=str(fields["says"]),
        rank=number("rank"),
        group_rank=number("pg_rank"),
        group=str(fields.get("process_group", "")),
        seq=number("seq"),
        op=str(fields.get("op", "")),
        numel=(number("numel_in"), number("numel_out")),
        last_enqueued=number("last_enqueued"),
        first_rank=number("first_rank"),
        ranks=tuple(int(r) for r in str(fields.get("ranks", "")).replace(",", " ").split() if len(r) < 8),
        error=str(fields.get("error", "")),
    )


def _who(text: str) -> dict[str, Value]:
    """The rank (in the whole job if the line has it, else in the group), the rank in the group, and the group's name."""
    who: dict[str, Value] = {}
    group = PATTERNS.process_group.search(text)
    if group:
        who |= {"pg_rank": int(group["rank"][:9]), "rank": int(group["rank"][:9])}
        desc = group["desc"] or group["old_desc"]
        name = group["guid"] if group["guid"] is not None else group["old"]
        who["process_group"] = f"{name} ({desc})" if desc else name
    elif found := re.search(r"\[Rank (\d+)\]", text):
        who |= {"pg_rank": int(found[1][:9]), "rank": int(found[1][:9])}
    if found := PATTERNS.global_rank.search(text):
        who["rank"] = int(found[1][:9])
    return who


def _unwrapped(region: Region) -> str:
    """The region's line. The next line is added if a terminal or a log collector broke the line before its last number."""
    text = region.text
    if _whole(text):
        return text
    for line in region.lines_after()[:1]:
        for joined in (text + line.text, f"{text.rstrip()} {line.text.strip()}"):
            if _whole(joined):
                return joined
    return text


def _whole(text: str) -> bool:
    """Does each message that begins in `text` have all of its numbers?"""
    work, status = PATTERNS.timed_out_work.search(text), PATTERNS.group_status.search(text)
    if "collective operation timeout: Work" in text and not (work and work["timeout_ms"]):
        return False
    begun = "detected by watchdog at work" in text or "Timeout at NCCL work:" in text
    return not begun or bool(status and status["last_completed"])


def _value(name: str, text: str) -> Value:
    return text if name in ("op", "error") else int(text[:18])


NCCL_TIMEOUT_KIND = "nccl_watchdog"
DECIDED = ("culprit_rank", "culprit_ranks")


def merge_nccl_timeouts(events: Mapping[str, Sequence[Observation]]) -> dict[str, list[Observation]]:
    """`events`, by source. If several sources report one time-out, their events get the fields on the rank that did not join."""
    reports = [e for found in events.values() for e in found if e.kind == NCCL_TIMEOUT_KIND]
    if len({e.source for e in reports}) < 2:
        return {source: [*found] for source, found in events.items()}
    first_of_timeout: dict[int, Observation] = {}
    for group in _at_once(reports):
        if len({e.source for e in group}) < 2 or any(name in e.fields for e in group for name in DECIDED):
            continue
        decided = find_culprit([_report_of(e) for e in group]).fields
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
    gap = a.stamp.seconds_after(b.stamp) if a.stamp and b.stamp else None
    return gap is not None and abs(gap) > MAX_TIMEOUT_GAP_S


def _report_of(event: Observation) -> Report:
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
