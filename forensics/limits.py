"""How much of what it is given the program takes in: one place for all bounds, each with its unit and its reason.

    $FORENSICS_LIMIT_FILES=500000        limits: {files: 500000}   (config.yaml)       ->   Limits(files=500000, ...)

A bound that is reached is a Warning of the report. `current` holds those in force; `use` sets them once, before anything is read.
The names are those of the table in SECURITY.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZE = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,6})?) ?(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": GIB << 10}


def _limit(default: Any, unit: str, what: str) -> Any:
    return field(default=default, metadata={"unit": unit, "what": what})


@dataclass(frozen=True, slots=True)
class Limits:
    """All bounds; what each is of, and its unit, stand in its metadata and in the table of SECURITY.md."""

    files: int = _limit(20_000, "", "files below one folder; of more, those called like logs first, then the newest")
    members: int = _limit(20_000, "", "members of one archive")
    archives: int = _limit(2, "", "archives inside each other")
    packings: int = _limit(4, "", "compressions over each other, as in a.gz.xz.zst")
    ratio: int = _limit(
        1000,
        "times",
        "growth when unpacked, past `free`; real logs shrink 5 to 200 times",
    )
    free: int = _limit(256 * MIB, "bytes", "may be unpacked at any ratio")
    unpacked: int = _limit(256 * GIB, "bytes", "one stream or member when unpacked")
    window: int = _limit(128 * MIB, "bytes", "memory that a zstd or xz stream may ask for")
    stdin: int = _limit(512 * MIB, "bytes", "an archive on standard input, held in memory")
    inner_zip: int = _limit(64 * MIB, "bytes", "a zip that cannot be sought in, as inside another archive, held in memory")
    document: int = _limit(256 * MIB, "bytes", "a JSON document or a panic from the firmware's store, held in memory")
    depth: int = _limit(200, "", "levels of a JSON document whose values are looked at; a notebook and a pod nest some ten deep")
    journal: int = _limit(256 * MIB, "bytes", "a packed binary journal, held in memory; journald's own limit is 128 MiB")
    turned: int = _limit(256 * MIB, "bytes", "a log whose newest lines stand first, held in memory to be turned around")
    entry: int = _limit(16 * MIB, "bytes", "one entry of a journal as JSON")
    field: int = _limit(64 * MIB, "bytes", "one field of a journal's export; a core dump stored there is longer, and passed over")
    joined: int = _limit(MIB, "bytes", "one line that a container runtime cut into records")
    sections: int = _limit(2000, "", "sections of an nvidia-bug-report")
    line: int = _limit(16 * MIB, "bytes", "part of a line that is held together; a longer line is read in such parts")
    text: int = _limit(16 * KIB, "bytes", "part of a line that is looked at, around what was found in it")
    confirm: float = _limit(0.2, "s", "confirmation of one pattern on one line")
    slow_lines: int = _limit(3, "", "lines of one source on which a signature may run out of time before it is given up there")
    cause_files: int = _limit(2000, "", "files of one folder of signatures")
    cause_file: int = _limit(MIB, "bytes", "one file of signatures")
    moments: int = _limit(500, "", "entries of a report's timeline")
    incidents: int = _limit(50, "", "incidents of a report")


current = Limits()


def use(limits: Limits) -> None:
    """Put `limits` in force for this process."""
    global current
    current = limits


def names() -> list[str]:
    """Those of all limits, in order."""
    return [f.name for f in fields(Limits)]


def changed(base: Limits, given: Mapping[str, object]) -> Limits:
    """`base` with the values of `given`; raises ValueError, one sentence, for a name or value that cannot be."""
    known = {f.name: f.type for f in fields(Limits)}
    values: dict[str, float] = {}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"unknown limit {name[:40]}; known are {', '.join(sorted(known))}")
        number = _number(name, value)
        values[name] = number if known[name] is float else int(number)
    return replace(base, **values)  # type: ignore[arg-type]


def table(limits: Limits) -> list[tuple[str, str, str]]:
    """(name, value with its unit, what it bounds) of each, in order: `("line", "16 MiB", "part of a line that ...")`."""
    return [(f.name, told(getattr(limits, f.name), f.metadata["unit"]), f.metadata["what"]) for f in fields(limits)]


def told(value: float, unit: str) -> str:
    """`16 MiB`, `100,000`, `0.2 s`: bytes in the largest unit that leaves them whole."""
    if unit != "bytes":
        return f"{value:,} {unit}".strip()
    name, size = next((n, s) for n, s in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB), ("bytes", 1)) if value % s == 0)
    return f"{value // size:,} {name}"


def _number(name: str, value: object) -> float:
    found = SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    number = float(found["number"]) * UNITS[found["unit"].upper()] if found else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1 << 62:
        raise ValueError(f"limit {name} must be a number above 0, or a size such as 512 MiB, found {str(value)[:40]!r}")
    return number
