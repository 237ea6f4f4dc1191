"""Reads reports of NCCL's RAS (`ncclras`): processes that are dead, ranks that do not answer, ranks that are behind.

    DEAD
      1 job process is considered dead (unreachable via the RAS network)
      Process 3487984 on node 172.16.64.213 managing GPU 5
    #0-0 (cf264af53edbe986) INCOMPLETE
      Missing communicator data from 1 rank
      The missing rank: 21                     (to 2.25; later: Rank 21 -- GPU 5 managed by process 3487984 on node ...)
    #0-0 (27a079b828ff1a75) MISMATCH
      Communicator ranks have different AllReduce operation counts
      63 ranks have launched up to operation 6650
      Rank 3 has launched up to operation 6649 -- GPU 3 managed by process 483075 on node 172.16.64.210

Forms of src/ras/client_support.cc, NCCL 2.24 to 2.30. A process that is dead or silent is shown; counts that differ can be a
moment between two ranks, so they count only if a later report of the same source shows the same.
"""

import re
from collections import Counter

from forensics.core.text import number_ranges
from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Trigger, Value
from forensics.readers.base import Record

TRIGGER = Trigger("nccl_ras", of="nccl ras", before=1, after=66)
PATTERNS = patterns_of("nccl ras")
DEAD, SILENT, BEHIND = "dead", "silent", "behind"
OUTCOMES = (DEAD, SILENT, BEHIND)


def read(region: Region) -> Record | None:
    """One section of a report; None for one that names no rank and no process."""
    head = PATTERNS.section.search(region.text)
    if head is None:
        return None
    rows = _section(region)
    if "considered dead" in head[0]:
        found = [(line, m) for line in rows if (m := PATTERNS.ras_process.match(line.text))]
        return _record(region, DEAD, found, "NCCL's RAS considers it dead: it cannot be reached any more") if found else None
    if head["op"] is not None:
        return _behind(region, rows, head["op"])
    named = [(line, m) for line in rows if (m := PATTERNS.ras_rank.match(line.text) or PATTERNS.ras_missing.match(line.text))]
    return _record(region, SILENT, named, "it gives NCCL's RAS no answer") if named else None


def join(records: list[Record]) -> list[Record]:
    """Counts that differ are kept if two reports show the same ranks at the same numbers; the last one of each is kept."""
    shown = Counter(str(sorted(r.fields.items())) for r in records if r.outcome == BEHIND)
    kept = [r for r in records if r.outcome != BEHIND or shown[str(sorted(r.fields.items()))] > 1]
    last = {(r.outcome, str(sorted(r.fields.items()))): r for r in kept}
    return sorted(last.values(), key=lambda r: r.first)


def _section(region: Region) -> list[Line]:
    """The lines below the heading, up to an empty one."""
    rows = []
    for line in region.lines_after():
        if line.number > region.number and (not line.text.strip() or line.text.startswith("#")):
            break
        rows.append(line)
    return rows


def _behind(region: Region, rows: list[Line], op: str) -> Record | None:
    """The ranks that launched fewer operations than most did; where the fewer are not named, nothing is told."""
    usual = max((m for line in rows if (m := PATTERNS.ras_usual.match(line.text))), key=lambda m: int(m["ranks"]), default=None)
    most = int(usual["count"] or 0) if usual else -1
    named = [(line, m) for line in rows if (m := PATTERNS.ras_rank.match(line.text)) and int(m["count"] or 0) < most]
    if not named:
        return None
    counts = number_ranges(int(m["count"] or 0) for _, m in named)
    return _record(
        region,
        BEHIND,
        named,
        f"it launched {op} up to number {counts}, where {usual['ranks'] if usual else 0} ranks are at {most}",
    )


def _record(region: Region, outcome: str, found: "list[tuple[Line, re.Match[str]]]", reason: str) -> Record:
    rows = [m.groupdict() for _, m in found]
    ranks = [int(r) for row in rows for r in (row.get("ranks") or row.get("rank") or "").replace(",", " ").split()]
    fields: dict[str, Value] = {}
    whose = [f"process {row['pid']} on node {row['node']}, GPU {row['gpu']}" for row in rows if row.get("pid")]
    if len(whose) == 1:
        fields = {"pid": int(rows[0]["pid"]), "node": rows[0]["node"], "gpu": int(rows[0]["gpu"])}
    why = f"{reason}{' (' + whose[0] + ')' if len(whose) == 1 else ''}"
    if ranks:
        fields |= {"culprit_rank": ranks[0]} if len(ranks) == 1 else {"culprit_ranks": number_ranges(ranks)}
        fields["culprit_reason"] = why
    last = found[-1][0].number
    return Record("nccl_ras", region.number, last, outcome, "strong", (found[0][0], region.line), fields)
