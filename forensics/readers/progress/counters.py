"""What a run prints of its course: the counters of a line, and the words between them that tell of an end, trouble or a trial.

How far a run had come, as a line of its log says: the epochs, steps and rounds that it counts, and the bars that it draws.

    [Epoch 3/5] step 200 loss 2.31                -> epoch 3 of 5, step 200
    8%|###  | 200/2515 [46:16<9:01:34, 14.04s/it] -> 200 of 2515, of a bar

    Training for 5000 steps, starting at 0        -> a plan: step, 5000

Wordings: tqdm's bar, in a log too, Keras' progress bar, and counters of the form `step 200/2515`, `Epoch [3/10]`, `'epoch': 3`.
"""

from msgspec import Struct

from forensics.core import lazy
from forensics.core.shapes import by_shape
from forensics.data_files.named_parts import patterns_of

RUN_WORDS_PATTERNS = patterns_of("run words")


def tells_an_end(text: str) -> bool:
    """Has the line a word of the end of a run, or of what comes at its end?"""
    return RUN_WORDS_PATTERNS.end_words.search(text) is not None


@by_shape
def closes_run(text: str) -> bool:
    """Does the line say that the whole run is over, and well?"""
    return RUN_WORDS_PATTERNS.closing.search(text) is not None and not RUN_WORDS_PATTERNS.quoted_call.search(text)


def says_done(text: str) -> bool:
    """Is it what a program says last that has done its work, with no count of what it goes on with?"""
    return RUN_WORDS_PATTERNS.farewell.search(text) is not None and not positions(text)


def tells_trouble(text: str) -> bool:
    """Has the line a word of failure?"""
    return RUN_WORDS_PATTERNS.trouble.search(text) is not None


def trial_number(text: str) -> str | None:
    """The digits of the trial, fold or run that the line names; None if it names none."""
    found = RUN_WORDS_PATTERNS.trial.search(text)
    return str(found["number"]) if found else None


PATTERNS = patterns_of("counters")
BAR_COUNT_PATTERN = lazy.regex(  # tqdm's, with the unit of its rate, as a logger prints it too, and Keras'
    r"(?<![\d/.])(\d{1,9}|\d{1,3}\.\d{1,3}[kMG]|\d{1,3}[kMG])(?:it)?/(\d{1,9}|\d{1,3}\.\d{1,3}[kMG]|\d{1,3}[kMG])(?:it)? "
    r"(?:\[(?:\d{1,3}:\d\d(?:[^\]\n]{0,80}?([A-Za-z]{1,20})/)?|(?P<keras>[=>.]{3}))|rate:[\d.?]{1,12}(?P<logged>[A-Za-z]{1,20})/)"
)
RESULT_PATTERN = lazy.regex(r"(?i)\b(?:\w{0,20}(?:loss|acc(?:uracy)?|error|score|auc|f1|ppl|perplexity|mse|mae|map))\b\W{1,4}\d")
TRAINER_END = "'train_runtime'"
STEP_RATE_UNITS = ("it", "s", "ba", "batch", "step")  # of `3.2it/s`, `14.04s/it`, `1.5batch/s`
# One of the texts stands in each line that the patterns match, in lower case.
NAMED_COUNT_TEXTS = (b"epoch", b"step", b"iter", b"round")
COUNT_TEXTS = (*NAMED_COUNT_TEXTS, b"batch", b"update", b"episode", b"[", b" rate:")
MAX_PER_CHARS = 24  # of the words in front of a unit: `consumed_tokens/`
OF_EPOCH = "batch"  # the unit of what is counted within an epoch: that it is full is no end of the run
SCALES = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}  # of a bar's numbers
# Stands, in lower case, in each line with a counter that has a total, whatever escapes and signs of other scripts are between.
TOTAL_PATTERN = lazy.regex(rb"(?:/|of)[\x00-\x20\d\x80-\xff]")


class Counter(Struct, frozen=True):
    """A number that a run counts up. `unit`: `epoch`; empty for a bar. `total`: what it counts to; 0 if the line does not say.
    `of_steps`: does it count steps? A bar may also count files or cells."""

    unit: str
    now: int
    total: int = 0
    of_steps: bool = False

    @property
    def is_complete(self) -> bool:
        """Has it reached its total?"""
        return 0 < self.total <= self.now

    def __str__(self) -> str:
        """`epoch 3 of 5`, `step 200`, `200 of 2515`."""
        return f"{self.unit} {self.now}{f' of {self.total}' if self.total else ''}".strip()


class Progress(Struct, frozen=True):
    """The last counters of a log, the outer one first, and the last line of them as numbered in the original file.

    `may_be_last`: by its stride, or because it counts from zero, the outer counter may have been shown for the last time.
    `before_end`: where the log of a program that always tells its end stands, if that end is not told: `at epoch 0.07`. `ended`:
    the name of such a program, if it is told. `in_round`: the total of the outer counter is what each round before the last one
    counted to. `torn`: the log ends within a line.
    `is_done`: the outer counter's line tells results, and each of its counts has one line: what it counts was done.
    """

    counters: tuple[Counter, ...] = ()
    line: int = 0
    may_be_last: bool = False
    before_end: str = ""
    ended: str = ""
    in_round: bool = False
    torn: bool = False
    is_done: bool = False


