"""What only a program at work prints: the figures of a training, progress bars that move.

    [12/11 20:49:25 d2.utils.events]:  eta: 0:13:58  iter: 19  total_loss: 1.496  ...     -> at work
    RuntimeError: iteration 20 failed                                                     -> alarm

What stands in front of such lines, and is followed by no alarm, was outlived. A failure's word is none where it names a figure
(`train_error 0.19`) or counts none (`0 failures`).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from forensics import lazy

ALARM = lazy.regex(
    r"(?i)\b(?:\w*error|\w*exception|fail\w*|fatal|critical|abort\w*|kill\w*|terminat\w*|shut\w*|exit\w*|crash\w*)\b"
)
# Of tqdm, on standard error: never held back in a buffer.
BAR = lazy.regex(r"\d%(?:\|[^|\n]{0,200}\|)? {0,4}(\d{1,12})/(\d{1,12}) \[")
FIGURES = lazy.regex(r"(?i)(?:\b|_)(?:loss|steps?|epochs?|iter(?:ation)?s?|lr|learning[_ ]rate|epoch time)\b['\"]?[^\w\n]{0,4}\d")
# What a line says that tells of a failure and of the way around it, or that it is none.
GOES_ON = lazy.regex(
    r"(?i)\b(?:(?:going on|go on|continu\w+|proceed\w*) with(?:out)?|falling back|skipp(?:ed|ing) (?:it|this|one)|"
    r"us(?:e|ing) (?:the )?(?:last|previous|defaults?|old)|"
    r"(?:initiali[sz]ed|set|reset) (?:to|with) (?:the |its |their )?defaults?|"
    r"attempting to recover|will (?:retry|try again)|retrying (?:in|after)|"
    r"(?:will be|is being|being) (?:retried|restarted|rescheduled|resubmitted)|retry in \d|trying to restart|"
    r"(?:record|sample|row|line|entry|item|image|frame|example|document)s?,? (?:(?:was|were|is|are|will be) )?"
    r"(?:dropped|skipped|ignored|discarded|omitted)|"
    r"trying again in|"
    r"Error \d{1,3} \(ignored|stays? as (?:it is|before)|scored (?:as )?(?:0|zero)|counted as (?:0|zero|wrong|failed)|"
    r"(?:re)?(?:build|creat|mak|start|open|load)ing (?:it|them|the \w+) (?:again|anew)|"
    r"trying to (?:resume|re-?connect)|switch(?:ing)? to [a-z]\w+ (?:implementation|version|mode|backend)|"
    r"(?:can|may) be (?:safely )?ignored|safely ignore|not (?:an error|a (?:failure|problem))|"
    r"(?:this|which|messages?|warnings?|errors?) (?:is|are) (?:harmless|normal|expected)(?! (?:to|but|that))|"
    r"optimi[sz]ations will not be enabled|will (?:not be (?:available|cached)|be (?:disabled|ignored|skipped))|"
    r"cache will not be (?:stored|written)|thrown while requesting (?:HEAD|GET))\b"
)
ATTEMPT = lazy.regex(r"(?i)\b(?:attempt|try|retry) #?(\d{1,3})(?:/| of )(?!\1\b)\d{1,3}\b")  # on an alarmed line only
# As much, on an alarmed line only: one in front of a traceback may as well tell how the run begins.
AROUND = lazy.regex(
    r"(?i), (?:skip(?:ped|ping)?|(?:continu|us|runn|creat|generat|download|initiali[sz]|comput|recomput|rebuild|build|evaluat|"
    r"load|start|fall|go|try|tak|keep|leav|drop|ignor|resum|revert|switch|fetch|substitut|replac)ing)\b|"
    r"\bfrom scratch\b|\bskipping\b[^\n]{0,40}$"
)
STANDARD_ERROR = lazy.regex(r"^\W{0,2}ERROR\b")  # how clouds call what a program wrote there, its progress bars, too
# `    ECC Errors` over rows of zeros, `504 steps, 0 failed`, `/w/task-killer`, `train_error 0.19`, `Invalidate cache`,
# a shell's `type: cmake: not found`: words that tell of no failure.
SILENT = lazy.regex(
    r"^\W{0,40}(?:[A-Z][\w-]{0,30} ){0,3}(?:Errors|[Ff]ailures|Exceptions|Timeouts|(?:Error|Failure|Timeout) Counts?):?\s*$|"
    r"\b(?:0|[Nn]o|[Zz]ero) (?:errors?|failures?|failed|exceptions?|timeouts?|aborted|killed|lost|corrupted|invalid)\b|"
    r"\b\w{0,40}timeout\w{0,20}[\"']?\s?[=:]\s?(?:[\"'\[(]?\d|None|null|-1)|"
    r"\b\w{0,40}(?:error|fail|invalid|kill|abort|exception|signal)\w{0,30}[\"']?\s?[=:]\s?(?:(?:True|False|None|null|true|false)\b|-(?=[;,\s)]|$))|"
    r"(?<![\w.])[\w-]{1,60}\.(?:txt|csv|tsv|jsonl?|log|ya?ml|out|err)\b(?!:)|"
    r"\bexit(?:ed)?(?: (?:with )?(?:status|code))?:? 0\b(?!\.)|\b(?:failures|errors|failed)[ :=]{1,3}0(?:/\d{1,9})?(?![.\w])|"
    r"\b(?:failed|invalid|lost|corrupt|error) \w{1,20} 0\b(?!\.)|\b\w{1,30}_error(?= (?:improved|did not improve)\b)|"
    r"^\|(?:[^|\n\d]{1,40}\|){2,12}\s*$|\b(?i:errors?|failures|timeouts): \d{1,9}(?=[,;|\s]{1,3}[\w ]{1,30}: [\d.])|"
    r"\bTrial \d+ failed with (?:value|parameters)\b[^\n]*|"
    r"\b[1-9]\d{0,8} (?:ok|converted|processed|written|downloaded|saved|kept|loaded|copied|imported|parsed|encoded|done), "
    r"\d{1,9} (?:failed|errors?|failures|skipped|invalid)\b|"
    r"^\s{1,8}at [\w.$<>/]+\([^)\n]*\)\s*$|\b\w{1,30}\.errors?(?=\s{1,3}-?\s?(?:INFO|DEBUG)\b)|"
    r"(?i:\binvalidat\w{1,5}|\bembodied|\bskill\w{0,8}|\bstudied)|\btype: [\w.+-]{1,40}: not found$|"
    r"\b[A-Z]:(?:\\[\w.+-]{1,100}){2,30}|(?<![\w.])(?:/[\w.+-]{1,100}){3,30}|"
    r"(?i:\b\w{0,40}(?:error|failure)(?:[ _-](?:rate|ratio|mean|std|sum))?[\"']?\s{0,3}[:=]?\s{0,3}[\[(]?"
    r"[+-]?\d{1,12}\.\d{1,20}(?:e[-+]?\d+)?%?(?![.\w]))"
)
# Such lines are for those who look for something else.
DEBUG = lazy.regex(r"^(?![^\n]*\b(?:ERROR|FATAL|CRITICAL)\b)[^\n]{0,60}?(?:\b(?:DEBUG|TRACE)\b ?[\]|:(-]|\[D |\bdebug[1-5]?: )")
# Of these the log's end is not one: a warning that more lines follow was no end of the program.
WARNED = lazy.regex(
    r"^(?![^\n]*\b(?:ERROR|FATAL|CRITICAL)\b)[^\n]{0,60}?(?:\bWARN(?:ING)?\b ?[\]|:(-]?|\[W )|"
    r"[^\n]{1,300}\.py:\d{1,6}: \w{0,60}Warning: "
)
NUMBER = lazy.regex(r"[-+]?\d[\d.,:eE+-]*")
DIGITS = lazy.regex(r"\d{1,15}")
WORD = lazy.regex(r"[A-Za-z]{3}")
COUNT = lazy.regex(r"(?<![\d.])(\d{1,9})(?:/| of )\1(?![\d.])|(?<![\d.])100 ?%")
LOGGED = lazy.regex(
    r"\W{0,3}(?:[A-Z]{1,8}\W{1,3})?(?:[\w.-]{1,40}\W{1,3})?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d\d(?:\d\d)?)"
    r"[ T,]{1,2}\d\d:\d\d(?::\d\d)?\S*|"
    r"[^\n]{0,80}?\[\d\d/[A-Z][a-z]{2}/\d{4}[: ]\d\d:\d\d:\d\d[^\]\n]{0,12}\]|[IWEFD] ?\d{4} \d\d:\d\d:\d\d\S*|"
    r"(?:DEBUG|INFO|WARNING|ERROR):[\w.-]{1,60}:"
)
TRACE = lazy.regex(
    r"Traceback \(most recent|\s+\S|\s*$|During handling of the above|The above exception was|"
    r"[\w.]{0,80}(?:Error|Exception|Exit|Interrupt)\b"
)
RAISED = lazy.regex(r"Traceback \(most recent|\s+File \"|[\w.]{0,80}(?:Error|Exception|Exit|Interrupt)\b")
LIBRARY = lazy.regex(r"\bNCCL (?:INFO|WARN)\b|\[c10d\]|\] \[PG ")  # its threads talk on when the program is lost
CLOSING = lazy.regex(r"(?i)\b(?:finished|completed?|done|saved|written|succe\w+)\b")
BLOCK = 4096  # bytes: the least that a program holds back of its output to a file or a pipe
AT_WORK = 3  # lines with figures behind what was outlived
REMEMBERED = 1024  # lines: the ends of a log are asked about by each of hundreds of events


@lru_cache(REMEMBERED)
def shows_work(text: str) -> bool:
    """Does a line hold a training's figures or a progress bar?"""
    return FIGURES.search(text) is not None or BAR.search(text) is not None


