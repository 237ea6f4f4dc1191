"""The stacks of the threads of whole processes."""

from msgspec import Struct

from forensics.model.dumps import Frame
from forensics.model.logs import Line


class ThreadStack(Struct, frozen=True):
    """The stack of one thread, innermost frame first. `state`: `idle`, `active`, `active+gil`, empty where the tool does not
    tell. `head`: its first line in the source; `lines`: those of its frames."""

    name: str
    state: str
    frames: tuple[Frame, ...]
    head: Line
    lines: tuple[Line, ...]


class ProcessStacks(Struct, frozen=True):
    """The stacks of one process. `pid`, `rank`: as far as the source tells them."""

    source: str
    tool: str
    pid: int | None
    rank: int | None
    threads: tuple[ThreadStack, ...]

    @property
    def main(self) -> ThreadStack | None:
        """The thread that runs the program."""
        named = next((t for t in self.threads if t.name == "MainThread"), None)
        return named or (self.threads[-1] if self.threads else None)
