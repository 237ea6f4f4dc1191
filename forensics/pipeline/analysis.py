"""One case: its sources are placed, the decision is made, and what a report shows is put together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from forensics import advice, correlation, outcome, readers, sources
from forensics.advice.attempt_changes import changes_between
from forensics.advice.hardware import with_hardware
from forensics.advice.job_context import attach_context, job_context, last_progress
from forensics.advice.kept_lines import all_lines, lines_around
from forensics.advice.notices import compared_numbers, of_late_ranks
from forensics.advice.set_back import set_back_first
from forensics.config import config
from forensics.core import limits
from forensics.core.errors import SourceError
from forensics.correlation.asked_subject import (
    OWN_KINDS,
    Subject,
    among_incidents,
    find_subject,
    last_that,
    part_by_job,
    part_by_row,
    rows_of_jobs,
    subject_of,
)
from forensics.correlation.owners import assign_owners
from forensics.correlation.stream import spool
from forensics.database import HEALTHY, Database, load
from forensics.decision.decide import MIN_LISTED_PROBABILITY, DecisionInput, decide
from forensics.decision.doubts import (
    Answer,
    less_sure_if_disordered,
    undetermined_if_cut_off,
    undetermined_if_last_is_error,
    undetermined_if_nothing_read,
    undetermined_if_only_looked,
    undetermined_if_unmatched,
    undetermined_if_unread,
)
from forensics.decision.mere_status import only_tells_status
from forensics.decision.model import Model, active_model
from forensics.decision.structure import last_record, precedence_of
from forensics.model import (
    Difference,
    Incident,
    JobContext,
    MessageGroup,
    Observation,
    OpenQuestion,
    Proof,
    Report,
    Scan,
    Source,
    SourceSummary,
    Warning,
)
from forensics.model.ranks import RankPicture
from forensics.model.verdicts import Diagnosis, Lane
from forensics.outcome.deciding_lines import CandidateLine
from forensics.outcome.recorded_status import recorded_status
from forensics.pipeline.incident_entries import (
    LogTimes,
    incident_summaries,
    order_incidents,
    source_summaries,
    timeline,
    with_moment,
    with_times,
)
from forensics.pipeline.other_services import ends_of_other_services
from forensics.pipeline.placement import disordered_sources, find_incidents, looks, placed_observations
from forensics.pipeline.reported_subject import MAX_EARLIER_ATTEMPTS, earlier_attempts, subject_summary
from forensics.pipeline.source_analysis import PROGRAM, SourceAnalysis, analyze_sources, call_or_warn, scan_again
from forensics.pipeline.teardown import harmless_lines, ignored_lines
from forensics.readers import templates
from forensics.readers.settings.attempts import SPEED, AttemptFacts
from forensics.sources.programs import is_page
from forensics.sources.renumber import renumbered_lanes
from forensics.version import VERSION

MAX_NEW_MESSAGES = 40  # chosen by hand: two screens of what only the bad run says; `compare` has all
CLEAR = 0.8  # a cause that is less probable is shown with the lines that may decide it


def database(folders: Iterable[Path] = ()) -> Database:
    """The knowledge with everything that records and series look for, compiled (cached on disk).

    Built in, and over it the folders of the configuration, then `folders`, of which a file with a fault is left out; raises
    UsageError for a folder that is missing.
    """
    settings = config(folders)
    limits.use(settings.limits)
    triggers = readers.triggers()
    return load(triggers=triggers, more=settings.signatures, cache_folder=settings.cache)


def analyze_paths(
    paths: Sequence[Path],
    case: str,
    knowledge: Database,
    baseline: Sequence[Path] = (),
    event_filter: correlation.Filter = correlation.EVERYTHING,
    workers: int | None = None,
    within: Path | None = None,
) -> Report:
    """The Report on files and folders, which must be in the folder `within`; UsageError or SourceError if nothing can be read."""
    noted: list[Warning] = []
    given = sources.open_paths(paths, noted.append, within, later=True)
    return analyze(given, case, knowledge, noted, workers, baseline=baseline, event_filter=event_filter)


MAX_NAMED_PROGRAMS = 3  # chosen by hand: in a message of one line
NO_LOG_ADVICE = (
    "give what it printed, as in `python train.py > train.log 2>&1`, or start it by `forensics run -- python train.py`"
)


class PlacedCase(Struct, frozen=True):
    """The facts about some sources before anything is decided. `noted`: the warnings, which grow while the report is made.
    `good`: the logs of a run that went well."""

    analyses: list[SourceAnalysis]
    clocks: dict[str, correlation.Clock]
    kept: list[Observation]
    incidents: list[Incident]
    summaries: tuple[SourceSummary, ...]
    asked: Subject
    noted: list[Warning]
    attempted: dict[str, Sequence[AttemptFacts]]
    ranks: RankPicture | None
    good: Sequence[Source] = ()


def place_case(
    given: Iterable[Source],
    knowledge: Database,
    warnings: Iterable[Warning] = (),
    workers: int | None = None,
    event_filter: correlation.Filter = correlation.EVERYTHING,
    baseline: Sequence[Path] = (),
) -> PlacedCase:
    """The first half of `analyze`: sources read, their observations placed and grouped into incidents, the subject named."""
    given, noted, opening = list(given), [*warnings, *_unused_files(knowledge)], list[tuple[int, Warning]]()
    analyses = analyze_sources(given, knowledge, noted.append, workers, opening.append)
    for place, warning in reversed(opening):
        noted.insert(place, warning)
    if not analyses and opening and all(source.opens for source in given):
        raise sources.nothing_readable(given[0].opens.given if given[0].opens else (), noted)
    if given and not analyses and not noted:  # and no warning says why
        what = "no log, but a report of this program or another file of a captured run"
        raise SourceError(what, given[0].name, "forensics report FILE shows a report again, forensics why RUN that of a run")
    clocks, placed, picture = placed_observations(analyses, knowledge, noted)
    kept = correlation.apply_filter(placed, event_filter, clocks, noted.append)
    every = find_incidents(kept, analyses, knowledge, noted)
    found = correlation.last_incident(every) if event_filter.last else every
    source_table = source_summaries(analyses, clocks, noted)
    scans = {r.name: r.scan for r in analyses}
    helpers = [odd.helper for odd in (picture.odd if picture else ()) if odd.helper]
    runs, pids = {r.name: r.captured for r in analyses if r.captured}, {r.name: (*r.pids, *helpers) for r in analyses}
    first = partial(_first_texts, scans)
    accounts, joined = {r.name for r in analyses if r.is_account}, correlation.joined_sources(every)
    asked = find_subject(source_table, _lanes(analyses), pids, first, runs, accounts, joined)
    asked = among_incidents(asked, every, knowledge, {name: scan.source.modified for name, scan in scans.items()})
    attempted = {a.name: a.attempted for a in analyses}
    good = [spool(source) for source in sources.open_paths(baseline, noted.append)] if baseline else []
    return PlacedCase(analyses, clocks, kept, found, source_table, asked, noted, attempted, picture, good)


def _first_texts(scans: Mapping[str, Scan], name: str) -> list[str]:
    return [line.text for line in scans[name].head]


def _unused_files(knowledge: Database) -> Iterator[Warning]:
    """A warning for each file of the user's signatures that is left out."""
    for path in dict.fromkeys(path for path, _, _ in knowledge.faults):
        (line, what), *more = [(line, what) for other, line, what in knowledge.faults if other == path]
        others = f"; {len(more)} more: forensics signatures check" if more else ""
        yield Warning("signatures", f"not used: {what}{others}", path, line)


