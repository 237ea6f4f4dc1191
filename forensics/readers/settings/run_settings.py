"""Settings of a run in its log: batch size, workers, gradient accumulation.

Namespace(batch_size=12800, lr=0.1, workers=8)               -> batch_size 12800, workers 8
Instantaneous batch size per device = 8                      -> batch_size 8
***** Running Evaluation ***** ...   Batch size = 16         -> eval_batch_size 16
python train.py --batch-size 64 --num-workers=4              -> batch_size 64, workers 4
forensics run: limits of the command: address space 2929.7 MiB, open files 64   -> address_space_mib 2929.7, open_files_limit 64
forensics run: the host counted no memory kill; at least 97 % of its 23.5 GiB were available           -> host_free_percent 97
"""

from collections.abc import Iterable, Iterator

from forensics.core import lazy
from forensics.data_files.named_parts import every_value
from forensics.model import Habit, Region, Scan, Trigger
from forensics.readers.programs.code import PLAIN_SETTING_PATTERN, SETTING_OF_NAME

TRIGGER = Trigger("run_settings", of="run settings", before=3)
EVALUATION_START_PATTERN = lazy.regex(r"\*{3,5} ?Running (?:Evaluation|Prediction)\b")  # of transformers' Trainer


def run_settings(scans: Iterable[Scan]) -> tuple[Habit, ...]:
    """Each distinct setting with its last line."""
    found: dict[tuple[str, float | None], Habit] = {}
    for scan in scans:
        if scan.source.code is None:
            found |= {(r.kind, r.value): r for r in _of(scan)}
    return tuple(found.values())


def _of(scan: Scan) -> Iterator[Habit]:
    for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number):
        line, quote = scan.source.number_of(region.number), region.text[:4000].strip()[:200]
        yield from (Habit(kind, scan.source.name, line, quote, value) for kind, value in read(region))


def _kind(kind: str, region: Region) -> str:
    """`kind`, or that of an evaluation where the heading above the line says that one begins."""
    starts = kind == "batch_size" and any(EVALUATION_START_PATTERN.search(line.text) for line in region.lines_before())
    return "eval_batch_size" if starts else kind


def read(region: Region) -> Iterator[tuple[str, float]]:
    """(name, value) of the settings in one line: `("batch_size", 64.0)`."""
    text = region.text[:4000]
    yield from ((_kind(kind, region), float(value)) for kind, value in every_value("run settings", text))
    for match in PLAIN_SETTING_PATTERN.finditer(text):
        name = SETTING_OF_NAME.get(match[1].lower().strip("-").replace("-", "_"))
        if name and len(match[1]) > 2:
            yield name, float(match[2])
