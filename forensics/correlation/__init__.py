"""Place: which clock, process, rank, job and incident an observation belongs to.

Observations get a time where one can be justified, and a lane of their own where not; names of one thing are joined; what
belongs together is one incident. Every assumption (a year, a date, a zone) is a Warning. A time is never invented.
"""

from forensics.correlation.assign_times import place
from forensics.correlation.clock import Clock
from forensics.correlation.clock_alignment import settled
from forensics.correlation.clock_inference import clock_of, full_times, is_dated
from forensics.correlation.clock_samples import TRIGGER, Mark, marks
from forensics.correlation.disorder import disordered
from forensics.correlation.entities import Table
from forensics.correlation.entity_ids import Subject, subject
from forensics.correlation.file_names import Named, of_file
from forensics.correlation.filters import EVERYTHING, Choice, choose, last, unanswered, window, within
from forensics.correlation.id_tables import TRIGGERS, Tie, ties
from forensics.correlation.incidents import incidents, joined
from forensics.correlation.keys import LOCAL, Key, hosts_differ, keys, of_others, words
from forensics.correlation.links import links
from forensics.correlation.normalise import is_telling, same_host
from forensics.correlation.program_pids import pids_of
from forensics.correlation.split_bursts import parted
from forensics.model import Trigger

__all__ = [
    "EVERYTHING",
    "LOCAL",
    "Choice",
    "Clock",
    "Key",
    "Mark",
    "Named",
    "Subject",
    "Table",
    "Tie",
    "choose",
    "clock_of",
    "disordered",
    "full_times",
    "hosts_differ",
    "incidents",
    "is_dated",
    "is_telling",
    "joined",
    "keys",
    "last",
    "links",
    "marks",
    "of_file",
    "of_others",
    "parted",
    "pids_of",
    "place",
    "same_host",
    "settled",
    "subject",
    "ties",
    "triggers",
    "unanswered",
    "window",
    "within",
    "words",
]


def triggers() -> tuple[Trigger, ...]:
    """The lines that tell of boots, years and minutes, and those that join two names of one thing."""
    return (TRIGGER, *TRIGGERS)
