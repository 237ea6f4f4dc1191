"""Whether a rank left the loop in which it made its calls: its last one was made farther down in the function of that loop.

step < epoch (train.py:97) < main, again and again, then finish < epoch (train.py:98) < main    -> it left the loop of epoch

Two calls of one function that are made in another order look the same as a call behind the loop, and tell nothing.
"""

from forensics.model.dumps import Call, Frame
from forensics.ranks.case import RankCase

MIN_BEFORE = 4  # chosen by hand: calls from the loop, so that it ran more than once


def has_left_loop(case: RankCase, rank: int, call: Call) -> bool:
    """Was `call` made below every line from which a function called others that made the rank's calls before?"""
    own = case.own_frame(call.frames)
    calls = (c for group in case.dumps[rank].groups for c in group.calls)
    before = [c.frames[::-1] for c in calls if c.created_ns < call.created_ns]
    for depth, frame in enumerate(reversed(call.frames)):
        before = [frames for frames in before if len(frames) > depth and _is_same(frames[depth], frame)]
        lines = {frames[depth].line for frames in before}
        if frame.line not in lines:
            return len(before) >= MIN_BEFORE and frame.line > max(lines) and frame is not own
        before = [frames for frames in before if frames[depth].line == frame.line]
    return False


def _is_same(one: Frame, other: Frame) -> bool:
    return (one.file, one.function) == (other.file, other.function)
