"""Rows in a file: a line of JSON (form, names, vocabulary, number of cases), then the numbers by column, compressed by lzma.

    rows_to_bytes(rows)  ->  {"form": "forensics-rows/1", "vocabulary": [...], ...}\\n  + lzma

Numbers are little-endian: of 32 bits with a fraction, or whole ones of 8 to 32 bits. Sorted lists of words are differences. A row
that was read back is the one that was written but for the rounding to 32 bits.
"""

import json
import lzma
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode

from forensics.core.errors import UsageError
from forensics.outcome.deciding_lines import STRUCTURE
from forensics.outcome.features import OUTCOME_FEATURES
from scripts.train.cases import LineExample
from scripts.train.rows import EVENT_FEATURES, CaseRow, Choice, EventRow, Rows

ROWS_FORM = "forensics-rows/1"
NAMES = {"outcome": OUTCOME_FEATURES, "events": EVENT_FEATURES, "structure": STRUCTURE}
NO_STATUS = 2  # 0: exit status 0; 1: another one
Numbers = Sequence[int]


class _RowsHead(Struct):
    form: str
    names: dict[str, tuple[str, ...]]
    vocabulary: tuple[str, ...]
    known: tuple[str, ...]
    general: tuple[str, ...]
    cases: int
    examples: int


def rows_to_bytes(rows: Rows) -> bytes:
    """The file of `rows`."""
    head = _RowsHead(ROWS_FORM, NAMES, rows.vocabulary, rows.known, rows.general, len(rows.cases), len(rows.examples))
    number = {cause: i for i, cause in enumerate(rows.known)}
    out = _Writer()
    out.put("u1", [number[cause] for _, cause in rows.examples])
    out.lists(words for words, _ in rows.examples)
    cases = rows.cases
    out.put("<u4", [c.origin for c in cases])
    out.put("<f4", [c.weight for c in cases])
    out.put("u1", [c.bad + 2 * c.terminal for c in cases])
    out.put("u1", [NO_STATUS if c.status is None else bool(c.status) for c in cases])
    out.put("u1", [number[c.cause] + 1 if c.cause else 0 for c in cases])
    out.table([c.outcome for c in cases])
    out.lists(c.ending for c in cases)
    out.lists(c.words for c in cases)
    _put_choices(out, cases, number)
    lines = out.counted(c.lines for c in cases)
    out.put("u1", [line.decides for line in lines])
    out.lists(line.words for line in lines)
    out.table([line.structure for line in lines])
    body = lzma.compress(b"".join(out.parts), preset=9 | lzma.PRESET_EXTREME)
    return json.dumps(_plain(head), ensure_ascii=True).encode() + b"\n" + body


def _put_choices(out: "_Writer", cases: Iterable[CaseRow], number: dict[str, int]) -> None:
    choices = out.counted(c.choices for c in cases)
    out.put("<f4", [c.weight for c in choices])
    out.put("u1", [c.strong for c in choices])
    out.lists(sorted(number[r] for r in c.right if r in number) for c in choices)
    events = out.counted(c.events for c in choices)
    out.put("u1", [number[e.cause] for e in events])
    out.put("u1", [e.shown for e in events])
    out.table([e.features for e in events])


def rows_from_bytes(data: bytes) -> Rows:
    """The rows of such a file; raises UsageError for other bytes, and for rows of other features."""
    end = max(data.find(b"\n"), 0)
    try:
        head = decode(data[:end], type=_RowsHead)
        body = lzma.decompress(data[end + 1 :])
    except (DecodeError, lzma.LZMAError) as error:
        raise UsageError("no file of rows") from error
    if head.form != ROWS_FORM or head.names != NAMES:
        raise UsageError("the rows are of other features", advice="python -m scripts.retrain --rows CORPUS...")
    read = _Reader(body)
    causes = read.whole("u1", head.examples)
    examples = tuple(zip(read.lists(head.examples), (head.known[c] for c in causes), strict=True))
    return Rows(head.vocabulary, head.known, head.general, examples, _cases(read, head))


