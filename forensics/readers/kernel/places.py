"""Where the kernel's code was, and the task that ran, in the kernel's report of a fault.

RIP: 0010:ext4_writepages+0x1a/0x50      -> kernel_function ext4_writepages

What a line itself tells of the kernel: whether it wrote the line, and how long the machine ran then.

<6>[ 9120.213456] usb 1-1: new device          -> by the kernel, 9120.2 s after boot
Jun  2 10:05:31 gpu-04 kernel: Out of memory   -> by the kernel
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import MAX_FAULT_LINES, MAX_SENTENCE_LINES, Found

PATTERNS = patterns_of("kernel places")
HUNG_PANIC = "hung_task: blocked tasks"  # the watchdog's task ends the machine, not the one that hung


def kernel_place(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """Where the kernel's code was, and the task that ran, in its report of a fault; if a panic ended that, the first task that
    hung."""
    if HUNG_PANIC in proofs[0].text:
        hung = next(filter(None, map(PATTERNS.hung_task.search, lines[:at])), None)
        return {"task": hung["task"], "pid": int(hung["pid"]), "cpu": ""} if hung else {}
    if not PATTERNS.fault.search(proofs[0].text) or "kernel_function" in facts:
        return {}
    near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_FAULT_LINES]
    function = next(filter(None, map(PATTERNS.kernel_function.search, near)), None)
    task = next(filter(None, map(PATTERNS.on_cpu.search, near)), None)
    found: Found = {"kernel_function": function["function"]} if function else {}
    if {"task", "pid"} & facts.keys():
        return found
    return found | ({"running_task": f"{task['task']} (pid {task['pid']})"} if task else {})


def is_by_kernel(text: str) -> bool:
    """Did the kernel write the line?"""
    return PATTERNS.kernel_line.search(text) is not None


def uptime_s(text: str) -> float | None:
    """The seconds from boot that the line counts; None if it counts none."""
    found = PATTERNS.seconds_from_boot.search(text)
    return float(found[1]) if found else None
