"""The context of a diagnosis for a reader and for remedies: environment, settings, curves, process table, programs.

    NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15 ... -> Setting("driver", "550.54.15", "dmesg.log", 7)
    step 40 loss 2.31 rss 1011 MiB                                -> a point of two Curves
    Namespace(batch_size=64) ... Namespace(batch_size=32)         -> Change("--batch-size", "64", "32", 1, 90)
    [  23777]     0 23777   596   400   36864   4   0 sh          -> ProcessMemory(pid=23777, task="sh", rss_bytes=1638400)

Nothing here takes part in the decision.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from forensics.advice.attempt_changes import settings_of_last_attempt, with_changes
from forensics.advice.curves import Ranked, last_reading, longest_curves
from forensics.advice.kept_lines import quoted_around
from forensics.advice.notices import notices
from forensics.model import Curve, Finding, Habit, Incident, JobContext, Notice, Observation, ProcessMemory, Report, Scan, Setting
from forensics.model.answers import OUTCOME_LINE
from forensics.readers.kernel.process_table import processes
from forensics.readers.progress.counters import NO_PROGRESS, Progress, share_done
from forensics.readers.python.frames import is_bare_frame
from forensics.readers.settings.attempts import AttemptFacts
from forensics.readers.settings.environment import settings

MEMORY_FAMILY = "host_memory."  # causes whose reader wants to know who held the memory


class Context(Struct, frozen=True):
    """The context that a report shows."""

    environment: tuple[Setting, ...] = ()
    curves: tuple[Curve, ...] = ()
    processes: tuple[ProcessMemory, ...] = ()


def job_context(
    scans: Sequence[Scan],
    drawn: Iterable[Ranked] = (),
    known: Mapping[str, Sequence[AttemptFacts]] = MappingProxyType({}),
    foreign: Set[tuple[str, int]] = frozenset(),
    own: Iterable[Observation] = (),
) -> JobContext:
    """Where and how the job ran, to select and word remedies. `drawn`: see `read_context`; `known`: see `attach_context`;
    `foreign`: lines, (source, number), that tell of other processes; `own`: what the subject's logs tell."""
    if not scans:
        return JobContext()
    from forensics.advice.context_signs import context_signs  # all of these are imported only if there are remedies to select
    from forensics.readers.programs import programs
    from forensics.readers.python.lock_holders import lock_holder
    from forensics.readers.settings.run_settings import run_settings
    from forensics.readers.stamps.moment import elapsed

    given_programs = programs(scans)
    run = settings_of_last_attempt(run_settings(scans), known)
    read = JobContext(
        context_signs(scans, given_programs, foreign), settings(scans), run, given_programs, last_reading=last_reading(drawn)
    )
    reached = _reached(known)
    lasted = next(
        (elapsed(s) for s in scans if reached and s.source.name == reached.source and len(known[s.source.name]) == 1), 0.0
    )
    grown = tuple(o for o in own if o.kind == "series/growth" and _is_of_last_attempt(o, known))
    read = replace(read, lock_holder=lock_holder(scans, given_programs), reached=reached, elapsed_s=lasted, growth=grown)
    return _with_tables(read, scans)


def _with_tables(context: JobContext, scans: Sequence[Scan]) -> JobContext:
    """`context` with what stands in the logs' tables, stacks and summaries."""
    from forensics.readers.platforms.job_limits import job_limits
    from forensics.readers.platforms.places import node_of_job
    from forensics.readers.platforms.shell_places import failed_activations
    from forensics.readers.progress.saved_files import resumed_from, saved_files
    from forensics.readers.python.printed_stacks import printed_stacks
    from forensics.readers.python.process_stacks import thread_places
    from forensics.readers.settings.packages import packages
    from forensics.readers.tensorflow.xla_plan import step_plan
    from forensics.readers.tools.disk_tables import disk_tables
    from forensics.readers.tools.profiled import largest_profiled_line
    from forensics.readers.torch.architecture import architecture

    return replace(
        context,
        architecture=architecture(scans),
        profiled=largest_profiled_line(scans),
        stacks=printed_stacks(scans),
        threads=thread_places(scans),
        packages=packages(scans),
        disks=disk_tables(scans),
        plan=step_plan(scans),
        activations=failed_activations(scans),
        saved=saved_files(scans),
        resumed=resumed_from(scans),
        limits=job_limits(scans),
        services={s.source.name: s.source.service for s in scans if s.source.service},
        node_of=lambda name: next((node_of_job(s) for s in scans if s.source.name == name), ""),
    )


def _is_of_last_attempt(one: Observation, known: Mapping[str, Sequence[AttemptFacts]]) -> bool:
    """Does the last reading of the series stand in the last attempt of its log?"""
    attempts = known.get(one.source, ())
    return not attempts or one.last_line >= attempts[-1].first_line


def _reached(known: Mapping[str, Sequence[AttemptFacts]]) -> Habit | None:
    """How far the last attempt of the first log that counts to a total had come: `epoch 34 of 100`, 0.335."""
    for source, attempts in known.items():
        progress = attempts[-1].progress if attempts else NO_PROGRESS
        if share := share_done(progress):
            return Habit("reached", source, progress.line, str(progress.counters[0]), share)
    return None


def read_context(scans: Iterable[Scan], first: Finding, drawn: Iterable[Ranked] = ()) -> Context:
    """The context of `first`, the first cause of a report. `drawn`: the curves of all sources, from `curves`."""
    scans = list(scans)
    return Context(settings(scans), longest_curves(drawn), processes(scans, first) if first.id.startswith(MEMORY_FAMILY) else ())


def attach_context(
    report: Report,
    scans: Iterable[Scan],
    drawn: Iterable[Ranked] = (),
    observed: Sequence[Observation] = (),
    incidents: Sequence[Incident] = (),
    known: Mapping[str, Sequence[AttemptFacts]] = MappingProxyType({}),
) -> Report:
    """`report` with the context of its first cause, and with notices on lines that its evidence does not quote. `known`: the
    facts of the attempts by source, from `attempt_facts`."""
    scans = list(scans)
    context = read_context(scans, report.causes[0], drawn)
    ended = known if report.verdict != "no_crash" else {}
    shown = report.causes[0].evidence if report.verdict != "no_crash" else ()  # lines of a good end are quoted, not explained
    quoted = {(p.source, p.line) for p in shown if p.signature != OUTCOME_LINE}
    found = notices(scans, observed, incidents, quoted, ended)
    told = {(n.source, n.line) for n in found}
    decided = next(iter(report.causes[0].evidence), None)
    return replace(
        report,
        around=quoted_around(scans, decided) if decided else (),
        environment=context.environment,
        curves=context.curves,
        processes=context.processes,
        notices=(*(n for n in report.notices if (n.source, n.line) not in told and not _is_told(n, report.causes[0])), *found),
        earlier_attempts=with_changes(report.earlier_attempts, known, report.causes[0]),
    )


def _is_told(notice: Notice, first: Finding) -> bool:
    """Does the summary say what the notice is about, that an environment could not be activated? A frame alone tells nothing."""
    if notice.owner != "others" and is_bare_frame(notice.text):
        return True
    said = str(first.facts.get("activation", ""))
    return bool(said) and said in notice.text and said in first.summary


def last_progress(report: Report, known: Mapping[str, Sequence[AttemptFacts]]) -> Progress:
    """How far the last attempt in the log of the subject had come. `known`: the facts of the attempts by source."""
    attempts = known.get(report.subject.name, ()) if report.subject else ()
    return attempts[-1].progress if attempts else NO_PROGRESS
