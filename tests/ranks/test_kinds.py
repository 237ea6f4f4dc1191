"""Each kind is told by its own evidence, and where that is thin, the nearest other kind is told with it."""

from pathlib import Path

import pytest

from forensics.database import Database
from forensics.model.dumps import Frame
from forensics.model.ranks import ProofPlace
from forensics.pipeline import analyze_paths
from forensics.ranks.ended import Ended, Ends
from forensics.ranks.hooks import hook_of
from forensics.ranks.kinds import Apart, kind_apart
from forensics.ranks.observation import reason_and_rival
from forensics.ranks.threads import program_frames
from tests.ranks.test_by_stacks import IN_CALL, LIBRARY, LOADS, WAITS, drawn, stack

PLACE = ProofPlace("job.log", 3, "text")


@pytest.mark.parametrize(
    ("shown", "kind"),
    [
        (Apart("all_reduce", "all_reduce", is_one_call=True), "other_shape"),
        (Apart("barrier", "all_reduce", loop="left"), "other_batches"),
        (Apart("all_reduce", "barrier", is_one_call=True, loop="still_in"), "other_batches"),
        (Apart("all_reduce", "barrier"), "barrier"),
        (Apart("monitored_barrier", "all_reduce", follows=True), "barrier"),
        (Apart("all_reduce", "all_gather", is_one_call=True, follows=True), "left_out"),
        (Apart("all_gather", "all_reduce", two_groups=True), "other_order"),
        (Apart("all_reduce", "all_reduce"), "other_order"),  # calls of one group meet, wherever they were made
        (Apart("all_reduce", "all_reduce", is_behind=True), "other_call"),  # it may have left the other one out
        (Apart("a collective call", "a collective call"), "other_call"),
        (Apart("all_gather", "all_reduce"), "other_call"),
        (Apart("recv", "recv"), "other_call"),
    ],
)
def test_of_ranks_in_two_calls_the_first_evidence_tells_the_kind(shown: Apart, kind: str) -> None:
    assert kind_apart(shown) == kind


MODULE, ENGINE = f"inner ({LIBRARY}/nn/modules/module.py:1845)", f"_engine_run_backward ({LIBRARY}/autograd/graph.py:979)"


@pytest.mark.parametrize(
    ("frames", "kind", "told"),
    [
        (f"settle (/run/pace.py:10)|adjust (/run/pace.py:8)|{MODULE}|Net.forward (/run/net.py:7)", "hook", "a hook of a module"),
        (f"Net.forward (/run/net.py:7)|{MODULE}|main (/run/train.py:9)", "outside", ""),
        (f"wait ({LIBRARY[:-19]}/threading.py:327)|take (/run/o.py:20)|{ENGINE}", "hook", "a hook of the backward pass"),
        (f"closure (/run/t.py:5)|step ({LIBRARY}/optim/sgd.py:9)|wrapper ({LIBRARY}/optim/optimizer.py:9)", "outside", ""),
        (f"after (/run/t.py:5)|wrapper ({LIBRARY}/optim/optimizer.py:9)|main (/run/t.py:9)", "hook", "a hook of the optimizer"),
        ("on_batch_end (/run/t.py:5)|step (/run/t.py:9)", "hook", "what by its name is a callback"),
    ],
)
def test_a_hook_is_what_the_machinery_of_hooks_calls(frames: str, kind: str, told: str) -> None:
    (odd,) = drawn(stack(0, IN_CALL), stack(1, frames), stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, told in odd.doing) == (1, kind, True)


def test_a_wrapper_round_a_hook_is_passed_over() -> None:
    frames = [
        Frame("/run/h.py", 5, "Clip.apply"),
        Frame("/venv/lib/python3.11/site-packages/torch/utils/_contextlib.py", 124, "decorate_context"),
        Frame("/venv/lib/python3.11/site-packages/torch/autograd/graph.py", 979, "_engine_run_backward"),
        Frame("/run/t.py", 9, "main"),
    ]
    assert hook_of(frames, program_frames(frames)) == "a hook of the backward pass"


@pytest.mark.parametrize(
    ("kernel", "inner", "kind", "told"),
    [
        ("flock of /data/index", "", "lock", "the lock of a file (flock of /data/index)"),
        ("futex", "", "lock", "a lock or another thread"),
        ("futex", "get (/usr/lib/python3.11/queue.py:171)", "outside", "another thread"),
        ("", "__enter__ (/usr/lib/python3.11/multiprocessing/synchronize.py:95)", "lock", "a lock"),
        ("", "_communicate (/usr/lib/python3.11/subprocess.py:2115)", "outside", "another process"),
        ("clock_nanosleep", "", "computes", "it sleeps, while it loads data"),
        ("recvfrom of socket:[4]", "", "outside", "the network"),
    ],
)
def test_for_what_a_rank_waits_tells_its_kind(kernel: str, inner: str, kind: str, told: str) -> None:
    frames = f"{inner}|{LOADS}" if inner else LOADS
    (odd,) = drawn(stack(0, IN_CALL), stack(1, frames, kernel=kernel), stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, told in odd.doing) == (1, kind, True)


