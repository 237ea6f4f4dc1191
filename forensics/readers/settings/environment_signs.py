"""What shows a fact of the environment: the text that a line contains, the pattern that it matches.

    slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0   -> ContextSign("scheduler", "slurm", ("slurmstepd", ...))

The signs are data, with examples: signatures/readers/environment_signs.yaml.
"""

import functools
import re
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.cached_data import load_data

SIGNS_FILE = "readers/environment_signs.yaml"
SIGN_KEYS = {"fact", "value", "texts", "pattern", "weak", "examples"}


class ContextSign(Struct, frozen=True, dict=True):
    """A sign of a fact: its lines contain one of `texts` and match `pattern` (empty: any line). `line`: of its entry."""

    fact: str
    value: str
    texts: tuple[str, ...]
    pattern: str = ""
    weak: bool = False
    match: tuple[str, ...] = ()
    no_match: tuple[str, ...] = ()
    line: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern, compiled at its first use."""
        return lazy.regex(self.pattern)

    def shown_by(self, text: str) -> bool:
        """Does the line `text` show the fact?"""
        return any(t in text for t in self.texts) and (not self.pattern or self.compiled.search(text) is not None)


@functools.cache
def environment_signs() -> tuple[ContextSign, ...]:
    """All signs, in the order of the file. Raises DatabaseError for a fault of form."""
    return tuple(load_data(SIGNS_FILE, ContextSign, read_signs))


def read_signs(data: Any, path: Path) -> list[ContextSign]:
    """The signs of the document; raises BadFormError."""
    from forensics.data_files.form import LINE_KEY, BadFormError, entries, keys, text, texts

    keys(data, {"signs"}, {"signs"})
    made = []
    for entry in entries(data, "signs"):
        keys(entry, SIGN_KEYS, {"fact", "value", "texts", "examples"}, data[LINE_KEY])
        keys(entry["examples"], {"match", "no_match"}, {"match"}, entry[LINE_KEY])
        try:
            re.compile(entry.get("pattern", ""))
        except re.error as error:
            raise BadFormError(entry[LINE_KEY], f"not a valid pattern: {error}") from error
        told = text(entry, "fact"), text(entry, "value"), texts(entry, "texts"), entry.get("pattern", ""), bool(entry.get("weak"))
        examples = entry["examples"]
        made.append(ContextSign(*told, texts(examples, "match"), texts(examples, "no_match"), entry[LINE_KEY]))
    return made
