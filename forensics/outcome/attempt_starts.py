"""Find the rows of a lane at which a further attempt begins.

    loading data / step 1 / step 2 / Killed / loading data / step 1   -> the second `loading data`
    epoch  loss  lr / 1  0.9  0.1 / epoch  loss  lr / 2  0.8  0.1     -> none: the table's head is repeated, its steps count on

Seven things begin an attempt: a phrase that says so (`Resuming from checkpoint`), a step counter that starts from the beginning,
a bar that is drawn from its beginning again behind a traceback, steps that are counted on behind the runner's word that a program
failed with a traceback, a command that the shell's `time` measures behind another one
that wrote the same lines, and the first lines of the program when they occur again, unless the step counter continues across
them or nothing stands behind them: a warning at the exit is the same in each attempt. Many programs begin with the same line of
two words; such a line begins an attempt only after the exception of a traceback. A log whose first line is a failure or a stack
does not show how the program begins: each of 64 threads may print that line once.
"""

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise, takewhile

from forensics.readers.lanes.line_classes import (
    FRAME,
    PROGRESS,
    RUN_FAILED,
    START,
    TRACEBACK,
    TROUBLE,
    heads_end_report,
    is_mild_record,
    is_python_warning,
    is_time_of_shell,
    named_pid,
)
from forensics.readers.lanes.rows import Row, Rows
from forensics.readers.progress.counters import bar_counter, fresh_bar

MAX_CLASSIFIED_TEMPLATES = 4000  # bounds time, per source; lines of further templates have no class
BANNER_ROWS = 3  # first rows of a lane: a program prints them again when it is started again
STACK_HEADING_ROWS = 3  # `Stack dump for pid 7` / `Thread 0x7f4a (active)` / the first frame
MIN_SPACES = 2  # in the template of a line that few programs print
LAST_TIME = b"sys"  # of the three times that a shell's `time` writes, real, user and sys
USAGE, USAGE_HELP = b"usage: ", b" [-h]"  # argparse's: every parser has the option -h unless it is told not to
MAX_STARTS = 50  # a banner that is repeated more often is an ordinary line


def starts_of(rows: Rows, bits: Sequence[int], failures: Collection[int] = ()) -> tuple[list[int], list[int]]:
    """The numbers of the lines at which a further attempt begins, and of those that say so themselves.

    `bits`: the classes of each row. `failures`: the numbers of the lines that show a known failure.
    """
    if len(rows) <= BANNER_ROWS:
        return [], []
    banners, counts = _banners(rows, bits, failures), _step_counts(rows, bits)
    bars, classes, templates = _timed_commands(rows), set(bits), rows.templates
    if any(b & TRACEBACK for b in classes):
        bars |= _bar_restarts(rows, bits) | _usages(rows, bits) | _counted_on(bits, counts)
    may = _may_begin(templates, bits, banners, counts, any(b & START for b in classes)) | bars
    report = _last_report(rows, bits) if may else 0
    asked = sorted(i for i in may if i < report)
    if not asked:
        return [], []
    next_counts = _next_known(counts) if banners else counts
    last_counted = [*accumulate((-1 if count is None else i for i, count in enumerate(counts)), max)]
    begun = -1  # the index of the last row that began an attempt, whose own count is the highest so far
    highest = max((c for c in counts[:BANNER_ROWS] if c is not None), default=0)
    found: list[int] = []
    explicit: list[int] = []
    for i in asked:
        before = last_counted[i - 1]
        known = highest if before < max(begun + 1, BANNER_ROWS) else counts[before] or 0
        count, upcoming = counts[i], next_counts[i]
        restarted = count is not None and count <= 1 and known > 2
        is_explicit = bool(bits[i] & START and not bits[i] & TROUBLE) or restarted or i in bars
        is_banner = templates[i] in banners and (templates[i].count(b" ") >= MIN_SPACES or _follows_exception(bits, i))
        counts_on = is_banner and upcoming is not None and upcoming > known > 0
        begins = is_explicit or (is_banner and not counts_on and i < len(rows) - 1)
        if begins and (not found or rows.numbers[i] - found[-1] > BANNER_ROWS):
            found.append(rows.numbers[i])
            begun, highest = i, count or 0  # the steps of this attempt are counted from here: its first step begins no other
            explicit += [rows.numbers[i]] if is_explicit else []
    return found, explicit


