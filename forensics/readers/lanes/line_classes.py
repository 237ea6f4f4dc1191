"""What one line is: its class (trouble, progress, a good end), its level, a counted step, a pid, the exit status that it records.

The exit status that the last lines of a log record, as a wrapper, a shell or a CI system prints it.

    Done. Your build exited with 1.   -> 1
    exit status 0                     -> 0
    status code 200 of /health        -> None: it is no status of the program
    Successfully completed.           -> 0, in the report that LSF writes below the output of a job

Such a line is written by the process that waited for the program, so it counts beside what the program itself printed.

The phrases `status` of good_end and bad_end ask something else: whether a line tells of an end, anywhere in a log and anywhere in
the line. Of 613 lines with a status at their end in the logs of five corpora they match 386; the others (`return code -22` of a
driver, `exit 1` of a script that is printed) are no ends there, but are the status if they are the last thing that is said. One
pattern for both would move what was learned of either.

Classify a line: trouble, progress, a good end, and so on. The wordings are the phrases of the database.

"corrupt image 17.jpg, skipping"  ->  TROUBLE | GOES_ON          "504 steps, 0 failed"  ->  0
"Epoch 3/10 loss 0.41"            ->  PROGRESS                   "Traceback (most recent call last):"  ->  TROUBLE | TRACEBACK
"""

from collections.abc import Callable, Mapping, Sequence

from forensics.core import lazy
from forensics.core.shapes import ZEROS, asks_digits, by_shape, of_shapes
from forensics.data_files.named_parts import patterns_of
from forensics.database import Database
from forensics.database.phrase_filter import phrase_filter
from forensics.line_formats import parse_prefix, unlabelled
from forensics.model import Line
from forensics.model.verdicts import Lane

PATTERNS = patterns_of("line parts")
CELL_HEADING_PATTERN = lazy.regex(rb"(?:\d{4}-\d\d-\d\dT\S+ )?In \[[ \d]{1,9}\]:$")
INFORMATION_LEVELS = {"info", "i", "debug", "d", "trace"}
FATAL_LEVELS = {"critical", "crit", "c", "fatal", "f", "severe", "alert", "emerg"}
ERROR_LEVELS = {"error", "err", "e", *FATAL_LEVELS}
LOW_SEVERITY_LEVELS = {"warning", "warn", "w", "info", "i", "debug", "d", "trace", "notice"}
MAX_LEVEL_CHARS = 160  # the level is in these first characters of a line, after a time, a host and the name of a logger


def is_mild_record(text: str) -> bool:
    """Has the line the level of a warning or a lower one, near its beginning or as the class of a warning?"""
    return PATTERNS.mild_record.search(text) is not None


def is_python_warning(text: str) -> bool:
    """Is it a warning of Python's? The program goes on after it, and the line below it is a line of code."""
    return PATTERNS.python_warning.search(text) is not None


def is_low_severity(text: str) -> bool:
    """Is the level of the record itself a warning or lower?"""
    if level := parse_prefix(text).level:
        return level.lower() in LOW_SEVERITY_LEVELS
    return PATTERNS.record_level.search(unlabelled(text)[:MAX_LEVEL_CHARS]) is not None


def is_error_record(text: str, fatal: bool = True) -> bool:
    """Does the record itself say that it is an error, or worse? `fatal`: what is worse counts, too."""
    return (parse_prefix(text).level or "").lower() in (ERROR_LEVELS if fatal else ERROR_LEVELS - FATAL_LEVELS)


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
    """The cell of a notebook and the error that ended it, `In [3]`, `KeyError`, as sources.formats.notebook writes it. None for
    an end that the user or the program asked for."""
    found = PATTERNS.failed_cell.match(text)
    return (found["cell"], found["kind"]) if found else None


def tells_no_reason(text: str) -> bool:
    """Is it a prompt, a search for a file that is not there, or a unit that systemd started? No failure stands in it. Nor is a
    line of a capture's account one: `readers/capture` reads them all, and what they tell is evidence already."""
    return PATTERNS.no_reason.match(text) is not None


def names_a_place_in_code(text: str) -> bool:
    """Does the line name a file and a line of code?"""
    return PATTERNS.place_in_code.search(text) is not None


def heads_end_report(text: str) -> bool:
    """Is it the first line of the report that LSF writes behind the output of a job: `Sender: LSF System <lsfadmin@n1>`?"""
    return text.startswith("Sender: LSF System")


def is_of_tracker(text: str) -> bool:
    """Is it a line of a client that records experiments? Such a client says goodbye at any exit, good or bad."""
    return PATTERNS.tracker.search(text) is not None


def is_time_of_shell(text: str) -> bool:
    """Is it one of the times that a shell's `time` writes behind the output of a command: `real    126m14.364s`?"""
    return PATTERNS.shell_time.match(text) is not None


LAST_LINES_WITH_STATUS = 3  # chosen by hand: a date or a closing line may follow the status
MAX_STATUS = 255  # of a process
EXIT_LINE_PATTERNS = patterns_of("exit line")
REPORTED_SUCCESS = "Successfully completed."
MAX_LINES_BEHIND_SUCCESS = 18  # in such a report: the table of what the job used, and where its output is
MAX_LINES_OF_POSTSCRIPT = 8  # below it: where its errors are


