"""The classes of a lane's lines, in order, to a digest of how the lane ends: distances from the end, counts and shares.

step 1 / step 2 / ERROR x / make: *** [all] Error 2
-> trouble 0 lines before the end, 2 of them; run_failed 0; progress 2; nothing of an earlier form behind the trouble
"""

import functools
import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence

from forensics.model.verdicts import LaneDigest
from forensics.outcome.line_classes import (
    BAD_END,
    FRAME,
    GOES_ON,
    GOOD,
    PROGRESS,
    RUN_FAILED,
    SHUT_DOWN,
    START,
    TAKES_BACK,
    TRACEBACK,
    TROUBLE,
)

# How many of a class stand in the last lines: four scales from the last line to a screen; the trees choose.
TAIL_LINES = (1, 3, 10, 50)
END_LINES = 10  # one of the scales of TAIL_LINES
ABOVE_TRACEBACK = 3  # lines: a logger prints its record, and sometimes the request, above the traceback
MIN_FORM_CHARS = 3  # a shorter form is that of any line
NOT_WORK_CLASSES = TROUBLE | FRAME | SHUT_DOWN  # such a line shows no program that goes on
# The classes of a digest: their bit, and what takes a line out of them.
COUNTED_CLASSES = {
    "trouble": (TROUBLE, TAKES_BACK),
    "traceback": (TRACEBACK, 0),
    "good": (GOOD, TROUBLE),
    "bad_end": (BAD_END, TAKES_BACK),
    "run_failed": (RUN_FAILED, GOES_ON),
    "progress": (PROGRESS, TROUBLE),
    "start": (START, TROUBLE),
    "frame": (FRAME, 0),
}
TOLD_BY_FORMS = TROUBLE | TRACEBACK | BAD_END | RUN_FAILED  # the classes behind which repeated forms are counted
COUNTED = ("trouble", "traceback", "good", "bad_end", "run_failed", "progress")
WITH_REPEATS_BEHIND = ("trouble", "traceback", "bad_end", "run_failed")
WITH_ATTEMPTS_BEHIND = ("trouble", "bad_end")
IN_TAILS = ("trouble", "good", "progress", "bad_end")
COUNT_FIELDS = {name: f"{name}_count" for name in COUNTED}
AGAIN_FIELDS = {name: f"again_after_{name}" for name in WITH_REPEATS_BEHIND}
ATTEMPTS_FIELDS = {name: f"attempts_behind_{name}" for name in WITH_ATTEMPTS_BEHIND}
NO_SHARES = (0.0,) * len(TAIL_LINES)


def lane_digest(
    forms: Sequence[bytes], bits: Sequence[int], total: int, starts: Sequence[int], is_record: Callable[[int], bool]
) -> LaneDigest:
    """How a lane with these lines ends.

    `forms`, `bits`: the form and the classes of each line. `total`: number of lines in the source where `forms` is a sample of
    them, else 0. `starts`: indices of the lines at which a further attempt begins. `is_record`: whether the line at an index
    begins with a time or a level of its own.
    """
    lines = len(bits)
    found = functools.reduce(operator.or_, bits, 0)
    records = sum(map(is_record, range(max(0, lines - END_LINES), lines)))
    if not found & TOLD_BY_FORMS and lines <= TAIL_LINES[-1]:
        return _untroubled_digest(tuple(bits), total, records)
    return _digest(forms, bits, total, starts, is_record, found, records)


@functools.lru_cache(maxsize=1024)  # the ranks of a job end alike
def _untroubled_digest(bits: tuple[int, ...], total: int, records: int) -> LaneDigest:
    """The digest of a lane whose forms and starts do not matter, as nothing is asked about what follows trouble."""
    return _digest((), bits, total, (), lambda _: False, functools.reduce(operator.or_, bits, 0), records)


def _digest(
    forms: Sequence[bytes],
    bits: Sequence[int],
    total: int,
    starts: Sequence[int],
    is_record: Callable[[int], bool],
    found: int,
    records: int,
) -> LaneDigest:
    """As lane_digest. `found`: the classes that occur; `records`: how many of the last lines begin records."""
    lines = len(bits)
    places = {
        name: [i for i, b in enumerate(bits) if b & bit and not b & without] if found & bit else []
        for name, (bit, without) in COUNTED_CLASSES.items()
    }
    last = {name: lines - 1 - held[-1] if held else -1 for name, held in places.items()}
    first_places = _first_places(forms, bits) if any(last[name] > 0 for name in WITH_REPEATS_BEHIND) else []
    troubled = set(places["trouble"])
    return LaneDigest(
        lines=max(lines, total),
        looked_at=lines,
        **last,
        **{field: len(places[name]) for name, field in COUNT_FIELDS.items()},
        **{field: _repeated_after(first_places, last[name]) for name, field in AGAIN_FIELDS.items()},
        trouble_repeats=_count_of_form(forms, last["trouble"]),
        bad_end_repeats=_count_of_form(forms, last["bad_end"]),
        **{field: _starts_behind(starts, lines, last[name]) for name, field in ATTEMPTS_FIELDS.items()},
        traceback_in_record=_in_record(lines, last["traceback"], ABOVE_TRACEBACK, lambda i: is_record(i) and i in troubled),
        trouble_in_record=_in_record(lines, last["trouble"], 0, is_record),
        records_at_end=records / max(1, min(END_LINES, lines)),
        ends_with=tuple(share for name in IN_TAILS for share in _shares_of_tails(places[name], lines)),
    )


def _shares_of_tails(places: Sequence[int], lines: int) -> tuple[float, ...]:
    """The share of lines at `places` among the last 1, 3, 10 and 50 of all `lines`."""
    if not places:
        return NO_SHARES
    return tuple((len(places) - bisect_left(places, lines - n)) / max(1, min(n, lines)) for n in TAIL_LINES)


def _first_places(forms: Sequence[bytes], bits: Sequence[int]) -> list[int]:
    """For each line the index of the first line of its form; its own index where it is trouble or its form is too short."""
    first: dict[bytes, int] = {}
    for i, form in enumerate(forms):
        first.setdefault(form, i)
    return [
        first[form] if not b & NOT_WORK_CLASSES and len(form) > MIN_FORM_CHARS else i
        for i, (form, b) in enumerate(zip(forms, bits, strict=True))
    ]


def _repeated_after(first_places: Sequence[int], distance: int) -> int:
    """How many lines behind the one at `distance` from the end have a form that occurred before it, too."""
    if distance <= 0:
        return 0
    at = len(first_places) - 1 - distance
    return sum(1 for place in first_places[at + 1 :] if place < at)


def _starts_behind(starts: Sequence[int], lines: int, distance: int) -> int:
    """How many attempts began behind the line at `distance` from the end; -1 where there is no such line."""
    return sum(start > lines - 1 - distance for start in starts) if distance >= 0 else -1


def _in_record(lines: int, distance: int, above: int, is_record: Callable[[int], bool]) -> int:
    """1 where the line at `distance` from the end, or one of the `above` lines before it, is a logger's record; -1 for no
    line."""
    at = lines - 1 - distance
    return int(any(is_record(i) for i in range(max(0, at - above), at + 1))) if distance >= 0 else -1


def _count_of_form(forms: Sequence[bytes], distance: int) -> int:
    """How many lines have the form of the one at `distance` from the end, itself included; -1 where there is no such line."""
    return forms.count(forms[-1 - distance]) if distance >= 0 else -1
