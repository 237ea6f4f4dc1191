"""Code that a log quotes is never evidence, whoever quotes it (`captured/quoted_code/`, by its `capture.sh`). Each of these programs
lost a key, except the one that aborts and the one that does not compile; each has messages of other errors in its code."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.model import Observation
from forensics.readers import read as read_records
from forensics.scan import scan
from tests.conftest import text_source

CAPTURED = Path(__file__).parent / "captured" / "quoted_code"
QUOTED_ONLY = ("gpu_memory.", "storage.", "process.segfault", "host_memory.")


@pytest.fixture
def events(knowledge: object) -> Callable[[str], list[Observation]]:
    return lambda text: read_records(scan(text_source("log", text), knowledge, lambda _w: None), knowledge)  # type: ignore[arg-type]


@pytest.mark.parametrize("log", sorted(path.name for path in CAPTURED.glob("*.log")))
@pytest.mark.parametrize("label", ["", "trainer-1  | ", "2026-10-03 08:00:00 "])
def test_only_what_was_printed_is_evidence(events: Callable[[str], list[Observation]], log: str, label: str) -> None:
    text = (CAPTURED / log).read_text()
    found = events("".join(f"{label}{row}\n" for row in text.splitlines()))
    assert [e for e in found if (e.cause or "").startswith(QUOTED_ONLY)] == []


JULIA = """\
ERROR: LoadError: KeyError: key "label" not found
Stacktrace:
 [1] getindex(h::Dict{String, Int64}, key::String)
   @ Base ./dict.jl:498
 [2] step(b::Dict, msg::String="CUDA error: out of memory")
   @ Main /srv/fit.jl:12
"""
PHP = """\
PHP Fatal error:  Uncaught OutOfBoundsException: no label in /srv/fit.php:3
Stack trace:
#0 /srv/fit.php(7): step(Array, 'No space left on device')
#1 {main}
"""
TRACED = "+ trap 'echo \"Segmentation fault (core dumped)\"' ERR\n++ echo CUDA out of memory\nstep 1\n"
SHOWN = '/srv/fit.py:3: UserWarning: no label\n  warnings.warn(a or "CUDA out of memory. Tried to allocate 2.00 GiB")\nstep 1\n'


@pytest.mark.parametrize("text", [JULIA, PHP, TRACED, SHOWN])
@pytest.mark.parametrize("times", [1, 3])
def test_it_is_none_each_time_it_is_quoted(events: Callable[[str], list[Observation]], text: str, times: int) -> None:
    assert [e for e in events("step 0\n" + text * times) if (e.cause or "").startswith(QUOTED_ONLY)] == []


RAISED = """\
Traceback (most recent call last):
  File "/srv/fit.py", line 8, in step
    raise MemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB
"""
PRINTED = [
    (RAISED, 4),
    ("+ python fit.py\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", 2),
    (
        "/srv/fit.py:3: UserWarning: no label\n  warnings.warn(a)\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
        3,
    ),
    ("fit.cu:3: UserWarning: CUDA out of memory. Tried to allocate 2.00 GiB\n  warnings.warn(text)\n", 1),
    ('Error in step(a) :\n  "CUDA out of memory. Tried to allocate 2.00 GiB"\n', 2),
    ("+++ CUDA out of memory. Tried to allocate 2.00 GiB +++\n", 1),
    ("│ CUDA out of memory. Tried to allocate 2.00 GiB │\n", 1),
    ("    | RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", 1),
]


@pytest.mark.parametrize(("text", "line"), PRINTED)
def test_what_is_printed_beside_code_is_evidence(events: Callable[[str], list[Observation]], text: str, line: int) -> None:
    found = [e for e in events(text) if (e.cause or "").startswith("gpu_memory.")]
    assert [e.line for e in found] == [line]
