"""Reads what the program of a unit said before systemd tells that it exited: its own error says why, and the status only follows.

nginx[753]: nginx: [emerg] listen() to 0.0.0.0:80, backlog 511 failed (98: Address already in use)      -> setting
nginx[753]: nginx: [emerg] still could not bind()
systemd[1]: nginx.service: Control process exited, code=exited status=1

The form: systemd src/core/service.c, of all versions. Programs of other units write in between; those of this one have its name.
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.data_files.named_parts import first_row
from forensics.model import Region, Trigger
from forensics.readers.base import ParsedLine, Record, parse_lines
from forensics.readers.python.quoted_source import TRACEBACK_HEAD

TRIGGER = Trigger("failed_unit", ("process exited, code=exited",), before=80)
REFUSED_SETTING, FAILED_ALONE = "setting", "failed"
OUTCOMES = ("full", "busy", "unreached", "missing", "corrupt", REFUSED_SETTING, FAILED_ALONE)
WORDS_OF_REFUSALS = ("uncaught errors", "refused settings")  # the groups of patterns
EXITED = lazy.regex(r"(?P<unit>[\w@.:\\-]{1,100})\.service: (?:[Mm]ain|[Cc]ontrol) process exited, code=exited,? status=[1-9]")
SEVERE = lazy.regex(r"(?i)\b(?:emerg|alert|crit(?:ical)?|fatal|panic|err(?:or)?)\b")
HEADINGS = lazy.regex(
    r"(?i)an? (?:unexpected |fatal )?(?:error|exception) (?:occurred|happened)|^\W*error:?\W*$|because of an error"
)
NAME_WORDS = lazy.regex(r"[a-z]{3,}")
NOT_OF_UNITS = ("systemd", "kernel", "audit", "init", "audispd")
MIN_SHARED_CHARS = 4  # chosen by hand: mysql.service runs mysqld, and icinga2.service icinga2


def read(region: Region) -> Record | None:
    """The error of the program of the unit that the region's line names. None where it wrote none, or a traceback."""
    found = EXITED.search(region.text)
    rows = _own_rows(region, found["unit"].lower()) if found else []
    if not found or not rows or any(TRACEBACK_HEAD in row.message for row in rows):
        return None
    told = _told(rows)
    if told is None:
        return None
    row, outcome = told
    return Record(
        kind=TRIGGER.kind,
        first=row.line.number,
        last=region.number,
        outcome=outcome,
        weight="strong",
        quote=(row.line, region.line),
        fields={"unit": f"{found['unit']}.service", "exc_message": row.message.strip()[:500]},
        places=((row.line.number, row.line.number), (region.number, region.number)),
    )


def _own_rows(region: Region, unit: str) -> list[ParsedLine]:
    """The lines of the unit's program since the last end of it that is told above."""
    rows = parse_lines(region.lines_before())
    ends = (i for i in range(len(rows) - 1, -1, -1) if unit in rows[i].message.lower() and EXITED.search(rows[i].message))
    rows = rows[next(ends, -1) + 1 :]
    return [row for row in rows if row.prefix.program and _is_of_unit(row.prefix.program.lower(), unit)]


def _is_of_unit(program: str, unit: str) -> bool:
    """Have a program and a unit a word of their names in common, or the beginning of one?"""
    name = program.rpartition("/")[2]
    if name.startswith(NOT_OF_UNITS):
        return False
    words = NAME_WORDS.findall(unit)
    return name == unit or any(len(w) >= MIN_SHARED_CHARS and (name.startswith(w) or w.startswith(name)) for w in words)


def _told(rows: Sequence[ParsedLine]) -> tuple[ParsedLine, str] | None:
    """The first error with words that say why, else the first one; if none is marked, the first line with such words."""
    severe = [r for r in rows if SEVERE.search(r.message) and not HEADINGS.search(r.message)]
    telling = [(r, outcome) for r in severe or rows if (outcome := _outcome(r.message)) != FAILED_ALONE]
    return telling[0] if telling else (severe[0], FAILED_ALONE) if severe else None


def _outcome(said: str) -> str:
    return next((row.name for group in WORDS_OF_REFUSALS if (row := first_row(group, said))), FAILED_ALONE)
