"""Summarise how a lane ends, from the classes of its lines in order: distances from the end, counts and shares.

step 1 / step 2 / ERROR x / make: *** [all] Error 2
-> trouble 0 lines before the end, 2 of them; run_failed 0; progress 2; after the trouble no template is repeated
"""

import functools
import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence

from forensics.model.verdicts import LaneDigest
from forensics.readers.lanes.line_classes import (
    BAD_END,
    FRAME,
    GOES_ON,
    GOOD,
    NOT_AN_END,
    PROGRESS,
    RUN_FAILED,
    SHUT_DOWN,
    START,
    TRACEBACK,
    TROUBLE,
)

# The share of a class is counted in these last lines: four scales from one line to a screen; the trees choose among them.
TAIL_LINES = (1, 3, 10, 50)
END_LINES = 10  # one of the scales of TAIL_LINES
MAX_LINES_ABOVE_TRACEBACK = 3  # a logger prints its record, and sometimes the request, above the traceback
MIN_TEMPLATE_CHARS = 3  # lines of many kinds share a shorter template
NOT_WORK_CLASSES = TROUBLE | FRAME | SHUT_DOWN | RUN_FAILED  # such a line does not show that the program continues
# The classes of a digest: their bit, and the bits of lines that are not counted.
COUNTED_CLASSES = {
    "trouble": (TROUBLE, NOT_AN_END),
    "traceback": (TRACEBACK, 0),
    "good": (GOOD, TROUBLE),
    "bad_end": (BAD_END, NOT_AN_END),
    "run_failed": (RUN_FAILED, GOES_ON),
    "progress": (PROGRESS, TROUBLE),
    "start": (START, TROUBLE),
    "frame": (FRAME, 0),
}
CLASSES_WITH_REPEATS = TROUBLE | TRACEBACK | BAD_END | RUN_FAILED  # after a line of these, repeated templates are counted
COUNTED = ("trouble", "traceback", "good", "bad_end", "run_failed", "progress")
WITH_REPEATS = ("trouble", "traceback", "bad_end", "run_failed")
WITH_ATTEMPTS = ("trouble", "bad_end")
IN_TAILS = ("trouble", "good", "progress", "bad_end")
COUNT_FIELDS = {name: f"{name}_count" for name in COUNTED}
AGAIN_FIELDS = {name: f"again_after_{name}" for name in WITH_REPEATS}
ATTEMPTS_FIELDS = {name: f"attempts_after_{name}" for name in WITH_ATTEMPTS}
NO_SHARES = (0.0,) * len(TAIL_LINES)


def lane_digest(
    templates: Sequence[bytes], bits: Sequence[int], total: int, starts: Sequence[int], is_record: Callable[[int], bool]
) -> LaneDigest:
    """How a lane with these lines ends.

    `templates`, `bits`: the template and the classes of each line. `total`: the number of lines in the source if `templates` is a
    sample of them, else 0. `starts`: indices of the lines at which a further attempt begins. `is_record`: whether the line at
    an index begins with a time or a level of its own.
    """
    lines = len(bits)
    found = functools.reduce(operator.or_, bits, 0)
    records = sum(map(is_record, range(max(0, lines - END_LINES), lines)))
    if not found & CLASSES_WITH_REPEATS and lines <= TAIL_LINES[-1]:
        return untroubled_digest(tuple(bits), total, records)
    return _digest(templates, bits, total, starts, is_record, found, records)


@functools.lru_cache(maxsize=1024)  # the ranks of a job end alike
def untroubled_digest(bits: tuple[int, ...], total: int, records: int) -> LaneDigest:
    """The digest of a lane without trouble; then its templates and starts do not matter, and lanes with equal bits share one."""
    return _digest((), bits, total, (), lambda _: False, functools.reduce(operator.or_, bits, 0), records)


def _digest(
    templates: Sequence[bytes],
    bits: Sequence[int],
    total: int,
    starts: Sequence[int],
    is_record: Callable[[int], bool],
    found: int,
    records: int,
) -> LaneDigest:
    """As lane_digest. `found`: the classes that occur. `records`: how many of the last lines are records of a logger."""
    lines = len(bits)
    places = {
        name: [i for i, b in enumerate(bits) if b & bit and not b & without] if found & bit else []
        for name, (bit, without) in COUNTED_CLASSES.items()
    }
    last = {name: lines - 1 - held[-1] if held else -1 for name, held in places.items()}
    first_places = _first_places(templates, bits) if any(last[name] > 0 for name in WITH_REPEATS) else []
    troubled = set(places["trouble"])
    return LaneDigest(
        lines=max(lines, total),
        looked_at=lines,
        **last,
        **{field: len(places[name]) for name, field in COUNT_FIELDS.items()},
        **{field: _repeated_after(first_places, last[name]) for name, field in AGAIN_FIELDS.items()},
        trouble_repeats=_count_of_template(templates, last["trouble"]),
        bad_end_repeats=_count_of_template(templates, last["bad_end"]),
        **{field: _starts_after(starts, lines, last[name]) for name, field in ATTEMPTS_FIELDS.items()},
        traceback_in_record=_in_record(
            lines, last["traceback"], MAX_LINES_ABOVE_TRACEBACK, lambda i: is_record(i) and i in troubled
        ),
        trouble_in_record=_in_record(lines, last["trouble"], 0, is_record),
        records_at_end=records / max(1, min(END_LINES, lines)),
        ends_with=tuple(share for name in IN_TAILS for share in _shares_of_tails(places[name], lines)),
    )


def _shares_of_tails(places: Sequence[int], lines: int) -> tuple[float, ...]:
    """The share of lines at `places` among the last 1, 3, 10 and 50 of all `lines`."""
    if not places:
        return NO_SHARES
    return tuple((len(places) - bisect_left(places, lines - n)) / max(1, min(n, lines)) for n in TAIL_LINES)


def _first_places(templates: Sequence[bytes], bits: Sequence[int]) -> list[int]:
    """For each line the index of the first line of its template; its own index for trouble and for too short templates."""
    first: dict[bytes, int] = {}
    for i, template in enumerate(templates):
        first.setdefault(template, i)
    return [
        first[template] if not b & NOT_WORK_CLASSES and len(template) > MIN_TEMPLATE_CHARS else i
        for i, (template, b) in enumerate(zip(templates, bits, strict=True))
    ]


def _repeated_after(first_places: Sequence[int], distance: int) -> int:
    """How many lines after the one at `distance` from the end have a template that also occurred before it."""
    if distance <= 0:
        return 0
    at = len(first_places) - 1 - distance
    return sum(1 for place in first_places[at + 1 :] if place < at)


def _starts_after(starts: Sequence[int], lines: int, distance: int) -> int:
    """How many attempts began after the line at `distance` from the end; -1 if there is no such line."""
    return sum(start > lines - 1 - distance for start in starts) if distance >= 0 else -1


def _in_record(lines: int, distance: int, above: int, is_record: Callable[[int], bool]) -> int:
    """1 if the line at `distance` from the end, or one of the `above` lines before it, is a record of a logger, 0 if not.

    -1 if there is no such line.
    """
    at = lines - 1 - distance
    return int(any(is_record(i) for i in range(max(0, at - above), at + 1))) if distance >= 0 else -1


def _count_of_template(templates: Sequence[bytes], distance: int) -> int:
    """How many lines have the template of the one at `distance` from the end, itself included; -1 if there is no such line."""
    return templates.count(templates[-1 - distance]) if distance >= 0 else -1