def _last_report(rows: Rows, bits: Sequence[int]) -> int:
    """The index of the scheduler's report that ends the log; the number of rows if none does, as where work follows it.

    Such a report tells when its job was started and what its script was, of the job whose output stands in front of it.
    """
    for i in range(len(rows) - 1, -1, -1):
        if bits[i] & (PROGRESS | TRACEBACK):
            break
        if bits[i] & START and heads_end_report(rows[i].said()):
            return i
    return len(rows)


def _may_begin(
    templates: Sequence[bytes], bits: Sequence[int], banners: Collection[bytes], counts: Sequence[int | None], with_starts: bool
) -> set[int]:
    """The indices of the rows at which an attempt may begin: few of them, so that only they are looked at one by one.
    `with_starts`: one of the rows says so."""
    found = {i for i, count in enumerate(counts) if count is not None and count <= 1}
    if banners:
        found |= {i for i, template in enumerate(templates) if template in banners}
    if with_starts:
        found |= {i for i, b in enumerate(bits) if b & START}
    return {i for i in found if i >= BANNER_ROWS}


def _bar_restarts(rows: Rows, bits: Sequence[int]) -> set[int]:
    """The indices of bars that stand at `0/N [00:00` again, behind a traceback that came while a bar counted to the same N.

    A bar that is closed by an exception is drawn once more as it stood. If it had counted nothing, it begins an attempt only if
    it counts on.
    """
    if len(rows) >= MAX_CLASSIFIED_TEMPLATES:
        return set()
    found: set[int] = set()
    failed: dict[int, int] = {}  # total -> count of the bars that a traceback interrupted
    shown: dict[int, int] = {}
    drawn = -1  # the index of a fresh bar that may be one that was closed
    for i, b in enumerate(bits):
        if not b & (PROGRESS | TRACEBACK):
            continue
        text = rows[i].said()
        bar = bar_counter(text)
        if bar and drawn >= 0 and bar.now:
            found.add(drawn)
            drawn = -1
        if bar and not b & TRACEBACK and (total := fresh_bar(text)) in failed:
            found |= {i} if failed[total] else set()
            drawn = -1 if failed[total] else i
            failed.clear()
        if bar:
            shown = {} if bar.is_complete else {bar.total: bar.now}
        if b & TRACEBACK:
            failed |= shown
    return found


def _counted_on(bits: Sequence[int], counts: Sequence[int | None]) -> set[int]:
    """The indices of rows with which steps go on behind a runner's word that the program failed, with a traceback."""
    found: set[int] = set()
    raised = failed = False
    counted = 0
    for i, b in enumerate(bits):
        if (count := counts[i]) is not None:
            if failed and counted and count >= counted:
                found.add(i)
            raised, failed, counted = False, False, count
        raised = raised or bool(b & TRACEBACK)
        failed = failed or (raised and bool(b & RUN_FAILED))
    return found


def _timed_commands(rows: Rows) -> set[int]:
    """The indices behind the times of one command, up to those of another one, whose first row occurred before."""
    ends = [i for i in rows.starting_with(LAST_TIME) if is_time_of_shell(rows[i].said())]
    first = {template: i for i, template in reversed([*enumerate(rows.templates[: ends[-1]])])} if len(ends) > 1 else {}
    behind = [next((j for j in range(end + 1, len(rows)) if rows.raws[j].strip()), end) for end in ends[:-1]]
    return {i for i, end in zip(behind, ends, strict=False) if first.get(rows.templates[i], i) < end}


def _usages(rows: Rows, bits: Sequence[int]) -> set[int]:
    """The indices of the usage that argparse prints where it refuses the arguments, behind the first one of a traceback.

    A program reads its arguments before all else, so what failed above was another start of it.
    """
    usages = [i for i in rows.starting_with(USAGE) if USAGE_HELP in rows.raws[i]]
    tracebacks = [i for i, b in enumerate(bits) if b & TRACEBACK] if usages else []
    return {next(u for u in usages if u > t) for t in tracebacks if t < usages[-1]}


