"""All limits on the input that the program reads, in one place, each with its unit and its reason.

    $FORENSICS_LIMIT_FILES=500000        limits: {files: 500000}   (config.yaml)       ->   Limits(files=500000, ...)

Reaching a limit adds a Warning to the report. `current` holds the limits in force; `use` sets them once, before anything is read.
The names are those of the table in SECURITY.md.
"""

import re
from collections.abc import Mapping
from typing import Annotated, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZE_PATTERN = lazy.regex(r"(?P<number>\d{1,15}(?:\.\d{1,6})?) ?(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
BYTES_PER_UNIT = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": GIB << 10, "P": GIB << 20}


def size_of(text: str) -> int | None:
    """Bytes of `24GiB`, `16G`, `512 MB`, powers of 1024 throughout; None if it is no size."""
    found = SIZE_PATTERN.fullmatch(text.strip())
    return int(float(found["number"]) * BYTES_PER_UNIT[found["unit"].upper()]) if found else None


class Bound(Struct, frozen=True):
    """The unit of a limit, and what it bounds."""

    unit: str
    what: str


class Limits(Struct, frozen=True):
    """All limits. Each field has a Bound; the table in SECURITY.md is the same text."""

    files: Annotated[
        int, Bound("", "files below one folder; of more, those with a log's name first, then the newest, then empty ones")
    ] = 20_000
    members: Annotated[int, Bound("", "members of a file that is an archive, with those of all archives in it")] = 20_000
    archives: Annotated[int, Bound("", "archives inside each other")] = 2
    packings: Annotated[int, Bound("", "compressions over each other, as in a.gz.xz.zst")] = 4
    ratio: Annotated[int, Bound("times", "growth when unpacked, past `free`; real logs shrink 5 to 200 times")] = 250
    free: Annotated[int, Bound("bytes", "unpacked size up to which any ratio is allowed")] = 256 * MIB
    unpacked: Annotated[int, Bound("bytes", "one stream or member when unpacked")] = 256 * GIB
    window: Annotated[int, Bound("bytes", "memory that a zstd, xz or LZMA stream may ask for; less inside another one")] = (
        128 * MIB
    )
    stdin: Annotated[int, Bound("bytes", "an archive on standard input, held in memory")] = 512 * MIB
    inner_zip: Annotated[int, Bound("bytes", "a zip without random access, as inside another archive, held in memory")] = 64 * MIB
    document: Annotated[int, Bound("bytes", "a JSON document, or a panic from the firmware's store, held in memory")] = 256 * MIB
    values: Annotated[int, Bound("", "values and punctuation marks of a JSON document")] = 5_000_000
    depth: Annotated[
        int, Bound("", "levels of a JSON document whose values are read; a notebook and a pod nest some ten deep")
    ] = 200
    journal: Annotated[int, Bound("bytes", "a packed binary journal, held in memory; journald's own limit is 128 MiB")] = (
        256 * MIB
    )
    turned: Annotated[int, Bound("bytes", "a log with its newest lines first, held in memory to be reversed")] = 256 * MIB
    entry: Annotated[int, Bound("bytes", "one entry of a journal as JSON, one object of a JSON document, an error file")] = (
        16 * MIB
    )
    field: Annotated[int, Bound("bytes", "one field of a journal's export; a longer one, such as a core dump, is skipped")] = (
        64 * MIB
    )
    joined: Annotated[int, Bound("bytes", "one line that a container runtime cut into records")] = MIB
    sections: Annotated[int, Bound("", "sections of an nvidia-bug-report")] = 2000
    line: Annotated[int, Bound("bytes", "one part of a line; a longer line is read in several parts")] = 16 * MIB
    text: Annotated[int, Bound("bytes", "part of a line that is examined, around the match")] = 16 * KIB
    confirm: Annotated[float, Bound("s", "confirmation of one signature on one line, of processor time")] = 0.05
    line_confirm: Annotated[float, Bound("s", "confirmation of all signatures on one line")] = 0.1
    source_confirm: Annotated[
        float, Bound("s", "confirmation of all signatures in one source, and `more_confirm` for each MiB of it")
    ] = 2.0
    more_confirm: Annotated[float, Bound("s", "confirmation of all signatures for each MiB of a source")] = 0.1
    small_time: Annotated[float, Bound("s", "processor time for reading an input of 1 MiB; of a larger one, up to `time`")] = 3.0
    time: Annotated[float, Bound("s", "processor time for reading an input of up to 100 MiB")] = 22.0
    more_time: Annotated[float, Bound("s", "processor time for each MiB of a larger input")] = 0.22
    file_time: Annotated[float, Bound("s", "processor time for each further file of an input; a short log takes 0.01")] = 0.05
    cause_files: Annotated[int, Bound("", "files of one folder of signatures")] = 2000
    cause_file: Annotated[int, Bound("bytes", "one file of signatures")] = 4 * MIB
    moments: Annotated[int, Bound("", "entries of a report's timeline")] = 500
    incidents: Annotated[int, Bound("", "incidents of a report")] = 1000


current = Limits()


def use(limits: Limits) -> None:
    """Put `limits` in force for this process."""
    global current
    current = limits


def limit_names() -> list[str]:
    """The names of all limits, in order."""
    return list(Limits.__struct_fields__)


def with_values(base: Limits, given: Mapping[str, object]) -> Limits:
    """`base` with the values of `given`. Raises ValueError, with one sentence, for an unknown name or an invalid value."""
    known = get_type_hints(Limits)
    values: dict[str, float] = {}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"unknown limit {name[:40]}; known are {', '.join(sorted(known))}")
        number = _number(name, value)
        values[name] = number if known[name] is float else int(number)
    return replace(base, **values)


def table(limits: Limits) -> list[tuple[str, str, str]]:
    """(name, value with its unit, what it bounds) of each limit, in order: `("line", "16 MiB", "one part of a line; ...")`."""
    bounds = {name: hint.__metadata__[0] for name, hint in get_type_hints(Limits, include_extras=True).items()}
    return [(name, with_unit(getattr(limits, name), bound.unit), bound.what) for name, bound in bounds.items()]


def with_unit(value: float, unit: str) -> str:
    """`16 MiB`, `100,000`, `0.2 s`: bytes in the largest unit that gives a whole number."""
    if unit != "bytes":
        return f"{value:,} {unit}".strip()
    name, size = next((n, s) for n, s in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB), ("bytes", 1)) if value % s == 0)
    return f"{value // size:,} {name}"


def _number(name: str, value: object) -> float:
    found = SIZE_PATTERN.fullmatch(value.strip()) if isinstance(value, str) else None
    number = float(found["number"]) * BYTES_PER_UNIT[found["unit"].upper()] if found else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1 << 62:
        raise ValueError(f"limit {name} must be a number above 0, or a size such as 512 MiB, found {str(value)[:40]!r}")
    return number
