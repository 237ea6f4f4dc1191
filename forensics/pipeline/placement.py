"""The observations of all sources on one clock, as far as clocks allow it, and cut into incidents.

train.log   2026-05-01 10:00:07 ... exit status 137      dmesg.log   [ 3010.69] Killed process 24488 (python)
-> the clock of each source, the observations in order of time, and one incident that a pid links
"""

from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from forensics import correlation, readers, series
from forensics.database import HEALTHY, Database
from forensics.model import Incident, Observation, Warning
from forensics.model.ranks import ProofPlace, RankPicture, RankProcess
from forensics.model.stacks import ProcessStacks
from forensics.pipeline.source_analysis import SourceAnalysis, call_or_warn
from forensics.readers.capture.first_end import is_well_end
from forensics.readers.progress.steps_told import last_step
from forensics.readers.python.process_stacks import failed_looks
from forensics.readers.tools.id_tables import last_lines_of_ranks, ranks_by_pid
from forensics.readers.tools.own_words import error_lines, held_locks
from forensics.readers.tools.sent_signals import sent_signals
from forensics.readers.torch.told_calls import tells_calls
from forensics.sources.renumber import renumbered

ABORTED = "Aborted"  # as faulthandler calls it: the line of the program that it tells may not be that of the other ranks
WENT_ON = timedelta(seconds=5)  # files that are copied one after the other lie closer together
MAX_PAUSE_AT_WORK_S = (
    3.0  # of 34 jobs that hung the dumps were written 6 s or more after the last call, of 6 that worked 1.6 s or less
)
MIN_WENT_ON_S = 0.5  # chosen by hand: a file is written a little after what it shows
MIN_QUIET_S = 5.0  # chosen by hand: a log that told a step so shortly before a look shows no hang
MIN_RANKS_NAMED = 2  # a log that names so many ranks is one of the job
MIN_STACKS = 2  # of several processes, or of one that was looked at again
MAX_TIMES_COMPARED = 5_000_000  # pairs of times of two sources: comparing them takes about a second


def placed_observations(
    analyses: Sequence[SourceAnalysis], knowledge: Database, noted: list[Warning]
) -> tuple[dict[str, correlation.Clock], list[Observation], RankPicture | None]:
    """The clock of each source, and all observations in order of time. Their lines are numbered as in the original files. And the
    picture of the ranks, where there are dumps of them."""
    events = {r.name: list(r.events) for r in analyses}
    events = call_or_warn(
        lambda: series.with_limit_steps(readers.merge_nccl_timeouts(events), knowledge),
        events,
        "what several sources show together",
        None,
        noted.append,
    )
    undrawn: tuple[dict[str, list[Observation]], RankPicture | None] = events, None
    with_ranks = partial(_with_ranks, analyses, events, knowledge)
    events, seen = call_or_warn(with_ranks, undrawn, "what the dumps of the ranks show", None, noted.append)
    clocks = clocks_of(analyses, events, knowledge, noted)
    own = {r.name: r.scan.source for r in analyses}
    every = [e for found in events.values() for e in found]
    return clocks, [renumbered(e, own[e.source]) for e in correlation.assign_times(every, clocks)], seen


