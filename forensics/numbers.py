"""Line numbers of decoded text to those of the original file, which is what a person will open.

a Docker json-file: line 3 of what was decoded stood in line 2 of container.log
"""

from msgspec.structs import replace

from forensics.model import Observation, Line, Proof, Source


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
        event, line=origin(event.line), last_line=origin(event.last_line), proofs=tuple(proof(p) for p in event.proofs)
    )
