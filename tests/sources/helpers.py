"""Reading in tests: a path's or a stream's Sources with their text, the original line of each line, and the warnings."""

import io
from dataclasses import dataclass
from pathlib import Path

from forensics import sources
from forensics.model import Source, Warning
from forensics.sources.stdin import stream_sources


@dataclass(frozen=True)
class Read:
    name: str
    lines: list[str]
    numbers: list[int]
    format: str | None
    warnings: list[Warning]

    @property
    def numbered(self) -> list[tuple[int, str]]:
        return list(zip(self.numbers, self.lines, strict=True))


def read_source(source: Source, noted: list[Warning]) -> Read:
    text = b"".join(source.blocks(noted.append)).decode("utf-8", "replace")
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    numbers = [source.origin(i) if source.origin else i for i in range(1, len(lines) + 1)]
    return Read(source.name, lines, numbers, source.format, noted)


def read_bytes(data: bytes) -> Read:
    """The only Source in `data`."""
    noted: list[Warning] = []
    (source,) = stream_sources(io.BytesIO(data), "<stdin>", noted.append)
    return read_source(source, noted)


def read_path(path: Path) -> tuple[list[Read], list[Warning]]:
    noted: list[Warning] = []
    return [read_source(s, noted) for s in sources.open_paths([path], noted.append)], noted
