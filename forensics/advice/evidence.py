"""Choose the one event of a cause that a report tells, its facts, and the evidence lines.

All facts are of one event: message, place, pid and time of different crashes make no sentence. If several processes died one
after the other, the last deaths are told: a person who looks into a kernel log is interested in those. If one log has several
attempts of a run, an event of the last attempt is told.
"""

from collections.abc import Sequence, Set

from msgspec.structs import replace

from forensics.model import Fields, Observation, Proof, Value
from forensics.model.fields import Occurrence, completed_fields
from forensics.model.logs import WEIGHT_ORDER
from forensics.readers.python.library_files import knows_own_code
from forensics.readers.python.source_lines import is_code_line

EXCEPTION = ("exc_type", "exc_message", "file", "line_no")
IDENTITY = ("pid", "rank", "gpu", "pci", "host", "task", "job", "container", "device", "interface")
LIMIT_FACT = "limit_path"  # of the cgroup whose memory limit was reached
SAME = (*EXCEPTION, *IDENTITY, LIMIT_FACT)  # of one event each has one value
MAX_EVIDENCE_LINES = 12  # chosen by hand: of all the events together; the timeline has the rest
Place = tuple[str, int]  # source, line


def told_first(events: Sequence[Observation], earlier: Set[Place]) -> list[Observation]:
    """`events` with the one that is told in front: a sure one, which is not only on lines of `earlier`, nor on lines of code."""

    def rank(e: Observation) -> tuple[bool, int, bool, int, bool, str, int]:
        weight, over = WEIGHT_ORDER[e.weight], _is_shown_only_on(e, earlier)
        return _is_code(e), weight, over, -len(e.fields), e.time is None, e.source, e.line

    return sorted(events, key=rank)


def _is_shown_only_on(event: Observation, lines: Set[Place]) -> bool:
    return bool(event.shown_on) and all((event.source, n) in lines for n in event.shown_on)


def _is_code(event: Observation) -> bool:
    """Is it a line of code in a traceback? It has the message with names of variables in place of their values."""
    return event.count == 1 and bool(event.proofs) and is_code_line(event.proofs[0].text)


def facts_of(told: Sequence[Observation], earlier: Set[Place], apart: Set[Place]) -> dict[str, Value]:
    """The facts of the first event of `told`, completed with those of others that speak of the same event.

    `earlier`: lines that are not the ones to tell; `apart`: those of attempts and deaths before. Another event has lines of
    `apart` only, or another value of a field in SAME.
    """
    facts: dict[str, Value] = {}
    for event in told:
        of_it = not _is_shown_only_on(event, apart) or _is_shown_only_on(told[0], apart)
        one = _occurrence_told(event, earlier)
        fields = one.fields if one else event.fields
        if of_it and _agree(facts, fields):
            facts = completed_fields(facts, fields)
    return facts


def _occurrence_told(event: Observation, earlier: Set[Place]) -> Occurrence | None:
    """Of a message that is part of several records, the first one to tell that names the most of its place."""
    return max(_late_occurrences(event, earlier), key=lambda o: (knows_own_code(o.fields), len(o.fields)), default=None)


def _late_occurrences(event: Observation, earlier: Set[Place]) -> Sequence[Occurrence]:
    return [o for o in event.occurrences if (event.source, o.line) not in earlier] or event.occurrences


def _agree(facts: Fields, more: Fields) -> bool:
    """Can both speak of one event?"""
    return all(facts.get(name, more[name]) == more[name] for name in SAME if name in more)


def proofs_of(told: Sequence[Observation], facts: Fields, earlier: Set[Place], apart: Set[Place]) -> tuple[Proof, ...]:
    """At most MAX_EVIDENCE_LINES different lines of `told`, in its order; the first line of each event before any second line.

    Of a repeated message, lines of `earlier` come last. Those of events `apart`, and of other exceptions before the one that
    `facts` tell, are marked as earlier ones.
    """
    chosen: dict[Place, Proof] = {}
    ordered = [(_is_before(e, told[0], facts, apart), _proofs_in_order(e, earlier)) for e in told]
    for place in range(max((len(own) for _, own in ordered), default=0)):
        for is_apart, own in ordered:
            if place < len(own) and len(chosen) < MAX_EVIDENCE_LINES:
                proof = own[place]
                at = (proof.source, proof.line)
                chosen.setdefault(at, replace(proof, earlier=is_apart or at in apart))
    return tuple(chosen.values())


def _is_before(event: Observation, first: Observation, facts: Fields, apart: Set[Place]) -> bool:
    """Is it of an attempt or a death before, or of another exception before the one that is told?"""
    another = any(facts.get(name, event.fields[name]) != event.fields[name] for name in EXCEPTION if name in event.fields)
    above = event.source == first.source and event.last_line < first.line
    return _is_shown_only_on(event, apart) or (event is not first and above and another)


def _proofs_in_order(event: Observation, earlier: Set[Place]) -> list[Proof]:
    """The lines of the event: the first one to tell, the frames of the record that is told, and the other lines."""
    one = _occurrence_told(event, earlier)
    if one is None:
        return sorted(event.proofs, key=lambda p: (p.source, p.line) in earlier)
    shown = {o.line for o in event.occurrences}.union(one.quoted)
    own = [p for p in event.proofs if p.line in shown]
    first = next(o.line for o in _late_occurrences(event, earlier) if _agree(one.fields, o.fields))
    return sorted(own, key=lambda p: (p.line != first, p.line not in one.quoted, (p.source, p.line) in earlier))
