"""A GPU that was lost without an Xid: the driver prints one sentence on two or three lines.

    [14387.209961] NVRM: The NVIDIA GPU 0000:5d:00.0
                   NVRM: (PCI ID: 10de:2330) installed in this system has
                   NVRM: fallen off the bus and is not responding to commands.

The driver prints it in nv_check_gpu_state and at probe (open-gpu-kernel-modules src/nvidia/arch/nvalloc/unix/src/osapi.c). The
lines after the first have no timestamp in a kernel log. A journal adds one to each line, and some log collectors join them.
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger, Value
from forensics.readers.base import Record

TRIGGER = Trigger("fallen_gpu", ("installed in this system has",), before=2, after=2)
PATTERNS = patterns_of("fallen gpu")
FALLEN = "fallen off the bus"
LOST = "lost"
OUTCOMES = (LOST,)


def read(region: Region) -> Record | None:
    """The record of the message around the region's line; None if the end of the message is missing."""
    before = region.lines_before()
    head = next((line for line in reversed(before) if PATTERNS.fallen_gpu.search(line.text)), None)
    own = region.line
    end = next((line for line in [own, *region.lines_after()] if FALLEN in line.text), None)
    if end is None or "NVRM" not in own.text:
        return None
    rows = [line for line in [*before, own, *region.lines_after()] if (head or own).number <= line.number <= end.number]
    text = "\n".join(line.text for line in rows)
    fields: dict[str, Value] = {}
    for pattern in (PATTERNS.fallen_gpu, PATTERNS.pci_id):
        if found := pattern.search(text):
            fields |= {k: v for k, v in found.groupdict().items() if v}
    quote = (end, *(line for line in rows if line != end))
    return Record("fallen_gpu", rows[0].number, end.number, LOST, "proof", quote, fields)
