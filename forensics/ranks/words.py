"""Sentences about ranks: `ranks 0 to 3, 7`, and why a rank keeps the others waiting."""

from collections.abc import Iterable
from datetime import UTC, datetime

from forensics.model.dumps import Frame
from forensics.model.ranks import OddRank

MAX_SPANS = 8  # spans of rank numbers that one text names


def numbers(ranks: Iterable[int]) -> str:
    """`0-3, 7`; of very many spans the first ones and how many there are."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    shown = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}-{b}" for a, b in runs[:MAX_SPANS]]
    return ", ".join(shown) + (f" and {len(runs) - MAX_SPANS} more spans" if len(runs) > MAX_SPANS else "")


def at(frame: Frame | None) -> str:
    """` at decode (train.py:71)`; empty without a frame."""
    if frame is None:
        return ""
    return f" at {frame.function} ({frame.place})" if frame.function and frame.function != "<module>" else f" at {frame.place}"


def reason(odd: OddRank) -> str:
    """Why a rank keeps the others waiting, in one sentence without the rank itself."""
    who = f"{len(odd.waiting)} rank{'s' * (len(odd.waiting) != 1)} ({numbers(odd.waiting)})" if odd.waiting else "the others"
    waits = f"{who} wait{'s' * (len(odd.waiting) == 1)} for it"
    shown = (
        f", as {'its stack' if len(odd.waiting) == 0 else 'their stacks'} show{'s' * (not odd.waiting)}" if odd.by_stacks else ""
    )
    if odd.kind in ("left_out", "other_call", "other_shape", "other_order"):
        return (
            f"{odd.doing}; its line is{at(odd.place) or ' unknown'}, that of the others{at(odd.others) or ' is unknown'}{shown}"
        )
    if odd.kind in ("device", "late"):
        return f"{odd.doing}{at(odd.place)}"
    missed = f" in {odd.call}{f' of group {odd.group}' if odd.group else ''}" if odd.call else ""
    last = (
        f", since its last call at {datetime.fromtimestamp(odd.last_ns // 10**9, UTC):%Y-%m-%dT%H:%M:%SZ}" if odd.last_ns else ""
    )
    text = f"{odd.doing}{at(odd.place)}{last}; {waits}{missed}{at(odd.others)}{shown}"
    return f"{text}; it was late to calls before, by {odd.late_s:.2g} s since no. {odd.since}" if odd.late_s else text