def rank_picture(
    analyses: Sequence[SourceAnalysis], events: Mapping[str, Sequence[Observation]], knowledge: Database, by_logs: bool = False
) -> RankPicture | None:
    """Who waits for whom, if there are dumps of ranks, or stacks of several. `events`: of the logs beside them, by source.
    `by_logs`: without either, by the ends of ranks that logs tell."""
    dumps = [r.dump for r in analyses if r.dump is not None]
    stacks = [one for r in analyses for one in r.stacks]
    every = [e for found in events.values() for e in found]
    aborted = any(e.fields.get("fatal_error") == ABORTED and "rank" in e.fields for e in every)
    is_told = aborted or any(is_well_end(e) or tells_calls(e) for e in every)
    if not dumps and len(stacks) < 2 and not by_logs and not is_told:
        return None
    from forensics import ranks  # most inputs have no dumps

    names = ranks.numbered_names([r.name for r in analyses])
    ids = [m.ids for m in correlation.read_id_mappings(r.scan for r in analyses)]
    told = ranks.rank_processes(ids, every, ())
    by_pid = {one.pid: rank for rank, one in told.items() if one.pid} if len({one.host for one in told.values()}) < 2 else {}
    scans = [r.scan for r in analyses]
    looked = ranks.ranked([*stacks, *failed_looks(scans)], names, by_pid | ranks_by_pid(scans))
    stacks, processes = [one for one in looked if one.threads], ranks.rank_processes(ids, every, looked)
    written = {r.name: r.scan.source.modified for r in analyses if (r.dump or r.stacks) and r.scan.source.modified}
    logs = (r.scan for r in analyses if not r.stacks and r.dump is None)
    said = {rank: ProofPlace(name, line.number, line.text) for rank, (name, line) in last_lines_of_ranks(logs).items()}
    signals = sent_signals(scans)
    held = {rank: signals.stopped[one.pid] for rank, one in processes.items() if one.pid in signals.stopped}
    others = ranks.ends_of_others(every, {one.pid for one in processes.values()}, knowledge)
    told_ends = ranks.ended_ranks(every, processes, knowledge, names)
    ends = replace(told_ends, said=said, held=held, sent=signals.sent, others=others)
    own = ranks.logs_of_job(every, knowledge)
    steps = max((at for scan in scans if scan.source.name in own and (at := last_step(scan))), default=0.0)
    locks, errors = ([place for scan in scans for place in read(scan)] for read in (held_locks, error_lines))
    own |= {r.name for r in analyses if r.dump or r.stacks} | names.keys()
    beside = ranks.beside_ranks(every, own, locks, errors, knowledge)
    of_ranks = Counter(place.source for place in said.values())
    others_logs = tuple(scan for scan in scans if scan.source.name not in own and of_ranks[scan.source.name] < MIN_RANKS_NAMED)
    beside = replace(beside, logs=others_logs, last_step=steps)
    return ranks.picture(dumps, stacks, replace(ends, last_step=steps), processes, written, by_logs, beside)


def _with_ranks(
    analyses: Sequence[SourceAnalysis], events: dict[str, list[Observation]], knowledge: Database
) -> tuple[dict[str, list[Observation]], RankPicture | None]:
    """`events` by source, with what the dumps of the ranks show, and that picture. The event stands for what the stacks of the
    same ranks show one by one. In a run that ended well, or that somebody stopped, they waited for a while only, if not for one
    rank again and again."""
    seen = rank_picture(analyses, events, knowledge)
    if seen is None and not any(r.stacks for r in analyses):
        return events, None
    shown = shown_by(seen, analyses, events, knowledge)
    if seen is None or shown.says == "look":
        late, is_open = seen and _late(seen, analyses), looks(analyses) == "place" and HEALTHY not in causes_of(events)
        return (events, None) if shown.says != "look" else (_but(events, shown.told), late or (seen if is_open else None))
    if shown.says == "well":
        return events, _late(seen, analyses)
    found = shown.found
    if found is None:
        from forensics import ranks

        is_earlier = seen.basis == ranks.OTHER_MOMENT  # how they stood before the logs tell how it ended
        return _but(events, shown.told) if is_earlier else events, _late(seen, analyses) or seen
    pids = {row.pid for row in seen.rows} | {one.pid for r in analyses for one in r.stacks}  # a launcher has no row
    rest = {
        source: [
            e
            for e in own
            if e.place not in shown.told and not (e.cause in shown.decided and e.fields.get("pid") in {None, *pids})
        ]
        for source, own in events.items()
    }
    return {**rest, found.source: [*rest[found.source], found]}, seen


class Shown(Struct, frozen=True):
    """What a picture of ranks shows beside all that logs tell. `says`: a `look` at a run, one that ended `well`, another end
    (`apart`), or a `hang`, of which `found` is the event. `told`: the places of all lines of stacks; `decided`: the causes that
    such an event decides."""

    says: Literal["look", "well", "apart", "hang"]
    told: Container[tuple[str, int]]
    decided: Collection[str]
    found: Observation | None = None


