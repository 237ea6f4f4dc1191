"""What a line itself tells of the kernel: whether it wrote the line, and how long the machine ran then.

<6>[ 9120.213456] usb 1-1: new device          -> by the kernel, 9120.2 s after boot
Jun  2 10:05:31 gpu-04 kernel: Out of memory   -> by the kernel
"""

from forensics.core import lazy

KERNEL_LINE_PATTERN = lazy.regex(
    r"^\W{0,3}\d{0,3}\W{0,3}\[ {0,8}\d{1,10}\.\d{1,9}\]|^.{0,90}\bkernel: "
    r"|^\[\w{3} \w{3} +\d+ [\d:]+ \d{4}\]|^\[ {0,4}\+\d+\.\d+\]"
)
SECONDS_FROM_BOOT_PATTERN = lazy.regex(r"\[ {0,8}(\d{1,10}\.\d{1,9})\]")


def is_by_kernel(text: str) -> bool:
    """Did the kernel write the line?"""
    return KERNEL_LINE_PATTERN.search(text) is not None


def uptime_s(text: str) -> float | None:
    """The seconds from boot that the line counts; None if it counts none."""
    found = SECONDS_FROM_BOOT_PATTERN.search(text)
    return float(found[1]) if found else None
