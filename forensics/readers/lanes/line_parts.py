"""Small facts of one line that say what kind of record it is: its level, a counted step, a pid, the heading of a cell."""

from forensics.core import lazy
from forensics.core.shapes import by_shape
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix, unlabelled

MILD_RECORD_PATTERN = lazy.regex(r"^.{0,80}\b(?:WARN(?:ING)?|INFO|DEBUG|NOTICE)\b|Warning: ")
PATTERNS = patterns_of("line parts")
CELL_HEADING_PATTERN = lazy.regex(rb"(?:\d{4}-\d\d-\d\dT\S+ )?In \[[ \d]{1,9}\]:$")
INFORMATION_LEVELS = {"info", "i", "debug", "d", "trace"}
LOW_SEVERITY_LEVELS = {"warning", "warn", "w", "info", "i", "debug", "d", "trace", "notice"}
MAX_LEVEL_CHARS = 160  # the level is in these first characters of a line, after a time, a host and the name of a logger
PLACE_IN_CODE_PATTERN = lazy.regex(r"[\w./\\-]+\.\w{1,8}[:(]\d+")


def is_mild_record(text: str) -> bool:
    """Has the line the level of a warning or a lower one, near its beginning or as the class of a warning?"""
    return MILD_RECORD_PATTERN.search(text) is not None


def is_python_warning(text: str) -> bool:
    """Is it a warning of Python's? The program goes on after it, and the line below it is a line of code."""
    return PATTERNS.python_warning.search(text) is not None


def is_low_severity(text: str) -> bool:
    """Is the level of the record itself a warning or lower?"""
    if level := parse_prefix(text).level:
        return level.lower() in LOW_SEVERITY_LEVELS
    return PATTERNS.record_level.search(unlabelled(text)[:MAX_LEVEL_CHARS]) is not None


def is_information(text: str) -> bool:
    """Does the record itself say that it only informs?"""
    return (parse_prefix(text).level or "").lower() in INFORMATION_LEVELS


def named_pid(text: str) -> str:
    """The digits of the pid that the line names; empty if it names none."""
    found = PATTERNS.pid.search(text)
    return str(found[1]) if found else ""


def counted_step(text: str) -> int | None:
    """The step, epoch, iteration or round that the line counts; None if it counts none."""
    place = step_place(text)
    return int(text[place]) if place else None


@by_shape
def step_place(text: str) -> slice | None:
    """Where the number of such a count stands; None if there is none."""
    found = PATTERNS.counter.search(text)
    return slice(*found.span(1)) if found else None


def is_cell_heading(raw: bytes) -> bool:
    """Is it the heading of a notebook's cell, `In [3]:`, as sources.formats.notebook writes it?"""
    return CELL_HEADING_PATTERN.match(raw) is not None


def failed_cell(text: str) -> tuple[str, str] | None:
    """The cell of a notebook and the error that ended it, `In [3]`, `KeyError`, as sources.formats.notebook writes it.

    None for an end that the user or the program asked for.
    """
    found = PATTERNS.failed_cell.match(text)
    return (found["cell"], found["kind"]) if found else None


def tells_no_reason(text: str) -> bool:
    """Is it a prompt, a search for a file that is not there, or a unit that systemd started? No failure stands in it.

    Nor is a line of a capture's account one: `readers/capture` reads them all, and what they tell is evidence already.
    """
    return PATTERNS.no_reason.match(text) is not None


def names_a_place_in_code(text: str) -> bool:
    """Does the line name a file and a line of code?"""
    return PLACE_IN_CODE_PATTERN.search(text) is not None


def heads_end_report(text: str) -> bool:
    """Is it the first line of the report that LSF writes behind the output of a job: `Sender: LSF System <lsfadmin@n1>`?"""
    return text.startswith("Sender: LSF System")


def is_of_tracker(text: str) -> bool:
    """Is it a line of a client that records experiments? Such a client says goodbye at any exit, good or bad."""
    return PATTERNS.tracker.search(text) is not None


def is_time_of_shell(text: str) -> bool:
    """Is it one of the times that a shell's `time` writes behind the output of a command: `real    126m14.364s`?"""
    return PATTERNS.shell_time.match(text) is not None