def shown_by(
    seen: RankPicture | None,
    analyses: Sequence[SourceAnalysis],
    events: Mapping[str, Sequence[Observation]],
    knowledge: Database,
) -> Shown:
    """Whether a hang is shown, a look at a run that works, or something else."""
    from forensics import ranks

    proves = knowledge.records[ranks.RANKS_RECORD]
    decided = {cause for one in proves.values() for cause in one.decides}
    causes = causes_of(events)
    told = {(one.source, line.number) for r in analyses for one in r.stacks for t in one.threads for line in (t.head, *t.lines)}
    beside = [e for found in events.values() for e in found if e.place not in told or e.cause not in decided]
    if _is_only_look(analyses, beside, seen, knowledge):
        return Shown("look", told, decided)
    if seen is None or ended_well(analyses):
        return Shown("well" if seen else "apart", told, decided)
    found = ranks.observation(seen, proves, causes)
    stopped = any(knowledge.has_trait(cause, "external_stop") for cause in causes)  # and so the others lose their connections
    shown = {cause for cause in causes if not (stopped and proves[ranks.GONE].is_beside(cause))}
    is_wait = ranks.is_wait(shown, decided, knowledge) or _was_stopped_waiting(_late(seen, analyses), shown, knowledge)
    is_hang = found is not None and (not seen.basis or is_wait)
    return Shown("hang", told, decided, found) if is_hang else Shown("apart", told, decided)


def causes_of(events: Mapping[str, Sequence[Observation]]) -> set[str]:
    """The causes of all events that are more than a hint."""
    return {e.cause for found in events.values() for e in found if e.cause and e.weight != "hint"}


def ended_well(analyses: Sequence[SourceAnalysis]) -> bool:
    """Did all runs end well that `forensics run` recorded?"""
    runs = [r.captured for r in analyses if r.captured]
    return bool(runs) and all(run.ended_well for run in runs)


def awaited_now(
    analyses: Sequence[SourceAnalysis], events: Mapping[str, Sequence[Observation]], knowledge: Database
) -> RankPicture | None:
    """The picture alone, also by the ends that logs tell. Where nothing shows a hang, a rank that computes is only waited for at
    that moment, and so is one that does anything else, if the run ended well or told a step right before the last look."""
    seen = rank_picture(analyses, events, knowledge, by_logs=True)
    if seen is None or not seen.odd or shown_by(seen, analyses, events, knowledge).says == "hang":
        return seen
    causes = causes_of(events)
    is_well = ended_well(analyses) or causes == {HEALTHY}
    if not is_well and _late(seen, analyses):
        return seen
    from forensics import ranks

    return ranks.only_awaited(seen, is_well or _told_a_step_before(analyses))


def _told_a_step_before(analyses: Sequence[SourceAnalysis]) -> bool:
    """Did a log tell a step of the run right before the last look at its stacks, or later?"""
    moments = [one.taken or (t.timestamp() if (t := r.scan.source.modified) else 0.0) for r in analyses for one in r.stacks]
    step = max((at for r in analyses if not r.stacks and r.dump is None and (at := last_step(r.scan))), default=0.0)
    return bool(moments) and max(moments) - step < MIN_QUIET_S


def _was_stopped_waiting(late: RankPicture | None, causes: Collection[str], knowledge: Database) -> bool:
    """Did somebody stop a job, of which nothing else is told, that in several looks waited for one rank, which waits itself?"""
    waits = late is not None and bool(late.odd) and not any(one.is_only_late or one.kind == "computes" for one in late.odd)
    return waits and all(knowledge.has_trait(cause, "external_stop") for cause in causes if cause != HEALTHY)


def _but(events: Mapping[str, Sequence[Observation]], told: Container[tuple[str, int]]) -> dict[str, list[Observation]]:
    """`events` but those whose line is among `told`."""
    return {source: [e for e in own if e.place not in told] for source, own in events.items()}


