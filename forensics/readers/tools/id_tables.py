"""Read lines that name one thing by several ids: tables of GPUs and of ranks. They are no evidence; they link evidence.

    gpu-7:4711:4790 [3] NCCL INFO comm 0x5d0 rank 3 nranks 8 cudaDev 3 busId cb000 - Init COMPLETE
        -> host gpu-7, pid 4711, rank 3, GPU 3, PCI 0000:cb:00
    |   3  NVIDIA A100-SXM4-80GB      On  |   00000000:CB:00.0 Off |      0 |      -> GPU 3, PCI 0000:cb:00
    |    3   N/A  N/A     4711      C   python                 1000MiB |          -> GPU 3, pid 4711
    GPU 3: NVIDIA A100-SXM4-80GB (UUID: GPU-5d2c...)                              -> GPU 3, UUID
      rank      : 3 (local_rank: 3)  ...  exitcode  : -15 (pid: 4711)             -> rank 3, pid 4711

Layouts: NCCL's init.cc since 2.4, nvidia-smi since 450, torchelastic's ChildFailedError.format_msg.

Find the pids of a log's program and its processes, as its first and last lines name them.

2026-11-21 16:24:10,774 INFO train: pid 10578 trains for 240 steps      -> 10578
rank 3 pid 10581 ready                                                  -> 10581, which is rank 3
W1121 16:23:25.516000 10262 torch/distributed/elastic/...               -> 10262
rank 4: nothing to do                                                   -> rank 4 and that line
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from forensics.core.shapes import ShapeTest
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix, prefixes
from forensics.line_formats.common_label import label_prefix
from forensics.model import Line, Region, Scan, Trigger
from forensics.readers.base import sampled_blocks
from forensics.readers.identity import entity_ids
from forensics.readers.identity.entity_ids import ROW_STATES, EntityIds, job_of_row

TRIGGERS = (
    Trigger("id_table", ("cudadev ", "(uuid: gpu-", "(local_rank: "), before=1, after=2, thin=True),
    Trigger("id_table", ("| nvidia-smi ",), after=60, thin=True),
)
PATTERNS = patterns_of("id tables")
MAX_TABLE_LINES = 20_000  # lines with mappings, in all sources together


class IdMapping(Struct, frozen=True):
    """A line that names one thing by several ids."""

    line: int
    ids: EntityIds


def read_id_mappings(scans: Iterable[Scan]) -> list[IdMapping]:
    """All mappings, in order of source and line, each once; at most MAX_TABLE_LINES."""
    found: dict[EntityIds, IdMapping] = {}
    for scan in scans:
        for region in scan.regions.get(TRIGGERS[0].kind, ()):
            for line, row in _read(region, scan.source.name):
                found.setdefault(row, IdMapping(scan.source.number_of(line.number), row))
            if len(found) >= MAX_TABLE_LINES:
                break
    return list(found.values())


def _read(region: Region, source: str) -> Iterator[tuple[Line, EntityIds]]:
    own, prefix = region.line, parse_prefix(region.text)
    if nccl := PATTERNS.nccl.search(prefix.message):
        host, bus = entity_ids.normalise_host(prefix.host or ""), entity_ids.bus_id(nccl["bus"])
        yield own, EntityIds(source, host, pid=prefix.pid or 0, rank=int(nccl["rank"]), gpu=int(nccl["gpu"]), pci=bus)
    elif listed := PATTERNS.smi_list.search(prefix.message):
        yield own, EntityIds(source, gpu=int(listed["gpu"]), uuid=listed["uuid"].lower())
    elif ranks := PATTERNS.elastic_rank.match(prefix.message):
        yield from _rank(own, ranks, region, source)
    elif "NVIDIA-SMI" in prefix.message:
        yield from _table(region.lines_after(), source)


def _rank(own: Line, ranks: re.Match[str], region: Region, source: str) -> Iterator[tuple[Line, EntityIds]]:
    """One row of torchelastic's table: the host is before the rank, the pid after it."""
    pid = next((m["pid"] for x in region.lines_after()[:2] if (m := PATTERNS.pid.match(parse_prefix(x.text).message))), None)
    above = (PATTERNS.elastic_host.match(parse_prefix(x.text).message) for x in region.lines_before())
    host = next((m["host"] for m in above if m), "")
    if pid:
        rank, local = int(ranks["rank"]), int(ranks["local_rank"])
        yield own, EntityIds(source, entity_ids.normalise_host(host), pid=int(pid), rank=rank, local_rank=local)


def _table(lines: Iterable[Line], source: str) -> Iterator[tuple[Line, EntityIds]]:
    """The rows of one nvidia-smi, up to the next or to the end of its frame."""
    for line in lines:
        text = parse_prefix(line.text).message
        if "NVIDIA-SMI" in text or not re.match(r"[|+\s]", text + " "):
            return
        row, process = PATTERNS.smi_gpu_row.match(text), PATTERNS.smi_process.match(text)
        if row:
            yield line, EntityIds(source, gpu=int(row["gpu"]), pci=entity_ids.normalise_pci(row["pci"]))
        elif process:
            yield line, EntityIds(source, gpu=int(process["gpu"]), pid=int(process["pid"]))


def program_pids(scan: Scan) -> frozenset[int]:
    """The pids in the first and last lines of the log."""
    own = label_prefix(scan.source.label).pid
    found = {own} if own else set[int]()
    later = () if scan.tail is scan.head else [line for line in scan.tail if line.number > len(scan.head)]
    parsed = [*prefixes(scan.head), *(parse_prefix(line.text) for line in later)]
    found.update([prefix.pid for prefix in parsed if prefix.pid])
    if _has_pid_word("\n".join([line.text for line in (*scan.head, *later)])):  # in most logs no line has one of the words
        said = [prefix.message for prefix in parsed if _has_pid_word(prefix.message)]
        found.update(int(m["pid"]) for text in said for m in PATTERNS.pid_phrase.finditer(text))
    return frozenset(found)


MAY_BE_ROW = ShapeTest(lambda shape: any(map(shape.__contains__, ROW_STATES)))


def is_account(scan: Scan) -> bool:
    """Are rows of several jobs among its first lines, as sacct prints them?"""
    if not any(MAY_BE_ROW.among(block.distinct) for block in sampled_blocks(scan)):
        return False
    return len({job_of_row(line.text) for line in scan.head} - {""}) > 1


def ranks_by_pid(scans: Iterable[Scan]) -> dict[int, int]:
    """The rank of each pid that first lines tell together, if they tell one rank of it."""
    found: dict[int, set[int]] = {}
    for line in (line for scan in scans for line in scan.head if _has_pid_word(line.text)):
        told, pid = PATTERNS.rank_phrase.findall(line.text), PATTERNS.pid_phrase.findall(line.text)
        if len(told) == len(pid) == 1:
            found.setdefault(int(pid[0]), set()).add(int(told[0]))
    return {pid: ranks.pop() for pid, ranks in found.items() if len(ranks) == 1}


def last_lines_of_ranks(scans: Iterable[Scan]) -> dict[int, tuple[str, Line]]:
    """The source and the last line, of the first and last ones of logs, that names a rank and no other one."""
    found: dict[int, tuple[str, Line]] = {}
    for scan in scans:
        for line in {line.number: line for line in (*scan.head, *scan.tail)}.values():
            told = set(PATTERNS.rank_phrase.findall(line.text))
            if len(told) == 1:
                found[int(told.pop())] = scan.source.name, line
    return found


def _has_pid_word(text: str) -> bool:
    low = text.lower()
    return "pid" in low or "process" in low