@lru_cache(REMEMBERED)
def finds_way(text: str) -> bool:
    """Does a line tell the way around something, in whatever line that stands?"""
    return GOES_ON.search(text) is not None or (ATTEMPT.search(text) is not None and alarmed(text))


def goes_on(text: str) -> bool:
    """Does a line that tells of a failure tell the way around it?"""
    return finds_way(text) or AROUND.search(text) is not None


@lru_cache(REMEMBERED)
def alarmed(text: str) -> bool:
    """Does a line hold a word of a failure, other than in the name of a figure or in a count of none?"""
    return ALARM.search(text) is not None and ALARM.search(SILENT.sub(" ", text)) is not None


def works_on(later: Iterable[str]) -> bool:
    """Are there AT_WORK lines of a program at work among `later`, and none with an alarm?"""
    lines = list(later)
    return sum(map(shows_work, lines)) >= AT_WORK and not any(map(alarmed, lines))


def form(text: str) -> str:
    """What lines of one kind have in common: their words up to the second number, behind a logger's time of day."""
    logged = LOGGED.match(text)
    parts = NUMBER.split(text[logged.end() if logged else 0 :], maxsplit=2)[:2]
    return " # ".join(" ".join(part.split()) for part in parts)


def resumed(ends: Mapping[int, str], line: int) -> int:
    """How many lines behind `line` show that the program went on as before; `ends`: the known lines of a log, by number.

    One that reaches its count (`100/100 items`) says it for good, and what a logger adds counts with it, as does a last word.
    """
    again = repeated(ends, line)
    later = [text for n, text in sorted(ends.items()) if n > line and text.strip() and not alarmed(text)]
    said = sum(1 for text in later if LOGGED.match(text) and text not in again)
    closed = 2 if later and CLOSING.search(later[-1]) else 0
    return AT_WORK * any(COUNT.search(text) for text in again) + len(again) + max(said, closed) if again else 0


