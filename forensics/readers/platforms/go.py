"""The stack that Go prints below a panic.

goroutine 430 [running]:
example.org/scheduler.(*Plugin).Filter(0xc000)
\t/workspace/pkg/scheduler/filter.go:199 +0x99b       -> named_place /workspace/pkg/scheduler/filter.go:199
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import NEAR, WIDE, Found

GOROUTINE_PATTERN = lazy.regex(r"\Agoroutine \d{1,10} \[")
GO_FRAME_PATTERN = lazy.regex(r"\A\s+(?P<file>/[^\s:]{1,300}\.go):(?P<line>\d{1,6})(?: \+0x[0-9a-f]+)?\s*\Z")
GO_LIBRARY_PATTERN = lazy.regex(r"/vendor/|/pkg/mod/|/go/src/runtime/|\A/usr/(?:local|lib)/go")


def go_frame(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries, of the stack below a panic."""
    if "file" in facts or not any(map(GOROUTINE_PATTERN.match, lines[at + 1 : at + 1 + NEAR])):
        return {}
    frames = filter(None, map(GO_FRAME_PATTERN.match, lines[at + 1 : at + 1 + WIDE]))
    own = next((m for m in frames if not GO_LIBRARY_PATTERN.search(m["file"])), None)
    return {"named_place": f"{own['file']}:{own['line']}"} if own else {}
