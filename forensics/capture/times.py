"""Times, durations and sizes as text; times are UTC with microseconds."""

from __future__ import annotations

import time


def time_text(moment: float) -> str:
    """1755831607.25 -> 2025-08-22T03:00:07.250000+00:00"""
    whole = int(moment // 1)
    micros = int((moment - whole) * 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{micros:06d}+00:00"


def local_zone(moment: float) -> str:
    """The zone of this process at a moment: UTC+02:00 (CEST). Times without a zone in the job's output are of this one."""
    local = time.localtime(moment)
    offset = time.strftime("%z", local) or "+0000"
    return f"UTC{offset[:3]}:{offset[3:5]} ({time.strftime('%Z', local)})"


def duration_text(seconds: float) -> str:
    """A duration for the reader: 12.3 s, 4 min 5 s, 3 h 20 min."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    if seconds < 5400:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
