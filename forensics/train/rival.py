"""A simple rival to compare with: the cause of the last line that looks like an error, by a table of exceptions and codes.

    ... / RuntimeError: CUDA out of memory / Killing subprocess 811  ->  rival.yaml's first pattern in "Killing subprocess 811"

It is measured on every corpus together with the decision, to show how much the signatures and the learned weights add.
"""

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from forensics.core import lazy
from forensics.database import HEALTHY
from forensics.model.verdicts import Lane
from forensics.train.cases import Case
from forensics.train.measure import Prediction

LOOKS_LIKE_AN_ERROR = lazy.regex(
    r"(?i)\b(?:error|exception|fatal|panic|killed|segmentation fault|abort(?:ed)?|traceback|failed)\b|Error\b|Exception\b"
)
NEAR_THE_END = 200  # lines: the rival ignores an error that is further away from the end


class Table(Struct, frozen=True):
    """Patterns with the cause of each, in order, and the cause of an error that none of them matches."""

    rows: tuple[tuple[re.Pattern[str], str], ...]
    otherwise: str

    def cause_of(self, line: str) -> str:
        """The cause of the first pattern that is found in `line`."""
        return next((cause for pattern, cause in self.rows if pattern.search(line)), self.otherwise)


@functools.cache
def rival_table() -> Table:
    """The table of rival.yaml."""
    import yaml

    patterns = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return Table(tuple((re.compile(r["pattern"]), r["cause"]) for r in patterns["patterns"]), patterns["otherwise"])


def by_rival(case: Case, lines: Sequence[str]) -> Prediction:
    """The rival's prediction. `lines`: all lines of the case's logs in order."""
    last = next((t for t in reversed(lines[-NEAR_THE_END:]) if LOOKS_LIKE_AN_ERROR.search(t)), None)
    if last is None:
        return Prediction(case, ((HEALTHY, 1.0),), "no_crash")
    return Prediction(case, ((rival_table().cause_of(last), 1.0),), "crash", (last,))


def lines_of(lanes: Sequence[Lane]) -> list[str]:
    """The lines for the rival: the last lines of trouble near the end of each lane, in order."""
    near = (line for lane in lanes for line in lane.trouble_lines if line.number > lane.attempts[-1].last_line - NEAR_THE_END)
    return [line.text for line in near]
