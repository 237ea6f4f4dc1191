"""Whose evidence is this: mine (the subject's), somebody else's, or unknown - and by which link that is known.

Somebody else's never becomes the subject's cause, whatever its severity. What nothing but time links counts by time.
"""

from forensics.ownership.owners import assign_owners
from forensics.ownership.subject import Subject, find_subject

__all__ = ["Subject", "assign_owners", "find_subject"]
