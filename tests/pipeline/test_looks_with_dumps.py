"""Stacks and dumps of a run that was looked at while it worked are no sign of a hang."""

from typing import Any, cast

import pytest
from msgspec import Struct

from forensics.model.ranks import OddRank, RankPicture, RankRow, State
from forensics.pipeline.placement import _dumps_show_a_wait

LATE = OddRank(1, "computes", "it computes", waiting=(0,))


class Dump(Struct, frozen=True):
    last_ns: int = 5


class Analysed(Struct, frozen=True):
    dump: Dump | None = Dump()


@pytest.mark.parametrize(
    ("states", "odd", "waits"),
    [
        (("done", "done"), (), False),
        (("outside", "waits", "done"), (), False),
        (("waits", "waits"), (), True),
        (("waits", "outside"), (LATE,), True),
    ],
    ids=["all calls ended", "each somewhere else", "all in one call", "one is waited for"],
)
def test_dumps_show_a_wait_if_a_rank_is_waited_for_or_all_are_in_a_call(
    states: tuple[State, ...], odd: tuple[OddRank, ...], waits: bool
) -> None:
    seen = RankPicture(len(states), tuple(RankRow(i, state) for i, state in enumerate(states)), (), odd)
    assert _dumps_show_a_wait(cast(Any, [Analysed()]), seen) is waits
    assert _dumps_show_a_wait(cast(Any, [Analysed()]), None)
    assert not _dumps_show_a_wait(cast(Any, [Analysed(None)]), seen)
    assert not _dumps_show_a_wait(cast(Any, [Analysed(Dump(0))]), seen)
