"""The library and the function that stand highest in the stack that was printed with a failure."""

from collections.abc import Iterable, Sequence

from forensics.model import PrintedStack, Proof, Value

STACK_FACTS = STACK_LIBRARY, STACK_FUNCTION, STACK_MODULE = "stack_library", "stack_function", "stack_module"
MAX_STACK_GAP_LINES = 80  # between a message and its stack: registers, a Python stack and the list of modules may stand between
NATIVE_FAMILIES = ("process.", "host_os.")


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