NO_PROGRESS = Progress()


def share_done(progress: Progress) -> float:
    """The share of the run that was done, by its outermost counter, if that has a name and a total: `epoch 34 of 100`, 0.335.

    0 if it is not told. An epoch that is counted was begun, unless its line tells its results; how much of it was done the next
    counter tells, if it has a total.
    """
    outer = next(iter(progress.counters), None)
    if outer is None or not outer.unit or outer.unit == OF_EPOCH or not 0 < outer.now < outer.total:
        return 0.0
    if outer.unit != "epoch" or progress.is_done:
        return outer.now / outer.total
    inner = next((c for c in progress.counters[1:] if 0 < c.now <= c.total), None)
    return (outer.now - 1 + (inner.now / inner.total if inner else 0.5)) / outer.total


def named_counters(text: str) -> list[Counter]:
    """The counters of epochs, steps and rounds in a line, in its order."""
    return [Counter(unit, int(text[now]), int(text[total]) if total else 0) for unit, now, total in _named_places(text)]


@by_shape
def _named_places(text: str) -> tuple[tuple[str, slice, slice | None], ...]:
    """Of each counter with a name the unit, and where its number and its total stand."""
    found = (m for m in PATTERNS.named_count.finditer(text) if not is_per(text[: m.start()]))
    return tuple((m[1].lower(), slice(*m.span(2)), slice(*m.span(3)) if m[3] else None) for m in found)


def is_per(front: str) -> bool:
    """Does a line go on behind `front` with the unit of a rate or of a time: `tokens/`, `0.41 sec per `?"""
    return bool(PATTERNS.per_count.search(front[-MAX_PER_CHARS:]))


def bar_counter(text: str) -> Counter | None:
    """The counter of a bar as the line shows it at last; None if there is none."""
    place = _bar_place(text)
    return Counter("", _scaled(text[place[0]]), _scaled(text[place[1]]), place[2]) if place else None


def _scaled(number: str) -> int:
    """`978` -> 978, `1.25k` -> 1250."""
    scale = SCALES.get(number[-1])
    return round(float(number[:-1]) * scale) if scale else int(number)


@by_shape
def _bar_place(text: str) -> tuple[slice, slice, bool] | None:
    """Where the number and the total of the last bar stand, and whether it counts steps."""
    last = next(reversed([*BAR_COUNT_PATTERN.finditer(text)]), None)
    if last is None:
        return None
    of_steps = bool(last["keras"]) or (last[3] or last["logged"]) in STEP_RATE_UNITS
    return slice(*last.span(1)), slice(*last.span(2)), of_steps


def item_counter(text: str) -> Counter | None:
    """The counter at the beginning of a line that names one task of a list; None if there is none."""
    found = PATTERNS.item.match(text)
    return Counter("", int(found[1]), int(found[2])) if found else None


def positions(text: str) -> list[Counter]:
    """All that a line counts up of a run: epochs, steps, batches, updates, and a bar of steps."""
    placed = [Counter(unit, int(text[now]), int(text[total]) if total else 0) for unit, now, total in _other_places(text)]
    found = [*named_counters(text), *placed]
    bar = bar_counter(text)
    return [*found, bar] if bar and bar.of_steps else found


@by_shape
def _other_places(text: str) -> tuple[tuple[str, slice, slice | None], ...]:
    """As _named_places, of what POSITION_PATTERN finds."""
    found: list[tuple[str, slice, slice | None]] = []
    for m in PATTERNS.position.finditer(text):
        if is_per(text[: m.start()]):
            continue
        if m["step"]:
            found += [("epoch", slice(*m.span("epoch")), None), ("step", slice(*m.span("step")), None)]
        elif m["part"]:
            found.append((OF_EPOCH, slice(*m.span("part")), slice(*m.span("parts"))))
        else:
            found.append((m[1].lower(), slice(*m.span(2)), slice(*m.span(3)) if m[3] else None))
    return tuple(found)


def trainer_position(text: str) -> str:
    """`epoch 0.07` of a record of the Trainer; empty if the line has none."""
    found = PATTERNS.trainer_record.search(text)
    return f"{found[1]} {found[3]}" if found else ""


def planned(text: str) -> Counter | None:
    """What a run says at its start that it will count to; None if the line does not say so."""
    place = _planned_place(text)
    return Counter(place[0], 0, int(text[place[1]])) if place else None


@by_shape
def _planned_place(text: str) -> tuple[str, slice] | None:
    """The unit, and where its total stands."""
    found = PATTERNS.plan.search(text)
    if found is None:
        return None
    unit = next(filter(None, (found[n] for n in ("unit", "unit_of_total", "unit_of_num", "unit_set", "steps_set", "epochs_set"))))
    total = next(n for n in ("total", "named_total", "num", "set_to") if found[n])
    return unit.lower(), slice(*found.span(total))


def fresh_bar(text: str) -> int:
    """The total of a bar that is drawn before its first step; 0 if the line shows none."""
    found = PATTERNS.fresh_bar.search(text)
    return int(found[1]) if found else 0
