"""Line numbers of decoded text to those of the original file, which is what a person will open.

a Docker json-file: line 3 of what was decoded stood in line 2 of container.log
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from forensics.model import Line, Observation, Proof, Source
from forensics.model.fields import Occurrence
from forensics.model.verdicts import Aftermath, Attempt, Lane


def renumbered_lanes(lanes: Sequence[Lane], source: Source) -> Sequence[Lane]:
    """`lanes` with every line number as it is in the original of `source`."""
    return lanes if source.origin is None else tuple([_renumbered_lane(lane, source.origin) for lane in lanes])


def _renumbered_lane(lane: Lane, origin: Callable[[int], int]) -> Lane:
    """`lane` with every line number as in the original; of two on one line there, the later one counts."""

    def place(given: Aftermath) -> Aftermath:
        repeated, good, handled = (origin(x) if x else 0 for x in (given.repeated_line, given.good_line, given.handled_line))
        return replace(given, repeated_line=repeated, good_line=good, handled_line=handled)

    def place_of(given: Line) -> Line:
        return Line(origin(given.number), given.text)

    def moved(given: Line | None) -> Line | None:
        return given and place_of(given)

    kept: dict[tuple[int, str], Aftermath] = {}
    for (line, kind), after in lane.aftermath.items():
        known = kept.get((origin(line), kind))
        if known is None or after.lines_after < known.lines_after:
            kept[origin(line), kind] = place(after)
    return replace(
        lane,
        attempts=tuple(Attempt(a.number, origin(a.first_line), origin(a.last_line)) for a in lane.attempts),
        trouble_lines=tuple(map(place_of, lane.trouble_lines)),
        last_lines=tuple(map(place_of, lane.last_lines)),
        good_lines=tuple(map(place_of, lane.good_lines)),
        aftermath=kept,
        reached_end=moved(lane.reached_end),
        at_work=moved(lane.at_work),
        last_error=moved(lane.last_error),
        closing=moved(lane.closing),
        failed_cell=lane.failed_cell and replace(lane.failed_cell, line=place_of(lane.failed_cell.line)),
    )


def renumbered(event: Observation, source: Source) -> Observation:
    """`event` with every line number as it is in the original of `source`."""
    origin = source.origin
    if origin is None:
        return event

    def lines(given: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(Line(origin(x.number), x.text) for x in given)

    def proof(given: Proof) -> Proof:
        return replace(given, line=origin(given.line), before=lines(given.before), after=lines(given.after))

    return replace(
        event,
        line=origin(event.line),
        last_line=origin(event.last_line),
        proofs=tuple(proof(p) for p in event.proofs),
        occurrences=tuple(Occurrence(origin(o.line), tuple(map(origin, o.quoted)), o.fields) for o in event.occurrences),
    )
