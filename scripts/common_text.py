"""Counts which short texts are common in logs, and writes them to forensics/database/common.json.

    python -m scripts.common_text LOGS...

LOGS: folders of logs of any kind, the more and the more different the better. Of each file an equal share is read, so that no
long log speaks for all. A text of GRAM bytes that stands in many files is kept with how often it occurs in a megabyte; anchors
are derived from patterns so that they avoid such texts, see forensics/database/anchors.py.
"""

import argparse
import itertools
import json
import operator
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from forensics.database.anchors import COMMON_FILE, GRAM
from scripts.pieces import excerpts

MIN_PER_MB = 4.0  # rarer ones are not worth a row: a scan that stops every 250 KB costs little
MIN_FILES = 5  # texts that only a few logs hold are those logs' own words


def counted(logs: Iterable[tuple[Path, bytes]]) -> dict[str, int]:
    """Text of GRAM bytes in lower case -> occurrences in a megabyte of `logs`, those of MIN_PER_MB and more."""
    counts: Counter[bytes] = Counter()
    files: Counter[bytes] = Counter()
    size = 0
    for _, pieces in itertools.groupby(logs, key=operator.itemgetter(0)):
        of_file: Counter[bytes] = Counter()
        for _, piece in pieces:
            low = piece.lower()
            size += len(low)
            of_file.update(low[i : i + GRAM] for i in range(len(low) - GRAM + 1))
        counts.update(of_file)
        files.update(of_file.keys())
    megabytes = size / 1e6
    rates = {
        gram.decode(): round(count / megabytes)
        for gram, count in counts.items()
        if count / megabytes >= MIN_PER_MB and files[gram] >= MIN_FILES and gram.isascii() and gram.decode().isprintable()
    }
    return dict(sorted(rates.items()))


def main(argv: Sequence[str] | None = None) -> None:
    """Read the logs, count, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("logs", nargs="+", type=Path)
    rates = counted(excerpts(arguments.parse_args(argv).logs, random.Random(1)))
    COMMON_FILE.write_text(json.dumps(rates, indent=0) + "\n", encoding="utf-8")
    print(f"{len(rates)} texts")


if __name__ == "__main__":
    main()
