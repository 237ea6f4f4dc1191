"""Hostile and damaged dumps are refused with one line, quickly and without memory; nothing in them is executed."""

import pickle
import resource
import time
from pathlib import Path

import pytest

from forensics.sources.rank_dumps import DumpError, is_flight_recorder, read_flight_recorder
from forensics.sources.rank_dumps.base import MAX_DUMP_BYTES
from forensics.sources.rank_dumps.pickled import read_plain_pickle
from tests.sources.rank_dumps.hostile_pickles import HOSTILE, plain


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_dump_is_refused_in_one_line(name: str) -> None:
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(DumpError) as error:
        read_flight_recorder(HOSTILE[name], "fr/rank_0")
    assert "\n" not in str(error.value) and len(str(error.value)) < 200
    assert time.process_time() - begun < 2.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # KiB
    assert not Path("/tmp/pickle_was_executed").exists()


def test_a_dump_that_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(DumpError, match="larger than"):
        read_plain_pickle(b"\x80\x02" + b"]" * MAX_DUMP_BYTES)


def test_many_containers_are_refused() -> None:
    with pytest.raises(DumpError, match="lists, tuples and dictionaries"):
        read_plain_pickle(b"\x80\x02" + b"]" * 5_000_000 + b".")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_values_are_read_as_they_are(protocol: int) -> None:
    given = plain(
        more=[None, True, False, -1, 70_000, 2**40, -(2**40), 1.5, "é" * 300, (), (1,), (1, 2, 3), (1, 2, 3, 4), {}, []]
    )
    assert read_plain_pickle(pickle.dumps(given, protocol)) == given
    assert is_flight_recorder(pickle.dumps(given, protocol)[:4096])


def test_cut_json_is_refused() -> None:
    with pytest.raises(DumpError, match="damaged or cut"):
        read_flight_recorder(b'{"version": "2.10", "pg_config": {', "fr/rank_0")
    with pytest.raises(DumpError):
        read_flight_recorder(b'{"version":' + b"[" * 100_000, "fr/rank_0")
