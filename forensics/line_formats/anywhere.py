"""Find the moment at which a line was written, wherever in the line its stamp stands; for sentences, not for the order of events.

[1,0]<stderr>:[2019-10-09 04:36:43.594972: W horovod/common/stall_inspector.cc:105]    -> 2019-10-09 04:36:43.594972
Finished at: 2024-11-27T20:37:59 EET                                                   -> 2024-11-27 20:37:59 +02:00
  "finishedAt": "2017-10-10T09:41:58Z",        (a record tells its own time)           -> 2017-10-10 09:41:58 UTC
Python 3.10.12 (main, Jun 11 2023, 05:26:28)   (when it was built)                     -> nothing
"""

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.line_formats.clock import CLOCK_PATTERN, DAY, MONTH, TIME_OF_DAY, stamp
from forensics.model import Stamp

MAX_LEAD_CHARS = 100  # before a stamp: tags of programs and ranks
NUMERIC_DATE = r"(?P<y>(?:20)?\d\d)[-/](?P<mo>[01]?\d)[-/](?P<d>[0-3]?\d)"
AMERICAN_DATE = r"(?P<mo>[01]\d)/(?P<d>[0-3]\d)(?:/(?P<y>20\d\d))?"
ZONED = r"(?: ?(?P<zone>Z|[+-]\d\d:?\d\d|[A-Z]{3,4})(?!\w))?(?!:?\d)"
DATED_STAMPS = tuple(
    lazy.regex(rf"(?<![\w.:/-]){form}")
    for form in (
        rf"{NUMERIC_DATE}(?:[T _-]| ?, ?){TIME_OF_DAY}{ZONED}",
        rf"{AMERICAN_DATE} {TIME_OF_DAY}(?![\w:])",
        rf"{DAY} {MONTH} +(?P<d>\d{{1,2}}) {CLOCK_PATTERN}(?: (?P<zone>[A-Z]{{3,4}}))?(?: (?P<y>20\d\d))?(?![\w:])",
        rf"{MONTH} +(?P<d>\d{{1,2}}),? (?P<y>20\d\d),? (?P<h>\d{{1,2}}):(?P<m>[0-5]\d):(?P<s>[0-6]\d)(?: (?P<ampm>[AP]M))?"
        r"(?![\w:])",
        rf"{MONTH} +(?P<d>\d{{1,2}}) {CLOCK_PATTERN}(?![\w:])",
    )
)
# glog's stamp is unmistakable, also in the middle of a line that two processes wrote at once; so is an epoch behind these words.
GLOG_PATTERN = lazy.regex(rf"[IWEF](?P<mo>1[0-2]|0?[1-9])(?P<d>[0-3]\d) {TIME_OF_DAY} ")
PATTERNS = patterns_of("anywhere")
CLOCK_ALONE_PATTERN = lazy.regex(rf"{TIME_OF_DAY}(?= [\[A-Za-z(])|[^\[\]\d]{{0,60}}\[{TIME_OF_DAY.replace('?P<', '?P<b_')}\]")
# Tags before a stamp: `[1,0]<stderr>:`, `ERROR    | `, `(Worker pid=7) `, `kern  :err   : `, `node5.log [stderr] `.
LEAD_PATTERN = lazy.regex(
    r"\W{0,12}(?:(?:\[[^\]\n]{1,40}\]|<[\w-]{1,20}>|\([^)\n]{1,40}\)|[\w.-]{1,40} {0,8}[:|>\]]|\[[\w.-]{1,40} |[A-Z]{4,8}|line"
    r"|\w[\w.-]{1,40}(?= \[))"
    r"[\s:|>\[\"'-]{0,12}){0,4}"
)
SAID_PATTERN = lazy.regex(  # what says that the stamp behind it is the present moment
    r"(?i)(?:\b(?:at|on|time|now|date|timestamp|started|finished|ended|completed|begin|end)\b\W{0,16}"
    r"|\b\w{1,30}(?: \w{1,30}){0,3}: ?)\Z"
)
ANOTHER_TIME_PATTERN = lazy.regex(  # not the present: when something was built, is to end, was last changed
    r"(?i)expir|built|build|compil|modif|creat(?:ed|ion)|release|version|valid|until|deadline|next|\blast\b|schedul|eta\b|due\b|ago\b"
    r"|submit|elapsed|remain|limit|<t[dh]>|\A(?:\+\+\+|---) |execute_reply|status\.idle"
)
RECORD_PATTERN = lazy.regex(  # a record's own time, on a line of its own
    r"(?:\A\s{0,40}\W?|[\s\"])(?:@?timestamp|ts|time|eventTime|finishedAt|lastTimestamp|EndTime)\"?\s{0,12}[:=]\s{0,4}\"?(?=[12])"
)


def find_stamp(text: str) -> Stamp | None:
    """The stamp of a line: of its prefix, else the first one in it that tells when it was written. None if there is none."""
    return parse_prefix(text).stamp or _glog_or_epoch(text) or _written(text) or _clock_alone(text)


def record_stamp(text: str) -> Stamp | None:
    """The stamp of a line that gives the time of the whole record: `"ts":"2024-10-30T04:12:42Z",`; None for another line."""
    key = RECORD_PATTERN.search(text)
    found = DATED_STAMPS[0].match(text, key.end()) if key else None
    return stamp(found.groupdict()) if found else None


def _glog_or_epoch(text: str) -> Stamp | None:
    found = GLOG_PATTERN.search(text) or PATTERNS.epoch_number.search(text)
    return stamp(found.groupdict()) if found else None


def _written(text: str) -> Stamp | None:
    """A stamp with a date: behind tags only, or behind words that say that it is the present moment."""
    for pattern in DATED_STAMPS:
        found = pattern.search(text)
        lead = text[: found.start()] if found else ""
        if found is None or ANOTHER_TIME_PATTERN.search(lead[-MAX_LEAD_CHARS:]):
            continue
        if (len(lead) <= MAX_LEAD_CHARS and LEAD_PATTERN.fullmatch(lead)) or SAID_PATTERN.search(lead[-MAX_LEAD_CHARS:]):
            return stamp(found.groupdict())
    return None


def _clock_alone(text: str) -> Stamp | None:
    """A time of day at the start of a line, or in brackets behind the first word."""
    found = CLOCK_ALONE_PATTERN.match(text)
    groups = {name.removeprefix("b_"): value for name, value in found.groupdict().items() if value} if found else {}
    return stamp(groups) if groups else None
