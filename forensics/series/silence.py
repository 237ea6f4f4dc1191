"""Progress lines that stop while the log continues: a stalled run, or one rank that stays behind.

iteration 45000/115311 ... (111 s each), then only "[08:56:18] PULSE: tr11-lm is running" every hour -> process.stalled

The usual interval comes from the timestamps of the progress lines, else from the time per step that they print. The silence is
the time from the last progress line to the last timestamp of the log. It is reported if
- it is at least MIN_USUAL_INTERVALS times the usual interval, MIN_LONGEST_INTERVALS times the longest one, and MIN_SILENCE_S;
- the run had not reached its last step, and no later line is about a normal end;
- no line at the beginning of the silence reports trouble, which would have ended the run. Trouble that is reported after a long
  silence may be its consequence.
It is strong evidence only if all later lines are a heartbeat (the same lines repeatedly) and no signature matched anything that
would explain it better; else a hint.
"""

import itertools
import re
from collections import Counter, defaultdict

from msgspec import Struct

from forensics.core.averages import median
from forensics.database import HEALTHY
from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Scan, Value, Weight
from forensics.readers.numbers.base import MIN_STRONG_READINGS
from forensics.readers.numbers.gather import Numbers, Progress, ProgressLines
from forensics.readers.progress.counters import tells_an_end, tells_trouble
from forensics.series.observations import series_observation

MIN_USUAL_INTERVALS = 20.0  # chosen by hand: evaluations and checkpoints last a few intervals; docs/series.md
MIN_LONGEST_INTERVALS = 3.0  # chosen by hand: the longest so far was mostly such a pause
MIN_SILENCE_S = 600.0  # chosen by hand: compilation and the loading of data stay silent for minutes
MIN_HEARTBEATS = 3  # twice is a coincidence
MAX_READ_PROGRESS = 80  # the last progress lines; their timestamps are parsed
MIN_LINES_BEHIND = 10  # chosen by hand: lines of ranks arrive in any order, a few lines apart
DAY_S = 86400.0


class AfterProgress(Struct, frozen=True):
    """The lines after the last progress line, each with its time in seconds on its own clock; None for a line without a time."""

    lines: tuple[tuple[Line, float | None], ...]

    def last_s(self) -> float | None:
        """The time of the last line that has one."""
        return next((s for _, s in reversed(self.lines) if s is not None), None)

    def first_s(self) -> float | None:
        """The time of the first line that has one."""
        return next((s for _, s in self.lines if s is not None), None)


def silence_events(scan: Scan, found: Numbers, cause: str | None) -> list[Observation]:
    """At most one Observation with `cause`: the silence at the end of a source, or a rank that stays behind."""
    event = _silence(scan, found, cause) or _rank_behind(scan, found.progress, cause)
    return [event] if event else []


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
    silent = end - start + (DAY_S if end < start < DAY_S else 0.0)  # past midnight, if timestamps have no date
    usual = _usual_interval(found) if silent >= MIN_SILENCE_S else None
    if usual is None:
        return None
    min_silence = max(MIN_USUAL_INTERVALS * usual[0], MIN_LONGEST_INTERVALS * usual[1], MIN_SILENCE_S)
    if silent < min_silence or not _unexplained(since, start + min_silence):
        return None
    heartbeat = _heartbeat(since)
    trouble = any(tells_trouble(x.text) for x, _ in since.lines)
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
    """The time of a line in seconds, by its own clock; None if it has none."""
    stamp = parse_prefix(text).stamp
    return stamp.seconds if stamp else None


def _usual_interval(found: Numbers) -> tuple[float, float] | None:
    """(median, longest) interval in seconds between progress lines of one rank; of the printed step times if they have no
    times."""
    own = found.progress.of_scope(found.progress[-1].scope, MAX_READ_PROGRESS)
    times = [s for p in own if (s := seconds(p.line.text)) is not None]
    gaps = [b - a for a, b in itertools.pairwise(times) if b >= a]
    if len(gaps) >= 3:
        return median(gaps), max(gaps)
    steps = [s for s in found.series if s.quantity == "step_time" and not s.name.startswith("held-out")]
    values = [r.value for s in steps for r in s.readings if r.value > 0]
    return (median(values), max(values)) if values else None


def _unexplained(since: AfterProgress, late_s: float) -> bool:
    """Is there no line about a normal end, and no trouble before the time `late_s`?"""
    early = True
    for line, at in since.lines:
        early = early and (at is None or at < late_s)
        if tells_an_end(line.text) or (early and tells_trouble(line.text)):
            return False
    return True


def _heartbeat(since: AfterProgress) -> bool:
    """Does each line with a timestamp occur MIN_HEARTBEATS times, apart from its digits?"""
    shapes = Counter(re.sub(r"\d+", "#", parse_prefix(x.text).message) for x, s in since.lines if s is not None)
    return bool(shapes) and min(shapes.values()) >= MIN_HEARTBEATS


def _rank_behind(scan: Scan, progress: ProgressLines, cause: str | None) -> Observation | None:
    """A rank that stopped at an earlier step, while every other rank printed MIN_LINES_BEHIND more lines."""
    lines = Counter(scope for scope in progress.scopes if "rank" in scope)
    if len(lines) < 2 or max(lines.values()) < MIN_LINES_BEHIND:
        return None
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
