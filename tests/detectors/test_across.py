"""One file a rank: together they name who stayed away; a later run tells what an outlived failure did. Lines made for these tests."""

from collections.abc import Callable
from datetime import datetime

from forensics.detectors import together
from forensics.model import Observation, Report, Stamp

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
    assert {p.source for p in cause.proofs} == {"rank0.log", "rank1.log", "rank2.log"}


def test_a_rank_without_a_report_is_named_across_files(analyze: Callable[..., Report]) -> None:
    report = analyze(rank0_log=lines(0, 7, 9), rank1_log=lines(1, 7, 9), rank2_log="step 7\n", rank3_log=lines(3, 7, 9))
    assert report.causes[0].facts["missing_ranks"] == "2"


def test_one_file_alone_and_equal_files_name_nobody(analyze: Callable[..., Report]) -> None:
    assert "culprit_rank" not in analyze(rank0_log=lines(0, 7, 9)).causes[0].facts
    both = analyze(rank0_log=lines(0, 7, 9), rank1_log=lines(1, 7, 9))
    assert "culprit_rank" not in both.causes[0].facts


SAVED = "2025-05-01 12:00:{second:02d},000 WARNING train: could not write the checkpoint: [Errno 28] No space left on device\n"
STEPS = "".join(f"2025-05-01 12:00:{s:02d},500 INFO train: step {s} loss 0.5\n" for s in range(40))
DAMAGED = "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n"


def test_a_full_disk_that_a_run_outlived_is_the_root_of_the_damaged_file_of_the_next(analyze: Callable[..., Report]) -> None:
    first = STEPS + SAVED.format(second=41) + STEPS.replace(" 12:", " 13:") + "exit status 0\n"
    assert [(c.id, c.role) for c in analyze(run1_log=first, run2_log=DAMAGED).causes[:2]] == [
        ("storage.full", "root"),
        ("data.corrupt", "symptom"),
    ]


def test_a_file_that_was_damaged_before_the_disk_was_full_has_another_reason() -> None:
    def event(cause: str, weight: str, second: int) -> Observation:
        stamp = Stamp(datetime(2025, 5, 1, 12, 0, second))
        return Observation(f"{cause}/enospc", cause, weight, f"{second}.log", 1, 1, (), {}, stamp=stamp)  # type: ignore[arg-type]

    met, cut = event("data.corrupt", "proof", 20), event("storage.full", "hint", 30)
    assert together({"20.log": [met], "30.log": [cut]})["30.log"][0].weight == "hint"
    assert together({"40.log": [event("data.corrupt", "proof", 40)], "30.log": [cut]})["30.log"][0].weight == "strong"
