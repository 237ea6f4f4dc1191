"""analyze(): the stages in order. Sources -> scan -> records and series -> timeline -> diagnosis -> Report."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from forensics import context, correlation, detectors, lazy, limits, series, sources
from forensics.config import config
from forensics.database import Database, load
from forensics.diagnose import (
    Diagnosis,
    Jobs,
    Question,
    Spoken,
    alarming,
    chosen,
    diagnose,
    doubted,
    foreign,
    linked,
    silent,
    unsettled,
)
from forensics.errors import SourceError
from forensics.model import Observation, Incident, IncidentSummary, Moment, Report, Role, Scan, Source, SourceSummary, Warning
from forensics.numbers import renumbered
from forensics.reading import Reading, read_all
from forensics.spare import spared
from forensics.version import VERSION

TIMES = 5_000_000  # of one source compared with another's
HOST_FORMATS = ("dmesg", "syslog", "journal", "kmsg", "pstore", "vmcore")
DAEMON = lazy.regex(r"(?:^|[/!])(?:slurmd|slurmctld|slurmdbd)\b[^/]*$")  # what serves every job of a host or cluster


def database(folders: Iterable[Path] = ()) -> Database:
    """The knowledge with everything that records and series look for, compiled (cached on disk).

    Built in, and over it the folders of the configuration, then `folders`; raises UsageError or DatabaseError for faulty ones.
    """
    chosen = config(folders)
    limits.use(chosen.limits)
    triggers = (*detectors.triggers(), *series.triggers(), *context.triggers(), *correlation.triggers())
    return load(triggers=triggers, more=chosen.signatures, cache_folder=chosen.cache)


def analyze_paths(
    paths: Sequence[Path],
    case: str,
    knowledge: Database,
    baseline: Sequence[Path] = (),
    choice: correlation.Choice = correlation.EVERYTHING,
    workers: int | None = None,
) -> Report:
    """The Report on files and folders; raises UsageError or SourceError when a path is missing or nothing can be read."""
    noted: list[Warning] = []
    given = sources.open_paths(paths, noted.append)
    return analyze(given, case, knowledge, noted, workers, baseline=baseline, choice=choice)


def analyze_folders(folder: Path, knowledge: Database, choice: correlation.Choice = correlation.EVERYTHING) -> Iterator[Report]:
    """A Report for each sub-folder of `folder`, in order of name; one in which nothing can be read is told as such."""
    for case in sorted(p for p in folder.iterdir() if p.is_dir()):
        try:
            yield analyze_paths([case], case.name, knowledge, choice=choice)
        except SourceError as error:
            yield analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])


def analyze(
    given: Iterable[Source],
    case: str,
    knowledge: Database,
    warnings: Iterable[Warning] = (),
    workers: int | None = None,
    ask: Callable[[Question], object] | None = None,
    baseline: Sequence[Path] = (),
    choice: correlation.Choice = correlation.EVERYTHING,
) -> Report:
    """The Report on `given`, read once each, and once more where nothing is proven. `warnings`: those of opening them.

    `workers`: threads at work at a time (default: one a core); the answer does not depend on it.
    `ask`: is told what was decided about, for those who train or measure the decision. `baseline`: a run that went well.
    `choice`: what of it all is asked about.
    """
    noted = list(warnings)
    readings = read_all(given, knowledge, noted.append, workers)
    clocks, placed = _placed(readings, noted)
    chosen = correlation.choose(placed, choice, clocks, noted.append)
    found = _found(chosen, readings, choice, noted)
    summaries = _sources(readings, clocks, noted)
    jobs = _jobs_own(summaries, readings)
    decided = [diagnose(i, knowledge, jobs) for i in found] or [diagnose(None, knowledge)]
    found, decided = _worst_first(found, decided, jobs)
    alarms = alarming(_asked_about([r.scan for r in readings], choice, clocks), silent(found, jobs, knowledge))
    decided[0], model = _weighed(Question(found[0] if found else None, jobs, alarms), decided[0], knowledge, noted, ask)
    doubt = doubted(decided[0], _disordered(readings, noted), jobs)
    decided[0] = unsettled(doubt, correlation.unanswered(chosen, choice, clocks))
    report = Report(
        tool={"name": "forensics", "version": VERSION, "signatures": knowledge.hash[:16], "model": model},
        case=case,
        verdict=decided[0].verdict,
        causes=linked(decided[0].findings, found[0] if found else None),
        incidents=_incidents(found, decided),
        timeline=tuple(_moments(found, decided))[: limits.current.moments],
        sources=summaries,
        missing=decided[0].missing,
        warnings=(),  # see _beside
    )
    return _beside(report, readings, baseline, noted)


def _beside(report: Report, readings: list[Reading], baseline: Sequence[Path], noted: list[Warning]) -> Report:
    """`report` with what helps to understand it: environment, curves, unusual lines where there is nothing else, and what was
    noted of all of it."""
    scans = [r.scan for r in readings]
    drawn = [curve for r in readings for curve in r.curves]
    report = spared(lambda: context.attach(report, scans, drawn), report, "the context", None, noted.append)
    report = spared(lambda: _with_unusual(report, scans, baseline, noted), report, "unusual lines", None, noted.append)
    return replace(report, warnings=tuple(dict.fromkeys(noted)))


def _placed(readings: list[Reading], noted: list[Warning]) -> tuple[dict[str, correlation.Clock], list[Observation]]:
    """The clock of each source, and all events in order of time, their lines numbered as in the originals."""
    events = {r.name: list(r.events) for r in readings}
    events = spared(lambda: series.together(detectors.together(events)), events, "what several tell together", None, noted.append)
    clocks = clocks_of(readings, events, noted)
    own = {r.name: r.scan.source for r in readings}
    every = correlation.parted(e for found in events.values() for e in found)
    return clocks, [renumbered(e, own[e.source]) for e in correlation.place(list(every), clocks)]


def _found(events: list[Observation], readings: list[Reading], choice: correlation.Choice, noted: list[Warning]) -> list[Incident]:
    """The incidents that `events` make, linked also by the lines that name one rank, process or GPU in several ways."""
    none: list[correlation.Tie] = []
    ties = spared(lambda: correlation.ties(r.scan for r in readings), none, "tables of ranks and GPUs", None, noted.append)
    found = correlation.incidents(events, ties)
    return correlation.last(found) if choice.last else found


def _asked_about(scans: list[Scan], choice: correlation.Choice, clocks: Mapping[str, correlation.Clock]) -> list[Scan]:
    """The scans without lines of another time than that which is asked about."""
    if not choice.timed:
        return scans
    asked = correlation.window(choice, clocks.values())
    return [correlation.within(s, clocks[s.source.name], asked) for s in scans]


def _with_unusual(report: Report, scans: list[Scan], baseline: Sequence[Path], noted: list[Warning]) -> Report:
    """`report` with the oddest lines, where nothing else is there to go by."""
    if report.verdict != "undetermined":
        return report
    from forensics.templates import unusual

    good = sources.open_paths(baseline, noted.append) if baseline else []
    return replace(report, unusual=unusual(scans, good))


def clocks_of(readings: list[Reading], events: Mapping[str, list[Observation]], noted: list[Warning]) -> dict[str, correlation.Clock]:
    """The clock of each source, by its own lines and what it shares with the others; `events`: as found, by source."""
    none: list[datetime] = []
    told_by = [] if all(correlation.is_dated(r.marks) for r in readings) else readings  # else none asks the others
    times = {r.name: spared(partial(correlation.full_times, r.marks), none, "its times", r.name, noted.append) for r in told_by}
    every = [(n, t) for n, ts in sorted(times.items()) for t in ts]
    every = every[:: 1 + len(every) * len(readings) // TIMES]  # of thousands of sources, some tell the year to the others
    clocks: dict[str, correlation.Clock] = {}
    for r in readings:
        name = r.name
        others = [] if times.get(name) else [t for n, t in every if n != name]  # it tells its year and date itself
        told = partial(correlation.clock_of, r.scan.source, r.marks, others, noted.append)
        clocks[name] = spared(told, correlation.Clock("none"), "its times", name, noted.append)
    found = [e for found in events.values() for e in found]
    return spared(
        lambda: correlation.settled(found, clocks, noted.append), clocks, "clocks told from each other", None, noted.append
    )


def _disordered(readings: list[Reading], noted: list[Warning]) -> set[str]:
    """The sources whose lines are in no order of time."""
    names = {r.name for r in readings if spared(partial(correlation.disordered, r.marks), False, "its order", r.name, noted.append)}
    noted += [Warning("order", "its stamps go back and forth: the order of its lines tells nothing", n) for n in sorted(names)]
    return names


def _jobs_own(summaries: Sequence[SourceSummary], readings: Sequence[Reading]) -> Jobs:
    """The sources that are no log of a host, where there is one of a host among them."""
    own = [s for s in summaries if not s.format.startswith(HOST_FORMATS) and not DAEMON.search(s.name)]
    if len(own) == len(summaries):
        return Jobs({})
    names = {s.name for s in own}
    pids = frozenset(pid for r in readings if r.name in names for pid in r.pids)
    return Jobs({s.name: s.last_time for s in own}, {s.name: s.first_time for s in own}, pids=pids)


def _worst_first(found: list[Incident], decided: list[Diagnosis], jobs: Jobs) -> tuple[list[Incident], list[Diagnosis]]:
    """The last incident that was a crash first, one that the job's own log speaks of before others."""

    def place(i: int) -> tuple[int, bool]:
        verdict = ("crash", "undetermined", "no_crash").index(decided[i].verdict)
        return verdict, not any(jobs.is_job(e) for e in found[i].events)

    order = sorted(range(len(found)), key=place)
    return ([found[i] for i in order], [decided[i] for i in order]) if found else (found, decided)


