"""Scans a log with so many of the package's signatures (more than there are: with varied anchors) in one thread.

python benchmarks/scan_some.py 500 train.log
"""

import sys
from pathlib import Path

from msgspec.structs import replace

from forensics.database import builtin_folder, read_folders
from forensics.database.compiled import assemble
from forensics.database.entries import Cause
from forensics.scan import Matcher, scan
from forensics.sources import open_paths


def some(count: int) -> list[Cause]:
    """The causes with `count` signatures in all; past those of the package, the same again under other anchors."""
    causes, _ = read_folders([builtin_folder()])
    left, taken, turn = count, list[Cause](), 0
    while left > 0:
        for cause in causes:
            share = cause.signatures[: max(1, round(count * len(cause.signatures) / 1300))] if count < 1300 else cause.signatures
            chosen = share[:left]
            if turn:
                chosen = tuple(
                    replace(s, name=f"{s.name}_{turn}", anchors=tuple(f"{turn}{a}" for a in s.anchors)) for s in chosen
                )
            taken.append(replace(cause, id=cause.id if not turn else f"{cause.id}_{turn}", signatures=tuple(chosen)))
            left -= len(chosen)
        turn += 1
    return taken


def main() -> None:
    """Scan the file."""
    database = assemble(some(int(sys.argv[1])), (), "")
    matcher = Matcher(database)
    for source in open_paths([Path(sys.argv[2])], print):
        print(scan(source, database, print, matcher).lines)


if __name__ == "__main__":
    main()
