"""Replays logs as streams and counts the warnings that `forensics run --warn` would have given of their losses.

    python benchmarks/live_warnings.py FOLDER... [--looks 200]

One line for each log that prints losses: its path, and of each warning at which share of its lines it comes, lines and steps before
the end, and what it says; `none` where all is well. Then how many logs were replayed, and the processor time of a look.
"""

import argparse
import re
import time
from collections.abc import Iterator
from pathlib import Path

from forensics.series.live import LiveNumbers

LOGS = {".log", ".txt", ".out", ".err", ""}
MAX_REPLAYED_BYTES = 64 << 20  # of one log
MIN_LOSSES = 16  # lines with numbers of a log that counts as a training
STEP_PATTERN = re.compile(rb"(?i)\b(?:step|iter(?:ation)?|epoch)\W{0,3}(\d+)")


def logs(folders: list[Path]) -> Iterator[Path]:
    """The files of the folders that look like logs."""
    for folder in folders:
        for path in sorted(folder.rglob("*") if folder.is_dir() else [folder]):
            if path.is_file() and path.suffix in LOGS and 0 < path.stat().st_size < MAX_REPLAYED_BYTES:
                yield path


def replayed(path: Path, looks: int) -> tuple[LiveNumbers, list[tuple[int, str]], int, float]:
    """The numbers of one log, (line, warning) of each warning, the most lines with numbers, and seconds for each look."""
    numbers, said, lines = LiveNumbers(), [], path.read_bytes().splitlines(keepends=True)
    size, began, found = max(1, len(lines) // looks), time.process_time(), 0
    for at in range(0, len(lines), size):
        if new := numbers.take(b"".join(lines[at : at + size])):
            found += new
            said += [(min(at + size, len(lines)), text) for text in numbers.warnings()]
    return numbers, said, found, (time.process_time() - began) / max(1, len(lines) // size)


def main() -> None:
    """Replay and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--looks", type=int, default=200)
    asked = parser.parse_args()
    count = with_losses = warned = 0
    slowest = 0.0
    for path in logs(asked.folders):
        _, said, found, seconds = replayed(path, asked.looks)
        count, with_losses, warned, slowest = (
            count + 1,
            with_losses + (found >= MIN_LOSSES),
            warned + bool(said),
            max(slowest, seconds),
        )
        if found >= MIN_LOSSES and not said:
            print(f"{path}\tnone", flush=True)
        rows = path.read_bytes().splitlines() if said else []
        for line, text in said:
            steps = [int(m[1]) for m in map(STEP_PATTERN.search, rows[line:]) if m]
            print(f"{path}\t{line / len(rows):.2f}\t{len(rows) - line} lines\t{len(set(steps))} steps\t{text}", flush=True)
    print(f"{count} logs, {with_losses} with losses, {warned} warned; the slowest log took {slowest * 1000:.1f} ms a look")


if __name__ == "__main__":
    main()