def repeated(ends: Mapping[int, str], line: int) -> list[str]:
    """The lines behind `line` whose form stood in front of it, too, and that cannot have been held back: a logger hands on every
    record at once, and a stream that showed lines before its first block was full holds back none. Lines without a logger's stamp
    count further on there (`item 8 of 90`): what an exception says may have lines of one form, too, and a notebook's runner may
    number all that it prints (`8.4s 22 ...`), whoever said it."""
    known = {form(text) for n, text in ends.items() if n < line and LOGGED.match(text) and not alarmed(text)}
    near = {text: _count(text) for text in _in_front(ends, line) if WORD.search(text) and not alarmed(text)}
    counts = {f: count for text, count in near.items() if count is not None and WORD.search(f := form(text))}
    later = [text for n, text in sorted(ends.items()) if n > line and not alarmed(text) and not LIBRARY.search(text)]
    return [x for x in later if (f := form(x)) in known or (f in counts and x not in near and (_count(x) or 0) > counts[f])]


def _count(text: str) -> int | None:
    """The first number of a line, without what is behind its point."""
    found = DIGITS.search(text)
    return int(found[0]) if found else None


def _in_front(ends: Mapping[int, str], line: int) -> list[str]:
    """The lines in front of the trouble that ends at `line`, back to the log's start or an earlier traceback; none where that
    is not known or where they fill a block."""
    line -= 1
    while line in ends and TRACE.match(ends[line]):
        line -= 1
    found: list[str] = []
    while line in ends and not RAISED.match(ends[line]):
        found.append(ends[line])
        line -= 1
    whole = line == 0 or line in ends
    return found if whole and sum(map(len, found)) < BLOCK else []