def _weighed(
    question: Question, decided: Diagnosis, knowledge: Database, noted: list[Warning], ask: Callable[[Question], object] | None
) -> tuple[Diagnosis, str]:
    """The decision about the incident that the report speaks of, by the trained model where there is one, and its name.

    The plain formula is good enough to put the other incidents behind it.
    """
    if ask:
        ask(question)
    model, amiss = chosen()
    noted += [Warning("model", amiss)] if amiss else []
    if not model:
        return decided, "formula-1"
    spoken = Spoken(model, question.alarms, foreign([question.incident] if question.incident else [], question.jobs, knowledge))
    return diagnose(question.incident, knowledge, question.jobs, spoken), model.hash[:16]


def _incidents(found: list[Incident], decided: list[Diagnosis]) -> tuple[IncidentSummary, ...]:
    both = list(zip(found, decided, strict=False))[: limits.current.incidents]
    return tuple(_incident(i, n, d) for n, (i, d) in enumerate(both, 1))


def _incident(incident: Incident, number: int, decision: Diagnosis) -> IncidentSummary:
    hosts = sorted({str(e.fields["host"]) for e in incident.events if "host" in e.fields})
    links = tuple(f"{k.first[0]}:{k.first[1]} and {k.second[0]}:{k.second[1]} by {k.by}" for k in incident.links[:20])
    ids = tuple(f.id for f in decision.findings)
    return IncidentSummary(number, incident.start, incident.end, ids, len(incident.events), tuple(hosts), links)


