"""Turn a Diagnosis into the findings of a report: for each cause role, summary, evidence lines, facts, remedies, open
questions."""

from collections.abc import Sequence
from pathlib import PurePath

from msgspec.structs import replace

from forensics.advice.case import (
    EARLIER_CAUSES,
    LINE_TO_TEACH,
    NAMED_PLACE,
    POSSIBLE_SIGN,
    REASON_PLACE,
    UNEXPLAINED,
    case_facts,
    recorded_limits,
)
from forensics.advice.evidence import deaths_of, facts_of, further_events, own_lines, proofs_of, told_first
from forensics.advice.growth import growth_facts
from forensics.advice.log_facts import STALLS, activation_facts, disk_facts, stack_facts, standing_facts, status_facts
from forensics.advice.places import (
    code_of_consequence,
    code_of_traceback,
    own_code,
    place_around,
    pod_of,
    rank_and_host,
    service_of,
    stood_of_consequence,
)
from forensics.advice.quoted import line_to_teach, place_of_line, quoted_evidence
from forensics.advice.remedies import fitting_questions, fitting_remedies, has_own_fix
from forensics.advice.service_states import as_state
from forensics.advice.whereabouts import is_position_only, location_text, of_job
from forensics.advice.wording import LAST_SAID, SCRIPT_FACTS, summary
from forensics.core.text import numbers_in
from forensics.database import HEALTHY, Cause, Database, Missing
from forensics.model import (
    Advice,
    Fields,
    Finding,
    JobContext,
    LinesAround,
    Observation,
    OpenQuestion,
    Proof,
    Role,
    Value,
    shows_slow_down,
)
from forensics.model.answers import LOST_NUMBERS, OUTCOME_LINE, line_by_words
from forensics.model.verdicts import Candidate, Diagnosis
from forensics.readers.base import EVENT_TITLE, nothing_near
from forensics.readers.lanes.line_classes import failure_test, is_low_severity
from forensics.readers.near_lines import is_by_kernel, uptime_s
from forensics.readers.platforms.places import caused_by, tasks_of_srun
from forensics.readers.python.failing_code import advised_code, failing_code, library_code, raised_in_worker, started_script
from forensics.readers.python.library_files import knows_own_code
from forensics.readers.python.own_words import own_words, whole_message
from forensics.readers.torch.rank_places import QUIET_RANKS, STALLED_FACTS

NO_CONTEXT = JobContext()
MIN_SURE_PROBABILITY = 0.6  # of a first cause for all its remedies; below it, nearly every second first cause is wrong
MIN_OTHER_PROBABILITY = 0.1  # of another explanation, to tell its remedy, too: one in ten is worth a line
MAX_OTHERS = 2  # chosen by hand: half of what is told at most
MAX_RECOVERY_LINES = 4  # chosen by hand: the last lines that show that it continued; more show the same
MAX_RANK_DIGITS = 8  # a longer number is no rank
UNPROVEN = (
    Missing(
        what="the meaning of this message, which is in no signature",
        why="Once you add it, later reports will name it.",
        commands=("forensics signatures new FAMILY.CAUSE {line_to_teach} --into mine",),
        when=("line_to_teach",),
    ),
    Missing(
        what="a line that proves a cause",
        why="These logs contain no message of a known cause; the listed causes are those whose logs use the most similar words.",
        commands=("journalctl -k --since '1 hour ago' > kernel.log",),
    ),
    Missing(
        what="the whole output of the job, from its start to its last line",
        why="The first error is often far above the last one.",
        commands=("python train.py > job.log 2>&1", "PROGRAM > job.log 2>&1"),
    ),
)
NO_END_SHOWN = (  # in the order of how often each settles it
    Missing(
        what="whether the program is still running, or how it ended",
        why="The log shows no end. A program that is killed from outside writes nothing about it.",
        commands=("ps -eo pid,etime,stat,args",),
    ),
    Missing(
        what="what the machine logged at that moment",
        why="Only the kernel's log shows a kill for lack of memory, a crash in native code or a lost GPU.",
        commands=("journalctl -k --since '1 hour ago' > kernel.log",),
    ),
    Missing(
        what="the exit status, from whoever started it",
        why="A scheduler, a container runtime or a shell keeps it: 0 is success; 137 a kill, mostly for memory: hold less at "
        "once; 139 a crash in native code: update the library; 143 a request to stop: ask who sent it.",
        commands=("echo $?   # in the shell that started it, right after it",),
    ),
)
STILL_RUNS = (
    Missing(
        what="where its threads are",
        why="It was still running, and no stacks were taken (they need py-spy: pip install py-spy). From outside, a process "
        "that waits forever looks like one that works.",
        commands=("forensics stacks PID",),
    ),
)
UNLINKED = (
    Missing(
        what="whether the process that died belonged to the job",
        why="Only the time links it to the job's log, which does not name its pid.",
        commands=('PROGRAM > job.log 2>&1 & echo "pid $!"; wait $!; echo "exit status $?"',),
        unless=("notebook=jupyter|jupyterhub|colab|kaggle|papermill",),  # a server starts its kernels; no shell prints a pid
    ),
)