def _told(problem: str) -> list[Warning]:
    return [Warning("model", problem)] if problem else []


def analyze(
    given: Iterable[Source],
    case: str,
    knowledge: Database,
    warnings: Iterable[Warning] = (),
    workers: int | None = None,
    baseline: Sequence[Path] = (),
    event_filter: correlation.Filter = correlation.EVERYTHING,
) -> Report:
    """The Report on `given`. Each is read once, and once more if no cause is clear. `warnings`: those of opening them.

    `workers`: threads that work at a time (default: one per core); the answer does not depend on it. `baseline`: logs of a run
    that went well. `event_filter`: keeps only the events that the user asks about.
    """
    model, problem = active_model()
    seen = place_case(given, knowledge, [*warnings, *_told(problem)], workers, event_filter, baseline)
    every, seen, asked = _with_told_job(seen, knowledge, model)
    decided, each = _decided(seen.incidents, every, asked, knowledge, model)
    around, near = _surroundings(decided, seen, knowledge), lines_around([r.scan for r in seen.analyses])
    disordered, unmatched = disordered_sources(seen.analyses, seen.noted), _unmatched(seen, event_filter)
    ranked = _ranked_lines(decided, seen, knowledge, bool(unmatched), bool(disordered))
    found_causes = advice.findings(decided, knowledge, around, _reasons(ranked, seen, decided, knowledge), near)
    found, each = order_incidents(seen.incidents, each, decided, found_causes[0])
    answer = Answer(decided.verdict, found_causes, advice.open_questions(decided, found_causes, knowledge, around, near))
    answer = _with_doubts(answer, seen, disordered, unmatched)
    first = with_moment(advice.annotate_links(answer.findings, every), _times(seen))
    report = Report(
        tool={"name": "forensics", "version": VERSION, "signatures": knowledge.hash[:16], "model": model.hash[:16]},
        case=case,
        verdict=answer.verdict,
        causes=first,
        incidents=incident_summaries(found, each, first, lambda d: advice.findings(d, knowledge, around), asked),
        timeline=timeline(found, each),
        sources=seen.summaries,
        missing=with_times(answer.missing, first[0], seen.summaries),
        warnings=(),  # see _with_context
        subject=subject_summary(decided, asked, first[0]),
        notices=decided.notices,
        earlier_attempts=earlier_attempts(decided, asked, first, _earlier_runs(every, asked, knowledge, model), _notebooks(seen)),
    )
    return _with_last_words(_with_context(report, seen, ranked, knowledge), seen, around, knowledge)