def _moments(found: list[Incident], decided: list[Diagnosis]) -> list[Moment]:
    moments: list[Moment] = []
    for incident, decision in zip(found, decided, strict=False):
        role = {f.id: f.role for f in decision.findings}
        moments += [_moment(e, role) for e in incident.events]
    return moments


def _moment(event: Observation, role: dict[str, Role]) -> Moment:
    told = role.get(event.cause) if event.cause else None
    return Moment(event.time, event.lane, event.source, event.line, event.kind, event.cause, told or "noise")


def _sources(readings: list[Reading], clocks: Mapping[str, correlation.Clock], noted: list[Warning]) -> tuple[SourceSummary, ...]:
    about: dict[str | None, list[Warning]] = {}
    for warning in dict.fromkeys(noted):
        about.setdefault(warning.source, []).append(warning)
    return tuple(_source(r, clocks[r.name], about.get(r.name, [])) for r in readings)


def _source(reading: Reading, clock: correlation.Clock, noted: list[Warning]) -> SourceSummary:
    scanned = reading.scan
    return SourceSummary(
        name=reading.name,
        format=scanned.source.format or reading.layout,
        compression=scanned.source.compression,
        bytes=scanned.bytes,
        lines=scanned.lines,
        records=reading.records,
        first_time=clock.first,
        last_time=clock.last,
        clock=clock.kind,
        warnings=tuple(f"{w.kind}: {w.message}" for w in noted),
    )
