"""Progress that stopped while the log went on, to Events.

iteration 45000/115311 ... (111 s each), then only "[08:56:18] PULSE: tr11-lm is running" every hour -> process.stalled

The usual interval comes from the stamps of the progress lines, or from the time a step takes by their own word. Silence is the
time from the last of them to the last stamp of the log. It counts when it is MIN_USUAL_INTERVALS times the usual interval,
MIN_LONGEST_INTERVALS times the longest one and MIN_SILENCE_S at least, the run had not reached its last step, and no line since
speaks of an end; trouble reported at once ended the run, trouble reported after the silence may be its consequence. Strong
only where the log went on by a heartbeat alone (the same lines again and again) and no signature found anything, so that
nothing else has the word; else a hint. A rank that fell behind while the others went on has an Observation of its own.
"""

import itertools
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence

from msgspec import Struct

from forensics.core import lazy
from forensics.database import HEALTHY
from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Scan, Stamp, Value, Weight
from forensics.series.gather import Numbers, Progress
from forensics.series.observations import series_observation

MIN_USUAL_INTERVALS = 20.0
MIN_LONGEST_INTERVALS = 3.0
MIN_SILENCE_S = 600.0
MIN_HEARTBEATS = 3
MIN_STRONG_READINGS = 16
MAX_READ_PROGRESS = 80
MIN_LINES_BEHIND = 10
DAY_S = 86400.0
END_WORDS_PATTERN = lazy.regex(
    r"\b(?:done|finish\w*|complet\w*|ended|exit(?:ing|ed)?|sav(?:ed|ing)|best|total time|shut\w* ?down|success\w*|"
    r"evaluat\w*|test(?:ing)?|results?|accuracy|summary|uploading|goodbye|bye)\b",
    re.IGNORECASE,
)
TROUBLE = lazy.regex(
    r"Traceback|Error\b|Exception\b|"
    r"\b(?:CANCELLED|core dumped|fatal|panic|Abort\w*|[Kk]ill\w*|SIG[A-Z]+|[Ss]ignal|fail\w*)\b"
)


class AfterProgress(Struct, frozen=True):
    """What the log printed after the last progress: its lines with seconds on their own clock, None where they have none."""

    lines: tuple[tuple[Line, float | None], ...]

    def last_s(self) -> float | None:
        """The last time of all."""
        return next((s for _, s in reversed(self.lines) if s is not None), None)

    def first_s(self) -> float | None:
        """The first time of all."""
        return next((s for _, s in self.lines if s is not None), None)


def silence_events(scan: Scan, found: Numbers, cause: str | None) -> list[Observation]:
    """The silence at the end of a source, or a rank that fell behind; at most one Observation, for `cause`."""
    found_silence = _silence(scan, found, cause) or _behind(scan, found.progress, cause)
    return [found_silence] if found_silence else []


def _silence(scan: Scan, found: Numbers, cause: str | None) -> Observation | None:
    if not found.progress:
        return None
    last = found.progress[-1]
    if last.total is not None and last.step is not None and last.step >= last.total:
        return None
    since = AfterProgress(tuple((x, seconds(x.text)) for x in scan.tail if x.number > last.line.number))
    end = since.last_s()
    start = seconds(last.line.text)
    start = since.first_s() if start is None else start
    if start is None or end is None:
        return None
    silent = end - start + (DAY_S if end < start < DAY_S else 0.0)  # past midnight, where stamps have no date
    usual = _usual(found) if silent >= MIN_SILENCE_S else None
    if usual is None:
        return None
    needed = max(MIN_USUAL_INTERVALS * usual[0], MIN_LONGEST_INTERVALS * usual[1], MIN_SILENCE_S)
    if silent < needed or not _unexplained(since, start + needed):
        return None
    heartbeat = _heartbeat(since)
    trouble = any(TROUBLE.search(x.text) for x, _ in since.lines)
    if not heartbeat and last.total is None and not trouble:
        return None
    alone = heartbeat and not trouble and not any(h.cause != HEALTHY for h in scan.hits)
    weight: Weight = "strong" if alone and len(found.progress) >= MIN_STRONG_READINGS else "hint"
    fields: dict[str, Value] = {"silent_s": round(silent), "usual_s": round(usual[0], 3)}
    fields |= {} if last.step is None else {"step_no": int(last.step)}
    fields |= {} if last.total is None else {"last_step": int(last.total)}
    stamped = [x for x, s in since.lines if s is not None]
    return series_observation(scan, "silence", cause, weight, (stamped[-1], last.line, stamped[0]), fields, len(found.progress))


