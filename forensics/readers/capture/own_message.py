"""What this program itself told of a dead kernel, in a notebook or in a log: it is read, and not found out again.

    The kernel died: A memory limit was hit (98%)                               -> the cause with this title
    The kernel killed python3 (pid 5120) because the cgroup /notebooks ...      -> its sentence
    The kernel of /train died: A memory limit was hit (98%). ...                -> the same, in the log of the server
    KernelDied: A memory limit was hit (98%). The kernel killed python3 ...     -> both, in one line
    forensics: the kernel died of host_memory.oom_cgroup (98%), pid 5120        -> the cause by its id, from a notebook's metadata

forensics/adapters/jupyter/message.py writes them; the last one is made of the metadata beside them. A title that no cause has
(another version's) tells nothing, and the lines are read like any others.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from forensics.data_files.named_parts import patterns_of
from forensics.database import Cause, Database
from forensics.database.entries import TEMPLATE_FIELD_PATTERN
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record, parse_lines, typed_fields

OWN_MESSAGE = "own_message"
MAX_TOLD_LINES = 20  # the head, the sentence, the status, the cell with its code, what to do, the report
TRIGGER = Trigger(
    OWN_MESSAGE, ("the kernel died: ", "kerneldied: ", "forensics: the kernel died of ", "the kernel of "), after=MAX_TOLD_LINES
)
OWN_STARTS = ("forensics", "[")  # one of them begins each of these lines
OWN_MARKS = ("forensics: ", "forensics run: ", "forensics watch: ")  # with which lines of this program begin
TOLD = "told"
OUTCOMES = (TOLD,)
TOLD_FACT = "told_before"  # the sentence that was told then
PATTERNS = patterns_of("own message")
WITHIN, SENTENCE_START = r"\S(?:(?!\. ).){0,200}?", r"(?:\A|(?<=\. ))"
MAX_SENTENCES = 1000  # of all causes together there are some hundreds
SURELY_TOLD_PERCENT = 90  # of the cause that was told: below it the answer was unsure then, and is now


def is_own_line(text: str) -> bool:
    """Did this program write the line: a warning beside a job's output, or the account of a captured run?"""
    return text.startswith(OWN_MARKS) or (text.startswith("[") and "] forensics run: " in text[:60])


def read(region: Region) -> Record | None:
    """The record of one message. Its `cause` is the title or the id that stands in it until `resolve_told` knows better."""
    rows = parse_lines(region.lines())
    head = rows[0]
    found = PATTERNS.told_cause.search(head.message) or PATTERNS.told_title.search(head.message)
    if found is None:
        return None
    told = found.groupdict()
    why, last = told.get("why") or "", head.line
    if not why and not told.get("pid") and not told.get("error") and len(rows) > 1:
        why = rows[1].message.strip()
        rest = (row.line for row in rows[1:] if row is rows[1] or PATTERNS.told_line.match(row.message))
        last = max(rest, key=lambda line: line.number)
    fields: dict[str, Value] = {TOLD_FACT: why} if why else {}
    if pid := told.get("pid") or ((named := PATTERNS.told_pid.search(why)) and named["pid"]):
        fields["pid"] = int(pid)
    if place := PATTERNS.told_place.search(why):
        fields |= {**place.groupdict(), "python_line": int(place["python_line"])}
    elif cell := PATTERNS.told_cell.search(why):
        fields |= {"python_file": f"Cell In[{cell['cell']}]", "python_line": int(cell["python_line"])}
    weight: Weight = "proof" if int(told["percent"]) >= SURELY_TOLD_PERCENT else "strong"
    quote: tuple[Line, ...] = (head.line, *(row.line for row in rows[1:2] if why and not told.get("why")))
    return Record(OWN_MESSAGE, head.line.number, last.number, TOLD, weight, quote, fields, cause=told["name"])


def resolve_told(found: Mapping[str, Sequence[Record]], knowledge: Database) -> dict[str, list[Record]]:
    """`found`, by kind; the messages with the ids of their causes, without those whose cause is unknown."""
    made = {kind: list(records) for kind, records in found.items()}
    if OWN_MESSAGE in made:
        by_name = {about.title: about for about in knowledge.causes.values()} | dict(knowledge.causes)
        told = ((r, by_name[r.cause]) for r in made[OWN_MESSAGE] if r.cause in by_name)
        made[OWN_MESSAGE] = [replace(r, cause=c.id, fields={**_told_parts(r.fields, c), **r.fields}) for r, c in told]
    return made


def _told_parts(fields: Mapping[str, Value], cause: Cause) -> dict[str, Value]:
    """What the sentences that were told name, by the templates of which they were made."""
    found: dict[str, Value] = {}
    for alternatives in cause.summary:
        told = next((m for a in alternatives if (m := _sentence(a).search(str(fields.get(TOLD_FACT, ""))))), None)
        sizes = (
            {f"{n.removesuffix('_bytes')}_size" if n.endswith("_bytes") else n: v for n, v in told.groupdict().items()}
            if told
            else {}
        )
        found = typed_fields(sizes) | found
    return found


@lru_cache(maxsize=MAX_SENTENCES)
def _sentence(template: str) -> re.Pattern[str]:
    """Matches the sentence that was made of `template`."""
    parts = TEMPLATE_FIELD_PATTERN.split(template.removesuffix("."))
    holes = (f"(?P={n})" if n in parts[1 : 2 * i + 1 : 2] else f"(?P<{n}>{WITHIN})" for i, n in enumerate(parts[1::2]))
    made = [re.escape(parts[0]), *(hole + re.escape(text) for hole, text in zip(holes, parts[2::2], strict=True))]
    return re.compile(SENTENCE_START + "".join(made) + r"\.(?=\s|\Z)")
