"""How far a run had come, as a line of its log says: the epochs, steps and rounds that it counts, and the bars that it draws.

    [Epoch 3/5] step 200 loss 2.31                -> epoch 3 of 5, step 200
    8%|###  | 200/2515 [46:16<9:01:34, 14.04s/it] -> 200 of 2515, of a bar

Wordings: tqdm's bar, Keras' progress bar, and counters of the form `step 200/2515`, `Epoch [3/10]`, `'epoch': 3`.
"""

from msgspec import Struct

from forensics.core import lazy

NAMED_COUNT_PATTERN = lazy.regex(
    r"(?i)\b(epoch|step|iter(?:ation)?|round)s?\b\W{0,4}(\d{1,9})\b(?:\s{0,3}(?:/|\bof\b)\s{0,3}(\d{1,9})(?![\d.]|/\d))?"
)
BAR_COUNT_PATTERN = lazy.regex(  # tqdm's, with the unit of its rate, and Keras'
    r"(?<![\d/.])(\d{1,9})/(\d{1,9}) \[(?:\d{1,3}:\d\d(?:[^\]\n]{0,80}?([A-Za-z]{1,20})/)?|(?P<keras>[=>.]{3}))"
)
STEP_RATE_UNITS = ("it", "s", "ba", "batch", "step")  # of `3.2it/s`, `14.04s/it`, `1.5batch/s`
# One of the texts stands in each line that the patterns match, in lower case.
NAMED_COUNT_TEXTS = (b"epoch", b"step", b"iter", b"round")
COUNT_TEXTS = (*NAMED_COUNT_TEXTS, b" [")


class Counter(Struct, frozen=True):
    """A number that a run counts up. `unit`: `epoch`; empty for a bar. `total`: what it counts to; 0 if the line does not say.

    `of_steps`: does it count steps? A bar may also count files or cells.
    """

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
    """

    counters: tuple[Counter, ...] = ()
    line: int = 0
    may_be_last: bool = False


NO_PROGRESS = Progress()


def named_counters(text: str) -> list[Counter]:
    """The counters of epochs, steps and rounds in a line, in its order."""
    return [Counter(m[1].lower(), int(m[2]), int(m[3] or 0)) for m in NAMED_COUNT_PATTERN.finditer(text)]


def bar_counter(text: str) -> Counter | None:
    """The counter of a bar as the line shows it at last; None if there is none."""
    last = next(reversed([*BAR_COUNT_PATTERN.finditer(text)]), None)
    return Counter("", int(last[1]), int(last[2]), bool(last["keras"]) or last[3] in STEP_RATE_UNITS) if last else None