def findings(
    diagnosis: Diagnosis,
    database: Database,
    context: JobContext = NO_CONTEXT,
    reasons: Sequence[Proof] = (),
    around: LinesAround = nothing_near,
) -> tuple[Finding, ...]:
    """The finding of each candidate, in order; remedies, which fit the job's `context`, for the first one only, and for lost
    numbers of a run that ended well.

    `reasons`: lines that most likely say why it ended, if no line proves a cause. They come first in the evidence of the first
    finding. `around`: gives the lines around a line of evidence; they may name the place.
    """
    both = enumerate(diagnosis.candidates)
    found = (_finding(c, i == 0, diagnosis, database, context, reasons, around) for i, c in both)
    return tuple(_with_remedies(f, database, context) if _is_lost_result(f, diagnosis) else f for f in found)


def _is_lost_result(found: Finding, diagnosis: Diagnosis) -> bool:
    return diagnosis.verdict == "no_crash" and any(p.signature in LOST_NUMBERS for p in found.evidence[:1])


def _with_remedies(found: Finding, database: Database, context: JobContext) -> Finding:
    facts = case_facts(found.facts, context)
    return replace(found, remediations=fitting_remedies(database.causes[found.id], facts, context.environment, "", ()))


def open_questions(
    diagnosis: Diagnosis,
    found: Sequence[Finding],
    database: Database,
    context: JobContext = NO_CONTEXT,
    around: LinesAround = nothing_near,
) -> tuple[OpenQuestion, ...]:
    """The questions that the logs leave open, most important first; empty if a good end is shown."""
    first = diagnosis.candidates[0]
    if diagnosis.verdict == "no_crash" and diagnosis.outcome.lines and diagnosis.outcome.state in ("cut_off", "unknown"):
        taught = fitting_questions(UNPROVEN[:1], line_to_teach(found[0].evidence, failure_test(database)), context.environment)
        return (*questions_of_open_end(context), *taught)
    if diagnosis.verdict == "no_crash" and diagnosis.outcome.state == "going_on" and not (context.stacks or context.threads):
        return fitting_questions(STILL_RUNS, {}, context.environment)
    if diagnosis.verdict == "no_crash" or first.cause not in database.causes:
        return ()
    shown = found[0]
    facts = dict(shown.facts) | _reason_place(shown.facts, shown.evidence) | _around_evidence(shown.facts, shown.evidence, around)
    asked = database.causes[first.cause].missing
    if not first.owned or database.causes[first.cause].fallback:
        facts |= line_to_teach(shown.evidence, failure_test(database), bool(diagnosis.outcome.status))
    if LINE_TO_TEACH in facts or not first.owned:
        asked = (*UNPROVEN[: None if not first.owned else 1], *asked)
    elif shown.linked_only_by and "process_death" in database.causes[first.cause].traits:
        asked = (*UNLINKED, *asked)
    return fitting_questions(asked, case_facts(facts, context), context.environment)


def questions_of_open_end(context: JobContext) -> tuple[OpenQuestion, ...]:
    """What would tell how a run ended whose log shows no end."""
    return fitting_questions(NO_END_SHOWN, {}, context.environment)


