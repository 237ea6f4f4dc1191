"""The choice of what the filter looks for takes the ends that logs hold least."""

import random

import pytest

from scripts.pieces import HIT_COST, Choice, counted, ends

LOG = b"".join(b"step %d: the process is running, memory usage 12 GiB\n" % i for i in range(400))


def test_a_piece_begins_and_ends_with_a_whole_character() -> None:
    anchor = "Schlüssel für".encode()
    assert list(ends(b"12345678")) == [8]
    for end in ends(anchor):
        assert len(anchor[end - 8 : end].decode()) <= 8


def test_windows_know_how_often_they_occur() -> None:
    found = {w.piece: w.cost for w in counted([b"process is lost"], LOG)[0]}
    assert found[b" is lost"] == 0
    assert found[b"process "] == 400 * HIT_COST


@pytest.mark.parametrize("anchor", [b"the process is lost", b"memory usage 12 TiB exceeds"])
def test_the_choice_avoids_what_logs_hold(anchor: bytes) -> None:
    choice = Choice(counted([anchor, b"cannot allocate memory"], LOG), LOG)
    for _ in range(3):
        choice.sweep(random.Random(1))
    assert all(w.cost == 0 for w in choice.chosen)
    assert choice.chosen[0].piece not in LOG


def test_fewer_alarms_than_at_first() -> None:
    """Of windows that occur equally seldom, those are taken that share few pairs of bytes with the log."""
    anchors = [b"the memory controller is running hot", b"the usage of memory was refused", b"process memory is gone"]
    choice = Choice(counted(anchors, LOG), LOG)
    choice.chosen = [windows[0] for windows in choice.windows]
    alarms = [choice.sweep(random.Random(1))[0] for _ in range(4)]
    assert alarms[0] > 0
    assert alarms[-1] < alarms[0] / 10
