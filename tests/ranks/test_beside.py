"""weir.py and kelp.py, whose rank waits for what another program does, each with the log of that program (beside/*/helper.log)."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.cli.ranks import _picture
from forensics.line_formats import parse_prefix
from forensics.model.logs import Stamp
from forensics.model.ranks import OddRank, ProofPlace
from forensics.ranks.beside import CALLED_ERROR, Beside, Told, with_beside
from forensics.readers.tools.own_words import HOLD_PATTERNS
from forensics.readers.tools.own_words import PATTERNS as LOCK_PATTERNS

CAPTURED = Path(__file__).parent / "beside"
# py-spy tells no time. When a rank was looked at is known from its file, whose time a checkout does not keep.
LOOKED_AT = {"quota": datetime(2026, 12, 1, 15, 29, 41, tzinfo=UTC).timestamp()}
PLACE = ProofPlace("shipd.log", 3, "ERROR cannot ship")


@pytest.mark.parametrize(
    ("case", "rank", "kind", "line"),
    [
        ("flock", 0, "lock", 1),  # it holds the lock of the file for which the rank waits
        ("service", 1, "outside", 70),  # a thread of it ended by an exception, and the answer never comes
        ("kill", 2, "left", 2),  # `process 24027 over its 400 MB quota, sending signal 9`
        ("evicted", 2, "left", 2),  # a line that it calls critical, at the second of the end
        ("stop2", 2, "outside", 2),  # `kill -STOP 24655 (quota)`
        ("paused", 1, "outside", 2),  # `paused featd (pid 3368) for compaction`: the service that it asks
        ("frozen", 2, "outside", 2),  # `froze /srv/kelp/mnt`: the folder of the file that it opens
        ("granted", 2, "lock", 2),  # `write lock on /srv/kelp/tiles.idx granted`, and the rank waits for something
        ("full", 2, "raised", 2),  # another program filled the disk, of which the exception tells, too
        ("quota", 1, "outside", 5),  # `paused until space is freed`, after lines that tell of no hold
        ("proxy", 1, "computes", 1),  # a proxy whose errors are known, and are no wait of a rank
    ],
)
def test_the_line_of_the_other_program_is_shown_with_the_rank(case: str, rank: int, kind: str, line: int, tmp_path: Path) -> None:
    folder = tmp_path / case
    shutil.copytree(CAPTURED / case, folder)
    for file in folder.glob("spy_*.txt") if case in LOOKED_AT else ():
        os.utime(file, (LOOKED_AT[case], LOOKED_AT[case]))
    (odd,) = _picture([folder], 1).odd
    assert (odd.rank, odd.kind) == (rank, kind)
    assert line in [place.line for place in odd.proofs if place.source.endswith("helper.log")]


@pytest.mark.parametrize(
    ("case", "rank", "doing"),
    [
        ("interpreter", 1, "it waits for the interpreter's lock (its thread flusher is"),  # behind a call that is done
        ("two_locks", 0, "it waits for a lock or another thread (its thread keeper is"),  # in a loop that looks at files, too
    ],
)
def test_a_rank_that_waits_for_its_own_thread_waits_for_a_lock(case: str, rank: int, doing: str) -> None:
    (odd,) = _picture([CAPTURED / case], 1).odd
    assert (odd.rank, odd.kind, odd.doing.startswith(doing)) == (rank, "lock", True)


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
    told = with_beside(odd, Beside((Told(PLACE, Stamp(wall) if wall else None),)))
    assert (PLACE in told.proofs) is is_told


NEAR, FAR = "2026-12-01 15:17:53 ops: {}", "2026-12-01 13:02:11 ops: {}"


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ((FAR.format("ERROR no such file"), NEAR.format("ERROR quota")), 1),  # of the same time
        ((NEAR.format("ERROR quota"), NEAR.format("/srv/disk is frozen")), 1),  # it names the folder of the file
        ((FAR.format("froze /srv/disk-2"), NEAR.format("ERROR quota")), 1),  # another folder
        ((NEAR.format("ERROR quota"), FAR.format("/srv/disk/part-3.bin: ERROR")), 1),  # the file itself, whenever
        ((NEAR.format("ERROR quota"), NEAR.format("ERROR pid 4711 over its share")), 1),  # the process itself
    ],
)
def test_the_line_that_names_more_or_is_of_that_time_is_shown(texts: tuple[str, str], shown: int) -> None:
    waits = "it waits for a file (write of /srv/disk/part-3.bin)"
    odd = OddRank(2, "outside", waits, pid=4711, last_ns=1796138274 * 10**9)  # 2026-12-01T15:17:54Z
    places = [ProofPlace(f"log{n}", 1, text) for n, text in enumerate(texts)]
    told = with_beside(odd, Beside(tuple(Told(one, parse_prefix(one.text).stamp, CALLED_ERROR) for one in places)))
    assert told.proofs == (places[shown],)


@pytest.mark.parametrize(
    ("text", "is_hold"),
    [
        ("featd suspended, queries will hang until 04:00", True),
        ("/srv/disk: quiesced", True),
        ("imaging; writers wait until it is thawed", True),
        ("request 17 answered in 3 ms", False),
        ("copied /data/failed/part-3.bin", False),
        ("14 units up, errors: 0", False),
    ],
)
def test_a_log_tells_of_a_stop_or_a_hold(text: str, is_hold: bool) -> None:
    assert bool(HOLD_PATTERNS.held.search(text)) is is_hold


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