def _finding(
    candidate: Candidate,
    first: bool,
    diagnosis: Diagnosis,
    database: Database,
    context: JobContext,
    reasons: Sequence[Proof],
    around: LinesAround,
) -> Finding:
    cause, role = database.causes[candidate.cause], _role(candidate, first)
    told = told_first(candidate, database)
    facts, proofs = _facts_and_proofs(candidate, cause, told, diagnosis, database)
    proofs = _or_ending(proofs, cause, diagnosis) if first else proofs
    if first:
        facts |= _context_facts(cause, facts, proofs, context) | activation_facts(candidate, proofs, context.activations)
        facts |= status_facts(facts, proofs) | whole_message(facts, proofs, around) | _last_of_chain(facts, reasons)
    facts |= _possible_signs(diagnosis) if first and diagnosis.verdict == "no_crash" else {}
    known = facts | ({UNEXPLAINED: "the given logs do not say why", **recorded_limits(context)} if first else {})
    if first and diagnosis.verdict == "no_crash":
        proofs = (*proofs, *_recovered_lines(diagnosis))
    elif reasons and first:
        proofs = _with_reasons(proofs, reasons, diagnosis.verdict == "crash")
        known |= _reason_place(facts, proofs, diagnosis.verdict == "crash")
    place, named = _told_around(facts, proofs, around) if first and diagnosis.verdict != "no_crash" else ({}, {})
    known |= named
    advised = _advised(known, place, own_lines(proofs, told), around) | _earlier_causes(proofs, diagnosis) if first else {}
    found = Finding(
        id=cause.id,
        title=_title(cause, role, facts, proofs, told),
        role=role,
        probability=candidate.probability,
        summary=summary(cause, known),
        evidence=tuple(replace(p, by_kernel=is_by_kernel(p.text), uptime_s=uptime_s(p.text)) for p in proofs),
        facts=facts,
        remediations=_remedies(candidate, advised, proofs, diagnosis, database, context, around) if first else (),
        ledger=candidate.ledger,
        where=_where(known, place, candidate, diagnosis, context, proofs, around if first else None),
        ranks=_ranks(told),
        linked_only_by=candidate.linked_only_by,
    )
    return _as_state(found, known | place, advised, context) if first and diagnosis.verdict != "no_crash" else found


def _or_ending(proofs: tuple[Proof, ...], cause: Cause, diagnosis: Diagnosis) -> tuple[Proof, ...]:
    """`proofs`; where there are none, or where harmless messages further up show no end, the lines of the ending itself."""
    if proofs and (cause.id != HEALTHY or diagnosis.outcome.state == "ended_well"):
        return proofs
    return tuple(Proof(source, line, text, OUTCOME_LINE, "hint") for source, line, text in diagnosis.outcome.lines)


def _as_state(found: Finding, facts: Fields, advised: Fields, context: JobContext) -> Finding:
    """`found` as the state that a service reports, with the fix of its very message in front, if there is one."""
    return as_state(found, facts, has_own_fix(case_facts(advised, context), context.environment))


def _context_facts(cause: Cause, facts: Fields, proofs: Sequence[Proof], context: JobContext) -> dict[str, Value]:
    """What stacks, tables, series and the name of the log tell of the first cause."""
    stands = {n: v for n, v in standing_facts(facts, context.threads).items() if n not in facts} if STALLS in cause.traits else {}
    stands |= growth_facts(cause.id, facts, context)
    stands |= _service(proofs, context)
    return stack_facts(cause.id, proofs, context.stacks) | disk_facts(cause.traits, facts, context.disks) | stands


def _service(proofs: Sequence[Proof], context: JobContext) -> dict[str, Value]:
    """The service of docker compose that wrote the first line of evidence."""
    service = context.services.get(proofs[0].source) if proofs else None
    return {"service": service} if service else {}


def _where(
    known: Fields,
    place: Fields,
    candidate: Candidate,
    diagnosis: Diagnosis,
    context: JobContext,
    proofs: Sequence[Proof],
    around: LinesAround | None,
) -> str:
    """The place; where no line of the cause names one, the code that failed with it by another log, and how far that had come."""
    facts = {**known, **place}
    facts |= stood_of_consequence(facts, candidate, diagnosis, around) if around else {}
    facts |= of_job(known, proofs, context) | rank_and_host(known, diagnosis)
    code = code_of_consequence(candidate, diagnosis) if is_position_only(facts) else ""
    return ", ".join(filter(None, (code, location_text({**facts, **service_of(facts, candidate), **pod_of(facts, diagnosis)}))))


