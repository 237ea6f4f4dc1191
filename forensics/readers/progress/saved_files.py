"""What a run tells of the checkpoints and models that it saved, and from which one it went on.

Saved checkpoint at /runs/7/checkpoint_3500                                  -> "/runs/7/checkpoint_3500"
Epoch 5: val_iou improved from 0.04 to 0.08, saving model to best_unet.h5    -> "best_unet.h5"
SAVED CHECKPOINT @ EPOCH 15                                                  -> "the checkpoint of epoch 15"
resuming from ckpt/epoch_11.pt                                               -> it resumes by itself
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


def resumed_from(scans: Iterable[Scan]) -> Habit | None:
    """The last line that tells that a run went on from what an earlier one had saved."""
    regions = [(s, r) for s in scans if s.source.code is None for r in s.regions.get(TRIGGER.kind, ())]
    told = [(s, r) for s, r in regions if PATTERNS.resumed.search(r.text[:MAX_SAVED_LINE_CHARS])]
    scan, region = max(told, key=lambda x: x[1].number, default=(None, None))
    return Habit("resumed", scan.source.name, scan.source.number_of(region.number), "") if scan and region else None


def resumes(texts: Iterable[str]) -> bool:
    """Does one of these lines tell that a run went on from what an earlier one had saved?"""
    return any(PATTERNS.resumed.search(text[:MAX_SAVED_LINE_CHARS]) for text in texts)


def saved_in(region: Region) -> str:
    """The file that a line tells as saved, or the step at which it was; empty for any other line."""
    text = region.text[:MAX_SAVED_LINE_CHARS]
    if not PATTERNS.saved.search(text) or not PATTERNS.about_a_model.search(text) or PATTERNS.not_saved.search(text):
        return ""
    path = PATTERNS.saved_path.search(text)
    if path:
        return str(path["path"]).rstrip(".:")
    counted = PATTERNS.counted.search(text)
    return f"the checkpoint of {counted['counter'].lower()} {counted['count']}" if counted else ""
