"""Convert records of /dev/kmsg, and the JSON of dmesg, to the lines that `dmesg -r` prints.

    6,3964,206764307,-,caller=T1;nvidia-nvswitch2: open (major=510)  ->  <6>[  206.764307][   T1] nvidia-nvswitch2: open
     SUBSYSTEM=pci                                                       (says what device, left out)
    {"pri": 4, "time": 64.000000, "caller": "T5", "msg": "text"}     ->  <4>[   64.000000][   T5] text

A record is `priority,sequence,microseconds,flags;text`, with unprintable bytes as `\\x0a`. A gap in the sequence numbers means
that messages were lost. (Source: Documentation/ABI/testing/dev-kmsg of the Linux kernel.)
"""

import re
from collections.abc import Iterator

from forensics.core import lazy
from forensics.sources.formats.base import Format, Note
from forensics.sources.formats.documents import objects
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

KMSG_RECORD_PATTERN = lazy.regex(rb"\A(\d{1,6}),(\d{1,20}),(\d{1,20}),([^,;]*+)(?:,caller=([TC]\d{1,10}))?[^;]*+;(.*)", re.DOTALL)
KMSG_LINE_PATTERN = lazy.regex(r"\d{1,6},\d+,\d+,[-c+][^;]{0,60};")
HEX_ESCAPE_PATTERN = lazy.regex(rb"\\x([0-9a-f]{2})")
DMESG_JSON_PATTERN = lazy.regex(r'\A\s*\{\s*"dmesg"\s*:\s*\[')


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    last, lost, lost_at = -1, 0, 0
    for number, line in numbered_lines(blocks):
        record = KMSG_RECORD_PATTERN.match(line)
        if record is None:
            if line.strip() and not line.startswith(b" "):
                yield number, 0, line
            continue
        sequence = int(record[2])
        if 0 <= last < sequence - 1:
            lost, lost_at = lost + sequence - last - 1, lost_at or number
        last = sequence
        text = HEX_ESCAPE_PATTERN.sub(lambda m: bytes([int(m[1], 16)]), record[6])
        yield number, 0, _line(int(record[1]), int(record[3]) / 1e6, record[5], text)
    if lost:
        note("lost", f"{lost} kernel messages are missing, by their sequence numbers", lost_at)


def _line(priority: int, seconds: float, caller: bytes | None, text: bytes) -> bytes:
    who = b"[%6s]" % caller if caller else b""
    return b"<%d>[%12.6f]%s %s" % (priority, seconds, who, text.rstrip(b"\r\n"))


def _decode_json(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    for number, found, _ in objects(blocks, note, "dmesg"):
        time, text = found.get("time"), str(found.get("msg", "")).encode("utf-8", "replace")
        if isinstance(time, (int, float)) and abs(time) < 1e12:
            caller = str(found.get("caller", "")).encode()
            given = found.get("pri")
            priority = given if isinstance(given, int) and 0 <= given < 1 << 20 else 6
            yield number, 0, _line(priority, float(time), caller, text)
        else:  # dmesg was called with another --time-format
            yield number, 0, (f"[{time}] ".encode() if time else b"") + text


SAMPLE_RECORDS = b"6,3964,206764307,-;nvidia-nvswitch2: open (major=510)\n"
DOCUMENT = b'{\n   "dmesg": [\n      {"pri": 4, "time": 64.0, "msg": "text"}\n]}\n'
FORMATS = (
    Format("kmsg", lambda head: bool(KMSG_LINE_PATTERN.match(head.first.lstrip("\0"))), _decode, SAMPLE_RECORDS),
    Format("dmesg json", lambda head: bool(DMESG_JSON_PATTERN.match(head.text[:4096])), _decode_json, DOCUMENT, rank=20),
)