def _told_around(facts: Fields, proofs: Sequence[Proof], around: LinesAround) -> tuple[dict[str, Value], dict[str, Value]]:
    """The place that the evidence and the lines around it tell, and what of it and of the message itself the texts may name."""
    place = place_around(facts, proofs, around)
    named = {n: v for n, v in place.items() if n in (NAMED_PLACE, QUIET_RANKS, *STALLED_FACTS)}
    return place, named | own_words(facts, proofs, around) | raised_in_worker(proofs, around)


def _advised(known: Fields, place: Fields, proofs: Sequence[Proof], around: LinesAround) -> dict[str, Value]:
    """What remedies may name besides the context: `known`, the program's own line and the code there, the lines around."""
    code = advised_code(dict(known) | own_code(place))
    script = started_script(proofs, around) | {n: place[n] for n in SCRIPT_FACTS if n in place and n not in code}
    return script | code | failing_code(code, proofs, around) | _around_evidence(known, proofs, around)


def _earlier_causes(proofs: Sequence[Proof], diagnosis: Diagnosis) -> dict[str, Value]:
    """Which other causes have lines of the subject above all lines of the evidence in the same log, and where.

    `host_memory.oom_global at kern.log:1`
    """
    begin = min((p.line for p in proofs if p.source == proofs[0].source), default=0)
    above = []
    for candidate in diagnosis.candidates[1:]:
        own = (
            (o.observation for o in candidate.every if o.owner == "mine" and o.observation.source == proofs[0].source)
            if begin
            else ()
        )
        first = min((o for o in own if o.line < begin), key=lambda o: o.line, default=None)
        above += [f"{candidate.cause} at {PurePath(first.source).name}:{first.line}"] if first else []
    return {EARLIER_CAUSES: "\n".join(above)} if above else {}


def _around_evidence(facts: Fields, proofs: Sequence[Proof], around: LinesAround) -> dict[str, Value]:
    """What the evidence and the lines around it tell for the conditions of remedies and questions.

    Other exceptions and other deaths than the one that is told ask for other remedies.
    """
    own = (facts.keys() & {"exc_type", "pid"} and [p for p in proofs if not p.earlier]) or proofs
    return quoted_evidence(own, around) | library_code(own, around)


def _title(cause: Cause, role: Role, facts: Fields, proofs: Sequence[Proof], told: Sequence[Observation]) -> str:
    """The title of `cause`, which has others where only slower steps show it, or where another cause explains it; that of the
    event itself where its first record or message has one."""
    if told and (own := told[0].fields.get(EVENT_TITLE)):
        return str(own)
    if cause.as_slow_down and shows_slow_down(facts, proofs):
        return cause.as_slow_down
    title = cause.title_of(told[0].kind) if told else cause.title
    return title if role != "symptom" else cause.as_consequence or title


def _facts_and_proofs(
    candidate: Candidate, cause: Cause, told: Sequence[Observation], diagnosis: Diagnosis, database: Database
) -> tuple[dict[str, Value], tuple[Proof, ...]]:
    """What the observations of the cause's event tell, and their lines."""
    facts = facts_of(told)
    facts |= deaths_of(candidate, facts) if "process_death" in cause.traits else {}
    proofs = proofs_of(told, further_events(candidate, database), facts)
    return facts | code_of_traceback(facts, proofs, diagnosis), proofs


def _with_reasons(proofs: tuple[Proof, ...], reasons: Sequence[Proof], of_status: bool = False) -> tuple[Proof, ...]:
    """`reasons` and the evidence, each line once. The evidence comes first if its first line is more than a hint, and before a
    reason that is only a warning; not if it tells only the status of an end (`of_status`)."""
    own = {(p.source, p.line): p for p in proofs}
    read = {(r.source, r.line): replace(r, weight="strong") if of_status and r is reasons[0] else r for r in reasons}
    both = [_in_context(own.get(place, r), r) for place, r in read.items()]
    proofs = tuple(_in_context(p, r) for p in proofs for r in [read.get((p.source, p.line), p)])
    mild = bool(both) and both[0] not in proofs and is_low_severity(both[0].text)
    if proofs and not of_status and (proofs[0].weight != "hint" or mild):
        both = [*proofs, *both]
    return tuple(dict.fromkeys([*both, *proofs]))


def _in_context(proof: Proof, reason: Proof) -> Proof:
    """`proof` with the lines around it, if it only shows how it ended: they were looked up for `reason`, the same line."""
    known = proof.before or proof.after or proof.signature != OUTCOME_LINE
    return proof if known else replace(proof, before=reason.before, after=reason.after, continued=reason.continued)


