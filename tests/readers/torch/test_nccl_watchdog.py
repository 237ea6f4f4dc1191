"""The watchdog's lines of every version give rank, operation, number, sizes and group; together they name who stayed away.

The lines are made for these tests from the constant words of ProcessGroupNCCL.cpp and TraceUtils.h.
"""

import pytest

from forensics.readers.base import Record
from forensics.readers.torch import nccl_watchdog
from tests.readers.regions import proven, regions


def records(text: str) -> list[Record]:
    found = [r for region in regions(text, nccl_watchdog.TRIGGER) if (r := nccl_watchdog.read(region))]
    return [p for r in nccl_watchdog.join(found) if (p := proven(r))]


def only(text: str) -> Record:
    found = records(text)
    assert len(found) == 1
    return found[0]


def caught(
    rank: int, seq: int, op: str = "ALLREDUCE", numel: int = 1024, out: int = 0, stamp: str = "E512 11:02:09.125813402"
) -> str:
    return (
        f"[rank{rank}]:[{stamp} ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={out or numel}, Timeout(ms)=600000) ran for 600031 "
        "milliseconds before timing out."
    )


def status(rank: int, at: int, enqueued: int, completed: int) -> str:
    return (
        f"[rank{rank}]:[E512 11:02:09.2 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by "
        f"watchdog at work sequence id: {at} PG status: last enqueued work: {enqueued}, last completed work: {completed}"
    )


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (  # 1.8
            "RuntimeError: [Rank 1] Caught collective operation timeout: WorkNCCL(OpType=BROADCAST, TensorShape=[128, 64], "
            "Timeout(ms)=1800000) ran for 1800411 milliseconds before timing out.",
            {"rank": 1, "op": "BROADCAST", "timeout_s": 1800.0},
        ),
        (  # 1.9 to 2.1
            "[E ProcessGroupNCCL.cpp:821] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=316, "
            "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1803457 milliseconds before timing out.",
            {"rank": 0, "op": "ALLREDUCE", "seq": 316},
        ),
        (caught(3, 911), {"rank": 3, "seq": 911, "numel_in": 1024, "numel_out": 1024, "timeout_s": 600.0}),
        (  # 2.3
            "[rank1]:[E101 04:00:17.5 ProcessGroupNCCL.cpp:1709] [PG 0 (default_pg) Rank 1] Timeout at NCCL work: 31, last enqueued "
            "NCCL work: 40, last completed NCCL work: 30.",
            {"rank": 1, "seq": 31, "last_enqueued": 40, "last_completed": 30, "process_group": "0 (default_pg)"},
        ),
        (  # 2.4, a sub-group: the rank in front is the one in the job
            "[rank9]:[E101 04:00:17.5 ProcessGroupNCCL.cpp:1664] [PG 1 Rank 1] Exception (either an error or timeout) detected by "
            "watchdog at work: 12, last enqueued NCCL work: 14, last completed NCCL work: -1.",
            {"rank": 9, "seq": 12, "last_enqueued": 14, "last_completed": -1, "process_group": "1"},
        ),
        (status(5, 12, 14, 11), {"rank": 5, "seq": 12, "last_enqueued": 14, "process_group": "0 (default_pg)"}),
        (  # with TORCH_NCCL_DESYNC_DEBUG
            "[PG ID 2 PG GUID 4(dp) Rank 1]  failure detected by watchdog at work sequence id: 18 PG status: last enqueued work: 39, "
            "last started work: 19 (_ALLGATHER_BASE), last completed work: 17",
            {"rank": 1, "seq": 18, "last_enqueued": 39, "last_completed": 17, "process_group": "4 (dp)"},
        ),
        (
            "[PG ID 0 PG GUID 0 Rank 2] Received a dump signal due to a collective timeout from  rank 5 and we will try our best to dump "
            "the debug info. Last enqueued NCCL work: 18, last completed NCCL work: 17.This is most likely caused by",
            {"rank": 2, "first_rank": 5, "last_enqueued": 18, "last_completed": 17},
        ),
    ],
)
def test_the_wording_of_each_version_is_read(line: str, fields: dict[str, object]) -> None:
    record = only(line)
    assert {k: record.fields.get(k) for k in fields} == fields
    assert record.cause == "distributed.timeout"


def test_a_message_that_a_terminal_wrapped_is_joined() -> None:
    record = only(
        "[PG 0 (default_pg) Rank 3] Timeout at NCCL work: 2070, last enqueued \nNCCL work: 2082, last completed NCCL work: 2069."
    )
    assert record.fields["last_enqueued"] == 2082
    broken = only(
        "[PG 0 (default_pg) Rank 3] Timeout at NCCL work: 2070, last enqu\neued NCCL work: 2082, last completed NCCL work: 2069."
    )
    assert broken.fields["last_completed"] == 2069


