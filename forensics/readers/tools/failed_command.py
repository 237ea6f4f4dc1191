"""Reads what a command said that a Python program called and that failed: its first error line tells why, and the exception that
Python raises for its exit status only follows.

tar: shards.tar: Cannot open: No such file or directory                                  -> missing
Traceback (most recent call last):
  File "train.py", line 3, in <module>
subprocess.CalledProcessError: Command '['tar', '-xf', 'shards.tar']' returned non-zero exit status 2.

Only lines that begin with the command's name, or have the form of an error of git or of a compiler, are its own. What another
Python program prints is read elsewhere: it has a traceback of its own.
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import first_row, patterns_of
from forensics.model import Line, Region, Trigger
from forensics.readers.base import Record
from forensics.readers.python.quoted_source import TRACEBACK_HEAD

TRIGGER = Trigger("failed_command", ("calledprocesserror: command ",), before=60)
OUTCOMES = ("missing", "corrupt", "unreached", "full", "refused")
PATTERNS = patterns_of("failed command")
OTHERS = ("python", "pypy", "torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun", "ray", "jupyter")
MAX_LINES_OF_COMMAND = 40  # of a traceback: what a compiler says of one file is as long
WORDS_OF_FAILURES = "failed commands"  # the group of patterns


def read(region: Region) -> Record | None:
    """The command whose failure the region's line tells; None if nothing that it said stands above the traceback."""
    told = PATTERNS.failed.search(region.text)
    if told is None:
        return None
    names = {m["name"] for m in PATTERNS.command_name.finditer(told["command"])}
    if not names or any(name.startswith(OTHERS) for name in names):
        return None
    said = _own_lines(region.lines_before(), names)
    if not said:
        return None
    first = next((line for line in said if says_why(line.text)), said[0])
    if PATTERNS.no_header.search(first.text):
        return None
    return Record(
        kind=TRIGGER.kind,
        first=min(line.number for line in said),
        last=region.number,
        outcome=outcome_of(first.text),
        weight="strong",
        quote=(first, region.line),
        fields={"tool": min(names), "exit_code": int(told["exit_code"]), "exc_message": first.text.strip()[:500]},
    )


def _own_lines(above: Sequence[Line], names: set[str]) -> list[Line]:
    """The lines above the last traceback that the command itself wrote."""
    head = next((i for i in range(len(above) - 1, -1, -1) if TRACEBACK_HEAD in above[i].text), None)
    if head is None:
        return []
    starts = tuple(f"{name}{sign}" for name in names for sign in (":", " (", " error:", "[", ".exe:"))
    rows = above[max(0, head - MAX_LINES_OF_COMMAND) : head]
    ended = next((i for i in range(len(rows) - 1, -1, -1) if TRACEBACK_HEAD in rows[i].text), -1)
    return [line for line in rows[ended + 1 :] if line.text.startswith(starts) or is_error_of_tool(line.text)]


def says_why(text: str) -> bool:
    """Has the line words of one of the outcomes?"""
    return first_row(WORDS_OF_FAILURES, text) is not None


def is_error_of_tool(text: str) -> bool:
    """Is it an error of git, of a compiler, or of a tool that the command called itself, as tar calls gzip?"""
    of_helper = PATTERNS.helper.match(text) and says_why(text)
    return bool(of_helper or PATTERNS.error.match(text))


def outcome_of(text: str) -> str:
    """What the words of an error line say; a file that a compiler misses belongs to what it compiles."""
    if PATTERNS.compiler.match(text):
        return "refused"
    row = first_row(WORDS_OF_FAILURES, text)
    return row.name if row else "refused"
