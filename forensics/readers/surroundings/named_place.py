"""The line of a program that a message itself names, where no traceback tells one.

./run_splice.sh: line 3: syntax error near unexpected token `&'    ->  ./run_splice.sh:3
switch_button.go:21:2: DefaultLanguage redeclared in this block    ->  switch_button.go:21
kernel BUG at fs/ext4/inode.c:2700!                                ->  fs/ext4/inode.c:2700
FAILED tests/test_api.py::TestUser::test_name - AssertionError     ->  tests/test_api.py, test_name
"""

from collections.abc import Iterator, Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof
from forensics.readers.platforms.java import is_library_frame
from forensics.readers.python.library_files import is_library_file
from forensics.readers.surroundings.near import Found

PATTERNS = patterns_of("named place")
MAX_READ_PROOFS = 3  # chosen by hand: the first ones decide; what stands behind is further from the reason


def named_place(proofs: Sequence[Proof]) -> str:
    """`file:line` of the first line of evidence that names one, or of the lines around the first of it; empty where none does."""
    return next((place for text in _texts(proofs) for place in _places(text)), "")


def logged_at(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The line of code that wrote the record, as its logger adds it: where nothing nearer to the fault is known."""
    found = PATTERNS.logged_at.match(proofs[0].text)
    if found is None or PATTERNS.built_elsewhere.search(found["file"] or ""):
        return {}
    return {"logged_at": f"{found['file']}:{found['line']}" if found["file"] else f"{found['module']}:{found['module_line']}"}


def _texts(proofs: Sequence[Proof]) -> Iterator[str]:
    yield from (p.text for p in proofs[:MAX_READ_PROOFS])
    for near in proofs[:1]:
        yield from (line.text for line in (*near.after, *reversed(near.before)))


def _places(text: str) -> Iterator[str]:
    if is_library_frame(text) or PATTERNS.own_source.search(text):
        return
    if test := PATTERNS.pytest_test.match(text):
        yield f"{test['file']}, {test['test']}"
    for pattern in (PATTERNS.place, PATTERNS.shell_place, PATTERNS.makefile):
        for found in pattern.finditer(text):
            of_logger = text[: found.start()].endswith("{")
            if not of_logger and not is_library_file(found["file"]) and not PATTERNS.built_elsewhere.search(found["file"]):
                yield f"{found['file']}:{found['line']}"
