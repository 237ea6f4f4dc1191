"""The stack that was printed with a failure: its frames, and the library and function that stand highest in it."""

from collections.abc import Iterable, Sequence

from forensics.core import lazy
from forensics.model import PrintedStack, Proof, Value

STACK_FACTS = STACK_LIBRARY, STACK_FUNCTION, STACK_MODULE = "stack_library", "stack_function", "stack_module"
MAX_STACK_GAP_LINES = 80  # between a message and its stack: registers, a Python stack and the list of modules may stand between
MAX_LINES_BEFORE, MAX_LINES_AFTER = 200, 60  # of a message: a traceback stands above it, a stack of the kernel below
FRAME_LINE_PATTERN = lazy.regex(  # of Python, IPython, the kernel, glibc and torch
    r'File "[^"]+", line \d+|\bin \w+\(|^-+> ?\d+ |\+0x[0-9a-f]+/0x|\(\S*\+0x[0-9a-f]+\)|^\s*frame #\d+: |#\d+ +0x'
)
NATIVE_FAMILIES = ("process.", "host_os.")


def frames_near(lines: Sequence[str], at: int) -> list[str]:
    """The frames of stacks and tracebacks around line `at`, each with the line of code below it."""
    first, last = max(0, at - MAX_LINES_BEFORE), min(len(lines), at + MAX_LINES_AFTER)
    frames = [i for i in range(first, last) if FRAME_LINE_PATTERN.search(lines[i])]
    shown = sorted({n for i in frames for n in (i, i + 1) if n < last})
    return [lines[n] for n in shown]


def stack_facts(cause: str, proofs: Sequence[Proof], stacks: Iterable[PrintedStack]) -> dict[str, Value]:
    """The facts of the stack nearest to the first line of evidence of a death in native code or in the kernel; else none."""
    if not proofs or not cause.startswith(NATIVE_FAMILIES):
        return {}
    first, kernel = proofs[0], cause.startswith("host_os.")
    near = [s for s in stacks if s.source == first.source and s.kernel is kernel and _belongs(s, first.line)]
    if not near:
        return {}
    stack = min(near, key=lambda s: abs(s.line - first.line))
    facts: dict[str, Value] = {STACK_MODULE if kernel else STACK_LIBRARY: stack.library}
    return facts | ({STACK_FUNCTION: stack.function} if stack.function else {})


def _belongs(stack: PrintedStack, line: int) -> bool:
    """Is the stack near the message? The kernel prints it below the message that it belongs to."""
    return (0 if stack.kernel else -MAX_STACK_GAP_LINES) <= stack.line - line <= MAX_STACK_GAP_LINES
