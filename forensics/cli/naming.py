"""Stand-ins for the names in lines of logs, for commands that print lines or numbers and no report (`--redact`)."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forensics.model import Observation, Source, Warning
    from forensics.report.redaction.names import Names


def names_in(given: "Iterable[Source]", events: "Iterable[Observation]" = ()) -> "Names":
    """The names in all lines of `given`, in the names of its sources and in the facts of `events`.

    All lines are read before the first is printed, so a name has one stand-in from the first line on.
    """
    from forensics.report.redaction.names import NAMING_FACTS, Names

    facts = [(NAMING_FACTS[k], str(v)) for event in events for k, v in event.fields.items() if k in NAMING_FACTS]
    return Names.among(facts, _lines(given))


def _lines(given: "Iterable[Source]") -> Iterator[str]:
    from forensics.correlation.stream import numbered_lines
    from forensics.report.redaction import LineMasker, mask_text

    for source in given:
        yield mask_text(source.name)
        masker = LineMasker()
        for line in numbered_lines(source, _silent):
            yield masker.mask(line.text)


def _silent(_: "Warning") -> None:
    """Ignore a warning: it is reported when the source is read for the answer."""
