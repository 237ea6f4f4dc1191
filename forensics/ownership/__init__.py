"""Whose evidence is this: the subject's own (`mine`), another entity's (`others`) or `unknown`; and which link shows it.

Evidence of others never becomes the subject's cause, whatever its severity. Evidence that only time links counts by its distance.
"""

from forensics.ownership.owners import assign_owners
from forensics.ownership.subject import Subject, find_subject, subject_of

__all__ = ["Subject", "assign_owners", "find_subject", "subject_of"]
