"""An exception that a program's handler of a signal raised by mistake: the signal came first, and is what ended the program.

      File "/usr/lib/python3.11/subprocess.py", line 1806, in _wait
        (pid, sts) = self._try_wait(0)
      File "/env/lib/python3.11/site-packages/farm/launcher.py", line 48, in sigterm_handler     <- nothing above calls it
        for worker in workers:
    NameError: name 'workers' is not defined                  -> raised, handler sigterm_handler

Python runs a handler between two instructions of whatever the main thread does, so the line of code above its frame does not
name it. A handler that a program calls itself, as launchers do when a worker has died, is named there. An exception that the
handler raises on purpose (`raise Stopped`) is its message of the signal, and is left to its own signature.
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger
from forensics.readers.base import ParsedLine, Record, parse_lines
from forensics.readers.python.frames import MARKS_PATTERN, file_frame

TRIGGER = Trigger("signal_handler", of="signal handler", before=4, after=40)
PATTERNS = patterns_of("signal handler")
TRACEBACK_PATTERNS = patterns_of("traceback")
DELIBERATE_TYPES = {"KeyboardInterrupt", "SystemExit", "SignalException"}
RAISED = "raised"
OUTCOMES = (RAISED,)


def read(region: Region) -> Record | None:
    """The exception of the handler whose frame is the region's line. None if it was called, or raised it on purpose."""
    own = parse_lines([region.line])[0]
    frame = file_frame(own.message)
    handler = frame.function.strip() if frame else ""
    if not PATTERNS.handler.match(handler) or not _is_interruption(handler, parse_lines(region.lines_before())):
        return None
    code = ""
    for row in (r for r in parse_lines(region.lines_after()) if r.prefix.rank == own.prefix.rank):
        text = row.message
        if not text.strip() or MARKS_PATTERN.fullmatch(text):
            continue
        if text[0] in " \t":
            code = text if not file_frame(text) else code
            continue
        found = TRACEBACK_PATTERNS.exception_line.match(text.strip())
        kind = found["exc_type"].rpartition(".")[2] if found else ""
        if not found or kind in DELIBERATE_TYPES or PATTERNS.deliberate.match(code):
            return None
        fields = {"handler": handler, "exc_type": found["exc_type"]}
        return Record("signal_handler", region.number, row.line.number, RAISED, "strong", (own.line, row.line), {**fields})
    return None


def _is_interruption(handler: str, above: list[ParsedLine]) -> bool:
    """Does the last row of code above the handler's frame not call it? False if no frame stands there."""
    rows = [r.message for r in above if r.message.strip() and not MARKS_PATTERN.fullmatch(r.message)]
    return len(rows) > 1 and file_frame(rows[-2]) is not None and handler not in rows[-1]
