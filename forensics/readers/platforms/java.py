"""What Java prints: the exceptions of a chain.

Caused by: java.io.IOException: No space left on device  -> exc_type java.io.IOException, exc_message No space left on device
"""

from forensics.core import lazy
from forensics.model import Value

CAUSED_BY_PATTERN = lazy.regex(r"\s*Caused by: (?P<exc_type>[\w.$]{1,200}): (?P<exc_message>\S.{0,499})")


def caused_by(text: str) -> dict[str, Value]:
    """Class and message of the exception that caused the one above it; empty for any other line."""
    found = CAUSED_BY_PATTERN.match(text)
    return dict(found.groupdict()) if found else {}