def seconds(text: str) -> float | None:
    """The clock of a line in seconds: of the epoch, of its day, or since boot, whatever it tells."""
    return _clock(parse_prefix(text).stamp)


def _clock(stamp: Stamp | None) -> float | None:
    if stamp is None:
        return None
    if stamp.wall is None:
        return stamp.mono
    wall = stamp.wall
    day = 0 if stamp.lacks == "date" else wall.toordinal()
    return day * DAY_S + wall.hour * 3600 + wall.minute * 60 + wall.second + wall.microsecond / 1e6


def _usual(found: Numbers) -> tuple[float, float] | None:
    """The median and the longest interval between progress lines of one rank; a step's own time where they have no stamps."""
    own = [p for p in found.progress if p.scope == found.progress[-1].scope]
    times = [s for p in own[-MAX_READ_PROGRESS:] if (s := seconds(p.line.text)) is not None]
    gaps = [b - a for a, b in itertools.pairwise(times) if b >= a]
    if len(gaps) >= 3:
        return statistics.median(gaps), max(gaps)
    steps = [s for s in found.series if s.quantity == "step_time" and not s.name.startswith("held-out")]
    values = [r.value for s in steps for r in s.readings if r.value > 0]
    return (statistics.median(values), max(values)) if values else None


def _unexplained(since: AfterProgress, late: float) -> bool:
    """Is there no sign of an end, and no trouble before `late`?"""
    early = True
    for line, at in since.lines:
        early = early and (at is None or at < late)
        if END_WORDS_PATTERN.search(line.text) or (early and TROUBLE.search(line.text)):
            return False
    return True


def _heartbeat(since: AfterProgress) -> bool:
    """Do the lines with stamps repeat, all of them?"""
    shapes = Counter(re.sub(r"\d+", "#", parse_prefix(x.text).message) for x, s in since.lines if s is not None)
    return bool(shapes) and min(shapes.values()) >= MIN_HEARTBEATS


def _behind(scan: Scan, progress: Sequence[Progress], cause: str | None) -> Observation | None:
    """A rank whose last step lies behind while every other printed MIN_LINES_BEHIND lines more."""
    ranks: dict[str, list[Progress]] = defaultdict(list)
    for one in progress:
        if one.step is not None and "rank" in one.scope:
            ranks[one.scope].append(one)
    if len(ranks) < 2 or min(map(len, ranks.values())) < MIN_LINES_BEHIND:
        return None
    slowest = min(ranks, key=lambda r: ranks[r][-1].line.number)
    last = ranks[slowest][-1]
    others = [ps for r, ps in ranks.items() if r != slowest]
    more = min(sum(p.line.number > last.line.number for p in ps) for ps in others)
    ahead = min(ps[-1].step or 0 for ps in others)
    if more < MIN_LINES_BEHIND or ahead <= (last.step or 0) or (last.total is not None and last.step == last.total):
        return None
    number = re.search(r"rank (\d+)", slowest)
    fields: dict[str, Value] = {"step_no": int(last.step or 0), "others_step": int(ahead)}
    fields |= {"rank": int(number[1])} if number else {}
    return series_observation(scan, "behind", cause, "hint", (last.line, others[0][-1].line), fields, len(progress))