def _cases(read: "_Reader", head: _RowsHead) -> tuple[CaseRow, ...]:
    count = head.cases
    origins, weights = read.whole("<u4", count), read.floats(count)
    marks, statuses, causes = (read.whole("u1", count) for _ in range(3))
    outcomes = read.table(count, len(OUTCOME_FEATURES))
    endings, words = read.lists(count), read.lists(count)
    choices = _choices(read, head, count)
    spans = read.spans(count)
    decides = read.whole("u1", spans[-1])
    found = read.lists(spans[-1])
    structure = read.table(spans[-1], len(STRUCTURE))
    lines = [LineExample(*line) for line in zip(found, structure, map(bool, decides), strict=True)]
    return tuple(
        CaseRow(
            origin=origins[i],
            weight=weights[i],
            bad=bool(marks[i] & 1),
            outcome=outcomes[i],
            ending=endings[i],
            status=None if statuses[i] == NO_STATUS else statuses[i],
            terminal=marks[i] > 1,
            cause=head.known[causes[i] - 1] if causes[i] else "",
            words=words[i],
            choices=choices[i],
            lines=tuple(lines[first:last]),
        )
        for i, (first, last) in enumerate(pairwise(spans))
    )


def _choices(read: "_Reader", head: _RowsHead, cases: int) -> list[tuple[Choice, ...]]:
    of_case = read.spans(cases)
    count = of_case[-1]
    weights, strong, rights = read.floats(count), read.whole("u1", count), read.lists(count)
    of_choice = read.spans(count)
    causes, shown = (read.whole("u1", of_choice[-1]) for _ in range(2))
    features = read.table(of_choice[-1], len(EVENT_FEATURES))
    events = [EventRow(head.known[c], f, bool(s)) for c, f, s in zip(causes, features, shown, strict=True)]
    made = [
        Choice(tuple(head.known[r] for r in rights[i]), weights[i], bool(strong[i]), tuple(events[first:last]))
        for i, (first, last) in enumerate(pairwise(of_choice))
    ]
    return [tuple(made[first:last]) for first, last in pairwise(of_case)]


def _plain(head: _RowsHead) -> dict[str, object]:
    return {name: getattr(head, name) for name in head.__struct_fields__}


class _Writer:
    """Columns of numbers, one behind the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def put(self, kind: str, values: Sequence[float]) -> None:
        import numpy as np

        self.parts.append(np.array(values, dtype=kind).tobytes())

    def counted(self, lists: Iterable[Sequence[Any]]) -> list[Any]:
        """All items of `lists`, behind the number of those of each."""
        found = list(lists)
        self.put("<u2", [*map(len, found)])
        return [x for items in found for x in items]

    def lists(self, lists: Iterable[Numbers]) -> None:
        """Sorted lists of numbers below 65,536."""
        self.put("<u2", self.counted([b - a for a, b in pairwise([0, *numbers])] for numbers in lists))

    def table(self, rows: Sequence[Sequence[float]]) -> None:
        import numpy as np

        self.parts.append(np.array(rows, dtype="<f4").T.tobytes())


class _Reader:
    """Reads what a _Writer wrote, in the same order."""

    def __init__(self, body: bytes) -> None:
        self.body, self.at = body, 0

    def _taken(self, kind: str, count: int) -> Any:
        import numpy as np

        found = np.frombuffer(self.body, kind, count, self.at)
        self.at += found.nbytes
        return found

    def whole(self, kind: str, count: int) -> list[int]:
        return [*map(int, self._taken(kind, count))]

    def floats(self, count: int) -> list[float]:
        return [*map(float, self._taken("<f4", count))]

    def spans(self, count: int) -> list[int]:
        """Where the items of each of `count` lists begin, and where the last ones end."""
        return [0, *accumulate(self.whole("<u2", count))]

    def lists(self, count: int) -> list[tuple[int, ...]]:
        spans = self.spans(count)
        steps = self.whole("<u2", spans[-1])
        return [tuple(accumulate(steps[first:last])) for first, last in pairwise(spans)]

    def table(self, rows: int, columns: int) -> list[tuple[float, ...]]:
        found = self._taken("<f4", rows * columns).reshape(columns, rows).T
        return [tuple(row) for row in found.astype(float).tolist()]