def _with_told_job(seen: PlacedCase, knowledge: Database, model: Model) -> tuple[Incident, PlacedCase, Subject]:
    """All incidents as one, `seen` with incidents of one job each, and its subject: of several jobs the last that failed."""
    every, rules = correlation.join_incidents(seen.incidents), precedence_of(knowledge)

    def failed(job: Subject) -> bool:
        return decide(decision_input(every, job, knowledge), knowledge, model, rules).verdict != "no_crash"

    if not seen.asked.beside:
        asked = rows_of_jobs(every, seen.asked, failed)
        return every, replace(seen, asked=asked, incidents=part_by_row(seen.incidents, asked)) if asked.row else seen, asked
    asked = last_that(seen.asked, failed)
    return every, replace(seen, asked=asked, incidents=part_by_job(seen.incidents, asked)), asked


def _with_last_words(report: Report, seen: PlacedCase, around: JobContext, knowledge: Database) -> Report:
    progress, title = last_progress(report, seen.attempted), knowledge.causes[HEALTHY].as_cut_off
    name = report.subject.name if report.subject else ""
    own, missing = seen.asked.own_lanes.in_sources(frozenset({name})), advice.questions_of_open_end(around)
    closing = next((lane.closing for lane in own if lane.closing), None)
    alone = len(seen.asked.own_lanes.last_begun) == 1  # of several programs the others may go on
    report = undetermined_if_last_is_error(report, last_record(own) if alone else None, missing)
    report = undetermined_if_cut_off(report, progress, closing, title, missing)
    lanes = seen.asked.own_lanes if seen.asked.machine else ()
    report = replace(report, causes=with_hardware(report.causes, seen.kept, lanes, knowledge))
    return advice.told_by_status(replace(report, possible=advice.possible_causes(report)))


