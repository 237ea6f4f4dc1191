"""The filters --since, --until, --pid, --job and --last: keep only the events that the user asks about.

--pid 4711   the kill of 4711, and events of the same hours that name no process; not the kill of 4712

Read the value of --since or --until as a moment on the clock of each source.

2026-11-21T10:00:00+01:00   that moment
2026-11-21 10:00            when the clock of a source shows that time, whatever its zone
10:00                       the same, on the last day in the logs
-2h, -90min, -1d12h         that long before the last time in the logs
2h, 7d                      that long before now
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta

from msgspec import Struct

from forensics.core import lazy
from forensics.core.errors import UsageError
from forensics.core.text import with_noun
from forensics.correlation.incident_grouping import MIN_SILENCE
from forensics.correlation.timestamp_resolver import Clock
from forensics.model import Incident, Observation, OpenQuestion, Warn, Warning

SECONDS_BY_SUFFIX = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
SPAN_PART_PATTERN = lazy.regex(r"(\d{1,9}(?:\.\d{1,9})?) ?(min|[smhdw])")
RELATIVE = lazy.regex(rf"-?(?:{SPAN_PART_PATTERN.pattern} ?){{1,5}}")
TIME_FORMS_ADVICE = "write it as 2026-11-21T10:00:00+01:00, 2026-11-21 10:00, 10:00, -2h or 7d"


class TimeBound(Struct, frozen=True):
    """One of: `moment`, aware, or without a zone; `clock`, a time of day; `ago`, before the end of the logs."""

    text: str
    moment: datetime | None = None
    clock: time | None = None
    ago: timedelta | None = None

    def resolved(self, end: datetime | None) -> datetime | None:
        """The moment, with a zone or on each source's own clock. `end`: the last time in the logs. None if the moment depends on
        it and it is unknown."""
        if self.moment or end is None:
            return self.moment
        return end - self.ago if self.ago is not None else datetime.combine(end.date(), self.clock or time())


def parse_time_bound(text: str | None, option: str) -> TimeBound | None:
    """The TimeBound that `text` gives; None for None. Raises UsageError, which names `option`, for a text that is no time."""
    if text is None:
        return None
    if RELATIVE.fullmatch(text.strip()):
        seconds = sum(float(n) * SECONDS_BY_SUFFIX[unit] for n, unit in SPAN_PART_PATTERN.findall(text))
        if seconds < 10 * 365 * 86400:
            span = timedelta(seconds=seconds)
            return TimeBound(text, ago=span) if "-" in text else TimeBound(text, moment=datetime.now().astimezone() - span)
    try:
        return TimeBound(text, moment=datetime.fromisoformat(text.strip()))
    except ValueError:
        pass
    try:
        return TimeBound(text, clock=time.fromisoformat(text.strip()).replace(tzinfo=None))
    except ValueError as error:
        raise UsageError(f"{option} takes a time, not {text!r}", advice=TIME_FORMS_ADVICE) from error


def seconds_past(moment: datetime, limit: datetime) -> float:
    """Seconds from `limit` to `moment`. A limit without a zone is compared with what the clock of `moment` shows."""
    return (moment - limit if limit.tzinfo else moment.replace(tzinfo=None) - limit).total_seconds()


JOB_FIELDS = ("job", "pod", "container", "unit", "cgroup", "path", "limit_path", "kernel_id", "task_memcg")
NAMES_OF_JOBS = ("job", "pod", "container", "owner")
JOB_NUMBER_TEMPLATE = r"(?i)(?:job|step|array|slurm)[\w-]{{0,20}}?[ =:#_/\[\"'(-]{{0,3}}{number}(?!\d)|{row}"
ACCOUNTING_ROW_TEMPLATE = (
    r"^\s{{0,8}}{}(?:[._+]\w{{1,20}}){{0,2}}(?:\||\s.{{0,200}}\s[A-Z_]{{6,20}}\+?\s+\d{{1,3}}:\d{{1,3}}\s*$)"  # sacct's
)


class Filter(Struct, frozen=True):
    """What the user asks about; if nothing is set, everything. `job`: a Slurm job, a pod or a container. `last`: only the last
    incident."""

    since: TimeBound | None = None
    until: TimeBound | None = None
    pid: int | None = None
    job: str | None = None
    last: bool = False

    @classmethod
    def of(cls, since: str | None, until: str | None, pid: int | None, job: str | None, last: bool) -> "Filter":
        """The filter of the options as typed; raises UsageError for a text that is no time."""
        return cls(parse_time_bound(since, "--since"), parse_time_bound(until, "--until"), pid, job or None, last)

    @property
    def timed(self) -> bool:
        """Is a time given?"""
        return self.since is not None or self.until is not None

    def __str__(self) -> str:
        """The options as they were typed."""
        times = ((name, b.text) for name, b in (("--since", self.since), ("--until", self.until)) if b)
        names = ((name, str(v)) for name, v in (("--pid", self.pid), ("--job", self.job)) if v is not None)
        return " ".join(f"{name} {text}" for name, text in (*times, *names))


EVERYTHING = Filter()


class Window(Struct, frozen=True):
    """From `since` to `until`; either may be None. With a zone, or as the clock of each source shows it."""

    since: datetime | None = None
    until: datetime | None = None

    def contains(self, moment: datetime | None) -> bool:
        """Is `moment` inside? True for an unknown one."""
        if moment is None:
            return True
        early = self.since is not None and seconds_past(moment, self.since) < 0
        return not early and not (self.until is not None and seconds_past(moment, self.until) > 0)

    def overlaps(self, clock: Clock) -> bool:
        """May the source of `clock` have lines inside the window?"""
        late = clock.first is not None and self.until is not None and seconds_past(clock.first, self.until) > 0
        return not late and not (clock.last is not None and self.since is not None and seconds_past(clock.last, self.since) < 0)


def window(event_filter: Filter, clocks: Iterable[Clock]) -> Window:
    """The window that the filter asks for. Relative times count back from the last time in all sources."""
    end = max((c.last for c in clocks if c.last), default=None)
    return Window(*(b.resolved(end) if b else None for b in (event_filter.since, event_filter.until)))


def apply_filter(
    events: Sequence[Observation], event_filter: Filter, clocks: Mapping[str, Clock], warn: Warn
) -> list[Observation]:
    """Those of `events` that pass the filter. Warns of events left out, and of events without a time that were kept."""
    kept = list(events)
    if event_filter.timed:
        asked = window(event_filter, clocks.values())
        kept = [e for e in kept if asked.contains(e.time)]
        if timeless := sum(e.time is None for e in kept):
            warn(Warning("choice", f"{timeless} of the events have no time; they were kept in spite of {event_filter}"))
    if event_filter.pid is not None:
        kept = _matching_or_near(kept, lambda e: _names_pid(e, event_filter.pid), lambda e: "pid" in e.fields)
    if event_filter.job:
        kept = _matching_or_near(kept, names_job(event_filter.job), lambda e: any(name in e.fields for name in NAMES_OF_JOBS))
    if len(kept) < len(events):
        warn(Warning("choice", f"left out by {event_filter}: {len(events) - len(kept)} of {with_noun(len(events), 'event')}"))
    return kept


def _matching_or_near(
    events: list[Observation], names: Callable[[Observation], bool], names_one: Callable[[Observation], bool]
) -> list[Observation]:
    """The events that name the process or job, and those close to them in time that name none."""
    ours = [e for e in events if names(e)]
    times = [e.time for e in ours if e.time]

    def near(event: Observation) -> bool:
        return event.time is None or not times or any(abs(event.time - t) <= MIN_SILENCE for t in times)

    return [e for e in events if names(e) or (not names_one(e) and near(e))] if ours else []


def _names_pid(event: Observation, pid: int | None) -> bool:
    if any(name.endswith("pid") and value == pid for name, value in event.fields.items()):
        return True
    pattern = lazy.regex(rf"(?i)\bpid\W{{0,3}}{pid}(?!\d)")
    return any(pattern.search(p.text) for p in event.proofs)


def names_job(job: str) -> Callable[[Observation], bool]:
    """A test whether an event names the job, pod or container: in its facts, its source's name, or its lines. A number counts
    after a word such as `job`, and as the first cell of sacct's rows; of a container's id the start is enough."""
    word = re.escape(job)
    whole = lazy.regex(rf"(?<![0-9A-Za-z]){word}" + ("" if re.fullmatch(r"[0-9a-f]{12,64}", job) else "(?![0-9A-Za-z])"))
    number = JOB_NUMBER_TEMPLATE.format(number=word, row=ACCOUNTING_ROW_TEMPLATE.format(word))
    pattern = lazy.regex(number) if job.isdigit() else whole

    def names(event: Observation) -> bool:
        facts = (str(event.fields[name]) for name in JOB_FIELDS if name in event.fields)
        return any(map(whole.search, (*facts, event.source))) or any(pattern.search(p.text) for p in event.proofs)

    return names


def unmatched(events: Sequence[Observation], event_filter: Filter, clocks: Mapping[str, Clock]) -> OpenQuestion | None:
    """The open question of the report if the logs have nothing of what the filter asks for. None if `events` are left, or if the
    logs cover the time that the filter asks for."""
    if events or event_filter == EVERYTHING or not str(event_filter):
        return None
    asked = window(event_filter, clocks.values())
    if event_filter.pid is None and event_filter.job is None and any(asked.overlaps(c) for c in clocks.values()):
        return None
    spans = [t for c in clocks.values() for t in (c.first, c.last) if t]
    extent = f"they cover {min(spans).isoformat(' ')} to {max(spans).isoformat(' ')}" if spans else "their lines have no times"
    return OpenQuestion(asked_in_vain(event_filter), f"none of these logs names it; {extent}", "forensics timeline LOGS")


def asked_in_vain(event_filter: Filter) -> str:
    """The question that logs leave open which have nothing of what the filter asks for."""
    return f"what happened with {event_filter}"


def last_incident(found: Sequence[Incident]) -> list[Incident]:
    """The latest incident with more than hints; if there is none, the latest of all."""
    serious = [i for i in found if any(e.weight != "hint" and e.cause for e in i.events)] or found
    timed = [i for i in serious if i.end]
    return [max(timed, key=lambda i: i.end.timestamp() if i.end else 0.0)] if timed else list(serious[:1])
