"""Who is spoken of: what events, file names and tables tell of processes, jobs, containers, GPUs and ranks, in one spelling.

`Killed process 812` in a kernel's log, `exitcode: -9 (pid: 812)` in a launcher's -> Subjects that share the key ("pid", "812")
"""

from forensics.identity.files import Named, of_file
from forensics.identity.groups import Group, group
from forensics.identity.keys import DEVICES, LOCAL, Key, hosts_differ, keys, of_others, words
from forensics.identity.program import pids_of
from forensics.identity.roll import Table
from forensics.identity.roster import TRIGGERS, Tie, ties
from forensics.identity.spelling import is_telling, same_host
from forensics.identity.subject import Subject, subject
from forensics.model import Trigger

__all__ = [
    "DEVICES",
    "LOCAL",
    "Group",
    "Key",
    "Named",
    "Subject",
    "Table",
    "Tie",
    "group",
    "hosts_differ",
    "is_telling",
    "keys",
    "of_file",
    "of_others",
    "pids_of",
    "same_host",
    "subject",
    "ties",
    "triggers",
    "words",
]


def triggers() -> tuple[Trigger, ...]:
    """The lines that name one thing in several ways."""
    return TRIGGERS
