"""Line formats from signatures/line_formats/<family>.yaml: patterns whose %{PIECES} are put in.

    pattern: '\\[%{ISO_STAMP}\\] '    ->   a LineFormat whose pattern has the regular expression of a date and a time of day

Pieces are those of the file, and before it the SHARED_PIECES. A piece may name others.
"""

import re
from pathlib import Path
from typing import Any

from forensics.data_files.cached_data import load_data
from forensics.data_files.named_parts import with_pieces
from forensics.line_formats import clock
from forensics.line_formats.base import LineFormat

FORMATS_FOLDER = "line_formats"  # the folder in signatures/
CLOCKS = {"wall", "wall+zone", "mono", "wall+mono", "delta", "none"}
FAMILY_KEYS = {"family", "means", "pieces", "formats"}
FORMAT_KEYS = {"name", "clock", "pattern", "samples", "first", "within", "rank", "labels"}
SHARED_PIECES = {
    "DAY": clock.DAY,
    "MONTH": clock.MONTH,
    "ANY_MONTH": clock.ANY_MONTH,
    "CLOCK": clock.CLOCK_PATTERN,
    "TIME_OF_DAY": clock.TIME_OF_DAY,
    "ISO_DATE": clock.ISO_DATE,
    "ISO_STAMP": clock.ISO_STAMP,
    "MONO": clock.MONO,
    "STAMP_FOLLOWS": clock.STAMP_FOLLOWS,
    "ZONE": clock.ZONE,
    "NAMED_ZONE": clock.NAMED_ZONE,
    "LEVEL_NAME": r"(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)",
}


def load_formats() -> list[LineFormat]:
    """The formats of all families, in the order of the files. Raises DatabaseError for the first fault of form."""
    return load_data(FORMATS_FOLDER, LineFormat, read_formats)


def read_formats(data: Any, path: Path) -> list[LineFormat]:
    """The formats of one document; raises BadFormError."""
    from forensics.data_files.form import LINE_KEY, BadFormError, entries, keys, text, texts

    keys(data, FAMILY_KEYS, FAMILY_KEYS - {"pieces"})
    if data["family"] != path.stem:
        raise BadFormError(data[LINE_KEY], f"family is {data['family']!r} but the file is named {path.stem!r}")
    pieces = {**SHARED_PIECES, **{k: v for k, v in (data.get("pieces") or {}).items() if k != LINE_KEY}}
    made = []
    for entry in entries(data, "formats"):
        keys(entry, FORMAT_KEYS, {"name", "clock", "pattern", "samples"}, data[LINE_KEY])
        line, rank = entry[LINE_KEY], entry.get("rank", 50)
        if entry["clock"] not in CLOCKS or not isinstance(rank, int):
            raise BadFormError(line, f"clock must be one of {', '.join(sorted(CLOCKS))}, and rank a number")
        try:
            pattern = with_pieces(text(entry, "pattern"), pieces)
            re.compile(pattern)
            re.compile(entry.get("first", ""))
        except (KeyError, re.error) as error:
            raise BadFormError(line, f"{entry['name']}: pattern or first: {error}") from error
        told = text(entry, "name"), entry["clock"], pattern, texts(entry, "samples"), rank
        made.append(
            LineFormat(*told, entry.get("first", ""), entry.get("within", ""), bool(entry.get("labels")), str(path), line)
        )
    return made
