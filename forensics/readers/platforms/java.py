"""What Java prints: the exceptions of a chain, and the frames below each.

Caused by: java.io.IOException: No space left on device  -> exc_type java.io.IOException, exc_message No space left on device
        at org.acme.train.Decoder.decode(Decoder.java:56)      -> named_place Decoder.java:56

The stack that Go prints below a panic.

goroutine 430 [running]:
example.org/scheduler.(*Plugin).Filter(0xc000)
\t/workspace/pkg/scheduler/filter.go:199 +0x99b       -> named_place /workspace/pkg/scheduler/filter.go:199
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof, Value
from forensics.readers.surroundings.near import NEAR, WIDE, Found

PATTERNS = patterns_of("java")


def is_library_frame(text: str) -> bool:
    """Is the line a frame of the Java library, or of one that many programs use?"""
    return PATTERNS.jvm_library_frame.search(text) is not None


def caused_by(text: str) -> dict[str, Value]:
    """Class and message of the exception that caused the one above it; empty for any other line."""
    found = PATTERNS.caused_by.match(text)
    return dict(found.groupdict()) if found else {}


def java_frame(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries, of the stack below the exception."""
    for text in lines[at + 1 : at + 1 + WIDE] if not {"file", "named_place"} & facts.keys() else ():
        found = PATTERNS.java_frame.search(text)
        if found is None:
            break
        if not is_library_frame(text):
            return {"named_place": f"{found['file']}:{found['line']}"}
    return {}


def go_frame(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries, of the stack below a panic."""
    if "file" in facts or not any(map(PATTERNS.goroutine.match, lines[at + 1 : at + 1 + NEAR])):
        return {}
    frames = filter(None, map(PATTERNS.go_frame.match, lines[at + 1 : at + 1 + WIDE]))
    own = next((m for m in frames if not PATTERNS.go_library.search(m["file"])), None)
    return {"named_place": f"{own['file']}:{own['line']}"} if own else {}
