"""A file for node_exporter's textfile collector: forensics_deaths_total{cause,node}. It goes on counting after a restart."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensics.sinks.message import Message

HEAD = (
    "# HELP forensics_deaths_total Deaths of jobs, by cause and node.\n"
    "# TYPE forensics_deaths_total counter\n"
)  # fmt: skip
SAMPLE = re.compile(r'^(forensics_deaths_total\{cause="[^"\n]*",node="[^"\n]*"\}) (\d+)$', re.MULTILINE)


def send(message: Message, setting: Mapping[str, Any]) -> None:
    """Count one death more. The new file takes the place of the old one in one step."""
    path = Path(setting["path"])
    counts = {key: int(value) for key, value in SAMPLE.findall(path.read_text(encoding="utf-8"))} if path.exists() else {}
    label = f'forensics_deaths_total{{cause="{_plain(message.cause)}",node="{_plain(message.node)}"}}'
    counts[label] = counts.get(label, 0) + 1
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"{key} {value}\n" for key, value in sorted(counts.items())))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _plain(text: str) -> str:
    return re.sub(r'["\\\n]', "_", text)
