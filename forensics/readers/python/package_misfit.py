"""Tell from a traceback's frames whether installed packages do not fit each other.

  File "/home/u/train.py", line 3, in <module>
    import gensound
  File "/opt/py/lib/python3.12/site-packages/gensound/mix.py", line 40, in <module>
    class Mix(tornado.web.Handler):
AttributeError: module 'tornado' has no attribute 'web'

While packages are imported, no data of the program is at work: a name, attribute or argument that is missing then was renamed or
removed in another package, or this one is too old for the interpreter. Later, the same holds where the code of a package itself
names an attribute that a module of another package does not have.
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.core import lazy
from forensics.readers.python.frames import FRAME_CODE_ROWS, frame_of
from forensics.readers.python.library_files import installed_package, is_library_file

MARKED_CODE_PATTERN = lazy.regex(r"\A-+> ?\d{1,7} ?(?P<code>.*)")
IMPORT_STATEMENT_PATTERN = lazy.regex(r"\A\s*(?:import\s+\w|from\s+[\w.]+\s+import\b)")
MODULE_LACKS_PATTERN = lazy.regex(r"module '[\w.]+' has no attribute '(?P<name>\w+)'")
LACKING = ("AttributeError", "NameError", "TypeError")  # a name or argument that is not there, or no longer of its kind


class CodeFrame(Struct, frozen=True):
    """A frame: its file, and the row of code that is printed with it."""

    file: str
    code: str


def packages_misfit(messages: Sequence[str], exception: str, message: str) -> bool:
    """`messages`: the rows of the traceback above its exception, without their prefixes."""
    frames = [f for f in _frames(messages) if not f.file.startswith("<")]
    if exception.rpartition(".")[2] not in LACKING or not frames or not installed_package(frames[-1].file):
        return False
    lacks = MODULE_LACKS_PATTERN.match(message)
    if lacks and f".{lacks['name']}" in frames[-1].code:
        return True
    own = [i for i, frame in enumerate(frames) if not is_library_file(frame.file)]
    return any(IMPORT_STATEMENT_PATTERN.match(frame.code) for frame in frames[own[-1] if own else 0 : -1])


def _frames(messages: Sequence[str]) -> list[CodeFrame]:
    found: list[CodeFrame] = []
    for i, message in enumerate(messages):
        frame = frame_of(message)
        if not frame:
            continue
        below = messages[i + 1 : i + 1 + FRAME_CODE_ROWS]
        upto = next((n for n, text in enumerate(below) if frame_of(text)), len(below))
        if frame.form in ("traceback", "place", "dump"):
            code = next(iter(below[:upto]), "")
        else:
            code = next((a["code"] for text in below[:upto] if (a := MARKED_CODE_PATTERN.match(text))), "")
        found.append(CodeFrame(frame.file, code))
    return found