def _reason_place(facts: Fields, proofs: Sequence[Proof], of_status: bool = False) -> dict[str, Value]:
    """The place of the line that most likely says why it ended, if no exception is known; with what it says, if the other
    evidence is only the status of the end."""
    first = line_by_words(proofs)
    if not first or "exc_type" in facts:
        return {}
    return {REASON_PLACE: place_of_line(first), **({LAST_SAID: first.text.strip()} if of_status else {})}


def _line_to_read(candidate: Candidate, cause: Cause, facts: Fields, proofs: Sequence[Proof]) -> str:
    """The place of the first line of evidence of a cause that is not sure: `build.log:12`; empty for a sure one.

    Also empty for an exception in the program's own code: whatever it is called, its message and its place are the ones to read.
    """
    own_error = "program_error" in cause.traits and "exc_message" in facts and knows_own_code(facts)
    return place_of_line(proofs[0]) if proofs and candidate.probability < MIN_SURE_PROBABILITY and not own_error else ""


def _remedies(
    candidate: Candidate,
    facts: Fields,
    proofs: Sequence[Proof],
    diagnosis: Diagnosis,
    database: Database,
    context: JobContext,
    around: LinesAround,
) -> tuple[Advice, ...]:
    """The remedies of the first cause that fit this case, its programs and its numbers; last, those of other explanations."""
    cause = database.causes[candidate.cause]
    if cause.id == HEALTHY:
        return ()
    others = []
    for other in [c for c in diagnosis.candidates[1:] if _explains_too(c, database)][:MAX_OTHERS]:
        also, told = database.causes[other.cause], told_first(other, database)
        known, lines = _facts_and_proofs(other, also, told, diagnosis, database)
        others.append((also, case_facts(known | _around_evidence(known, own_lines(lines, told), around), context)))
    first_line = _line_to_read(candidate, cause, facts, proofs)
    return fitting_remedies(cause, case_facts(facts, context), context.environment, first_line, others)


def _explains_too(candidate: Candidate, database: Database) -> bool:
    """Is it another explanation that is likely enough to act on?"""
    likely = candidate.probability >= MIN_OTHER_PROBABILITY and not candidate.explained_by
    return likely and candidate.cause != HEALTHY and not database.causes[candidate.cause].fallback


def _ranks(observations: Sequence[Observation]) -> tuple[int, ...]:
    ranks = {str(o.fields["rank"]) for o in observations if "rank" in o.fields}
    own = {int(rank) for rank in ranks if rank.isdecimal() and len(rank) < MAX_RANK_DIGITS}
    listed = (tasks_of_srun(o.proofs[0].text) for o in observations if o.proofs)
    return tuple(sorted(own.union(*(numbers_in(str(o.fields.get("reporting_ranks", ""))) for o in observations), *listed)))


def _last_of_chain(facts: Fields, reasons: Sequence[Proof]) -> dict[str, Value]:
    """Class and message of the exception that a chain of Java exceptions ends with, which caused all the others."""
    found = [m for r in sorted(reasons, key=lambda r: r.line) if (m := caused_by(r.text))]
    return found[-1] if found and "exc_message" in facts else {}


def _recovered_lines(diagnosis: Diagnosis) -> tuple[Proof, ...]:
    """The lines that look like an end and were none: they show a reader of "nothing crashed" that they were considered."""
    found = (
        o.observation for c in diagnosis.candidates[1:] for o in c.every if o.owner == "mine" and o.observation.ends != "nothing"
    )
    proofs = [replace(o.proofs[0], weight="hint") for o in found if o.proofs]
    return tuple({(p.source, p.line): p for p in proofs}.values())[-MAX_RECOVERY_LINES:]


def _possible_signs(diagnosis: Diagnosis) -> dict[str, Value]:
    """Where the first of the subject's lines stands that could be a sign of a crash; empty if there is none."""
    told = [(p.source, p.line) for p in _recovered_lines(diagnosis)]
    told += [(n.source, n.line) for n in diagnosis.notices if n.owner == "mine"]
    return {POSSIBLE_SIGN: place_of_line(Proof(*min(told), "", OUTCOME_LINE, "hint"))} if told else {}


def _role(candidate: Candidate, first: bool) -> Role:
    if first:
        return "root"
    return "symptom" if candidate.explained_by else "contributing"
