"""The ranks whose lines stand beside a time-out, by the tags of launchers."""

import pytest

from forensics.readers.torch.rank_places import reporting_ranks

TIMED_OUT = "RuntimeError: [unbound_buffer.cc:78] Timed out waiting 22000ms for recv operation to complete"


@pytest.mark.parametrize(("of_third", "told"), [(2, "2"), (5, None)])
def test_a_rank_that_only_prints_is_known_by_the_number_on_its_node(of_third: int, told: str | None) -> None:
    """On a further node the third process has another rank, so the number of one that tells no rank says nothing."""
    lines = ["[default1]:fetch shard-01.pt: connection refused, retry 5/5 in 16s"]
    lines += [f"[default{local}]:[rank{rank}]: {TIMED_OUT}" for local, rank in ((0, 0), (2, of_third))]
    found = reporting_ranks({"timeout_s": 22, "rank": 0}, (), lines, 1)
    assert found.get("quiet_ranks") == (None if told is None else "1")


def test_a_rank_that_torchrun_lists_and_that_printed_nothing_is_quiet() -> None:
    lines = [
        "[rank0]: RuntimeError: Timed out waiting 32000ms",
        "  rank      : 0 (local_rank: 0)",
        "  rank      : 1 (local_rank: 1)",
    ]
    assert reporting_ranks({"timeout_s": 32, "rank": 0}, (), lines, 0) == {
        "reporters": "rank 0 reports it, rank 1 not",
        "quiet_ranks": "1",
    }