def test_all_ranks_become_one_record_with_lines_of_each() -> None:
    text = "\n".join([caught(0, 808), "loss 0.1", caught(1, 808), status(0, 808, 811, 807), status(1, 808, 811, 807)])
    record = only(text)
    assert (record.first, record.last, record.weight) == (1, 5, "proof")
    assert {line.number for line in record.quote} == {1, 3, 4, 5}
    assert "culprit_rank" not in record.fields


def test_the_rank_with_the_lowest_last_enqueued_number_is_the_culprit() -> None:
    text = "\n".join([status(0, 808, 811, 807), status(1, 808, 811, 807), status(2, 806, 807, 805), caught(0, 808)])
    record = only(text)
    assert record.fields["culprit_rank"] == 2
    assert "807" in str(record.fields["culprit_reason"])
    assert 3 in {line.number for line in record.quote}


def test_several_groups_under_one_number_decide_nothing() -> None:
    lines = [
        f"[rank{rank}]:[E1 01:02:03 ProcessGroupNCCL.cpp:1664] [PG 1 Rank {rank % 2}] Exception (either an error or timeout) detected by "
        f"watchdog at work: 5, last enqueued NCCL work: {9 - rank // 2}, last completed NCCL work: 4."
        for rank in range(4)
    ]
    assert "culprit_rank" not in only("\n".join(lines)).fields


def test_a_rank_that_runs_something_else_is_the_culprit() -> None:
    text = "\n".join([caught(0, 7), caught(1, 7, op="BROADCAST"), caught(2, 7), caught(3, 7)])
    record = only(text)
    assert record.fields["culprit_rank"] == 1
    assert "BROADCAST" in str(record.fields["culprit_reason"])
    sizes = only("\n".join([caught(0, 7), caught(1, 7), caught(2, 7, numel=999)]))
    assert sizes.fields["culprit_rank"] == 2


def test_a_rank_that_is_missing_among_the_others_is_named() -> None:
    record = only("\n".join(caught(rank, 7) for rank in (0, 1, 3)))
    assert record.fields["culprit_rank"] == 2
    assert record.fields["missing_ranks"] == "2"


def test_the_sizes_of_a_gather_tell_how_many_ranks_there_are() -> None:
    text = "\n".join(caught(rank, 7, op="_ALLGATHER_BASE", numel=10, out=40) for rank in (0, 1, 2))
    assert only(text).fields["missing_ranks"] == "3"


def test_an_excerpt_of_few_ranks_names_nobody() -> None:
    assert "missing_ranks" not in only("\n".join([caught(0, 7), caught(6, 7)])).fields
    assert "missing_ranks" not in only("\n".join([caught(0, 7), caught(99_999_999_999_999, 7)])).fields  # all of memory, once
    assert "missing_ranks" not in only(caught(5, 7)).fields


def test_a_rank_that_failed_in_another_way_is_the_culprit() -> None:
    other = (
        "[rank2]:[E512 11:02:09.1 ProcessGroupNCCL.cpp:1515] [PG 0 Rank 2] Process group watchdog thread terminated with exception: "
        "CUDA error: an illegal memory access was encountered"
    )
    record = only("\n".join([caught(0, 7), other, caught(1, 7)]))
    assert record.fields["culprit_rank"] == 2
    assert "illegal memory access" in str(record.fields["culprit_reason"])
    assert records(other) == []


def test_the_desync_report_is_believed_first() -> None:
    text = "\n".join(
        [
            caught(0, 41),
            "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:",
            "\t   - [2] joined but didn't finish collective #40 (count from 1)",
            "\t     [3] finished collective #40, but didn't join collective #41 (count from 1)",
        ]
    )
    assert only(text).fields["culprit_rank"] == 3
    lagging = "\t - To our best knowledge, ranks [1, 4] are the lagging ranks that caused this timeout. They never joined any collectives"
    assert only(f"{caught(0, 1)}\n{lagging}").fields["culprit_ranks"] == "1, 4"


def test_a_time_out_after_a_restart_is_another_record() -> None:
    early, late = caught(0, 5, stamp="E512 11:02:09.1"), caught(0, 3, stamp="E512 13:40:00.1")
    assert [r.fields["seq"] for r in records(f"{early}\n{late}")] == [5, 3]


def test_ranks_that_wait_in_different_collectives_are_told_with_both() -> None:
    """Which of them left the common path is not known: most ranks can stand behind a branch that one did not take."""
    found = only("\n".join([caught(1, 8211), caught(2, 8211), caught(0, 8214, "BROADCAST", 1)]))
    assert found.fields["collectives"] == "ranks 1-2 in ALLREDUCE number 8211, rank 0 in BROADCAST number 8214"
    assert "culprit_rank" not in found.fields
    assert "collectives" not in only("\n".join([caught(1, 8211), caught(0, 8214)])).fields
    apart = only("\n".join([caught(1, 8211), caught(0, 30, "BROADCAST", 1)]))  # counted in another group
    assert "collectives" not in apart.fields
