"""How far a run had come in its last lines, and what that says about its end: the words for it, not the verdict.

Epoch 3/5, then 50/103 [=====>   ] - ETA     -> `in epoch 3 of 5, at 50 of 103`, it breaks off there
step:3250/3250 val_loss:3.27543              -> its last step was made
8%|███  | 200/2515 [46:16<9:01:34            -> `at 200 of 2515`
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.text import decode_line
from forensics.model import Report, Scan
from forensics.readers.progress.counters import COUNT_TEXTS, Counter, bar_counter, named_counters

MAX_SEARCHED_LINES = 2000  # from the end
MAX_READ_CHARS = 2000  # of the end of a line, which may hold all the states of a bar
FINISHED = "its last step was made: {}"
STOPS = "the log stops {}, and nothing tells of an end"


class Progress(Struct, frozen=True):
    """The last counters of a log, the outer one first, and the last line of them as numbered in the original file."""

    counters: tuple[Counter, ...] = ()
    line: int = 0


NO_PROGRESS = Progress()


def with_last_step(report: Report, progress: Progress, cut_off: str) -> Report:
    """`report`, in which nothing shows a bad end, with the words that the last counters of its subject's log justify.

    `cut_off`: the title of its first cause where the log breaks off.
    """
    subject, counters, last = report.subject, progress.counters, progress.line
    if subject is None or not counters or subject.kind != "job" or subject.outcome not in ("cut_off", "ended_well"):
        return report
    if subject.outcome == "cut_off" and counters[0].unit and all(c.is_complete for c in counters):
        return replace(report, subject=replace(subject, outcome="ended_well", why=FINISHED.format(counters[0])))
    told = [int(n) for line in subject.outcome_lines if (n := line.removeprefix(f"{subject.name}:").partition(":")[0]).isdigit()]
    is_end_told = subject.outcome == "ended_well" and max(told, default=last) >= last
    if is_end_told or counters[0].is_complete:
        return report
    first = replace(report.causes[0], title=cut_off or report.causes[0].title)
    stopped = replace(subject, outcome="cut_off", why=STOPS.format(_place(counters)))
    return replace(report, subject=stopped, causes=(first, *report.causes[1:]))


def last_progress(scan: Scan, first: int) -> Progress:
    """The last counters with a total from line `first` on: the epoch, and a step of it or a bar behind it."""
    origin, inner, line = scan.source.origin or int, None, 0
    for number, text in lines_from_end(scan, COUNT_TEXTS, MAX_SEARCHED_LINES, first):
        named = {c.unit: c for c in named_counters(text) if c.total}
        epoch = named.pop("epoch", None)
        shown = next(iter(named.values()), None) or bar_counter(text)
        if inner is None and shown and shown.total:
            inner, line = shown, origin(number)
        if epoch:
            return Progress((epoch, inner), line) if inner else Progress((epoch,), origin(number))
    return Progress((inner,), line) if inner else NO_PROGRESS


def _place(counters: Sequence[Counter]) -> str:
    """`after step 200 of 2515`, `in epoch 3 of 5, at 50 of 103`, `after epoch 1 of 10`."""
    outer, inner = counters[0], counters[-1] if len(counters) > 1 else None
    if inner is None:
        return f"{'after' if outer.unit else 'at'} {outer}"
    return f"after {outer}" if inner.is_complete else f"in {outer}, at {inner}"


def lines_from_end(
    scan: Scan, texts: Sequence[bytes], most: int, first: int, last: int | None = None
) -> Iterator[tuple[int, str]]:
    """(number, text) of those lines of the sample that have one of `texts`, the last one first, as a terminal shows them at last.

    `first`, `last`: between which lines, to the end if `last` is None; `most`: how many lines are searched.
    """
    searched = 0
    for start, block in reversed(scan.sample):
        lines, lowered = block.split(b"\n"), block.lower().split(b"\n")
        end = len(lines) if last is None else min(len(lines), last + 1 - start)
        for i in range(end - 1, -1, -1):
            searched += 1
            if start + i < first or searched > most:
                return
            if any(map(lowered[i].__contains__, texts)):
                yield start + i, decode_line(lines[i].rstrip(b"\r").rpartition(b"\r")[2][-MAX_READ_CHARS:])