def _is_only_look(
    analyses: Sequence[SourceAnalysis], beside: Sequence[Observation], seen: RankPicture | None, knowledge: Database
) -> bool:
    """Do stacks show where a run stood, and no hang? No event but theirs (`beside`) tells of trouble, unless several looks show
    that the run went on and somebody stopped it, and they do not show a hang themselves, or a log that tells of a good end was
    written to for longer. Text about a run that quotes stacks is no look, nor is what somebody gives of one process alone, whose
    source may show the locks for which it waits."""
    looked = [r for r in analyses if r.stacks]
    if seen and any(odd.is_held for odd in seen.odd):
        return False
    told = {e.cause for e in beside if e.cause and e.weight != "hint"} - {HEALTHY}
    at_work = _was_at_work(analyses)
    went_on = at_work or (looks(analyses) == "progress" and not any(r.dump and r.dump.last_ns for r in analyses))
    if not looked or any(not (went_on and knowledge.has_trait(cause, "external_stop")) for cause in told):
        return False
    if at_work:
        return True
    taken = [moment for r in looked if (moment := r.scan.source.modified)]
    ends = {e.source for e in beside if e.cause == HEALTHY}
    written = [r.scan.source.modified for r in analyses if r.name in ends and not r.stacks]
    if len(taken) == len(looked) and written and all(moment and moment - max(taken) > WENT_ON for moment in written):
        return True
    own = [r for r in looked if _are_all_of_it(r)]
    if sum(len(r.stacks) for r in own) < MIN_STACKS or any(r.captured for r in analyses):
        return False
    return not _dumps_show_a_wait(analyses, seen) and looks(analyses) != "hang"


def _was_at_work(analyses: Sequence[SourceAnalysis]) -> bool:
    """Did the ranks make a call right before their dumps were written, or after the last look at their stacks? A file that was
    copied has a later time, which shows nothing."""
    written = {r.name: r.scan.source.modified for r in analyses if r.dump or r.stacks}
    calls = [r.dump.last_ns / 1e9 for r in analyses if r.dump and r.dump.last_ns]
    dumped = [t.timestamp() for r in analyses if r.dump and (t := written[r.name])]
    looked = [t.timestamp() for r in analyses if r.stacks and (t := written[r.name])]
    if not calls or not dumped:
        return False
    return max(dumped) - max(calls) < MAX_PAUSE_AT_WORK_S or max(looked, default=max(calls)) < max(calls) - MIN_WENT_ON_S


def _dumps_show_a_wait(analyses: Sequence[SourceAnalysis], seen: RankPicture | None) -> bool:
    """Have the ranks calls, and is one of them waited for, or are all in a call? Where some are in none, and nobody waits for
    them, a run was looked at while it worked."""
    at_work = seen is not None and not seen.odd and any(row.state != "waits" for row in seen.rows)
    return not at_work and any(r.dump and r.dump.last_ns for r in analyses)


def _are_all_of_it(one: SourceAnalysis) -> bool:
    """Are its stacks not quoted in it, nor some lines in a job's log? What `forensics stacks` wrote, with its time, never is."""
    by_command = all(stacks.taken is not None for stacks in one.stacks)
    return by_command or 2 * sum(map(_lines_of, one.stacks)) >= one.scan.lines


def _lines_of(stacks: ProcessStacks) -> int:
    """How many lines the stacks of a process take, with the variables that stand between the frames."""
    numbers = [line.number for t in stacks.threads for line in (t.head, *t.lines)]
    return max(numbers) - min(numbers) + 1


def looks(analyses: Sequence[SourceAnalysis]) -> str:
    """What the stacks of a run show: a `place`, `progress`, or a `hang`."""
    if not any(r.stacks for r in analyses):
        return "place"
    from forensics import ranks

    return ranks.shown_by_looks(one for r in analyses for one in r.stacks)


