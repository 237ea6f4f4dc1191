"""Reads a SyntaxError that has no traceback: of the program that was started, or of a notebook's cell. Nothing of it ran.

  Cell In[3], line 1                       File "/home/u/train.py", line 3
    import ./graphlib as gl                  def f(
           ^                                      ^
SyntaxError: invalid syntax              SyntaxError: '(' was never closed
"""

from forensics.core import lazy
from forensics.model import Line, Region, Trigger, Value
from forensics.readers.base import Record, parse_lines
from forensics.readers.python.exception_message import TRACEBACK_HEAD, message_end

TRIGGER = Trigger("syntax_error", ("SyntaxError:", "IndentationError:", "TabError:"), before=12, after=12)
OUTCOMES = (REFUSED := "refused",)
MESSAGE_PATTERN = lazy.regex(r"\A(?P<exc_type>SyntaxError|IndentationError|TabError): (?P<exc_message>\S.*)\Z")
SYNTAX_PLACE_PATTERN = lazy.regex(
    r"\A {1,4}(?:File \"?(?P<file>[^\n\"]{1,400}?)\"?|(?P<cell>(?:Cell |Input )In\s?\[\d{1,9}\])"
    r"|<ipython-input-(?P<number>\d{1,9})-\w{1,40}>)"
    r"(?:, line (?P<line_no>\d{1,7})|:(?P<line>\d{1,7}))?\s*\Z"
)
IPYTHON_FILE_PATTERN = lazy.regex(r"\A<ipython-input-(\d{1,9})-\w{1,40}>\Z")
MAX_CODE_ROWS = 5  # between the place and the message: the code, on several lines at most, and the mark below it


def read(region: Region) -> Record | None:
    """The error whose message is on the region's line. None where a traceback tells it, or where it names no place."""
    *above, own = parse_lines([*region.lines_before(), Line(region.number, region.text)])
    found = MESSAGE_PATTERN.match(own.message.strip())
    near = above[-MAX_CODE_ROWS:]
    place = next((i for i in reversed(range(len(near))) if SYNTAX_PLACE_PATTERN.match(near[i].message)), None)
    if found is None or place is None or any(not r.message.strip() for r in near[place:]):
        return None
    if any(TRACEBACK_HEAD in r.message for r in above):
        return None
    where = SYNTAX_PLACE_PATTERN.match(near[place].message)
    assert where is not None
    fields: dict[str, Value] = {k: v.strip()[:500] for k, v in found.groupdict().items()}
    file = where["file"] or where["cell"] or ""
    old = IPYTHON_FILE_PATTERN.match(file)
    number = where["number"] or (old[1] if old else None)
    fields["file"] = f"Cell In[{number}]" if number else file.replace("Input In", "Cell In")
    if line := where["line_no"] or where["line"]:
        fields["line_no"] = int(line)
    rows = [own, *parse_lines(region.lines_after())]
    quote = (own.line, near[place].line)
    last = message_end(rows, 0)
    return Record("syntax_error", near[place].line.number, last, REFUSED, "strong", quote, fields, lends=True)