def _notebooks(seen: PlacedCase) -> set[str]:
    return {source.name for source in seen.summaries if source.format == "notebook"}


def _unmatched(seen: PlacedCase, event_filter: correlation.Filter) -> OpenQuestion | None:
    """The open question if the logs have nothing of what the user asks about."""
    return correlation.unmatched(seen.kept, event_filter, seen.clocks)


def _with_doubts(answer: Answer, seen: PlacedCase, disordered: set[str], unmatched: OpenQuestion | None) -> Answer:
    """`answer` as far as the sources allow it."""
    _refuse_programs(answer, seen.analyses)
    answer = less_sure_if_disordered(answer, disordered, seen.asked.own)
    answer = undetermined_if_nothing_read(answer, None if seen.analyses else next((w.message for w in seen.noted), None))
    answer = undetermined_if_only_looked(answer, [bool(a.stacks) for a in seen.analyses], looks(seen.analyses) == "progress")
    return undetermined_if_unmatched(undetermined_if_unread(answer, _unread_end(seen)), unmatched)


def _refuse_programs(answer: Answer, analyses: Sequence[SourceAnalysis]) -> None:
    """Raise SourceError where nothing that was read is a log: what a program would print is no end of a run."""
    if (
        answer.verdict == "no_crash"
        and analyses
        and all(a.line_format == PROGRAM or is_page(a.name) or a.scan.lines == 0 for a in analyses)
    ):
        names = ", ".join(a.name for a in analyses[:MAX_NAMED_PROGRAMS]) + (", ..." if len(analyses) > MAX_NAMED_PROGRAMS else "")
        raise SourceError("no log, but a program or what belongs to one", names, NO_LOG_ADVICE)


def _unread_end(seen: PlacedCase) -> str | None:
    """Why the end of a log of the subject was not read; None if it was."""
    return next((w.message for w in seen.noted if w.kind == "limit" and w.source in seen.asked.own), None)


def _surroundings(decided: Diagnosis, seen: PlacedCase, knowledge: Database) -> JobContext:
    """Where and how the job ran, without what logs of jobs beside it tell; empty if there is nothing to advise."""
    around = [r for r in seen.analyses if r.name not in seen.asked.of_jobs_beside]
    scans, drawn = [] if decided.verdict == "no_crash" else [r.scan for r in around], [c for r in around for c in r.curves]
    foreign = advice.lines_of_other_deaths(decided, knowledge)
    own = [o for o in seen.kept if o.source in seen.asked.own]
    look = partial(job_context, scans, drawn, seen.attempted, foreign, own)
    found = call_or_warn(look, JobContext(), "where it ran", None, seen.noted.append)
    told = next((o.observation.source for o in decided.candidates[0].owned), "")
    if not any(lane.digest.progress_count for lane in seen.asked.lanes.get(told, ()) if lane.kind in OWN_KINDS):
        return found
    runs = {told}.union(*(run.own for run in seen.asked.earlier))  # a training's own log tells what it saved itself
    return replace(found, saved=tuple(saved for saved in found.saved if saved.source in runs))


def _decided(
    incidents: list[Incident], every: Incident, asked: Subject, knowledge: Database, model: Model
) -> tuple[Diagnosis, list[Diagnosis]]:
    """The diagnosis of all incidents together, and that of each of the first ones."""
    rules = precedence_of(knowledge)
    decided = decide(decision_input(every, asked, knowledge), knowledge, model, rules, explained=True)
    listed = incidents[: limits.current.incidents]
    if len(listed) < 2:
        return decided, [decided for _ in listed]
    asks = [decision_input(i, subject_of(i, asked), knowledge) for i in listed]
    each = [decide(ask, knowledge, model, rules) for ask in asks]
    if asked.machine and (told := _told_by_itself(decided, each)) is not None:
        decided = replace(decide(asks[told], knowledge, model, rules, explained=True), notices=decided.notices)
    return decided, each


