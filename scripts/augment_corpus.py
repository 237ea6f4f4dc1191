"""Laid-out public logs to cases that they alone do not give: appended runs, a neighbour's kill, pieces of a service's log.

    python -m scripts.augment_corpus OUT          OUT: as scripts.lay_out_corpus made it

OUT/augmented: a failed run and a good one of trainings in one file, in both orders (the last one decides); a host's log with
another process's kill beside a job that ended well, one that failed of its own, and one that was cut in the midst.
OUT/pieces: 200 lines of healthy service logs. The seed is fixed.
"""

import argparse
import json
import random
import re
from pathlib import Path
from typing import Any

SEED = 11
KERNEL_LINE = re.compile(rb"^\[ *\d+\.\d{6}\] ", re.MULTILINE)  # as dmesg prints it: nobody's quotation
MAX_BYTES = 400_000  # of a log that is joined with another
PAIRS, NEIGHBOURS, CUT = 90, 90, 60
PIECE_LINES = 200
Label = dict[str, Any]


class Writer:
    """Writes cases and their labels into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.labels = folder, list[str]()

    def put(self, files: dict[str, bytes], like: Label, origin: str, **changed: object) -> None:
        """One case with `files`, labelled as `like` with what is `changed`."""
        name = f"{self.folder.name}-{len(self.labels) + 1:04d}"
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            (self.folder / name / file).write_bytes(data)
        self.labels.append(json.dumps({**like, "id": name, "repository": f"{origin} {like['repository']}", **changed}))

    def close(self) -> None:
        """Write the labels."""
        (self.folder / "labels.jsonl").write_text("\n".join(self.labels) + "\n", encoding="utf-8")
        print(f"{len(self.labels)} cases in {self.folder.name}")


def read(folder: Path) -> list[tuple[Label, Path, bytes]]:
    """Label, file and text of each case of one file."""
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    files = [(row, sorted((folder / row["id"]).iterdir())) for row in rows]
    return [(row, found[0], found[0].read_bytes()) for row, found in files if len(found) == 1]


def main() -> None:
    """Make both sets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    chance = random.Random(SEED)
    runs = [(row, file, text) for row, file, text in read(out / "bulk_training") if len(text) <= MAX_BYTES]
    good = [r for r in runs if r[0]["primary"] == "none.healthy"]
    bad = [r for r in runs if r[0]["primary"] not in (None, "none.healthy") and r[0]["outcome"] == "failed"]
    told = [r for r in read(out / "kernel") if str(r[0]["primary"]).startswith("host_memory.oom_")]
    kills = [(row, name, text[found.start() :]) for row, name, text in told if (found := KERNEL_LINE.search(text))]
    made = Writer(out / "augmented")
    for _ in range(PAIRS):
        (well, name, fine), (ill, other, broken) = chance.choice(good), chance.choice(bad)
        made.put({name.name: broken.rstrip(b"\n") + b"\n" + fine}, well, "appended")
        made.put({other.name: fine.rstrip(b"\n") + b"\n" + broken}, ill, "appended")
    for source, count in ((good, NEIGHBOURS), (bad, NEIGHBOURS)):
        for _ in range(count):
            (row, name, text), (_, _, kernel) = chance.choice(source), chance.choice(kills)
            made.put({name.name: text, "dmesg.txt": kernel}, row, "neighbour")
    for _ in range(CUT):
        (row, name, text), (killed, _, kernel) = chance.choice(good), chance.choice(kills)
        lines = text.split(b"\n")
        cut = b"\n".join(lines[: chance.randrange(len(lines) // 3, max(len(lines) // 3 + 1, len(lines) * 3 // 4))]) + b"\n"
        accept = ["host_memory.oom_global", "host_memory.oom_cgroup", "process.worker_died"]
        made.put({name.name: cut, "dmesg.txt": kernel}, row, "cut", primary=killed["primary"], accept=accept, outcome="failed")
    made.close()
    pieces = Writer(out / "pieces")
    for row, name, text in read(out / "bulk_other"):
        lines = text.split(b"\n")
        if row["primary"] == "none.healthy" and row["kind"] in ("service", "syslog", "journal") and len(lines) > PIECE_LINES:
            first = chance.randrange(len(lines) - PIECE_LINES)
            pieces.put({name.name: b"\n".join(lines[first : first + PIECE_LINES]) + b"\n"}, row, "piece of")
    pieces.close()


if __name__ == "__main__":
    main()
