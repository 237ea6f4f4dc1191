"""One file a rank: together they name who stayed away. Lines made for these tests."""

from collections.abc import Callable

from forensics.model import Report

STATUS = (
    "[rank{rank}]:[E512 11:02:09.2 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by "
    "watchdog at work sequence id: {at} PG status: last enqueued work: {enqueued}, last completed work: {done}\n"
)
CAUGHT = (
    "[rank{rank}]:[E512 11:02:09.1 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={at}, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n"
)


def lines(rank: int, at: int, enqueued: int) -> str:
    return CAUGHT.format(rank=rank, at=at) + STATUS.format(rank=rank, at=at, enqueued=enqueued, done=at - 1)


def test_the_rank_that_is_behind_is_named_across_files(analyze: Callable[..., Report]) -> None:
    report = analyze(rank0_log=lines(0, 808, 811), rank1_log=lines(1, 808, 811), rank2_log=lines(2, 806, 807))
    cause = report.causes[0]
    assert cause.id == "distributed.timeout"
    assert cause.facts["culprit_rank"] == 2
    assert "Look at rank 2 first" in cause.summary
    assert {p.source for p in cause.evidence} == {"rank0.log", "rank1.log", "rank2.log"}


def test_a_rank_without_a_report_is_named_across_files(analyze: Callable[..., Report]) -> None:
    report = analyze(rank0_log=lines(0, 7, 9), rank1_log=lines(1, 7, 9), rank2_log="step 7\n", rank3_log=lines(3, 7, 9))
    assert report.causes[0].facts["missing_ranks"] == "2"


def test_one_file_alone_and_equal_files_name_nobody(analyze: Callable[..., Report]) -> None:
    assert "culprit_rank" not in analyze(rank0_log=lines(0, 7, 9)).causes[0].facts
    both = analyze(rank0_log=lines(0, 7, 9), rank1_log=lines(1, 7, 9))
    assert "culprit_rank" not in both.causes[0].facts
