"""Find the pids of a log's program and its processes, as its first and last lines name them.

2026-11-21 16:24:10,774 INFO train: pid 10578 trains for 240 steps      -> 10578
W1121 16:23:25.516000 10262 torch/distributed/elastic/...               -> 10262
"""

from forensics.core import lazy
from forensics.line_formats import parse_prefix
from forensics.line_formats.common_label import label_prefix
from forensics.model import Scan

PID_PHRASE_PATTERN = lazy.regex(r"(?i)\b(?:pid|process(?: id)?)(?: is)?[ =:#]{1,3}\[?(?P<pid>\d{1,10})\b")


def program_pids(scan: Scan) -> frozenset[int]:
    """The pids in the first and last lines of the log."""
    own = label_prefix(scan.source.label).pid
    found = {own} if own else set[int]()
    texts = {line.number: line.text for line in (*scan.head, *scan.tail)}.values()
    are_named = _has_pid_word("\n".join(texts))  # in most logs no line has one of the words
    for text in texts:
        prefix = parse_prefix(text)
        if prefix.pid:
            found.add(prefix.pid)
        if are_named and _has_pid_word(prefix.message):
            found.update(int(m["pid"]) for m in PID_PHRASE_PATTERN.finditer(prefix.message))
    return frozenset(found)


def _has_pid_word(text: str) -> bool:
    low = text.lower()
    return "pid" in low or "process" in low
