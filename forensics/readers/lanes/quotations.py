"""Blocks of a log that its program only quotes: what a model wrote, between two headings or fences, or in a chat before the next
question, and what git printed.

    === samples after epoch 4 ===         |  completion:          |  diff --git a/train.py b/train.py
    RuntimeError: CUDA error              |  ```                  |  @@ -88,3 +88,3 @@ def step(batch):
    === end of samples ===                |  Segmentation fault   |  -    raise RuntimeError("CUDA out of memory")
                                          |  ```                  |

    commit 8fe21c0a7b6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f                            USER: why did it die?
    Author: ...                                                                ASSISTANT: The log says
        Segmentation fault (core dumped) on exit: join the threads first       Segmentation fault (core dumped)
                                                                               USER: ...

A block ends where its own form says so, and without its end none of it is one: what a program says behind it is its own.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

from forensics.core.shapes import ShapeTest
from forensics.core.text import decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Scan
from forensics.readers.base import sampled_blocks

PATTERNS = patterns_of("quotations")
PROMPT = ">>> "
BLOCK_MARKS = (b"diff --git ", b"commit ", b"```", b"end of ", PROMPT.encode(), b"assistant")
HAS_MARK = ShapeTest(lambda shape: any(map(shape.lower().__contains__, BLOCK_MARKS)))
FENCE = "```"
END_WORDS = ("end of ", "End of ", "END OF ")
MAX_QUOTED_ROWS = 2000  # chosen by hand: of one block between headings or fences


def quoted_lines(scan: Scan) -> frozenset[int]:
    """The numbers of the lines of all such blocks, as far as the sample has them."""
    found: set[int] = set()
    for block in sampled_blocks(scan):
        if any(HAS_MARK[shape] for shape in block.distinct):
            rows = [decode_line(row) for row in block.rows]
            found.update(block.first + i for first, end in _blocks(rows) for i in range(first, end))
    return frozenset(found)


def _blocks(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first row of each block, and the row behind its last one."""
    ends = [i for i, row in enumerate(rows) if any(map(row.__contains__, END_WORDS)) and PATTERNS.end_heading.search(row)]
    at = 0
    while at < len(rows):
        of_model = _end_of_headed(rows, at, ends), _end_of_fenced(rows, at), _end_of_turn(rows, at)
        end = max(*of_model, _end_of_patch(rows, at), _end_of_history(rows, at))
        if end > at:
            yield at, end
        at = max(end, at + 1)


def _end_of_headed(rows: Sequence[str], at: int, ends: Sequence[int]) -> int:
    """The row behind the texts of a model whose heading is row `at`; 0 where it is none, or none of `ends`, their last rows, is
    near."""
    last = ends[i] if (i := bisect_right(ends, at)) < len(ends) else len(rows)
    is_near = last < min(len(rows), at + MAX_QUOTED_ROWS)
    return last + 1 if is_near and PATTERNS.heading.search(rows[at]) else 0


def _end_of_fenced(rows: Sequence[str], at: int) -> int:
    """The row behind the text of a model, between fences, whose label is row `at`; 0 where it is none, or the text has no end."""
    if at + 1 >= len(rows) or not rows[at + 1].startswith(FENCE) or not PATTERNS.label.search(parse_prefix(rows[at]).message):
        return 0
    ends = (i for i in range(at + 2, min(at + MAX_QUOTED_ROWS, len(rows))) if rows[i].rstrip() == FENCE)
    return next((i + 1 for i in ends), 0)


def _end_of_turn(rows: Sequence[str], at: int) -> int:
    """The row of the next question of a chat behind that in row `at`, which is answered; 0 where it is none, or none follows."""
    below = range(at + 1, min(at + MAX_QUOTED_ROWS, len(rows)))
    if rows[at].startswith(PROMPT) and PATTERNS.question.match(rows[at]):
        return next((i for i in below if rows[i].startswith(PROMPT)), 0)
    if not PATTERNS.asked.match(rows[at]):
        return 0
    end = next((i for i in below if PATTERNS.asked.match(rows[i])), 0)
    return end if any(PATTERNS.answered.match(rows[i]) for i in range(at + 1, end)) else 0


def _end_of_patch(rows: Sequence[str], at: int) -> int:
    """The row behind what `git diff` printed of one file, from row `at` on; 0 where there is none."""
    if not rows[at].startswith("diff --git "):
        return 0
    end = at + 1 + sum(1 for _ in takewhile(PATTERNS.patch_head.match, rows[at + 1 :]))
    while end < len(rows) and (hunk := PATTERNS.hunk.match(rows[end])):
        left = [int(hunk["before"] or 1), int(hunk["after"] or 1)]
        end += 1
        while end < len(rows) and max(left) > 0 and rows[end][:1] in (" ", "+", "-", ""):
            left[0] -= rows[end][:1] != "+"
            left[1] -= rows[end][:1] != "-"
            end += 1
        end += end < len(rows) and rows[end].startswith("\\ No newline")
    return end


def _end_of_history(rows: Sequence[str], at: int) -> int:
    """The row behind what `git log` printed of one commit, from row `at` on; 0 where there is none."""
    if not PATTERNS.commit.match(rows[at]) or not rows[at + 1 : at + 2] or not PATTERNS.commit_head.match(rows[at + 1]):
        return 0
    own = takewhile(lambda row: not row.strip() or row.startswith("    ") or PATTERNS.commit_head.match(row), rows[at + 1 :])
    return at + 1 + sum(1 for _ in own)
