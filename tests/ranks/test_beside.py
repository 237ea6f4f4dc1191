"""weir.py, whose rank waits for what another program does, each with the log of that program (beside/*/helper.log)."""

from datetime import datetime
from pathlib import Path

import pytest

from forensics.cli.ranks import _picture
from forensics.model.logs import Stamp
from forensics.model.ranks import OddRank, ProofPlace
from forensics.ranks.beside import Beside, Trouble, with_beside
from forensics.readers.tools.own_words import PATTERNS as LOCK_PATTERNS

CAPTURED = Path(__file__).parent / "beside"
PLACE = ProofPlace("shipd.log", 3, "ERROR cannot ship")


@pytest.mark.parametrize(
    ("case", "rank", "kind", "line"),
    [
        ("flock", 0, "lock", 1),  # it holds the lock of the file for which the rank waits
        ("service", 1, "outside", 70),  # a thread of it ended by an exception, and the answer never comes
        ("kill", 2, "left", 2),  # `process 24027 over its 400 MB quota, sending signal 9`
        ("evicted", 2, "left", 2),  # a line that it calls critical, at the second of the end
        ("stop2", 2, "outside", 2),  # `kill -STOP 24655 (quota)`
    ],
)
def test_the_line_of_the_other_program_is_shown_with_the_rank(case: str, rank: int, kind: str, line: int) -> None:
    (odd,) = _picture([CAPTURED / case], 1).odd
    assert (odd.rank, odd.kind) == (rank, kind)
    assert line in [place.line for place in odd.proofs if place.source.endswith("helper.log")]


@pytest.mark.parametrize(
    ("wall", "is_told"),
    [
        (datetime(2026, 12, 1, 4, 44, 9), True),
        (datetime(2026, 12, 1, 6, 44, 9), True),  # in another zone
        (datetime(2026, 12, 1, 4, 51, 30), False),
        (None, True),
    ],
)
def test_trouble_of_another_time_is_no_reason(wall: datetime | None, is_told: bool) -> None:
    odd = OddRank(2, "outside", "it waits for the network", last_ns=1796100240 * 10**9)  # 2026-12-01T04:44:00Z
    told = with_beside(odd, Beside((Trouble(PLACE, Stamp(wall) if wall else None),)))
    assert (PLACE in told.proofs) is is_told


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("nightly-backup: holding exclusive lock /data/INDEX.lock while copying", True),
        ("cachegc[5946] took /data/kcache/index.lock (exclusive), 5 kernels in the cache", True),
        ("worker 3: waiting for the lock that nightly-backup has taken", False),
        ("released lock /data/INDEX.lock held for 3 s", False),
        ("blocked 4711 requests", False),
    ],
)
def test_a_log_tells_that_its_program_holds_a_lock(text: str, holds: bool) -> None:
    assert (bool(LOCK_PATTERNS.held.search(text)) and not LOCK_PATTERNS.refused.search(text)) is holds
