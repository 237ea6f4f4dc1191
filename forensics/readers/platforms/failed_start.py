"""Reads what a server said before its start is given up: its own error says why, and the last line only that it failed.

nginx[753]: nginx: [emerg] listen() to 0.0.0.0:80, backlog 511 failed (98: Address already in use)      -> busy
nginx[753]: nginx: [emerg] still could not bind()
systemd[1]: nginx.service: Control process exited, code=exited status=1

[ERROR] mariadbd: unknown variable 'bogus=1'                                                            -> setting
[ERROR] Aborting

The forms: systemd src/core/service.c, of all versions: programs of other units write in between, those of this one have its name.
MariaDB, BIND, PHP-FPM, Unbound, PostgreSQL, HAProxy, RabbitMQ, Apache httpd, sshd: the last line is the last of the log, too.
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import first_row, patterns_of
from forensics.model import Region, Trigger, Value
from forensics.readers.base import ParsedLine, Record, parse_lines
from forensics.readers.python.quoted_source import TRACEBACK_HEAD

TRIGGER = Trigger("failed_start", of="failed start", before=80, after=8)
PATTERNS = patterns_of("failed start")
REFUSED_SETTING, FAILED_ALONE = "setting", "failed"
OUTCOMES = ("full", "busy", "unreached", "missing", "corrupt", REFUSED_SETTING, FAILED_ALONE)
WORDS_OF_REFUSALS = ("uncaught errors", "refused settings")  # the groups of patterns
SPRING_FAILED, DESCRIPTION = "APPLICATION FAILED TO START", "Description:"
NOT_OF_UNITS = ("systemd", "kernel", "audit", "init", "audispd")
MIN_SHARED_CHARS = 4  # chosen by hand: mysql.service runs mysqld, and icinga2.service icinga2
MAX_ROWS_OF_START = 25  # chosen by hand: what a server says between its error and the line that gives up, an Erlang term included


def read(region: Region) -> Record | None:
    """The error before the unit or the server of the region's line gave up. None where there is none, or a traceback."""
    found = PATTERNS.exited.search(region.text)
    if SPRING_FAILED in region.text:
        return _described(region)
    rows = _rows_of_unit(region, found["unit"].lower()) if found else _rows_of_server(region)
    if not rows or any(TRACEBACK_HEAD in row.message for row in rows):
        return None
    told = _told(rows)
    if told is None:
        return None
    row, outcome = told
    unit = {"unit": f"{found['unit']}.service"} if found else {}
    return Record(
        kind=TRIGGER.kind,
        first=row.line.number,
        last=region.number,
        outcome=outcome,
        weight="strong",
        quote=(row.line, region.line),
        fields={**unit, "exc_message": row.message.strip()[:500]},
        places=((row.line.number, row.line.number), (region.number, region.number)),
    )


def _described(region: Region) -> Record | None:
    """What the analysis that Spring Boot prints below its heading describes."""
    below = [x for x in region.lines_after() if x.text.strip()]
    at = next((i for i, x in enumerate(below) if x.text.strip() == DESCRIPTION), len(below))
    if at + 1 >= len(below):
        return None
    told = below[at + 1]
    found = _outcome(told.text)
    outcome = REFUSED_SETTING if found == FAILED_ALONE else found
    fields: dict[str, Value] = {"exc_message": told.text.strip()[:500]}
    return Record(TRIGGER.kind, region.number, told.number, outcome, "strong", (told, region.line), fields)


def _rows_of_server(region: Region) -> list[ParsedLine]:
    """The last lines before it gave up, where its log ends with that."""
    if "process exited, code=" in region.text or len(region.lines_after()) >= TRIGGER.after:
        return []
    return parse_lines(region.lines_before()[-MAX_ROWS_OF_START:])


def _rows_of_unit(region: Region, unit: str) -> list[ParsedLine]:
    """The lines of the unit's program since the last end of it that is told above."""
    rows = parse_lines(region.lines_before())
    ends = (
        i for i in range(len(rows) - 1, -1, -1) if unit in rows[i].message.lower() and PATTERNS.exited.search(rows[i].message)
    )
    rows = rows[next(ends, -1) + 1 :]
    return [row for row in rows if row.prefix.program and _is_of_unit(row.prefix.program.lower(), unit)]


def _is_of_unit(program: str, unit: str) -> bool:
    """Have a program and a unit a word of their names in common, or the beginning of one?"""
    name = program.rpartition("/")[2]
    if name.startswith(NOT_OF_UNITS):
        return False
    words = PATTERNS.name_words.findall(unit)
    return name == unit or any(len(w) >= MIN_SHARED_CHARS and (name.startswith(w) or w.startswith(name)) for w in words)


def _told(rows: Sequence[ParsedLine]) -> tuple[ParsedLine, str] | None:
    """The first error with words that say why, else any such line, else the first error."""
    severe = [r for r in rows if PATTERNS.severe.search(r.line.text) and not PATTERNS.headings.search(r.message)]
    telling = ((r, outcome) for some in (severe, rows) for r in some if (outcome := _outcome(r.message)) != FAILED_ALONE)
    return next(telling, (severe[0], FAILED_ALONE) if severe else None)


def _outcome(said: str) -> str:
    return next((row.name for group in WORDS_OF_REFUSALS if (row := first_row(group, said))), FAILED_ALONE)
