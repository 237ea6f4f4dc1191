"""Calls between two ranks, of which only the frame of the call tells the other one."""

import pytest

from forensics.model import Line
from forensics.ranks import picture
from forensics.ranks.pairs import circle_of, left_by_peer
from forensics.readers.python.process_stacks import read_stacks
from tests.ranks.cases import dump, group
from tests.ranks.test_by_stacks import IN_CALL, LIBRARY, drawn, stack

CALLS = f"{LIBRARY}/distributed/distributed_c10d.py"


def exchange(rank: int, peer: int, call: str = "recv", line: int = 24, told: bool = True) -> list[str]:
    """The stack of a rank that waits for another one, as `run` keeps it; py-spy shows the rank as a variable."""
    frames = f"{call} ({CALLS}:2799)|wrapper ({LIBRARY}/distributed/c10d_logger.py:83)|exchange (/run/ring.py:{line})|main (/run/ring.py:54)"
    head, *rest = stack(rank, frames)
    return [head, *([f"forensics run: at {CALLS}:2799: its peer is rank {peer}"] if told else []), *rest]


def test_the_rank_that_went_on_without_its_part_is_told() -> None:
    given = exchange(0, 3, line=22), stack(1, IN_CALL), stack(2, IN_CALL), exchange(3, 2)
    (odd,) = drawn(*given).odd
    assert (odd.rank, odd.kind, odd.others and odd.others.line, odd.call) == (2, "left_out", 24, "recv")
    assert odd.place and odd.place.line == 14 and "in which rank 3 waits for it" in odd.doing


def test_variables_of_py_spy_tell_the_peer_too() -> None:
    shown = exchange(3, 2, told=False)
    at = next(n for n, text in enumerate(shown) if "2799" in text)
    given = (
        exchange(0, 3),
        stack(1, IN_CALL),
        stack(2, IN_CALL),
        [*shown[: at + 1], "        Arguments:", "            src: 2", *shown[at + 1 :]],
    )
    assert [odd.rank for odd in drawn(*given).odd] == [2]
    root = f"broadcast ({CALLS}:3100)|main (/run/ring.py:60)"  # its `src` is the root, for which it does not wait alone
    given = *given[:2], stack(2, root), given[3]
    assert [odd.rank for odd in drawn(*given).odd] == [2]


def test_a_rank_without_a_stack_for_which_another_waits_is_told() -> None:
    found = drawn(exchange(0, 3), stack(1, IN_CALL), stack(2, IN_CALL), stack(4, IN_CALL))
    assert [(odd.rank, odd.kind) for odd in found.odd] == [(3, "no_dump")]


def test_where_nothing_tells_the_peer_one_of_the_others_may_have_left_its_part_out() -> None:
    (odd,) = drawn(exchange(0, 3, told=False), stack(1, IN_CALL), stack(2, IN_CALL), stack(3, IN_CALL)).odd
    assert (odd.rank, odd.kind, odd.rival.startswith("one of the others left out its part")) == (0, "other_call", True)


def test_of_a_pipeline_whose_peers_are_not_known_nobody_is_odd_but_a_rank_without_a_stack() -> None:
    given = [exchange(rank, 0, line=7 if rank == 3 else 15, told=False) for rank in range(4)]
    assert drawn(*given).odd == ()
    assert [(odd.rank, odd.kind) for odd in drawn(*given[:2], given[3]).odd] == [(2, "no_dump")]


def test_ranks_that_wait_for_each_other_are_both_told() -> None:
    given = exchange(0, 1, line=31), exchange(1, 2, line=31), exchange(2, 1), exchange(3, 2)
    assert [(odd.rank, odd.kind) for odd in drawn(*given).odd] == [(1, "left_out"), (2, "left_out")]


@pytest.mark.parametrize(
    ("peers", "circle"),
    [({}, {}), ({0: 1, 1: 2}, {}), ({0: 1, 1: 2, 2: 1}, {1: 2, 2: 1}), ({0: 1, 1: 2, 2: 0}, {0: 1, 1: 2, 2: 0})],
)
def test_a_circle_is_what_leads_back_to_itself(peers: dict[int, int], circle: dict[int, int]) -> None:
    assert circle_of(peers) == circle
    assert left_by_peer(peers, {9} - peers.keys()) == {}


def test_of_a_pipeline_a_rank_without_a_stack_that_wrote_a_dump_works() -> None:
    given = [exchange(rank, 0, line=7 if rank == 3 else 15, told=False) for rank in (0, 1, 3)]
    read = [one for text in given for one in read_stacks([Line(n, line) for n, line in enumerate(text, 1)], "x")]
    for wrote, named in ((range(4), []), ((0, 1, 3), [2])):
        found = picture([dump(rank, group("0", [], range(4)), backend="gloo") for rank in wrote], read)
        assert found is not None and [odd.rank for odd in found.odd] == named
