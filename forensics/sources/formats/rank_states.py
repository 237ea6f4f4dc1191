"""The state of ranks as JSON becomes the text that the same tool prints by default, so one reader reads both.

    py-spy dump --json    [{"pid": 4711, "thread_name": "MainThread", "owns_gil": false, "frames": [{"name": "load", ...}]}]
        -> Thread 4711 (idle): "MainThread"
               load (data.py:88)
    ncclras -f json       {"nccl_version": "2.29.1", "communicators": [{"hash": ..., "ranks": [...], "missing_ranks": [...]}]}
        -> #0-0 (ae94423cfbb2ef4a) INCOMPLETE
             Missing communicator data from 1 rank
             Rank 1 -- GPU 1 managed by process 1524345 on node 172.16.64.245

Forms of py-spy 0.4 and of NCCL 2.28 to 2.30 (src/ras/client_support.cc).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from forensics.core import lazy
from forensics.sources.formats.base import Format, Note
from forensics.sources.formats.documents import parsed, whole
from forensics.sources.origin import Piece

SPY_PATTERN = lazy.regex(r'\A\s*\[\s*\{\s*"pid"\s*:\s*\d+\s*,\s*"thread_id"\s*:')
RAS_PATTERN = lazy.regex(r'\A\s*\{\s*"nccl_version"\s*:\s*"[^"]*"[\s\S]{0,400}?"communicators(?:_count)?"\s*:')
MAX_OUTLIERS = 64  # ranks of one communicator that are told one by one


def _decoder(lines_of: Callable[[Any], Iterator[str]]) -> Callable[[Iterator[bytes], Note], Iterator[Piece]]:
    def decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
        text = whole(blocks, note)
        try:
            lines = list(lines_of(parsed(text)))
        except (ValueError, AttributeError, TypeError, KeyError):
            note("damaged", "the document cannot be read", None)
            lines = text.rstrip("\n").split("\n")
        yield 1, 0, "\n".join(lines).encode("utf-8", "replace")

    return decode


def _spy_lines(document: Any) -> Iterator[str]:
    shown = None
    for thread in document:
        if thread["pid"] != shown:
            shown = thread["pid"]
            yield f"Process {shown}: {(thread.get('process_info') or {}).get('command_line', '')}".replace("\n", " ")
            yield ""
        state = ("active" if thread.get("active") else "idle") + ("+gil" if thread.get("owns_gil") else "")
        name = f': "{thread["thread_name"]}"' if thread.get("thread_name") else ""
        yield f"Thread {thread.get('os_thread_id') or thread['thread_id']} ({state}){name}"
        for frame in thread["frames"]:
            place = frame.get("filename") or frame.get("short_filename") or ""
            yield f"    {frame['name']} ({place}{':' + str(frame['line']) if frame.get('line') else ''})"


def _ras_lines(document: Any) -> Iterator[str]:
    yield f"NCCL version {document.get('nccl_version', '')}, RAS report of {document.get('timestamp', '')}"
    dead: dict[tuple[str, int], str] = {}
    for number, one in enumerate(document["communicators"]):
        missing, head = one.get("missing_ranks") or [], f"#{number}-0 ({str(one['hash']).removeprefix('0x')})"
        dead |= {(r["host"], r["pid"]): str(r["cuda_dev"]) for r in missing if (r.get("status") or {}).get("considered_dead")}
        if missing:
            yield f"{head} INCOMPLETE"
            yield f"  Missing communicator data from {len(missing)} rank{'s' * (len(missing) != 1)}"
            yield from (f"  Rank {r['rank']} -- {_whose(r)}" for r in missing[:MAX_OUTLIERS])
            yield ""
        yield from _mismatches(head, one.get("ranks") or [])
    if dead:
        yield "DEAD"
        is_one = len(dead) == 1
        yield f"  {len(dead)} job process{' is' if is_one else 'es are'} considered dead (unreachable via the RAS network)"
        yield from (f"  Process {pid} on node {host} managing GPU {gpu}" for (host, pid), gpu in dead.items())


def _mismatches(head: str, ranks: list[Any]) -> Iterator[str]:
    """The ranks that launched fewer or more operations of a kind than most did."""
    for kind in sorted({name for rank in ranks for name in rank.get("collective_counts") or {}}):
        counts = Counter(rank["collective_counts"].get(kind, 0) for rank in ranks)
        if len(counts) < 2:
            continue
        usual, many = counts.most_common(1)[0]
        yield f"{head} MISMATCH"
        yield f"  Communicator ranks have different {kind} operation counts"
        yield f"  {many} ranks have launched up to operation {usual}"
        others = [rank for rank in ranks if rank["collective_counts"].get(kind, 0) != usual]
        for rank in others[:MAX_OUTLIERS]:
            yield f"  Rank {rank['rank']} has launched up to operation {rank['collective_counts'].get(kind, 0)} -- {_whose(rank)}"
        yield ""


def _whose(rank: Any) -> str:
    return f"GPU {rank['cuda_dev']} managed by process {rank['pid']} on node {rank['host']}"


SPY_SAMPLE = b'[\n  {\n    "pid": 1,\n    "thread_id": 2,\n    "frames": []\n  }\n]\n'
RAS_SAMPLE = b'{\n  "nccl_version": "2.29.1",\n  "communicators_count": 0,\n  "communicators": []\n}\n'
FORMATS = (
    Format("py-spy json", lambda head: bool(SPY_PATTERN.match(head.text)), _decoder(_spy_lines), SPY_SAMPLE, rank=35),
    Format("ncclras json", lambda head: bool(RAS_PATTERN.match(head.text)), _decoder(_ras_lines), RAS_SAMPLE, rank=35),
)
