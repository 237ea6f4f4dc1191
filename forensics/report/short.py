"""The text report cut to a number of bytes at the end of a line; its most important part comes first.

For small places: a container's termination message, the last lines of a job's output, an agent's answer.
"""

from forensics.model import Report
from forensics.report import Style, render

MESSAGE_BYTES = 4096  # of a container's termination message (kubernetes.io, determine-reason-pod-failure)
CUT_NOTE = "… the rest is left out\n"


def short(report: Report, most_bytes: int = MESSAGE_BYTES) -> str:
    """The first screen, the evidence, then as much of the rest as fits into `most_bytes` of UTF-8."""
    return cut_to(render(report, "text", Style()), most_bytes)


def cut_to(text: str, most_bytes: int) -> str:
    """The first lines of `text` that fit, and a note if some are left out."""
    if len(text.encode("utf-8", "replace")) <= most_bytes:
        return text
    room = most_bytes - len(CUT_NOTE.encode())
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        room -= len(line.encode("utf-8", "replace"))
        if room < 0:
            break
        kept.append(line)
    return "".join(kept).rstrip() + "\n" + CUT_NOTE
