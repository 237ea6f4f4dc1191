"""What the advice knows of an exception that an installed library raised: the packages at the end of its traceback.

  File "/opt/py/lib/python3.9/site-packages/soundbank/tune.py", line 7, in <module>
  File "/opt/py/lib/python3.9/site-packages/skimage/io.py", line 31, in load
AttributeError: module 'scipy' has no attribute 'misc'
    -> raising_package "scikit-image", calling_package "soundbank", asked_package "scipy", library_place "skimage/io.py:31"

A line of a library is no line to correct: `file` and `line_no` are facts of remedies only where they are the program's own.
"""

from collections.abc import Sequence
from itertools import dropwhile

from forensics.core import lazy
from forensics.database import read_table
from forensics.model import Fields, LinesAround, Proof, Value
from forensics.readers.python.library_files import INSTALLED_PACKAGE, installed_package, is_library_file, without_library_folder
from forensics.readers.python.near_tracebacks import tracebacks_near
from forensics.readers.surroundings.near import nothing_near

LIBRARY_FACTS = LIBRARY_PLACE, RAISING, CALLING, ASKED, EXTENSION = (
    "library_place",
    "raising_package",
    "calling_package",
    "asked_package",
    "extension_package",
)
EXTENSION_PATTERN = lazy.regex(  # a compiled part of a package, and what it lacks
    INSTALLED_PACKAGE + r"[^\s:]{0,300}\.(?:so|pyd)[\w.]{0,20}: (?:undefined symbol|cannot open)"
)
LOOK_UP_PATTERN = lazy.regex(r"\bin __getattr(?:ibute)?__\b")
ASKED_PATTERN = lazy.regex(
    r"module '(?P<module>\w+)[\w.]*' has no attribute '|cannot import name '\w+' from '(?P<source>\w+)"
    r"|No module named '(?P<whole>\w+)\.\w"
)


def advised_code(facts: Fields) -> dict[str, Value]:
    """`facts` without the place in the code, if that is a library's."""
    library = is_library_file(str(facts.get("file", "")))
    return {n: v for n, v in facts.items() if not library or n not in ("file", "line_no", "function")}


def library_code(proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """The packages at the end of the traceback of the first line of evidence, by the names by which they are installed."""
    extension = next(filter(None, (EXTENSION_PATTERN.search(p.text) for p in proofs)), None)
    compiled: dict[str, Value] = {EXTENSION: _distribution(extension["package"])} if extension else {}
    return compiled | (_last_packages(proofs, around) if proofs else {})


def _last_packages(proofs: Sequence[Proof], around: LinesAround) -> dict[str, Value]:
    lines, at = around(proofs[0])
    nearest = next(iter(tracebacks_near(lines, at)), []) if lines else []
    while nearest and LOOK_UP_PATTERN.search(lines[nearest[-1][0]]):
        nearest = nearest[:-1]  # an object that looks a name up asks for nothing itself: the line above does
    if not nearest or not is_library_file(nearest[-1][1]):
        return {}
    outwards = list(dropwhile(lambda f: _of_python(f[1]), reversed(nearest)))
    shown = outwards[0] if outwards and installed_package(outwards[0][1]) else nearest[-1]
    place: dict[str, Value] = {LIBRARY_PLACE: f"{without_library_folder(shown[1])}:{shown[2]}"}
    packages = [_distribution(p) for _, file, _ in outwards if (p := installed_package(file))]
    if not packages or shown is not outwards[0]:
        return place
    facts = place | {RAISING: packages[0]}
    calling = next((p for p in packages if p != packages[0]), None)
    said = next(filter(None, (ASKED_PATTERN.search(p.text) for p in proofs)), None)
    asked = _distribution(next(filter(None, said.groups()))) if said else packages[0]
    return facts | ({CALLING: calling} if calling else {}) | ({ASKED: asked} if asked != packages[0] else {})


def _of_python(file: str) -> bool:
    """Is the file one of Python's own, which only runs what packages ask for?"""
    return is_library_file(file) and not installed_package(file)


def _distribution(module: str) -> str:
    """The name by which a module is installed, as far as known: `zmq` is a part of pyzmq."""
    row = read_table("import_names").get(module)
    return str(row["distribution"]) if row else module
