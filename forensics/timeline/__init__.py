"""Place: events get a time where one can be justified and a lane of their own where not; links; incidents; what was asked about.

Every assumption (a year, a date, a zone) is a Warning. A time is never invented: what cannot be placed stays without.
"""

from forensics.model import Trigger
from forensics.timeline.assume import clock_of, full_times, is_dated
from forensics.timeline.choose import EVERYTHING, Choice, choose, last, unanswered, window, within
from forensics.timeline.clock import Clock
from forensics.timeline.disorder import disordered
from forensics.timeline.incidents import incidents
from forensics.timeline.links import links
from forensics.timeline.marks import TRIGGER, Mark, marks
from forensics.timeline.parts import parted
from forensics.timeline.place import place
from forensics.timeline.settle import settled

__all__ = [
    "EVERYTHING",
    "Choice",
    "Clock",
    "Mark",
    "choose",
    "clock_of",
    "disordered",
    "full_times",
    "incidents",
    "is_dated",
    "last",
    "links",
    "marks",
    "parted",
    "place",
    "settled",
    "triggers",
    "unanswered",
    "window",
    "within",
]


def triggers() -> tuple[Trigger, ...]:
    """The lines that tell of boots, years and minutes."""
    return (TRIGGER,)