def _told_by_itself(decided: Diagnosis, each: Sequence[Diagnosis]) -> int | None:
    """The index of the incident that is told, if it is a crash by the same cause and all others are told beside it.

    What another GPU or another job's process did days before explains nothing of this one, and is no rival of its cause.
    """
    first = decided.candidates[0]
    shown = {o.observation.place for o in first.owned}
    told = next((i for i, d in enumerate(each) if shown & {o.observation.place for o in d.candidates[0].owned}), None)
    if told is None or {decided.verdict, each[told].verdict} != {"crash"}:
        return None
    alone = each[told].candidates
    beside = {c.cause for c in alone} | {d.candidates[0].cause for d in each if d.verdict == "crash"}
    lost = {c.cause for c in decided.candidates if c.probability >= MIN_LISTED_PROBABILITY} - beside
    surer = alone[0].cause == first.cause and alone[0].probability > first.probability
    return told if surer and not lost else None


def _earlier_runs(every: Incident, asked: Subject, knowledge: Database, model: Model) -> list[tuple[Diagnosis, str]]:
    """The diagnosis of each of the last runs before the one that the user asks about, and the title of its first cause."""
    rules = precedence_of(knowledge)
    runs = asked.earlier[-MAX_EARLIER_ATTEMPTS:]
    found = [decide(decision_input(every, run, knowledge), knowledge, model, rules) for run in runs]
    return [(decided, knowledge.causes[decided.candidates[0].cause].title) for decided in found]


def decision_input(incident: Incident, asked: Subject, knowledge: Database) -> DecisionInput:
    """The input of the decision about an incident of the subject."""
    own = assign_owners(incident, asked, knowledge)
    return DecisionInput(
        own, asked.own_lanes, asked.machine, asked.has_host_log, recorded_status(incident.events, asked.own, own)
    )


def _lanes(analyses: Sequence[SourceAnalysis]) -> dict[str, Sequence[Lane]]:
    """The lanes of each source, their lines numbered as in the originals."""
    return {r.name: renumbered_lanes(r.lanes, r.scan.source) for r in analyses}


def _with_context(report: Report, seen: PlacedCase, ranked: Sequence[CandidateLine], knowledge: Database) -> Report:
    """`report` with its context: environment, curves, ranks, the lines of `ranked` to read first, and all warnings."""
    noted, scans = seen.noted, [r.scan for r in seen.analyses]
    drawn = [curve for r in seen.analyses if r.name not in seen.asked.of_jobs_beside for curve in r.curves]
    around = partial(attach_context, report, scans, drawn, seen.kept, seen.incidents, seen.attempted)
    report = call_or_warn(around, report, "the context", None, noted.append)
    quoted = {(p.source, p.line) for p in report.causes[0].evidence}
    read = partial(outcome.lines_to_read, ranked, scans, outcome.line_classes(knowledge), quoted)
    unusual: tuple[MessageGroup, ...] = call_or_warn(read, (), "the lines to read first", None, noted.append)
    ends = partial(outcome.last_lines, scans, outcome.line_classes(knowledge), seen.asked.own)
    last: tuple[MessageGroup, ...] = call_or_warn(ends, (), "the last lines", None, noted.append)
    unlike = _unlike(seen, knowledge) if seen.good else None
    changes = unlike.changes if unlike and report.verdict != "no_crash" else ()
    causes = set_back_first(report.causes, changes)
    services = {s.name: s.service for a in seen.analyses if (s := a.scan.source).service} if report.verdict != "no_crash" else {}
    others = ends_of_other_services(report.causes[0].evidence, seen.asked.lanes, services)
    notices = (*of_late_ranks(seen.ranks), *others, *report.notices)
    report = replace(report, causes=causes, unusual=unusual, last_lines=last, ranks=seen.ranks, baseline=unlike, notices=notices)
    return replace(report, warnings=tuple(dict.fromkeys(noted)))


