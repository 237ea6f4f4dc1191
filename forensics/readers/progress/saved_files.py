"""What a run tells of the checkpoints and models that it saved.

Saved checkpoint at /runs/7/checkpoint_3500                                  -> "/runs/7/checkpoint_3500"
Epoch 5: val_iou improved from 0.04 to 0.08, saving model to best_unet.h5    -> "best_unet.h5"
SAVED CHECKPOINT @ EPOCH 15                                                  -> "the checkpoint of epoch 15"
"""

from collections.abc import Iterable

from forensics.data_files.named_parts import patterns_of
from forensics.model import Habit, Region, Scan, Trigger

TRIGGER = Trigger("saved_files", of="saved files")
PATTERNS = patterns_of("saved files")
MAX_SAVED_LINE_CHARS = 1000  # of a line; a path stands at its begin or behind its message


def saved_files(scans: Iterable[Scan]) -> tuple[Habit, ...]:
    """Each thing that was saved once, with the last line that tells it, in the order of those lines in each log."""
    found: dict[tuple[str, str], Habit] = {}
    for scan in scans:
        if scan.source.code is not None:
            continue
        for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number):
            if name := saved_in(region):
                found.pop((scan.source.name, name), None)
                found[scan.source.name, name] = Habit("saved", scan.source.name, scan.source.number_of(region.number), name)
    return tuple(found.values())


def saved_in(region: Region) -> str:
    """The file that a line tells as saved, or the step at which it was; empty for any other line."""
    text = region.text[:MAX_SAVED_LINE_CHARS]
    if not PATTERNS.saved.search(text) or PATTERNS.not_saved.search(text):
        return ""
    path = PATTERNS.saved_path.search(text)
    if path:
        return str(path["path"]).rstrip(".:")
    counted = PATTERNS.counted.search(text)
    return f"the checkpoint of {counted['counter'].lower()} {counted['count']}" if counted else ""
