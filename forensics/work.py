"""What only a program at work prints: the figures of a training, progress bars that move.

    [12/11 20:49:25 d2.utils.events]:  eta: 0:13:58  iter: 19  total_loss: 1.496  ...     -> at work
    RuntimeError: iteration 20 failed                                                     -> alarm

What stands in front of such lines, and is followed by no alarm, was outlived. A failure's word is none where it names a figure
(`train_error 0.19`) or counts none (`0 failures`).
"""

from collections.abc import Iterable
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
    r"trying again in|trying to (?:resume|re-?connect)|switch(?:ing)? to [a-z]\w+ (?:implementation|version|mode|backend)|"
    r"(?:can|may) be (?:safely )?ignored|safely ignore|not (?:an error|a (?:failure|problem))|"
    r"(?:this|which|messages?|warnings?|errors?) (?:is|are) (?:harmless|normal|expected)(?! (?:to|but|that))|"
    r"optimi[sz]ations will not be enabled|will (?:not be available|be (?:disabled|ignored|skipped))|"
    r"thrown while requesting (?:HEAD|GET))\b"
)
# As much, on an alarmed line only: one in front of a traceback may as well tell how the run begins.
AROUND = lazy.regex(
    r"(?i), (?:skip(?:ped|ping)?|(?:continu|us|runn|creat|generat|download|initiali[sz]|comput|recomput|rebuild)ing)\b|"
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
    r"^\s{1,8}at [\w.$<>/]+\([^)\n]*\)\s*$|\b\w{1,30}\.errors?(?=\s{1,3}-?\s?(?:INFO|DEBUG)\b)|"
    r"(?i:\binvalidat\w{1,5}|\bembodied|\bskill\w{0,8}|\bstudied)|\btype: [\w.+-]{1,40}: not found$|"
    r"\b[A-Z]:(?:\\[\w.+-]{1,100}){2,30}|(?<![\w.])(?:/[\w.+-]{1,100}){3,30}|"
    r"(?i:\b\w{0,40}(?:error|failure)(?:[ _-](?:rate|ratio|mean|std|sum))?[\"']?\s{0,3}[:=]?\s{0,3}"
    r"[+-]?\d{1,12}\.\d{1,20}(?:e[-+]?\d+)?%?(?![.\w]))"
)
# Such lines are for those who look for something else.
DEBUG = lazy.regex(r"^(?![^\n]*\b(?:ERROR|FATAL|CRITICAL)\b)[^\n]{0,60}?(?:\b(?:DEBUG|TRACE)\b ?[\]|:(-]|\[D |\bdebug[1-5]?: )")
AT_WORK = 3  # lines with figures behind what was outlived
REMEMBERED = 1024  # lines: the ends of a log are asked about by each of hundreds of events


@lru_cache(REMEMBERED)
def shows_work(text: str) -> bool:
    """Does a line hold a training's figures or a progress bar?"""
    return FIGURES.search(text) is not None or BAR.search(text) is not None


@lru_cache(REMEMBERED)
def finds_way(text: str) -> bool:
    """Does a line tell the way around something, in whatever line that stands?"""
    return GOES_ON.search(text) is not None


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
