"""Over gloo a rank that gets more than it expects ends, whichever of two ranks has the other size."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics.database import Database
from forensics.model import Observation, Proof
from forensics.model.dumps import Dump, Frame
from forensics.model.ranks import ProofPlace, RankPicture
from forensics.pipeline import analyze_paths
from forensics.ranks import picture
from forensics.ranks.ended import Ended, Ends, ended_ranks
from tests.ranks.cases import call, dump, group, job

LOST = "Connection closed by peer [127.0.0.1]:23721. This is typically caused by a remote worker hanging or bugs"
SIZES = "op.preamble.length <= op.nbytes. 112 vs 96. Received data size doesn't match expected size."


def failed(folder: Path, aborts: int, operation: str, line: int = 22) -> Path:
    """The logs of a job of four ranks of which one ended so; neither dumps nor stacks were taken."""
    for rank in range(4):
        text = f"""Traceback (most recent call last):
  File "/run/loops.py", line 22, in train_epoch
RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] {LOST}
"""
        (folder / f"rank{rank}.log").write_text("".join(f"[rank{rank}]: {row}\n" for row in text.splitlines()))
    own = f"""terminate called after throwing an instance of 'gloo::EnforceNotMet'
  what():  [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] {SIZES}
Fatal Python error: Aborted