@pytest.mark.parametrize("kernel", ["", "futex"])  # in which the kernel waits for no file
@pytest.mark.parametrize(("line", "kind"), [(20, "lock"), (12, "outside")])
def test_two_threads_of_one_rank_that_both_wait_where_no_other_does_wait_for_each_other(
    line: int, kind: str, kernel: str
) -> None:
    def rank(number: int, frames: str, at: int) -> list[str]:
        head = stack(number, frames, kernel=kernel)
        return [*head, f'Thread 9{number} (idle): "compactor"', f"    compact (/run/c.py:{at})"]

    (odd,) = drawn(rank(0, IN_CALL, 12), rank(1, "write (/run/t.py:21)|main (/run/s.py:9)", line), rank(2, IN_CALL, 13)).odd
    assert (odd.rank, odd.kind, "compactor" in odd.doing) == (1, kind, kind == "lock")


def test_the_one_exception_of_no_rank_is_that_of_the_rank_which_went_to_another_call() -> None:
    raised = Ended("it raised IndexError", Frame("/run/out.py", 23, "add"), PLACE, "code.exception", kind="raised")
    given = stack(0, IN_CALL), stack(1, f"{WAITS.replace('all_reduce', 'barrier')}|train (/run/train.py:19)"), stack(2, IN_CALL)
    (odd,) = drawn(*given, ends=Ends(raised=(raised,))).odd
    assert (odd.kind, odd.place, odd.cause) == ("raised", raised.frame, "code.exception")
    (odd,) = drawn(*given, ends=Ends(raised=(raised, raised))).odd  # which of the two it was nothing tells
    assert odd.kind == "barrier"


@pytest.mark.parametrize("in_thread", [True, False])
def test_a_rank_that_waits_for_a_thread_is_told_with_the_exception_that_ended_one(in_thread: bool) -> None:
    raised = Ended(
        "it raised OSError", Frame("/run/s.py", 26, "run"), PLACE, "code.exception", kind="raised", in_thread=in_thread
    )
    waits = f"put (/usr/lib/python3.11/queue.py:140)|{LOADS}"
    (odd,) = drawn(stack(0, IN_CALL), stack(1, waits), stack(2, IN_CALL), ends=Ends(raised=(raised,))).odd
    assert (odd.kind, odd.place and odd.place.line, odd.cause) == ("outside", 7, "code.exception" if in_thread else "")
    assert ("it raised OSError at run (s.py:26)" in odd.doing) == in_thread


@pytest.mark.parametrize(("raised_by", "kind"), [(1, "raised"), (0, "barrier")])
def test_an_exception_while_which_was_handled_a_rank_came_to_another_call_is_why(
    raised_by: int, kind: str, tmp_path: Path, knowledge: Database
) -> None:
    """Its handler calls the barrier, which times out."""
    log = """Traceback (most recent call last):
  File "/run/train.py", line 9, in step
ValueError: 1 non-finite inputs

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/run/train.py", line 19, in train
RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 30000ms for recv operation to complete
"""
    (tmp_path / "job.log").write_text("".join(f"[rank{raised_by}]: {row}\n" for row in log.splitlines()))
    barrier = f"{WAITS.replace('all_reduce', 'barrier')}|train (/run/train.py:19)"
    for rank, frames in enumerate((IN_CALL, barrier, IN_CALL)):
        (tmp_path / f"{rank}.txt").write_text("\n".join(stack(rank, frames)) + "\n")
    found = analyze_paths([tmp_path], "job", knowledge).ranks
    assert found is not None and [(odd.rank, odd.kind) for odd in found.odd] == [(1, kind)]


@pytest.mark.parametrize(("group", "kind"), [("hall", "other_order"), ("world", "other_call")])
def test_the_groups_that_the_lines_of_two_ends_name_tell_an_order(group: str, kind: str) -> None:
    other = f"{WAITS.replace('all_reduce', 'all_gather')}|train (/run/train.py:17)"
    ends = {
        rank: Ended("it gave up", Frame("/run/train.py", line, "train"), PLACE, "", group=named)
        for rank, line, named in ((0, 14, "world"), (1, 17, group), (2, 14, "world"))
    }
    (odd,) = drawn(stack(0, IN_CALL), stack(1, other), stack(2, IN_CALL), ends=Ends(gave_up=ends)).odd
    assert (odd.rank, odd.kind) == (1, kind)


def test_a_rank_whose_call_does_not_fit_that_of_its_group_is_odd_and_not_one_that_is_in_no_such_group() -> None:
    merge = f"{WAITS}|combine (/run/s.py:27)|merge (/run/s.py:16)|main (/run/m.py:23)"
    other = f"{WAITS.replace('all_reduce', 'gather')}|refresh (/run/s.py:23)|merge (/run/s.py:15)|main (/run/m.py:23)"
    (odd,) = drawn(stack(0, merge), stack(1, other), stack(2, merge), stack(3, f"{WAITS}|main (/run/m.py:21)")).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line) == (1, "other_call", 23)


