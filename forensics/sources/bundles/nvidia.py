"""nvidia-bug-report.log to its sections, which have a format each: the driver's version, dmesg, journalctl, nvidia-smi -q, ...

    ____________________________________________

    *** /proc/driver/nvidia/version
    *** ls: -r--r--r-- 1 root root 0 2026-08-22 03:00:33 +0000 /proc/driver/nvidia/version
    NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  ...

becomes `nvidia-bug-report.log!*** /proc/driver/nvidia/version`. A title that occurs twice is numbered. (The marks are those of
nvidia-bug-report.sh, which every driver installs.)
"""

import contextlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

from forensics.core import lazy, limits
from forensics.core.text import printable
from forensics.model import Warn, Warning
from forensics.sources.blob import PACKING_PROBE_BYTES, Blob, first_bytes, read_blocks
from forensics.sources.lines import numbered_blocks
from forensics.sources.slices import Slices

BUNDLE_START = b"Start of NVIDIA bug report log file"
SECTION_RULE = b"____________________________________________"
SECTION_TITLE_PATTERN = lazy.regex(rb"^" + SECTION_RULE + rb"\r?\n(?:\r?\n)*([^\r\n_][^\r\n]*)", re.MULTILINE)
FIRST_SECTION = "the report itself"


def recognises(head: bytes) -> bool:
    """Is this the start of such a report?"""
    return BUNDLE_START in head[:4096] and SECTION_RULE in head


def sections(blob: Blob, warn: Warn) -> Iterator[tuple[Blob, bytes, int]]:
    """Each section as a blob, its first bytes and the number of its first line."""
    found = _found(blob)
    if len(found) > limits.current.sections:
        warn(Warning("limit", f"more than {limits.current.sections} sections; the last ones were read as one", blob.name))
        del found[limits.current.sections :]
    whole = Slices(blob.open, blob.budget.pool)
    ends = [start for start, _, _ in found[1:]] + [1 << 62]
    seen: Counter[str] = Counter()
    for (start, line, title), end in zip(found, ends, strict=True):
        seen[title] += 1
        name = f"{blob.name}!{title}" + (f" ({seen[title]})" if seen[title] > 1 else "")
        part = Blob(
            name, partial(whole.part, start, end - start, end == 1 << 62), blob.modified, blob.packing, budget=blob.budget
        )
        with contextlib.closing(part.open()) as file:
            yield part, first_bytes(file, PACKING_PROBE_BYTES), line


def _found(blob: Blob) -> list[tuple[int, int, str]]:
    """First byte, first line and title of each section, in order."""
    found = [(0, 1, FIRST_SECTION)]
    at = 0
    for number, _, block in numbered_blocks(read_blocks(blob, lambda _w: None)):
        for match in SECTION_TITLE_PATTERN.finditer(block):
            line = number + block.count(b"\n", 0, match.start())
            found.append((at + match.start(), line, printable(match[1].decode("utf-8", "replace").strip(), 120)))
        at += len(block) + 1
    return found
