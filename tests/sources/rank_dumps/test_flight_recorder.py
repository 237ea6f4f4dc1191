"""Dumps of PyTorch's flight recorder: of gloo as captured, of NCCL in its versions, and as JSON."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from forensics.sources.rank_dumps import DumpError, is_flight_recorder, read_flight_recorder
from forensics.sources.rank_dumps.flight_recorder import MAX_RANKS, rank_of_name
from tests.sources.rank_dumps.hostile_pickles import plain

CAPTURED = Path(__file__).parents[2] / "ranks" / "captured"


def entry(**more: Any) -> dict[str, Any]:
    return plain()["entries"][0] | more


def test_a_captured_dump_of_gloo_tells_calls_lines_and_what_is_unfinished() -> None:
    path = CAPTURED / "exception_averaging_4" / "fr" / "rank_1"
    dump = read_flight_recorder(path.read_bytes(), str(path))
    assert (dump.rank, dump.version, dump.backend) == (1, "2.10", "gloo")
    (group,) = dump.groups
    assert (group.title, group.members, group.enqueued, group.first_pending) == ("default_pg (0)", (), 18, 18)
    last = group.calls[-1]
    assert (last.op, last.inputs, last.pending) == ("all_reduce", "Float[64]", True)
    assert [f.place for f in last.frames][2:4] == ["hung_ranks.py:117", "hung_ranks.py:169"]
    assert "all_reduce no. 18 of group default_pg (0), Float[64], unfinished" in dump.text[last.line - 1]
    assert list(group.seqs) == list(range(1, 19))
    assert all(a < b for a, b in zip(group.created_ns, group.created_ns[1:], strict=False))


@pytest.mark.parametrize("version", ["2.1", "2.4", "2.9", "2.10"])
def test_versions_of_nccl(version: str) -> None:
    given = plain(version=version)
    if version == "2.1":  # fields that came later
        one = given["entries"][0]
        one["seq_id"] = one.pop("collective_seq_id")
        for name in ("p2p_seq_id", "retired", "is_p2p", "op_id"):
            one.pop(name)
    dump = read_flight_recorder(pickle.dumps(given, 2), "nccl_trace_rank_5")
    (group,) = dump.groups
    assert (dump.rank, dump.version) == (5, version)
    assert (group.members, group.enqueued, group.first_pending) == ((0, 1), 1, 1)


def test_json_tells_the_same() -> None:
    given = plain(rank=3)
    data = json.dumps(given).encode()
    assert is_flight_recorder(data[:300])
    dump = read_flight_recorder(data, "trace.json")
    assert dump.rank == 3
    assert dump.groups == read_flight_recorder(pickle.dumps(given, 2), "x_3").groups


def test_a_group_without_calls_is_known_by_its_status() -> None:
    """NCCL's dumps of active calls only: groups are numbered in the order in which they were made, and named so, too."""
    config = {name: {"name": name, "desc": d, "ranks": "[0, 1]"} for name, d in (("0", "default_pg"), ("7", "dp"), ("41", "tp"))}
    status = {"0": {"last_enqueued_collective": 9, "last_completed_collective": 9}}
    status |= {"1": {"last_enqueued_collective": 40, "last_completed_collective": 39}, "4": {"last_enqueued_collective": 5}}
    given = plain(pg_config=config, pg_status=status, entries=[entry(pg_id=4, process_group=("41", "tp"))])
    groups = {g.name: g for g in read_flight_recorder(pickle.dumps(given, 2), "r_0").groups}
    assert (groups["7"].title, groups["7"].enqueued, groups["7"].first_pending) == ("dp (7)", 40, 40)
    assert (groups["0"].enqueued, groups["0"].first_pending) == (9, -1)


def test_a_call_that_is_completed_or_retired_is_not_pending() -> None:
    given = plain(
        entries=[entry(state="completed"), entry(collective_seq_id=2, retired=True), entry(collective_seq_id=3, state="started")]
    )
    (group,) = read_flight_recorder(pickle.dumps(given, 2), "r_0").groups
    assert [c.pending for c in group.calls] == [False, False, True]
    assert [c.started for c in group.calls] == [None, None, True]


@pytest.mark.parametrize(
    ("given", "got", "ranks"),
    [([[8, 2]], [[8, 2]] * 3, 3), ([[8]], [[3, 8]], 3), ([[0]], [[0]], 0), ([], [], 0), ([[1]], [[1 << 40]], MAX_RANKS)],
)
def test_shapes_of_a_gather_tell_the_size_of_the_group(given: list[list[int]], got: list[list[int]], ranks: int) -> None:
    one = entry(profiling_name="gloo:all_gather", input_sizes=given, output_sizes=got)
    assert read_flight_recorder(json.dumps(plain(entries=[one])).encode(), "rank_0").groups[0].size == ranks


def test_calls_that_are_numbered_over_all_groups_are_numbered_by_group() -> None:
    """torchcomms: `process_group` is a list in its JSON, members have no brackets, and 0 stands for no time."""
    config = {name: {"name": name, "desc": "nccl", "ranks": "0,1"} for name in ("dp", "tp")}
    groups = ["dp", "tp", "tp"] * 3
    entries = [
        entry(collective_seq_id=n, process_group=[name, "nccl"], time_discovered_started_ns=0) for n, name in enumerate(groups)
    ]
    data = json.dumps(plain(pg_config=config, pg_status={}, entries=entries)).encode()
    found = {g.name: g for g in read_flight_recorder(data, "comm_lib_trace_rank_1").groups}
    assert {name: list(g.seqs) for name, g in found.items()} == {"dp": [1, 2, 3], "tp": [1, 2, 3, 4, 5, 6]}
    assert (found["dp"].members, found["dp"].calls[0].started) == ((0, 1), None)
    wrapped = [one | {"collective_seq_id": one["collective_seq_id"] + 500} for one in entries]
    with pytest.raises(DumpError, match="overwritten"):
        read_flight_recorder(json.dumps(plain(pg_config=config, entries=wrapped)).encode(), "comm_lib_trace_rank_1")


@pytest.mark.parametrize(
    ("name", "rank"),
    [("fr/rank_3", 3), ("_dump_12", 12), ("nccl_trace_rank_5", 5), ("a/rank7.json", 7), ("comm_lib_trace_rank_0.pickle.gz", 0),
     ("job_4711/rank_2_host9", 2), ("dump", None)],
)  # fmt: skip
def test_the_rank_stands_in_the_name(name: str, rank: int | None) -> None:
    assert rank_of_name(name) == rank


def test_other_files_are_no_dumps() -> None:
    assert not is_flight_recorder(b"\x80\x02}q\x00X\x05\x00\x00\x00modelq\x01")
    assert not is_flight_recorder(b'{"version": "2.1", "metadata": {}}')
    assert not is_flight_recorder(b"the pg_config of rank 1 ...")
