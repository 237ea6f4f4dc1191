"""The processor time that the patterns of one source may take, and how it is shared.

    1 MB of lines that a pattern is slow on  ->  that pattern is left out on the later ones, the others are still searched for

Each chunk is a round: it adds to what may be spent. When all is spent, a signature goes on that had less than its equal share.
Long lines have a half of their own, so that none of them can take the time from lines of ordinary length.
"""

from collections.abc import Iterable

from forensics.core import limits
from forensics.database import Clock

MIB = 1 << 20
LONG_CHARS = 2048  # chosen by hand: hardly a line of a log is longer, and on a shorter one a pattern of the database costs little
MAX_TOLD_NAMES = 5  # signatures that a warning names


class Half:
    """The time of the lines of one kind: what may be spent, what was, and by which signature."""

    def __init__(self) -> None:
        self.granted = limits.current.source_confirm / 2
        self.total = 0.0
        self.spent: dict[int, float] = {}
        self.tries: dict[int, int] = {}

    def allowed(self, i: int) -> float:
        """Seconds that signature `i` may take for one more try: when all is spent, what it had less than its equal share."""
        if self.total < self.granted:
            return limits.current.confirm
        return min(limits.current.confirm, self.granted / (len(self.spent) + (i not in self.spent)) - self.spent.get(i, 0.0))

    def spend(self, i: int, seconds: float) -> None:
        """Note what a try of signature `i` took."""
        self.total += seconds
        self.spent[i] = self.spent.get(i, 0.0) + seconds
        self.tries[i] = self.tries.get(i, 0) + 1

    def mean(self, i: int) -> float:
        """What a try of signature `i` took on average; 0 for one that was not tried."""
        return self.spent[i] / self.tries[i] if i in self.spent else 0.0


class Budget:
    """What the patterns of one source may take.

    `left_out`: by signature, how often it was not tried, or not to the end. `first`: the number of the first such line.
    """

    def __init__(self) -> None:
        self.long, self.ordinary = Half(), Half()
        self.clock = Clock()
        self.left_out: dict[int, int] = {}
        self.first: int | None = None

    def begin_round(self, size: int) -> None:
        """Add what a chunk of `size` bytes may take."""
        for half in (self.long, self.ordinary):
            half.granted += limits.current.more_confirm / 2 * size / MIB

    def half(self, text: str) -> Half:
        """The time from which a search in `text` is taken."""
        return self.long if len(text) > LONG_CHARS else self.ordinary

    def leave_out(self, i: int, line: int) -> None:
        """Note that signature `i` was not tried on `line`, or not to the end."""
        self.left_out[i] = self.left_out.get(i, 0) + 1
        self.first = self.first or line

    def told(self, names: Iterable[str]) -> str:
        """One sentence on what was left out. `names`: of the signatures in `left_out`, those left out most often first."""
        some = list(names)
        more = f" and {len(some) - MAX_TOLD_NAMES} more" if len(some) > MAX_TOLD_NAMES else ""
        times = sum(self.left_out.values())
        return (
            f"{', '.join(some[:MAX_TOLD_NAMES])}{more} took too long: left out {times:,} time{'s' * (times > 1)} from here on,"
            " where they may have matched"
        )
