"""The facts of the event that a report tells, and its evidence lines.

All facts are of one event: message, place, pid and time of different crashes make no sentence. Lines of further events of the
same cause stand behind its own; those before it are marked as earlier ones.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from forensics.advice.wording import DEATHS
from forensics.database import Database
from forensics.model import Fields, Observation, Proof, Value
from forensics.model.fields import Occurrence, completed_fields
from forensics.model.logs import WEIGHT_ORDER
from forensics.model.verdicts import Candidate, Diagnosis, OwnedObservation
from forensics.readers.lanes.line_classes import is_python_warning
from forensics.readers.python.library_files import knows_own_code
from forensics.readers.python.quoted_source import TRACEBACK_HEAD, is_code_line, quotes

EXCEPTION = ("exc_type", "exc_message", "file", "line_no")
IDENTITY = ("pid", "rank", "gpu", "pci", "host", "task", "job", "container", "device", "interface")
LIMIT_FACTS = ("limit_path", "limit_bytes")  # the cgroup whose memory limit was reached, and the limit then
SAME = (*EXCEPTION, *IDENTITY, *LIMIT_FACTS)  # of one event each has one value
MAX_EVIDENCE_LINES = 12  # chosen by hand: of all the events together; the timeline has the rest
Place = tuple[str, int]  # source, line


def told_first(candidate: Candidate, database: Database) -> list[Observation]:
    """The observations of the event, the one that is told in front: a sure one, not on lines of code, that knows most.

    The subject's own ones; all if there are none, or if it is a fault of the machine, which affects every program.
    """
    return _in_order(candidate.owned, candidate.cause, database)


def further_events(candidate: Candidate, database: Database) -> list[Observation]:
    """The same of further events of the cause."""
    return _in_order(candidate.others, candidate.cause, database)


def _of_subject(owned: Sequence[OwnedObservation], cause: str, database: Database) -> list[OwnedObservation]:
    of_the_machine = database.has_trait(cause, "machine_fault")
    return [o for o in owned if o.owner == "mine" or of_the_machine] or list(owned)


def _in_order(owned: Sequence[OwnedObservation], cause: str, database: Database) -> list[Observation]:
    """Those in front that are sure, of the last attempt of their log, and know most.

    Of a spoiled result the first sign is told, and what only warned behind what failed.
    """
    found = _of_subject(owned, cause, database)
    last: dict[str, int] = {}
    for o in (x for x in found if _ends_a_program(x) and not database.has_trait(cause, "worthless_result")):
        last[o.observation.source] = max(o.attempt, last.get(o.observation.source, 0))

    unfolds = database.has_trait(cause, "kernel_fault")  # the first line tells of it, and the dump and the panic follow
    spoke = database.has_trait(cause, "program_error") and any("exc_type" in o.observation.fields for o in found)

    raised = (o.observation for o in found if "exc_message" in o.observation.fields)
    quotable = {(str(e.fields["exc_message"]), e.weight): e for e in raised}.values()  # each once: of a flood there are few

    def rank(o: OwnedObservation) -> tuple[bool, bool, int, bool, bool, int, bool, str, int]:
        e, over = o.observation, _ends_a_program(o) and o.attempt < last.get(o.observation.source, 0)
        status_alone = spoke and (_tells_status_alone(e) or _leaves_it_to_others(e))
        warns = bool(e.proofs) and is_python_warning(e.proofs[0].text)  # it was printed, and the program went on
        least, late = (_is_code(e), warns, WEIGHT_ORDER[e.weight]), (e.time is None, e.source, e.line)
        echo = any(quotes(e, first) for first in quotable if first.weight == e.weight)
        unseen = e.fields.get("culprit_kind") == "no_dump"  # other ranks wait for it: a line of its death tells more
        return *least, over, status_alone or echo or unseen, 0 if unfolds else -len(e.fields), *late

    return [o.observation for o in sorted(found, key=rank)]


def _ends_a_program(o: OwnedObservation) -> bool:
    return o.observation.ends != "nothing" and o.lane is not None and o.lane.kind in ("job", "notebook")


def _tells_status_alone(event: Observation) -> bool:
    """Does it tell that a program ended with a status, and not why? An exception of the same program does."""
    return "exit_code" in event.fields and "exc_type" not in event.fields


def _leaves_it_to_others(event: Observation) -> bool:
    """Does its exception only announce the output of what failed: `Error: Command failed:`?"""
    return str(event.fields.get("exc_message", "")).endswith(":")


def _is_code(event: Observation) -> bool:
    """Is it a line of code in a traceback? It has the message with names of variables in place of their values."""
    return event.count == 1 and bool(event.proofs) and is_code_line(event.proofs[0].text)


def facts_of(told: Sequence[Observation]) -> dict[str, Value]:
    """The facts of the first of `told`, completed with those of the others that contradict none of them."""
    facts: dict[str, Value] = {}
    for event in told:
        one = _occurrence_told(event)
        fields = one.fields if one else event.fields
        if _agree(facts, fields):
            facts = completed_fields(facts, fields)
    culprit = facts.get("culprit_rank")
    own = (e.fields.get("pid") for e in told if e.weight != "hint" or culprit == e.fields.get("rank"))
    is_of_another = culprit is not None and facts.get("pid") not in own  # as of a rank that the launcher ended because of it
    return {name: v for name, v in facts.items() if not (is_of_another and name in ("pid", "task"))}


def _occurrence_told(event: Observation) -> Occurrence | None:
    """Of a message that is part of several records, the first one that names the most of its place."""
    return max(event.occurrences, key=lambda o: (knows_own_code(o.fields), len(o.fields)), default=None)


def _agree(facts: Fields, more: Fields) -> bool:
    """Can both speak of one event?"""
    return all(facts.get(name, more[name]) == more[name] for name in SAME if name in more)


def proofs_of(told: Sequence[Observation], further: Sequence[Observation], facts: Fields) -> tuple[Proof, ...]:
    """At most MAX_EVIDENCE_LINES different lines, those of `told` first, then those of `further` events of the cause.

    Of each the first line of every observation stands before any second line. A further event before the told one is marked;
    a kill at another memory limit than that of `facts` is an incident of its own, and no evidence.
    """
    further = [e for e in further if _is_of_limit(e, facts)]
    chosen: dict[Place, Proof] = {}
    for observations, others in ((told, False), (further, True)):
        lines = 1 if others else MAX_EVIDENCE_LINES  # of each: a further event is told by its message alone
        ordered = [(others and _is_before(e, told[0]), _proofs_in_order(e)[:lines]) for e in observations]
        for place in range(max((len(own) for _, own in ordered), default=0)):
            for earlier, own in ordered:
                if place < len(own) and len(chosen) < MAX_EVIDENCE_LINES:
                    chosen.setdefault((own[place].source, own[place].line), replace(own[place], earlier=earlier))
    return tuple(chosen.values())


def own_lines(proofs: Sequence[Proof], told: Sequence[Observation]) -> Sequence[Proof]:
    """Those of `proofs` that are lines of the event; all, where a line of no event is the first."""
    own = {(p.source, p.line) for event in told for p in event.proofs}
    return [p for p in proofs if (p.source, p.line) in own] if proofs and (proofs[0].source, proofs[0].line) in own else proofs


def _is_of_limit(event: Observation, facts: Fields) -> bool:
    """Is it no kill at another memory limit than that of `facts`?"""
    return all(event.fields.get(name, facts[name]) == facts[name] for name in LIMIT_FACTS if name in facts)


def _is_before(event: Observation, told: Observation) -> bool:
    if event.source == told.source:
        return event.last_line < told.line
    return event.time is not None and told.time is not None and event.time < told.time


def _proofs_in_order(event: Observation) -> list[Proof]:
    """The lines of the event: the first one to tell, the frames of the record that is told, and the other lines."""
    one = _occurrence_told(event)
    if one is None:
        return sorted(event.proofs, key=lambda p: p is event.proofs[0] and TRACEBACK_HEAD in p.text)  # the first of several
    shown = {o.line for o in event.occurrences}.union(one.quoted)
    own = [p for p in event.proofs if p.line in shown]
    code = {p.line for p in event.proofs if is_code_line(p.text) or TRACEBACK_HEAD in p.text}  # no message stands there
    first = min((o.line in code, o.line) for o in event.occurrences if _agree(one.fields, o.fields))[1]
    return sorted(own, key=lambda p: (p.line != first, p.line not in one.quoted))


def deaths_of(candidate: Candidate, facts: Fields) -> dict[str, Value]:
    """How many processes of the same program died in the same way, if the one that `facts` tell died last, and some before it.

    A kill at the memory limit of another group is another job's.
    """
    same = [o.observation for o in candidate.every if "pid" in o.observation.fields]
    same = [e for e in same if e.fields.get("task") == facts.get("task") and _is_of_limit(e, facts)]
    last = max(same, key=lambda e: e.moment or 0.0, default=None)
    if last is None or last.fields["pid"] != facts.get("pid"):
        return {}
    further = {o.observation.fields["pid"] for o in candidate.others if "pid" in o.observation.fields} - {facts["pid"]}
    pids = {e.fields["pid"] for e in same}
    return {DEATHS: len(pids)} if further & pids else {}


def lines_of_other_deaths(diagnosis: Diagnosis, database: Database) -> frozenset[Place]:
    """All lines of the further deaths of the first cause. What they name is not the environment of the one that is told."""
    first = diagnosis.candidates[0]
    if not database.has_trait(first.cause, "process_death"):
        return frozenset()
    places: set[Place] = set()
    reached: dict[str, int] = {}  # by source: the last line that is in `places`; folded deaths may each span the whole log
    others = [o.observation for o in first.others if "pid" in o.observation.fields]
    for e in sorted(others, key=lambda e: e.line):
        places.update((e.source, n) for n in range(max(e.line, reached.get(e.source, 0) + 1), e.last_line + 1))
        reached[e.source] = max(e.last_line, reached.get(e.source, 0))
    return frozenset(places)
