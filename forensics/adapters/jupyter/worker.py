"""`python -m forensics.adapters.jupyter.worker`: reads one JSON object per line, and writes the message on that death as another.

    {"bundle": ..., "status": ..., "count": 12, ...}  ->  {"text": ..., "html": ..., "error": ..., "metadata": {...}}

The report goes into the bundle as report.json, report.txt and report.html. It ends when its input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from forensics.adapters.jupyter.message import death_message
from forensics.api import Knowledge, Report, analyze
from forensics.core.errors import ForensicsError
from forensics.history.remember import remembered

REPORT_WRITERS = {"report.json": Report.to_json, "report.txt": Report.to_text, "report.html": Report.to_html}


def answer(facts: dict[str, Any], knowledge: Knowledge) -> dict[str, Any]:
    """The message on one death; its report is written into the bundle."""
    try:
        bundle = facts["bundle"]
        report = remembered(analyze(bundle, knowledge=knowledge, workers=1), bundle=Path(bundle))
        for name, write in REPORT_WRITERS.items():
            Path(facts["bundle"], name).write_text(write(report), encoding="utf-8")
    except (ForensicsError, OSError) as error:
        return death_message(None, facts) | {"fault": str(error)}
    return death_message(report, facts)


def _rehearse(knowledge: Knowledge) -> None:
    """Analyse a sample crash, so that everything is loaded before the first request."""
    with contextlib.suppress(ForensicsError, OSError), tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        Path(folder, "job.log").write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
        report = analyze(folder, knowledge=knowledge, workers=1)
        for write in REPORT_WRITERS.values():
            write(report)


def main() -> None:
    """Answer until the input ends."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # safe: it ends when its input ends, so with the server
    knowledge = Knowledge()
    out = os.dup(1)
    os.dup2(2, 1)  # only answers may go to the original standard output
    os.write(out, b"{}\n")
    _rehearse(knowledge)
    for line in sys.stdin:
        data = json.dumps(answer(json.loads(line), knowledge)).encode() + b"\n"
        while data:
            data = data[os.write(out, data) :]


if __name__ == "__main__":
    main()
