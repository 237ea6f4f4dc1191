"""Ends of ranks that logs tell by another number than the rank."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics.database import Database
from forensics.model import Observation, Proof, Value
from forensics.model.ranks import RankProcess
from forensics.pipeline.source_analysis import analyze_sources
from forensics.ranks.ended import ended_ranks
from forensics.sources import open_paths


def end(line: int, fields: Mapping[str, Value]) -> Observation:
    proofs = (Proof("job.log", line, "KeyError: 'b'", "traceback", "strong"),)
    return Observation("traceback", "code.exception", "strong", "job.log", line, line, proofs, dict(fields))


@pytest.mark.parametrize(
    ("fields", "ranks"),
    [
        ([{"local_rank": 2}], {2}),
        ([{"child_no": 1}], {1}),
        ([{"process_no": 0}, {"process_no": 2}], {0, 2}),
        ([{"process_no": 1}, {"process_no": 2}], set()),  # they may count from 0 or from 1
        ([{"rank": 4}, {"local_rank": 2}], {4}),
        ([{"pid": 77}], {5}),
    ],
)
def test_the_rank_by_what_the_log_tells(fields: list[dict[str, Value]], ranks: set[int], knowledge: Database) -> None:
    events = [end(n, one) for n, one in enumerate(fields, 1)]
    assert ended_ranks(events, {5: RankProcess(77, "gpu-1")}, knowledge).own.keys() == ranks


def test_of_several_hosts_a_local_number_tells_no_rank(knowledge: Database) -> None:
    two = {0: RankProcess(77, "gpu-1"), 8: RankProcess(78, "gpu-2")}
    assert not ended_ranks([end(1, {"local_rank": 2})], two, knowledge).own


def test_a_negative_exit_status_is_a_signal(knowledge: Database) -> None:
    told = ended_ranks([end(1, {"rank": 2, "exit_code": -9}), end(2, {"rank": 3, "exit_code": 3})], {}, knowledge).own
    assert {rank: one.text for rank, one in told.items()} == {2: "it was ended by SIGKILL", 3: "it ended with exit status 3"}
    assert ended_ranks([end(1, {"rank": 2, "exit_code": -99})], {}, knowledge).own[2].text == "it was ended by signal 99"


def test_a_line_that_tells_no_more_than_an_end_gives_way_to_the_one_that_tells_how(knowledge: Database) -> None:
    """A program prints `terminate called`, and the launcher tells the signal."""
    events = [end(1, {"rank": 2}), end(2, {"rank": 2, "signal": 6}), end(3, {"rank": 3})]
    told = ended_ranks(events, {}, knowledge).own
    assert {rank: one.text for rank, one in told.items()} == {2: "it was ended by SIGABRT", 3: "it ended: KeyError: 'b'"}


@pytest.mark.parametrize(("statuses", "ranks"), [({3: 64}, {3}), ({3: 64, 1: 1}, set()), ({0: 1, 3: 64}, {3}), ({3: -15}, set())])
def test_the_status_that_a_launcher_tells_is_the_end_of_the_only_rank_that_did_not_wait(
    statuses: dict[int, int], ranks: set[int], knowledge: Database
) -> None:
    """Ranks 0 and 2 tell that they lost their connection."""
    lost = [replace(end(n, {"rank": n}), cause="distributed.peer_lost") for n in (0, 2)]
    rows = [
        replace(end(9 + rank, {"rank": rank, "exit_code": status}), kind="torchelastic", weight="hint")
        for rank, status in statuses.items()
    ]
    assert ended_ranks([*lost, *rows], {}, knowledge).own.keys() == ranks
    assert not ended_ranks(rows, {}, knowledge).own  # nobody waited


def test_a_limit_of_processor_time_is_told_as_such(knowledge: Database) -> None:
    events = [end(1, {"rank": 2, "cpu_limit_s": 60.0, "exit_code": 1, "signal": 9})]
    assert ended_ranks(events, {}, knowledge).own[2].text == "it was ended at its limit of processor time"


def test_a_rank_that_left_without_a_word_is_told_where_others_lost_it(knowledge: Database) -> None:
    proofs = (Proof("job.log", 9, "pid 8254 (python), child 1 of pid 8225, ended with exit status 3", "first_end", "hint"),)
    left = Observation("first_end", None, "hint", "job.log", 9, 9, proofs, {"pid": 8254, "child_no": 1, "exit_code": 3})
    lost = replace(end(3, {}), cause="distributed.peer_lost")
    told = ended_ranks([lost, left], {}, knowledge).own
    assert {rank: (one.text, one.cause) for rank, one in told.items()} == {1: ("it ended with exit status 3", "")}
    assert not ended_ranks([end(3, {}), left], {}, knowledge).own  # nobody waited for it
    assert ended_ranks([lost, end(4, {"rank": 2}), left], {}, knowledge).own.keys() == {2}  # an end with a reason goes before


def test_a_launcher_s_word_of_a_rank_that_gave_up_waiting_tells_no_end(knowledge: Database) -> None:
    gave_up = replace(end(32, {"local_rank": 3, "exc_type": "RuntimeError"}), cause="distributed.timeout")
    told = ended_ranks([end(21, {"local_rank": 3}), gave_up], {}, knowledge)
    assert (told.own.keys(), told.gave_up.keys()) == (set(), {3})
    told = ended_ranks([end(21, {"local_rank": 3, "signal": 9}), gave_up], {}, knowledge)
    assert told.own.keys() == {3}


def first_end(rank: int, **fields: Value) -> Observation:
    proofs = (Proof("job.log", 9, "pid 8254 (python) ended", "first_end", "hint"),)
    return Observation("first_end", None, "hint", "job.log", 9, 9, proofs, {"pid": 8254, "rank": rank, **fields})


def test_the_rank_that_ran_out_of_time_first_did_not_leave(knowledge: Database) -> None:
    ran_out = replace(end(3, {"rank": 0}), cause="distributed.timeout")
    assert not ended_ranks([ran_out, first_end(3, exit_code=1)], {}, knowledge).own
    assert ended_ranks([ran_out, first_end(3, signal=9)], {}, knowledge).own.keys() == {3}
    well = ended_ranks([ran_out, first_end(3, exit_code=0)], {}, knowledge).own  # it did not run out of time
    assert {rank: (one.text, one.kind == "ended_well") for rank, one in well.items()} == {
        3: ("it ended well (exit status 0) while others went on", True)
    }


def test_an_abort_is_brought_about_by_the_rank_that_ended_first(knowledge: Database) -> None:
    lost = replace(end(3, {}), cause="distributed.peer_lost")
    abort = replace(end(4, {"rank": 1, "signal": 6}), cause="process.abort")
    told = ended_ranks([lost, abort, first_end(0, exit_code=9)], {}, knowledge).own
    assert {rank: one.text for rank, one in told.items()} == {0: "it ended with exit status 9"}
    assert ended_ranks([lost, abort, first_end(1, signal=6)], {}, knowledge).own.keys() == {1}


def test_one_event_of_equal_lines_tells_of_all_ranks_that_gave_up(knowledge: Database) -> None:
    lines = [Proof("job.log", n, f"[rank{n}]: RuntimeError: Timed out waiting 32000ms", "", "strong") for n in (0, 3)]
    gave_up = replace(end(0, {"rank": 0}), cause="distributed.timeout", proofs=tuple(lines))
    assert ended_ranks([gave_up], {}, knowledge).gave_up.keys() == {0, 3}


def test_that_a_rank_stands_still_is_no_end(knowledge: Database) -> None:
    still = replace(end(4, {"rank": 1}), cause="process.stalled")
    assert not ended_ranks([still], {}, knowledge).own


def test_names_of_sources_tell_ranks_where_logs_tell_none(knowledge: Database) -> None:
    events = [replace(end(3, {}), source="out/worker_2.log")]
    assert ended_ranks(events, {}, knowledge, {"out/worker_2.log": 2}).own.keys() == {2}
    assert ended_ranks([*events, end(4, {"rank": 1})], {}, knowledge, {"out/worker_2.log": 2}).own.keys() == {1}


AGENT = "/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py"  # a launcher tells its own line


@pytest.mark.parametrize(
    ("cause", "file", "line"),
    [("process.abort", "/run/w.py", 49), ("code.exception", "/run/w.py", None), ("process.abort", AGENT, None)],
)
def test_a_dump_without_a_rank_tells_the_line_of_the_one_rank_that_ended_so(
    cause: str, file: str, line: int | None, knowledge: Database
) -> None:
    dumped = {"python_file": file, "python_line": 49, "python_function": "share"}
    abort = replace(end(4, {"rank": 1, "signal": 6}), cause="process.abort")
    (only,) = ended_ranks([abort, replace(end(5, dumped), cause=cause)], {}, knowledge).own.values()
    assert (only.frame and only.frame.line) == line


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("exit code 3", "it ended with exit status 3"),
        ("signal SIGKILL", "it was ended by SIGKILL"),
        ("signal SIGTERM", ""),  # by which a launcher ends the others
    ],
)
def test_a_process_that_a_program_spawned_and_that_ended_without_an_exception_is_a_rank(
    how: str, text: str, tmp_path: Path, knowledge: Database
) -> None:
    log = f"""Traceback (most recent call last):
  File "/run/spawned.py", line 52, in <module>
    mp.spawn(worker, nprocs=4)
  File "/venv/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 200, in join
    raise ProcessExitedException(
torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with {how}
"""
    (tmp_path / "job.log").write_text(log)
    noted: list[object] = []
    analyses = analyze_sources(open_paths([tmp_path], noted.append), knowledge, noted.append)
    events = [event for source in analyses for event in source.events]
    told = ended_ranks(events, {}, knowledge).own
    assert [(rank, end.text, end.frame, end.kind) for rank, end in told.items()] == ([(2, text, None, "left")] if text else [])