def _banners(rows: Rows, bits: Sequence[int], failures: Collection[int]) -> set[bytes]:
    """The templates of the first rows that occur again, without counted steps: those before any failure and any stack.

    If of these rows the last one alone occurs again, it is the first one of a loop in the program. A failure that is told again
    with another pid is one of another process, so a log that begins with it holds several runs.
    """
    templates = rows.templates
    first = [i for i in range(BANNER_ROWS) if b" " in templates[i] and not bits[i] & PROGRESS]
    if not first:
        return set()
    sound = {*takewhile(lambda i: not _is_failure(i, rows, bits, failures), range(BANNER_ROWS))}
    again = {t for t in {templates[i] for i in first} if 1 < templates.count(t) <= MAX_STARTS}
    found = [i for i in first if templates[i] in again and (i in sound or _of_several_processes(rows, templates, i))]
    return {templates[i] for i in found} if found and found[0] < BANNER_ROWS - 1 else set()


def _is_failure(place: int, rows: Rows, bits: Sequence[int], failures: Collection[int]) -> bool:
    """Does the row tell of a failure, or is it part of a stack or its heading?"""
    if rows.numbers[place] in failures and not _is_warning(rows[place]):
        return True
    if bits[place] & TROUBLE and not is_mild_record(rows[place].said()):
        return True
    heads = (i for i in range(place, min(place + STACK_HEADING_ROWS, len(rows))) if bits[i] & (FRAME | TRACEBACK))
    stack = next(heads, None)
    if stack is None or (stack and _is_warning(rows[stack - 1])):
        return False
    return stack == place or not bits[stack] & TRACEBACK  # the heading of a traceback is the traceback's own


def _is_warning(row: Row) -> bool:
    """Is it a warning of Python's? The program goes on after it, and the line below it is a line of code."""
    return is_python_warning(row.said())


def _of_several_processes(rows: Rows, templates: Sequence[bytes], place: int) -> bool:
    """Does each of the lines with the template of the one at `place` name another process?"""
    pids = [named_pid(rows[i].said()) for i, template in enumerate(templates) if template == templates[place]]
    return all(pids) and len(set(pids)) == len(pids)


def _follows_exception(bits: Sequence[int], place: int) -> bool:
    """Is the row before the one at `place` the exception of a traceback?"""
    return bool(bits[place - 1] & TROUBLE) and any(b & FRAME for b in bits[place - BANNER_ROWS : place - 1])


def _step_counts(rows: Rows, bits: Sequence[int]) -> list[int | None]:
    """The step or epoch that each row counts; None for rows without one, and for all rows of a long log."""
    if len(rows) >= MAX_CLASSIFIED_TEMPLATES:
        return [None] * len(rows)
    return rows.counted_steps([b & PROGRESS for b in bits])


def _next_known(counts: Sequence[int | None]) -> list[int | None]:
    """For each row the first count from it on; None if there is none."""
    last: int | None = None
    found: list[int | None] = []
    for count in reversed(counts):
        last = last if count is None else count
        found.append(last)
    return found[::-1]


MIN_STARTS_ALIKE = 3  # a restart may succeed, and so may a second one


def starts_alike(rows: Rows, bits: Sequence[int]) -> bool:
    """Does the first row stand MIN_STARTS_ALIKE times in the lane, and behind the last one nothing that did not stand behind each
    of those before it? Then what is started came no further than before.
    """
    templates = rows.templates
    if bits[0] & (TROUBLE | FRAME):
        return False
    starts = [i for i, template in enumerate(templates) if template == templates[0]][-MIN_STARTS_ALIKE:]
    runs = [{*templates[a:b]} for a, b in pairwise([*starts, len(templates)])]
    return len(starts) == MIN_STARTS_ALIKE and all(runs[-1] <= run for run in runs)