def _ranked_lines(
    decided: Diagnosis, seen: PlacedCase, knowledge: Database, unmatched: bool, disordered: bool
) -> list[CandidateLine]:
    """The lines of all sources, those first that most likely say why it ended badly; empty if a cause is proven and sure.

    The logs are read once more. `unmatched`: they have nothing of what the user asks about. `disordered`: their stamps go back
    and forth.
    """
    is_sure = decided.verdict == "crash" and decided.candidates[0].probability >= CLEAR and not disordered
    is_sure = is_sure and not only_tells_status(decided.candidates[0], knowledge)
    if not unmatched and (is_sure or decided.verdict == "no_crash"):
        return []
    scans = [r.scan for r in seen.analyses]
    rank = partial(outcome.rank_lines, scans, outcome.line_classes(knowledge), active_model()[0].lines, seen.good)
    none: list[CandidateLine] = []
    ranked = call_or_warn(rank, none, "the lines that may say why", None, seen.noted.append)
    harmless = {(r.name, n) for r in seen.analyses for n in ignored_lines(r.events) | harmless_lines(r.events)}
    return [line for line in ranked if line.place not in harmless] or ranked


def compare_runs(
    good: Sequence[Source], bad: Sequence[SourceAnalysis], knowledge: Database, warnings: Iterable[Warning] = ()
) -> Difference:
    """What the run `bad` says of itself otherwise than the run `good`, and its messages that the good one does not have.

    `good` is read three times, `bad` once more. `warnings`: those of opening the sources.
    """
    found = templates.difference(good, [a.scan.source for a in bad], outcome.trouble_test(knowledge), warnings)
    unlike = analyze_sources(good, knowledge, templates.ignore_warning)
    changes = changes_between([a.attempted for a in unlike], [a.attempted for a in bad])
    again = ((scan_again(a, knowledge) for a in run) for run in (unlike, bad))
    numbers = compared_numbers(*again, paced=any(c.what == SPEED for c in changes))
    return replace(found, changes=(*changes, *numbers))


def _unlike(seen: PlacedCase, knowledge: Database) -> Difference | None:
    """How the run differs from a good one, with the first of its messages, those of the subject before others."""
    found = call_or_warn(
        partial(compare_runs, seen.good, seen.analyses, knowledge), None, "the good run", None, seen.noted.append
    )
    if found is None:
        return None
    seen.noted.extend(found.warnings)
    own = sorted(found.messages, key=lambda m: m.source not in seen.asked.own)[:MAX_NEW_MESSAGES]
    return replace(found, messages=tuple(own), left_out=found.left_out + len(found.messages) - len(own), warnings=())


def _times(seen: PlacedCase) -> LogTimes:
    guessed = {w.source for w in seen.noted if w.kind in ("year", "date")}
    dated = any(clock.first and name not in guessed for name, clock in seen.clocks.items())
    lines = partial(all_lines, [r.scan for r in seen.analyses])
    return LogTimes(lines, seen.clocks, dated)


def _reasons(ranked: Sequence[CandidateLine], seen: PlacedCase, decided: Diagnosis, knowledge: Database) -> tuple[Proof, ...]:
    """The lines of the subject's last attempt that most likely say why it ended; empty if a cause is proven. Of an end of which a
    platform tells the status, those of the program's own logs."""
    first, since = decided.candidates[0], seen.asked.last_attempt_lines()
    if decided.verdict == "crash" and only_tells_status(first, knowledge):
        told = {o.observation.source for o in first.owned}
        since = {name: line for name, line in since.items() if name not in told}
    elif decided.verdict != "undetermined":
        return ()
    scans = [r.scan for r in seen.analyses]
    quoted = {(p.source, p.line) for o in decided.candidates[0].owned for p in o.observation.proofs}
    quoted |= {(source, line) for source, line, _ in decided.outcome.lines}
    find = partial(outcome.reason_lines, ranked, scans, since, quoted)
    return call_or_warn(find, (), "the lines that say why", None, seen.noted.append)
