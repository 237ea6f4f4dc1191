"""The notes of a session about its tests, a line each, for the process that survives it.

{"start": "test_a.py::test_b"}   {"test": "test_a.py::test_b", "when": "call", "outcome": "passed", "seconds": 0.1, "text": ""}
"""

from __future__ import annotations

import json
from typing import IO, Any


class TestNotes:
    """The notes of the session: `running`, `finished`, and the result of each test."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.finished = False
        self.done: dict[str, dict[str, Any]] = {}

    def take(self, note: dict[str, Any]) -> None:
        """Take one line of the session."""
        self.finished = self.finished or "finished" in note
        if "start" in note:
            self.running.append(note["start"])
        elif "test" in note:
            kept = self.done.setdefault(note["test"], note | {"seconds": 0.0, "outcome": "passed"})
            kept["seconds"] += note["seconds"]
            if note["outcome"] != "passed":
                kept |= {key: note[key] for key in ("when", "outcome", "text")}
            if note["when"] not in ("setup", "call") and note["test"] in self.running:
                self.running.remove(note["test"])


def read_notes(results: IO[bytes]) -> TestNotes:
    """All notes; a last line that is incomplete is left out."""
    tests = TestNotes()
    results.seek(0)
    for line in results:
        if line.endswith(b"\n"):
            tests.take(json.loads(line))
    return tests
