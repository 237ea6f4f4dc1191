"""Whose evidence is this: mine (the subject's), somebody else's, or unknown - and by which link that is known.

Somebody else's never becomes the subject's cause, whatever its severity. What nothing but time links counts by time.
"""

from forensics.ownership.asked import Asked, asked_about
from forensics.ownership.whose import owned

__all__ = ["Asked", "asked_about", "owned"]