def exit_status(lane: Lane | None) -> int | None:
    """The last exit status that the last lines of `lane` record; None where they record none."""
    if lane is None:
        return None
    last = [line for line in lane.last_lines if line.text.strip()]
    if any(EXIT_LINE_PATTERNS.report_end.match(line.text) for line in last):
        postscript = MAX_LINES_OF_POSTSCRIPT if last[-1].text.startswith("Read file <") else 0
        done = (x for x in lane.good_lines if x.number >= last[-1].number - MAX_LINES_BEHIND_SUCCESS - postscript)
        return 0 if any(line.text.strip() == REPORTED_SUCCESS for line in done) else None
    return _last_status([unlabelled(line.text) for line in last])


def own_status(lane: Lane) -> Line | None:
    """The last line of a job's `lane`, if it is an exit status other than 0 and nothing else."""
    last = next((x for x in reversed(lane.last_lines) if x.text.strip()), None)
    found = EXIT_LINE_PATTERNS.own_status.search(unlabelled(last.text)) if last and lane.kind == "job" else None
    return last if found and 0 < int(found["status"]) <= MAX_STATUS else None


def _last_status(texts: Sequence[str]) -> int | None:
    for text in reversed(texts[-LAST_LINES_WITH_STATUS:]):
        found = EXIT_LINE_PATTERNS.exit_line.search(text)
        if found and int(found[1]) <= MAX_STATUS:
            return int(found[1])
    return None


TROUBLE, GOES_ON, GOOD, PROGRESS, START, SHUT_DOWN, TRACEBACK, FRAME, SERVICE, SAVED, BAD_END, RUN_FAILED = (
    1 << i for i in range(12)
)
NOT_AN_END = GOES_ON | SERVICE  # a line of these classes is no sign of an end, even if it has an error word
MAX_CLASSIFIED_CHARS = 240  # of a line; its message is at its beginning
MAX_CLASSIFIED_END = 60  # of a longer line: what follows from it, as in `GET https://... failed: timeout, retrying in 8s`
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
# Ruby, PHP, gdb; Julia; native code; kernel. gfortran's stand with Java's, Octave's behind them.
FRAMES = lazy.regex(
    r"\s{2,}(?:File \"|at |raise |return |\^|~)|\tat (?:[\w$.<>/]{1,300}\(|\S{1,250}:\d+$)|\s*File \".{1,300}\", line \d"
    r"|\s+\.\.\. \d+ (?:more|common frames omitted)|\s{4}\S{1,80} at line \d+ column \d+$"
    r"|(?:\t| {2,8})\S{1,200}\.go:\d+(?: \+0x[0-9a-f]+)?\s*$|created by \S+(?: in goroutine \d+)?$"
    r"|[\w./*()\[\]-]{3,200}(?:\(\{?0x[0-9a-f]+\??[,)}]|\.func\d+(?:\.\d+)*(?:\(|$))|(?:main|runtime)\.(?:main|goexit)$"
    r"| {1,4}\d{1,3}: +(?:0x[0-9a-f]+ - )?(?:[\w<]+(?:::|>)|(?:main|_start|__libc_start\w*|clone3?|start_thread)$)"
    r"|\s+\S{1,80} \([^\s()]{1,200}:\d+\)$|\s+from \S{1,200}:\d+:in |\s*#\d+ +(?:0x|/|\{main\}|\[internal function\])"
    r"|[\w.!#<>-]{1,120} at (?:[A-Za-z]:)?[./\\]\S{1,250}:\d+(?: \[inlined\])?\s*$"
    r"|\S{1,120} at \S{1,250} \(unknown line\)$|unknown function \(ip: 0x"
    r"|\S{1,200}\([^)]{0,200}\+0x[0-9a-f]+\) ?\[0x|\[\S{1,80}:\d+\] \[ ?\d{1,2}\] |[0-9A-F]{16} \(\(?"
    r"|\[<[0-9a-f]+>\]| {1,4}\S.{0,80}\+0x[0-9a-f]+/0x|Call Trace:|\w{3,20}: 0{4}"
)
NEVER = "(?!)"
MAX_SHAPES_CLASSIFIED = 4096  # that are remembered: as many as of the lines of lanes


def _both_ends(text: str) -> str:
    """What is looked at of a line: its beginning, and of a long one also its end."""
    return text if len(text) <= MAX_CLASSIFIED_CHARS else f"{text[:MAX_CLASSIFIED_CHARS]} {text[-MAX_CLASSIFIED_END:]}"


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
        # Of the classes that ask for the values of digits: what a line of them has, and what finds something in its shape.
        asking = [(words, [of_shapes(p) for p in patterns if asks_digits(p)]) for _, _, words, patterns in classes]
        self.asking = [
            (tuple({word.translate(ZEROS) for word in words}), lazy.regex("|".join(patterns)))
            for words, patterns in asking
            if patterns
        ]
        self.of_shape: dict[str, int | None] = {}

    def classify(self, text: str) -> int:
        """The classes of one line, as bits. `text`: without terminal escapes."""
        text = _both_ends(text)
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
            self.of_shape[shape] = self._classified_shape(_both_ends(shape))
        return self.of_shape[shape]

    def _classified_shape(self, shape: str) -> int | None:
        if self.possible(shape)[0] & self.may_be_trouble or FRAMES.match(shape):
            return None
        low = shape.lower()
        asked = (pattern for words, pattern in self.asking if not words or any(map(low.__contains__, words)))
        return None if any(pattern.search(shape) for pattern in asked) else self.classify(shape)

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


def failure_test(database: Database) -> Callable[[str], bool]:
    """The test whether a line has an error word, or words with which a program ends badly: `giving up`."""
    classes = line_classes(database)
    return lambda text: bool(classes.classify(text) & (TROUBLE | BAD_END))
