"""Reads a SyntaxError that has no traceback: of the program that was started, or of a notebook's cell. Nothing of it ran.

  Cell In[3], line 1                       File "/home/u/train.py", line 3
    import ./graphlib as gl                  def f(
           ^                                      ^
SyntaxError: invalid syntax              SyntaxError: '(' was never closed
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger, Value
from forensics.readers.base import Record, parse_lines
from forensics.readers.python.frames import syntax_place
from forensics.readers.python.quoted_source import TRACEBACK_HEAD, message_end

TRIGGER = Trigger("syntax_error", ("SyntaxError:", "IndentationError:", "TabError:"), before=12, after=12)
OUTCOMES = (REFUSED := "refused",)
PATTERNS = patterns_of("syntax error")
MAX_CODE_ROWS = 5  # between the place and the message: the code, on several lines at most, and the mark below it


def read(region: Region) -> Record | None:
    """The error whose message is on the region's line. None where a traceback tells it, or where it names no place."""
    *above, own = parse_lines([*region.lines_before(), region.line])
    found = PATTERNS.message.match(own.message.strip())
    near = above[-MAX_CODE_ROWS:]
    places = [syntax_place(row.message) for row in near]
    place = next((i for i in reversed(range(len(near))) if places[i]), None)
    if found is None or place is None or any(not r.message.strip() for r in near[place:]):
        return None
    if any(TRACEBACK_HEAD in r.message for r in above):
        return None
    where = places[place]
    assert where is not None
    fields: dict[str, Value] = {k: v.strip()[:500] for k, v in found.groupdict().items()}
    fields["file"] = where.file
    if where.line is not None:
        fields["line_no"] = where.line
    rows = [own, *parse_lines(region.lines_after())]
    quote = (own.line, near[place].line)
    last = message_end(rows, 0)
    return Record("syntax_error", near[place].line.number, last, REFUSED, "strong", quote, fields, lends=True)
