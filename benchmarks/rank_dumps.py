"""Dumps of a hung job of many ranks, and what it takes to read them: `python -m benchmarks.rank_dumps FOLDER [RANKS [CALLS]]`.

They have the form in which PyTorch writes them: pickle's protocol 2, in which a text or a frame that comes again is a mark of the
memo. One rank does not make the last call, in which all others wait.
"""

import pickle
import resource
import struct
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

START_NS = 1_795_897_461_000_000_000
FRAMES = [{"name": f"call_{n}", "filename": f"/run/lib_{n % 5}.py", "line": 10 * n + 1} for n in range(60)]
FRAME_IDS = set(map(id, FRAMES))
STACKS = [[FRAMES[(7 * stack + depth) % 60] for depth in range(12)] for stack in range(8)]
DISTINCT = 16  # all others are copies of these: to make one takes longer than to read it
GROUPS = (("0", "default_pg"), ("7", "dp"))


class _Written:
    """A pickle as PyTorch's own writer makes it."""

    def __init__(self) -> None:
        self.parts, self.memo = [b"\x80\x02"], dict[Any, int]()

    def add(self, value: Any) -> None:
        """Append a value: texts and frames once each, everything else each time."""
        key = value if isinstance(value, str) else id(value) if id(value) in FRAME_IDS else None
        if key in self.memo:
            self._mark(b"hj", self.memo[key])
            return
        if isinstance(value, str):
            self.parts.append(b"X" + struct.pack("<I", len(value)) + value.encode())
        elif isinstance(value, dict):
            self._filled(b"}", (one for pair in value.items() for one in pair), b"u")
        elif isinstance(value, list):
            self._filled(b"]", value, b"e")
        elif isinstance(value, tuple):
            self._filled(b"", value, b"\x86", mark=b"")
        else:
            self.parts.append(pickle.dumps(value, 2)[2:-1])
        if key is not None:
            self.memo[key] = len(self.memo)
            self._mark(b"qr", self.memo[key])

    def _filled(self, empty: bytes, values: Iterable[Any], end: bytes, mark: bytes = b"(") -> None:
        self.parts.append(empty + mark)
        for one in values:
            self.add(one)
        self.parts.append(end)

    def _mark(self, operations: bytes, number: int) -> None:
        short = number < 256
        self.parts.append(operations[:1] + bytes([number]) if short else operations[1:] + struct.pack("<I", number))


def dump(rank: int, ranks: int, calls: int, stays_away: bool) -> bytes:
    """The dump of one rank that waits in its last call, or does not make it."""
    config = {name: {"name": name, "desc": title, "ranks": str(list(range(ranks)))} for name, title in GROUPS}
    entries = [_entry(n, rank, n == calls - 1) for n in range(calls - stays_away)]
    written = _Written()
    written.add({"version": "2.10", "pg_config": config, "pg_status": {}, "entries": entries})
    return b"".join(written.parts) + b"."


def _entry(number: int, rank: int, waits: bool) -> dict[str, Any]:
    begun = START_NS + number * 10_000_000 + 1_000 * rank
    return {
        "frames": STACKS[number % 8],
        "record_id": number,
        "pg_id": number % 2,
        "process_group": GROUPS[number % 2],
        "thread_name": "python",
        "thread_id": "140234",
        "collective_seq_id": number // 2 + 1,
        "p2p_seq_id": 0,
        "op_id": number // 2 + 1,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": begun,
        "input_sizes": [[1024 + number % 8, 512]],
        "input_dtypes": ["Float"],
        "output_sizes": [[1024 + number % 8, 512]],
        "output_dtypes": ["Float"],
        "state": "started" if waits else "completed",
        "time_discovered_started_ns": begun + 5_000,
        "time_discovered_completed_ns": None if waits else begun + 500_000,
        "retired": not waits,
        "timeout_ms": 600_000,
        "is_p2p": False,
    }


def main() -> None:
    """Write the dumps where there are none, and tell what `forensics ranks` needs for them."""
    folder, *numbers = sys.argv[1:]
    ranks, calls = [*map(int, numbers), *(1024, 2000)[len(numbers) :]]
    if not Path(folder).exists():
        Path(folder).mkdir(parents=True)
        odd, whole = dump(0, ranks, calls, True), [dump(rank, ranks, calls, False) for rank in range(DISTINCT)]
        for rank in range(ranks):
            (Path(folder) / f"rank_{rank}").write_bytes(odd if rank == ranks // 3 else whole[rank % DISTINCT])
    begun = time.perf_counter()
    told = subprocess.run(["forensics", "ranks", folder], capture_output=True, text=True, check=True).stdout
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(told[:400])
    print(f"{time.perf_counter() - begun:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor, {used.ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
