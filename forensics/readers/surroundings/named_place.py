"""The line of a program that a message itself names, where no traceback tells one.

./run_splice.sh: line 3: syntax error near unexpected token `&'    ->  ./run_splice.sh:3
switch_button.go:21:2: DefaultLanguage redeclared in this block    ->  switch_button.go:21
kernel BUG at fs/ext4/inode.c:2700!                                ->  fs/ext4/inode.c:2700
FAILED tests/test_api.py::TestUser::test_name - AssertionError     ->  tests/test_api.py, test_name
"""

from collections.abc import Iterator, Sequence

from forensics.data_files.named_parts import part_pattern
from forensics.model import Fields, Proof
from forensics.readers.platforms.java import is_library_frame
from forensics.readers.python.library_files import is_library_file
from forensics.readers.surroundings.near import Found

# `a.py:7`, `Main.java(7)`, `"a.f90", line 7`; not `op_kernel.cc:1858]`, `[launch.py:434:kill]` or `{taskinstance.py:88}`,
# which the logger adds
PLACE_PATTERN = part_pattern("named place", "place")
SHELL_PLACE_PATTERN = part_pattern("named place", "shell place")
MAKEFILE_PATTERN = part_pattern("named place", "makefile")
BUILT_ELSEWHERE_PATTERN = part_pattern("named place", "built elsewhere")  # where the libraries of others were built
# NCCL and UCX begin their messages with a place in their own source; py-spy names a library's file without its upper folders.
OWN_SOURCE_PATTERN = part_pattern("named place", "own source")
# The place that a logger adds, of klog, of Python's logging, of loguru: `E1009 02:48:09.583224  1 run.go:74] "command failed"`,
# `ERROR 03-10 07:38:43 [runner.py:42] Failed`, `| ERROR | app.train:main:88 - failed`.
LOGGED_AT_PATTERN = part_pattern("named place", "logged at")
PYTEST_TEST_PATTERN = part_pattern("named place", "pytest test")
MAX_READ_PROOFS = 3  # chosen by hand: the first ones decide; what stands behind is further from the reason


def named_place(proofs: Sequence[Proof]) -> str:
    """`file:line` of the first line of evidence that names one, or of the lines around the first of it; empty where none does."""
    return next((place for text in _texts(proofs) for place in _places(text)), "")


def logged_at(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The line of code that wrote the record, as its logger adds it: where nothing nearer to the fault is known."""
    found = LOGGED_AT_PATTERN.match(proofs[0].text)
    if found is None or BUILT_ELSEWHERE_PATTERN.search(found["file"] or ""):
        return {}
    return {"logged_at": f"{found['file']}:{found['line']}" if found["file"] else f"{found['module']}:{found['module_line']}"}


def _texts(proofs: Sequence[Proof]) -> Iterator[str]:
    yield from (p.text for p in proofs[:MAX_READ_PROOFS])
    for near in proofs[:1]:
        yield from (line.text for line in (*near.after, *reversed(near.before)))


def _places(text: str) -> Iterator[str]:
    if is_library_frame(text) or OWN_SOURCE_PATTERN.search(text):
        return
    if test := PYTEST_TEST_PATTERN.match(text):
        yield f"{test['file']}, {test['test']}"
    for pattern in (PLACE_PATTERN, SHELL_PLACE_PATTERN, MAKEFILE_PATTERN):
        for found in pattern.finditer(text):
            of_logger = text[: found.start()].endswith("{")
            if not of_logger and not is_library_file(found["file"]) and not BUILT_ELSEWHERE_PATTERN.search(found["file"]):
                yield f"{found['file']}:{found['line']}"
