"""Named regex groups become typed fields, by the suffix of the name: sizes in bytes, times in seconds, counts as integers.

{"limit_kb": "409600", "request_size": "20.00 GiB", "pid": "4711"} -> {"limit_bytes": 419430400, "request_bytes": 21474836480,
"pid": 4711}
"""

from collections.abc import Mapping

from forensics.data_files.named_parts import patterns_of
from forensics.model import Value

# All units are powers of 1024: the kernel's kB and the frameworks' MB and GB are binary units. A page is 4096 bytes.
BYTES_BY_UNIT = {
    "kb": 1 << 10,
    "kib": 1 << 10,
    "mb": 1 << 20,
    "mib": 1 << 20,
    "gb": 1 << 30,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "pages": 4096,
}
PATTERNS = patterns_of("units")
MAX_NUMBER = 1e24  # larger than any size in bytes or time in seconds
INTEGERS = {
    "pid", "ppid", "uid", "rank", "local_rank", "world_size", "exit_code", "signal", "gpu", "xid", "sxid", "seq", "step_no",
    "epoch", "cpu", "line_no", "port", "status", "count", "kills", "order", "oom_score_adj", "invoker_pid",
    "child_no", "process_no",
}  # fmt: skip


def typed_fields(groups: Mapping[str, str]) -> dict[str, Value]:
    """The typed fields of named groups; empty groups are left out. A value that does not parse stays text, under its own name."""
    facts: dict[str, Value] = {}
    for name, text in groups.items():
        text = text.strip()
        if not text:
            continue
        stem, _, unit = name.rpartition("_")
        number = _number(text)
        if unit == "size" and name not in INTEGERS and (size := size_bytes(text)) is not None:
            facts[f"{stem}_bytes"] = size
        elif unit in BYTES_BY_UNIT and number is not None:
            facts[f"{stem}_bytes"] = round(number * BYTES_BY_UNIT[unit])
        elif unit == "bytes" and number is not None:
            facts[name] = round(number)
        elif unit == "ms" and number is not None:
            facts[f"{stem}_s"] = number / 1000
        elif unit == "s" and number is not None:
            facts[name] = number
        elif name in INTEGERS and text.lstrip("-").isdecimal():
            facts[name] = int(text[:19])
        else:
            facts[name] = text
    return facts


def size_bytes(text: str) -> int | None:
    """A size such as `20.00 GiB`, `512M`, `1234 bytes` or `1234`, in bytes; None if it does not parse."""
    found = PATTERNS.size_field.match(text)
    number = _number(found[1]) if found else None
    if found is None or number is None:
        return None
    return round(number * (1 << 10 * " kmgt".index(found[2].lower() or " ")))


def _number(text: str) -> float | None:
    """The number in `text`; None if it is no number, or too large for a size or a time (`inf`, 400 digits)."""
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return number if abs(number) < MAX_NUMBER else None