def test_the_rank_that_the_launchers_list_of_all_that_failed_lacks_ended_before() -> None:
    ends = Ends(listed={0: PLACE, 2: PLACE})
    found = drawn(stack(0, IN_CALL), stack(2, IN_CALL), ends=ends)
    assert [(odd.rank, odd.kind) for odd in found.odd] == [(1, "ended_well")]
    assert [(odd.rank, odd.kind) for odd in drawn(stack(0, IN_CALL), stack(1, LOADS), stack(2, IN_CALL), ends=ends).odd] == [
        (1, "outside")  # it stood there when it was looked at, and ended later
    ]


def test_the_nearest_other_kind_is_told_where_the_evidence_is_thin() -> None:
    (odd,) = drawn(stack(0, IN_CALL), stack(1, "write (/run/t.py:21)"), stack(2, IN_CALL)).odd
    assert odd.kind == "outside"
    (thin,) = drawn(stack(0, IN_CALL), stack(1, "serve (/run/t.py:21)"), stack(2, IN_CALL)).odd
    assert reason_and_rival(thin).endswith("It may also be that it waits for a lock; py-spy dump --native would show it")
    (sure,) = drawn(stack(0, IN_CALL), stack(1, LOADS, kernel="flock of /data/index"), stack(2, IN_CALL)).odd
    assert sure.rival == ""


@pytest.mark.parametrize(("name", "ranks"), [("rank{}", [0, 1]), ("part{}", None)])
def test_where_nobody_waits_in_a_call_only_files_that_name_ranks_tell_them(
    name: str, ranks: list[int] | None, tmp_path: Path, knowledge: Database
) -> None:
    """All ranks wait for something outside of the job."""
    for rank in (0, 1):
        (tmp_path / f"{name.format(rank)}.txt").write_text("\n".join(stack(None, LOADS, 30 + rank)[1:]) + "\n")
    found = analyze_paths([tmp_path], "job", knowledge).ranks
    assert ranks == (found and [row.rank for row in found.rows])
    assert found is None or found.odd == ()


def test_a_name_of_a_file_with_rank_and_pid_tells_the_rank_also_beside_one_that_could_not_be_looked_at(
    tmp_path: Path, knowledge: Database
) -> None:
    for rank in (0, 1, 2, 3):
        text = stack(None, IN_CALL, 30 + rank)[1:]
        lines = text if rank != 2 else [*text[:2], "Error: Failed to get stack traces"]
        (tmp_path / f"pyspy_rank{rank}_pid{30 + rank}.txt").write_text("\n".join(lines) + "\n")
    found = analyze_paths([tmp_path], "job", knowledge).ranks
    assert found is not None and [(one.rank, one.kind) for one in found.odd] == [(2, "no_dump")]


def test_a_rank_that_waits_for_its_pool_is_no_helper() -> None:
    pool = "wait (/usr/lib/python3.11/multiprocessing/pool.py:765)|map (/usr/lib/python3.11/multiprocessing/pool.py:367)"
    given = [stack(None, frames, 30 + n)[1:] for n, frames in enumerate((IN_CALL, IN_CALL, f"{pool}|{LOADS}"))]
    (odd,) = drawn(*given).odd
    assert (odd.rank, odd.pid, odd.place and odd.place.line) == (2, 32, 7)


@pytest.mark.parametrize(("line", "kind"), [(11, "lock"), (15, "outside")])
def test_of_several_threads_the_one_counts_that_stands_where_none_of_another_rank_does(line: int, kind: str) -> None:
    def rank(number: int, frames: str, at: int) -> list[str]:
        threads = (("collector", 15), ("flusher", at))
        beside = (text for name, n in threads for text in (f'Thread 9{n} (idle): "{name}"', f"    {name} (/run/u.py:{n})"))
        return [*stack(number, frames), *beside]

    (odd,) = drawn(rank(0, IN_CALL, 8), rank(1, "log (/run/t.py:8)|main (/run/s.py:9)", line), rank(2, IN_CALL, 15)).odd
    assert (odd.rank, odd.kind, "its thread flusher waits" in odd.doing) == (1, kind, kind == "lock")


def test_stacks_of_py_spy_are_known_by_the_names_of_their_files(tmp_path: Path, knowledge: Database) -> None:
    folder = tmp_path / "stacks"
    folder.mkdir()
    for rank, pid in enumerate((25, 27, 31)):
        text = stack(None, LOADS if rank == 1 else IN_CALL, pid)[1:]
        (folder / f"rank{rank}.txt").write_text("\n".join(text) + "\n")
    found = analyze_paths([folder], "job", knowledge).ranks
    assert found is not None
    assert [(odd.rank, odd.rival) for odd in found.odd] == [(1, "it waits for a lock; py-spy dump --native would show it")]