Thread 0x00007f8dcc469b80 (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252 in {operation}
  File "/venv/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 83 in wrapper
  File "/run/loops.py", line {line} in train_epoch
  File "/run/main.py", line 25 in main
"""
    (folder / f"rank{aborts}.log").write_text("".join(f"[rank{aborts}]: {row}\n" for row in own.splitlines()))
    return folder


@pytest.mark.parametrize(("aborts", "operation", "sender"), [(1, "all_reduce", 2), (3, "all_reduce", 0), (0, "all_gather", 3)])
def test_the_rank_that_ended_is_told_with_the_one_from_which_it_got_the_bytes(
    aborts: int, operation: str, sender: int, knowledge: Database, tmp_path: Path
) -> None:
    first = analyze_paths([failed(tmp_path, aborts, operation)], "sizes", knowledge).causes[0]
    assert (first.facts["culprit_rank"], first.facts["culprit_kind"]) == (aborts, "other_shape")
    assert f"or that of rank {sender}, which sent them, is larger" in str(first.facts["culprit_reason"])
    assert "got 112 bytes and expects 96" in str(first.facts["culprit_reason"]) and "loops.py:22" in first.where
    assert "same shape" in first.remediations[0].action


def test_of_other_operations_nothing_tells_who_sent_them(knowledge: Database, tmp_path: Path) -> None:
    first = analyze_paths([failed(tmp_path, 1, "reduce_scatter_tensor")], "sizes", knowledge).causes[0]
    assert (first.facts["culprit_rank"], first.facts["culprit_kind"]) == (1, "other_shape")
    assert "the rank which sent them" in str(first.facts["culprit_reason"])


def test_a_rank_that_ends_at_another_line_made_another_call(knowledge: Database, tmp_path: Path) -> None:
    first = analyze_paths([failed(tmp_path, 3, "all_reduce", line=35)], "sizes", knowledge).causes[0]
    assert (first.facts["culprit_rank"], first.facts["culprit_kind"]) == (3, "other_call")
    assert "loops.py:35" in first.where and "fewer batches" in str(first.facts["culprit_reason"])


@pytest.mark.parametrize(("lines", "odd"), [((76, 100, 76), [2]), ((100, 100, 76), [1]), ((76, 76, 76), [1])])
def test_where_the_lines_of_all_others_are_known_those_of_the_fewer_are_odd(lines: tuple[int, ...], odd: list[int]) -> None:
    """Rank 1 gets the bytes of rank 2 in a sum of four ranks; nothing tells the line of rank 1."""
    proof = ProofPlace("job.log", 2, SIZES)
    gave_up = {
        rank: Ended("it gave up", Frame("/run/train.py", line, "main"), proof, "", call="all_reduce")
        for rank, line in zip((0, 2, 3), lines, strict=True)
    }
    ends = Ends({1: Ended("it was ended by SIGABRT", None, proof, "", 292, 4)}, gave_up)
    found = picture((), (), ends, by_logs=True)
    assert found is not None and [one.rank for one in found.odd] == odd
    assert all(one.place and one.place.line == 100 for one in found.odd if one.rank == 2)


@pytest.mark.parametrize(
    ("received", "expected", "kind"), [(388, 4, "other_batches"), (8, 4, "other_shape"), (112, 96, "other_shape")]
)
def test_a_single_number_where_others_give_many_is_called_for_behind_a_loop(received: int, expected: int, kind: str) -> None:
    """Nothing tells the line of rank 1."""
    proof = ProofPlace("job.log", 2, SIZES)
    gave_up = {rank: Ended("it gave up", Frame("/run/train.py", 10, "step"), proof, "") for rank in (0, 2)}
    found = picture(
        (), (), Ends({1: Ended("it was ended by SIGABRT", None, proof, "", received, expected)}, gave_up), by_logs=True
    )
    assert found is not None and [(one.rank, one.kind) for one in found.odd] == [(1, kind)]
    assert found.odd[0].rival.startswith("it makes another call") == (kind == "other_shape")
    assert (found.odd[0].place is not None) == (kind == "other_shape")  # that of the others, who are all in one call


def ended(*dumps: Dump) -> RankPicture:
    proof = ProofPlace("job.log", 2, SIZES)
    own = {1: Ended("it was ended by SIGABRT", Frame("/run/train.py", 10, "step"), proof, "", 112, 96, "all_reduce")}
    gave_up = {rank: Ended("it gave up", Frame("/run/train.py", 10, "step"), proof, "") for rank in (0, 2)}
    found = picture(dumps, (), Ends(own, gave_up))
    assert found is not None
    return found


def test_dumps_of_two_others_that_are_alike_tell_that_the_one_which_ended_is_odd() -> None:
    calls = [call(seq) for seq in range(4)]
    alike = job({rank: [*calls, call(4, pending=True)] for rank in (0, 2)}, backend="gloo")
    assert [(odd.rank, odd.kind, odd.place and odd.place.line) for odd in ended(*alike).odd] == [(1, "other_shape", 10)]
    unlike = job({0: [*calls, call(4, pending=True)], 2: [*calls, call(4, pending=True, inputs="Float[9]")]}, backend="gloo")
    assert {odd.kind for odd in ended(*unlike).odd} == {"other_shape"} and 1 not in {odd.rank for odd in ended(*unlike).odd}


def test_a_rank_that_gave_another_shape_than_before_at_the_same_line_is_odd() -> None:
    """Two ranks make a group: no other one tells which of them has the usual shape."""
    calls = [call(seq) for seq in range(4)]
    dumps = {0: [*calls, call(4, pending=True)], 2: [*calls, call(4, pending=True, inputs="Float[9]")]}
    (odd,) = ended(*(dump(rank, group(str(rank), made)) for rank, made in dumps.items())).odd
    assert (odd.rank, odd.kind, "Float[8] before" in odd.doing) == (2, "other_shape", True)
    (odd,) = ended(dump(2, group("2", [*calls, call(4, inputs="Float[9]"), call(5, pending=True)]))).odd
    assert odd.rank == 1


def test_bytes_that_differ_are_those_of_the_only_rank_that_ended(knowledge: Database) -> None:
    """Where all ranks print to one stream, the line has no rank."""
    proof = (Proof("job.log", 2, SIZES, "gloo", "strong"),)
    sizes = Observation("distributed.timeout/sizes", "distributed.timeout", "strong", "job.log", 2, 2, proof, {
        "received_bytes": 112, "expected_bytes": 96})  # fmt: skip
    aborted = Observation("abort", "process.abort", "strong", "job.log", 5, 5, proof, {"rank": 1, "signal": 6})
    end = ended_ranks([sizes, aborted], {}, knowledge).own[1]
    assert (end.received, end.expected) == (112, 96)
    other = replace(aborted, fields={"rank": 2, "signal": 6})
    assert ended_ranks([sizes, aborted, other], {}, knowledge).own[1].received == 0


def mismatch(folder: Path, calls: list[str]) -> Path:
    """The logs of ranks that PyTorch ended when it compared their calls (TORCH_DISTRIBUTED_DEBUG=DETAIL)."""
    for rank, called in enumerate(calls):
        other = next((r for r, c in enumerate(calls) if c != called), 0)
        told = [f"Rank {r} is running collective: CollectiveFingerPrint(SequenceNumber=9, {calls[r]})" for r in (rank, other)]
        text = f"""[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/run/share.py", line 10, in share
[rank{rank}]:     dist.all_reduce(t)
[rank{rank}]: RuntimeError: Detected mismatch between collectives on ranks. {told[0]}, but {told[1]}.
"""
        (folder / f"rank{rank}.log").write_text(text)
    return folder


FLOAT, DOUBLE = (f"OpType=ALLREDUCE, TensorShape=[32], TensorDtypes={t}, TensorDeviceTypes=T()" for t in ("Float", "Double"))


@pytest.mark.parametrize(
    ("calls", "odd", "kind"),
    [
        ([FLOAT, DOUBLE, FLOAT], [1], "other_shape"),
        ([FLOAT, FLOAT, "OpType=BARRIER"], [2], "other_call"),
        ([FLOAT, DOUBLE], [0, 1], "other_shape"),
    ],
)
def test_where_pytorch_compared_the_calls_the_rank_whose_call_few_make_is_odd(
    tmp_path: Path, calls: list[str], odd: list[int], kind: str, knowledge: Database
) -> None:
    seen = analyze_paths([mismatch(tmp_path, calls)], "case", knowledge).ranks
    assert seen is not None
    texts = [(tmp_path / f"rank{rank}.log").read_text() for rank in range(len(calls))]
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "job.log").write_text("".join(texts))  # all print to one log
    one = analyze_paths([tmp_path / "one"], "case", knowledge).ranks
    assert one is not None and ([o.rank for o in one.odd], {o.kind for o in one.odd}) == (odd, {kind})
    assert ([o.rank for o in seen.odd], {o.kind for o in seen.odd}) == (odd, {kind})
    assert all(o.place and o.place.line == 10 for o in seen.odd)
