"""Classify a line: trouble, progress, a good end, and so on. The wordings are the phrases of the database.

"corrupt image 17.jpg, skipping"  ->  TROUBLE | GOES_ON          "504 steps, 0 failed"  ->  0
"Epoch 3/10 loss 0.41"            ->  PROGRESS                   "Traceback (most recent call last):"  ->  TROUBLE | TRACEBACK
"""

from collections.abc import Callable, Mapping

from forensics.core import lazy
from forensics.core.shapes import ZEROS, asks_digits
from forensics.database import Database
from forensics.database.phrase_filter import phrase_filter

TROUBLE, GOES_ON, GOOD, PROGRESS, START, SHUT_DOWN, TRACEBACK, FRAME, SERVICE, SAVED, BAD_END, RUN_FAILED = (
    1 << i for i in range(12)
)
NOT_AN_END = GOES_ON | SERVICE  # a line of these classes is no sign of an end, even if it has an error word
MAX_CLASSIFIED_CHARS = 240  # of a line; its message is at its beginning
CLASSES = {
    "goes_on": GOES_ON,
    "good_end": GOOD,
    "bad_end": BAD_END,
    "run_failed": RUN_FAILED,
    "saved": SAVED,
    "progress": PROGRESS,
    "run_start": START,
    "shut_down": SHUT_DOWN,
    "host_service": SERVICE,
    "stack_head": TRACEBACK,
}
CLASS_NAMES = (
    *("trouble", "goes_on", "good_end", "progress", "run_start", "shut_down", "traceback", "frame", "host_service", "saved"),
    *("bad_end", "run_failed"),
)  # in the order of their bits
# One line of a stack, matched at the beginning of the line. Row by row: Python, JavaScript, Java, C#; Java; Go; Rust; py-spy,
# Ruby, PHP, gdb; Julia; native code; kernel.
FRAMES = lazy.regex(
    r"\s{2,}(?:File \"|at |raise |return |\^|~)|\tat [\w$.<>/]{1,300}\(|\s*File \".{1,300}\", line \d"
    r"|\s+\.\.\. \d+ (?:more|common frames omitted)"
    r"|(?:\t| {2,8})\S{1,200}\.go:\d+(?: \+0x[0-9a-f]+)?\s*$|created by \S+(?: in goroutine \d+)?$"
    r"|[\w./*()\[\]-]{3,200}(?:\(\{?0x[0-9a-f]+\??[,)}]|\.func\d+(?:\.\d+)*(?:\(|$))|(?:main|runtime)\.(?:main|goexit)$"
    r"| {1,4}\d{1,3}: +(?:0x[0-9a-f]+ - )?[\w<]+(?:::|>)"
    r"|\s+\S{1,80} \([^\s()]{1,200}:\d+\)$|\s+from \S{1,200}:\d+:in |\s*#\d+ +(?:0x|/|\{main\}|\[internal function\])"
    r"|[\w.!#<>-]{1,120} at (?:[A-Za-z]:)?[./\\]\S{1,250}:\d+\s*$"
    r"|\S{1,200}\([^)]{0,200}\+0x[0-9a-f]+\) ?\[0x|\[\S{1,80}:\d+\] \[ ?\d{1,2}\] |[0-9A-F]{16} \(\(?"
    r"|\[<[0-9a-f]+>\]| {1,4}\S.{0,80}\+0x[0-9a-f]+/0x|Call Trace:|\w{3,20}: 0{4}"
)
NEVER = "(?!)"
MAX_SHAPES_CLASSIFIED = 4096  # that are remembered: as many as of the lines of lanes


class LineClasses:
    """The compiled classes of one database. `possible`: which classes of `phrases` a text may belong to and surely belongs to,
    see phrase_filter."""

    def __init__(
        self, phrases: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]], possible: Callable[[str], tuple[int, int]]
    ) -> None:
        none: tuple[tuple[str, ...], tuple[str, ...]] = ((), (NEVER,))
        place = {name: 1 << i for i, name in enumerate(phrases)}
        self.possible = possible
        self.trouble_words, trouble = phrases.get("trouble", none)
        self.trouble = lazy.regex("|".join(trouble))
        self.no_trouble = lazy.regex("|".join(phrases.get("no_trouble", none)[1]))
        self.may_be_trouble, self.may_be_none = place.get("trouble", 0), place.get("no_trouble", 0)
        classes = [(name, bit, *phrases[name]) for name, bit in CLASSES.items() if name in phrases]
        self.others = [(place[name], bit, words, lazy.regex("|".join(patterns))) for name, bit, words, patterns in classes]
        # What a line has that some class asks for the values of digits: `[1-9] failed`; the empty text is in each.
        asking = (words or ("",) for _, _, words, patterns in classes if any(map(asks_digits, patterns)))
        self.words_with_digits = tuple({word.translate(ZEROS) for words in asking for word in words})
        self.of_shape: dict[str, int | None] = {}

    def classify(self, text: str) -> int:
        """The classes of one line, as bits. `text`: without terminal escapes."""
        text = text[:MAX_CLASSIFIED_CHARS]
        possible, sure = self.possible(text)
        if not possible:
            return FRAME if FRAMES.match(text) else 0
        low = text.lower()
        found = 0
        for place, bit, words, pattern in self.others:
            if possible & place and (not words or any(map(low.__contains__, words))) and (sure & place or pattern.search(text)):
                found |= bit
        if FRAMES.match(text):
            return found & GOES_ON | FRAME
        if found & TRACEBACK:
            return found & GOES_ON | TRACEBACK | TROUBLE
        return found | TROUBLE if self._is_trouble(text, possible, sure) else found

    def classify_shape(self, shape: str) -> int | None:
        """The classes of each line that is `shape` with zeros for its digits; None if they depend on its digits, or may do so.

        `shape`: of a line without terminal escapes, of ASCII."""
        if shape not in self.of_shape:
            if len(self.of_shape) >= MAX_SHAPES_CLASSIFIED:
                self.of_shape.clear()
            self.of_shape[shape] = self._classified_shape(shape[:MAX_CLASSIFIED_CHARS])
        return self.of_shape[shape]

    def _classified_shape(self, shape: str) -> int | None:
        low = shape.lower()
        may_depend = self.possible(shape)[0] & self.may_be_trouble or FRAMES.match(shape)
        return None if may_depend or any(map(low.__contains__, self.words_with_digits)) else self.classify(shape)

    def is_trouble(self, text: str) -> bool:
        """Has the line a word of failure that is more than a count of zero, a name or a setting?"""
        return self._is_trouble(text, *self.possible(text))

    def _is_trouble(self, text: str, possible: int, sure: int) -> bool:
        if not possible & self.may_be_trouble or not any(map(text.lower().__contains__, self.trouble_words)):
            return False
        if not sure & self.may_be_trouble and self.trouble.search(text) is None:
            return False
        return not possible & self.may_be_none or self.trouble.search(self.no_trouble.sub(" ", text)) is not None


_made: dict[str, LineClasses] = {}


def line_classes(database: Database) -> LineClasses:
    """The LineClasses of `database`, compiled once."""
    if database.hash not in _made:
        _made[database.hash] = LineClasses(database.phrases, phrase_filter(database.phrase_matcher))
    return _made[database.hash]


def trouble_test(database: Database) -> Callable[[str], bool]:
    """The test whether a line has an error word, for callers that need no other class."""
    return line_classes(database).is_trouble
