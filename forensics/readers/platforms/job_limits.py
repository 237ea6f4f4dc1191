"""What a job asked its scheduler for and what it used of it: time and memory, in job scripts and in the scheduler's answers.

    #SBATCH --time=12:00:00                              -> asked_time_s 43200
       RunTime=00:31:02 TimeLimit=12:00:00 TimeMin=N/A   -> used_time_s 1862, asked_time_s 43200
       MinCPUsNode=1 MinMemoryNode=220M                  -> asked_memory_bytes 230686720
    JobID|Elapsed|Timelimit|ReqMem|MaxRSS                -> a value for each row and column that tells one

Wordings: sbatch, qsub and bsub in scripts; scontrol show job; sacct with and without -P.
"""

from collections.abc import Iterable, Iterator

from forensics.data_files.named_parts import patterns_of
from forensics.model import Habit, Line, Region, Scan, Trigger
from forensics.readers.base import size_bytes

MAX_ACCOUNT_ROWS = 200  # chosen by hand: the account of one job has a row for each step
TRIGGER = Trigger("job_limits", of="job limits", before=8, after=MAX_ACCOUNT_ROWS)
ASKED_TIME, USED_TIME, ASKED_MEMORY, USED_MEMORY = "asked_time_s", "used_time_s", "asked_memory_bytes", "used_memory_bytes"
LIMIT_COLUMNS = {"timelimit": ASKED_TIME, "elapsed": USED_TIME, "reqmem": ASKED_MEMORY, "maxrss": USED_MEMORY}
PATTERNS = patterns_of("job limits")
KIND_OF_ANSWER = {"TimeLimit": ASKED_TIME, "RunTime": USED_TIME, "MinMemoryNode": ASKED_MEMORY}
MEBIBYTES = "M"  # what Slurm takes a number without a unit for


def job_limits(scans: Iterable[Scan]) -> tuple[Habit, ...]:
    """Each value of each job, in the order of the logs; the text of a Habit is the job's number, empty where none is told."""
    return tuple(found for scan in scans for found in _of(scan))


def _of(scan: Scan) -> Iterator[Habit]:
    name = scan.source.name
    for part in scan.source.code() if scan.source.code else ():
        yield from (Habit(kind, name, line.number, "", value) for line in part.lines for kind, value in _asked(line.text))
    for region in scan.regions.get(TRIGGER.kind, ()):
        yield from (Habit(kind, name, scan.source.number_of(line), job, value) for line, job, kind, value in read(region))


def read(region: Region) -> Iterator[tuple[int, str, str, float]]:
    """(line, job, kind, value) of what the line of `region`, or the table that it is the head of, tells."""
    text = region.text[:2000]
    yield from ((region.number, "", kind, value) for kind, value in _asked(text.lstrip("+ ")))
    if PATTERNS.header.search(text):
        yield from _table(region.text, region.lines_after())
        return
    for found in PATTERNS.answer.finditer(text):
        job = next((m[1] for line in reversed([*region.lines_before()]) if (m := PATTERNS.job_id.search(line.text))), "")
        if value := _number(KIND_OF_ANSWER[found["name"]], found["value"]):
            yield region.number, job, KIND_OF_ANSWER[found["name"]], value


def _asked(text: str) -> Iterator[tuple[str, float]]:
    """What a line of a job script asks for."""
    if (found := PATTERNS.script_time.match(text)) and (value := _number(ASKED_TIME, found["time"])):
        hours_and_minutes = text.startswith("#BSUB") and ":" in found["time"]
        plain_seconds = text.startswith("#PBS") and ":" not in found["time"]
        yield ASKED_TIME, value * 60 if hours_and_minutes else value / 60 if plain_seconds else value
    if (found := PATTERNS.script_memory.match(text)) and (value := _number(ASKED_MEMORY, found["memory"])):
        yield ASKED_MEMORY, value


def _table(header: str, rows: Iterable[Line]) -> Iterator[tuple[int, str, str, float]]:
    """The values of sacct's table: columns are divided by `|`, or as wide as the rule below the header."""
    spans: list[tuple[int, int]] = []
    for row in rows:
        if not spans and "|" not in header and PATTERNS.rule.match(row.text):
            spans = _spans(row.text)
            continue
        told = _told_cells(header, row.text, spans)
        if not told.get("jobid", "")[:1].isdigit():
            return
        job = told["jobid"].partition(".")[0].partition("_")[0]
        for column, kind in LIMIT_COLUMNS.items():
            if column in told and (value := _number(kind, told[column])):
                yield row.number, job, kind, value


def _told_cells(header: str, row: str, spans: list[tuple[int, int]]) -> dict[str, str]:
    """The cells of a row by the names of their columns. Where the columns do not stand below each other - a name that is longer
    than its column, blanks that were lost when it was copied -, those whose form tells them."""
    if "|" in header:
        names, cells = header.strip().lower().split("|"), row.strip().split("|")
        return dict(zip(names, cells, strict=False)) if len(cells) >= len(names) else {}
    if spans and _fits(header, spans) and _fits(row, spans):
        return {header[a:b].strip().lower(): row[a:b].strip() for a, b in spans}
    names, words = header.lower().split(), row.split()
    if not words or len(words) == len(names):
        return dict(zip(names, words, strict=False))
    times, sizes = [w for w in words[1:] if w.count(":") == 2], [w for w in words[1:] if PATTERNS.unit_size.match(w)]
    of_time, of_size = ([n for n in names if n in columns] for columns in (("elapsed", "timelimit"), ("reqmem", "maxrss")))
    if len(sizes) == 1 < len(of_size):  # a step has used memory, and the job has asked for it
        of_size = ["maxrss" if "." in words[0] else "reqmem"]
    told = {"jobid": words[0]}
    for columns, values in ((of_time, times), (of_size, sizes)):
        told |= dict(zip(columns, values, strict=True)) if len(columns) == len(values) else {}
    return told


def _fits(row: str, spans: list[tuple[int, int]]) -> bool:
    """Is there a blank between any two columns?"""
    return all(not row[end : end + 1].strip() for _, end in spans)


def _spans(rule: str) -> list[tuple[int, int]]:
    """From where to where each column reaches: `---- ----` -> [(0, 4), (5, 9)]."""
    found, at = [], 0
    for dashes in rule.split(" "):
        if dashes:
            found.append((at, at + len(dashes)))
        at += len(dashes) + 1
    return found


def _number(kind: str, text: str) -> float | None:
    """`2-00:00:00` -> 172800.0 s, `220M` -> 230686720.0 bytes; None for `UNLIMITED` and what else is no number."""
    if kind in (ASKED_MEMORY, USED_MEMORY):
        found = PATTERNS.slurm_size.match(text)
        size = found and (found["size"] + (MEBIBYTES if found["size"][-1:].isdigit() else ""))
        return float(size_bytes(size) or 0) if size else None
    found = PATTERNS.time.match(text)
    return _seconds(found["days"] or "", [int(p) for p in found["clock"].split(":")]) if found else None


def _seconds(days: str, parts: list[int]) -> float:
    """Slurm's forms: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes[:seconds]`."""
    units = (3600, 60, 1) if days or len(parts) == 3 else (60, 1)
    return int(days or 0) * 86400.0 + sum(p * u for p, u in zip(parts, units, strict=False))
