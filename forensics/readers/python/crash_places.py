"""The frame of the program in the stack that faulthandler printed below a fatal error."""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Fields, Proof
from forensics.readers.python.frames import dump_frame
from forensics.readers.python.library_files import is_library_file, knows_own_code
from forensics.readers.surroundings.near import MAX_FAULT_LINES, Found

STACK_PATTERN = lazy.regex(r"\ACurrent thread 0x\w{1,16}.{0,80}\(most recent call first\)")


def crash_stack(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries in the stack that faulthandler printed; else the innermost one."""
    if knows_own_code(facts) or "fatal" not in proofs[0].text.lower():
        return {}
    start = next((i for i in range(at, min(len(lines), at + MAX_FAULT_LINES)) if STACK_PATTERN.match(lines[i])), None)
    frames = []
    for text in lines[start + 1 : start + MAX_FAULT_LINES] if start is not None else ():
        frame = dump_frame(text)
        if frame is None or len(frame.head.split()) > 1:  # a word in front may be a label
            break
        frames.append(frame)
    own = next((f for f in frames if not is_library_file(f.file)), frames[0] if frames else None)
    return {"file": own.file, "line_no": own.line or 0} if own else {}
