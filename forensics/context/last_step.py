"""How far a run had come in its last lines, and what that says about its end: the words for it, not the verdict.

    Epoch 3/5, then 50/103 [=====>   ] - ETA     -> `in epoch 3 of 5, at 50 of 103`, it breaks off there
    step:3250/3250 val_loss:3.27543              -> its last step was made
    8%|███  | 200/2515 [46:16<9:01:34            -> `at 200 of 2515`

Wordings: tqdm's bar, Keras' progress bar, and counters of the form `step 200/2515`, `Epoch [3/10]`, `iteration 5 of 20`.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.text import decode_line
from forensics.model import Report, Scan

NAMED_COUNT_PATTERN = lazy.regex(
    r"(?i)\b(epoch|step|iter(?:ation)?|round)s?\b[\s:=\[(#]{0,4}(\d{1,9})\s{0,3}(?:/|\bof\b)\s{0,3}(\d{1,9})(?![\d.]|/\d)"
)
BAR_COUNT_PATTERN = lazy.regex(r"(?<![\d/.])(\d{1,9})/(\d{1,9}) \[(?:\d{1,3}:\d\d|[=>.]{3})")  # tqdm's, and Keras'
SHOWN_WORDS = (b"epoch", b"step", b"iter", b"round", b" [")  # one of them stands in each line that a pattern matches
MAX_SEARCHED_LINES = 2000  # from the end
MAX_READ_CHARS = 2000  # of the end of a line, which may hold all the states of a bar
FINISHED = "its last step was made: {}"
BREAKS_OFF = "No crash is shown, but the log breaks off"
STOPS = "the log stops {}, and nothing tells of an end"


class Counter(Struct, frozen=True):
    """A counter with its total on a line. `unit`: empty for a bar."""

    unit: str
    now: int
    total: int
    line: int

    @property
    def is_complete(self) -> bool:
        """Has it reached its total?"""
        return self.now >= self.total

    def __str__(self) -> str:
        """`epoch 3 of 5`, `200 of 2515`."""
        return " ".join(filter(None, (self.unit, str(self.now), "of", str(self.total))))


def with_last_step(report: Report, counters: Sequence[Counter]) -> Report:
    """`report`, in which nothing shows a bad end, with the words that the last counters of its subject's log justify."""
    subject = report.subject
    if subject is None or not counters or subject.kind != "job" or subject.outcome not in ("cut_off", "ended_well"):
        return report
    if subject.outcome == "cut_off" and counters[0].unit and all(c.is_complete for c in counters):
        return replace(report, subject=replace(subject, outcome="ended_well", why=FINISHED.format(counters[0])))
    last = max(c.line for c in counters)
    told = [int(n) for line in subject.outcome_lines if (n := line.removeprefix(f"{subject.name}:").partition(":")[0]).isdigit()]
    is_end_told = subject.outcome == "ended_well" and max(told, default=last) >= last
    if is_end_told or counters[0].is_complete:
        return report
    first = replace(report.causes[0], title=BREAKS_OFF)
    stopped = replace(subject, outcome="cut_off", why=STOPS.format(_place(counters)))
    return replace(report, subject=stopped, causes=(first, *report.causes[1:]))


def last_counters(scan: Scan, first: int) -> tuple[Counter, ...]:
    """The last counters from line `first` on: the epoch, and a step of it or a bar behind it; empty if none is shown.

    The lines are numbered as in the original file.
    """
    origin, inner = scan.source.origin or int, None
    for number, text in _lines_from_end(scan, first):
        named = {m[1].lower(): m for m in NAMED_COUNT_PATTERN.finditer(text)}
        epoch = named.pop("epoch", None)
        step = next(iter(named.values()), None)
        bar = None if step else next(reversed([*BAR_COUNT_PATTERN.finditer(text)]), None)
        if inner is None and (step or bar):
            inner = _counter(step[1].lower(), step[2], step[3], origin(number)) if step else None
            inner = _counter("", bar[1], bar[2], origin(number)) if bar else inner
        if epoch:
            return tuple(c for c in (_counter("epoch", epoch[2], epoch[3], origin(number)), inner) if c)
    return (inner,) if inner else ()


def _counter(unit: str, now: str, total: str, line: int) -> Counter | None:
    return Counter(unit, int(now), int(total), line) if int(total) else None


def _place(counters: Sequence[Counter]) -> str:
    """`after step 200 of 2515`, `in epoch 3 of 5, at 50 of 103`, `after epoch 1 of 10`."""
    outer, inner = counters[0], counters[-1] if len(counters) > 1 else None
    if inner is None:
        return f"{'after' if outer.unit else 'at'} {outer}"
    return f"after {outer}" if inner.is_complete else f"in {outer}, at {inner}"


def _lines_from_end(scan: Scan, first: int) -> Iterator[tuple[int, str]]:
    """The lines of the sample from line `first` on that may hold a counter, last first, as a terminal shows them at last."""
    looked = 0
    for start, block in reversed(scan.sample):
        lines, lowered = block.split(b"\n"), block.lower().split(b"\n")
        for i in range(len(lines) - 1, -1, -1):
            looked += 1
            if start + i < first or looked > MAX_SEARCHED_LINES:
                return
            if any(map(lowered[i].__contains__, SHOWN_WORDS)):
                yield start + i, decode_line(lines[i].rstrip(b"\r").rpartition(b"\r")[2][-MAX_READ_CHARS:])