def _late(seen: RankPicture, analyses: Sequence[SourceAnalysis]) -> RankPicture | None:
    """The picture, if it shows one rank that is late again and again: by its dumps, or by stacks of several moments."""
    from forensics import ranks

    if seen.odd and all(odd.is_only_late for odd in seen.odd):
        return seen
    logged = ranks_by_pid(r.scan for r in analyses)
    stacks = ranks.ranked([one for r in analyses for one in r.stacks], ranks.numbered_names([r.name for r in analyses]), logged)
    return ranks.late_in_looks(stacks, {row.rank: RankProcess(row.pid, row.host) for row in seen.rows})


def find_incidents(
    events: list[Observation], analyses: Sequence[SourceAnalysis], knowledge: Database, noted: list[Warning]
) -> list[Incident]:
    """The incidents in `events`. Lines that name one rank, process or GPU in several ways link them, too."""
    none: list[correlation.IdMapping] = []
    ties = call_or_warn(
        lambda: correlation.read_id_mappings(r.scan for r in analyses), none, "tables of ranks and GPUs", None, noted.append
    )
    return correlation.group_incidents(events, knowledge, ties)


def clocks_of(
    analyses: Sequence[SourceAnalysis], events: Mapping[str, list[Observation]], knowledge: Database, noted: list[Warning]
) -> dict[str, correlation.Clock]:
    """The clock of each source, from its own lines and from events that it shares with others. `events`: as found, by source."""
    none: list[datetime] = []
    all_dated = all(r.is_dated for r in analyses)  # then no source needs a date from another one
    asked = [] if all_dated else analyses
    times = {
        r.name: call_or_warn(partial(correlation.full_times, r.samples), none, "its times", r.name, noted.append) for r in asked
    }
    every = [t for _, ts in sorted(times.items()) for t in ts]
    step = 1 + len(every) * len(analyses) // MAX_TIMES_COMPARED
    every = every[::step]  # of thousands of sources, a sample gives the others their year
    clocks: dict[str, correlation.Clock] = {}
    zones = {_folder(r.name): r.zone for r in analyses if r.zone is not None}
    for r in analyses:
        name, zone = r.name, _zone_below(zones, r.name)
        if r.clock and zone is None:
            noted += r.clock.noted
            clocks[name] = r.clock.of(r.samples) if events.get(name) or r.clock.is_unanchored else r.clock.clock
            continue
        others = [] if times.get(name) else every  # its own lines give year and date
        printed = () if r.is_dated else correlation.printed_dates(r.scan)
        infer = partial(correlation.infer_clock, r.scan.source, r.samples, others, noted.append, printed, zone)
        clock = call_or_warn(infer, correlation.Clock("none"), "its times", name, noted.append)
        is_needed = events.get(name) or clock.unanchored()  # to place events between its lines, and to look for its boots
        clocks[name] = clock if is_needed else replace(clock, samples=())
    found = [e for found in events.values() for e in found]
    settled = partial(correlation.align_clocks, found, clocks, knowledge, noted.append)
    return call_or_warn(settled, clocks, "the alignment of clocks", None, noted.append)


def _folder(name: str) -> str:
    """The folder of a source: `runs/a/job.log` -> `runs/a/`, `a.tar.gz!b/job.log` -> `a.tar.gz!b/`; empty for a bare name."""
    return name[: max(name.rfind("/"), name.rfind("!")) + 1]


def _zone_below(zones: Mapping[str, timedelta], name: str) -> timedelta | None:
    """The zone that a captured run recorded for the folder of `name`, or for the nearest one above; a bare name has none."""
    return max(((len(folder), zone) for folder, zone in zones.items() if folder and name.startswith(folder)), default=(0, None))[
        1
    ]


def disordered_sources(analyses: Sequence[SourceAnalysis], noted: list[Warning]) -> set[str]:
    """The names of the sources whose lines are not in order of time; a Warning for each."""
    names = {r.name for r in analyses if r.is_disordered}
    noted += [Warning("order", "its timestamps go back and forth: its lines are not in order", n) for n in sorted(names)]
    return names
