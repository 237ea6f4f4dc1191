"""What decides who keeps the others waiting, case by case, with made dumps."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from forensics.model import Line
from forensics.model.dumps import Call, Dump, Frame, GroupCalls
from forensics.model.ranks import OddRank, ProofPlace, RankPicture, RankProcess
from forensics.model.stacks import ProcessStacks
from forensics.ranks import picture
from forensics.ranks.ended import Ended, Ends
from forensics.readers.python.process_stacks import read_stacks
from tests.ranks.cases import START_NS, call, dump, group, job


def odd(dumps: list[Dump], **more: object) -> list[OddRank]:
    found = picture(dumps, **more)  # type: ignore[arg-type]
    assert isinstance(found, RankPicture)
    return list(found.odd)


def written(dumps: list[Dump], at_s: float) -> dict[str, datetime]:
    return {d.source: datetime.fromtimestamp(START_NS / 1e9 + at_s, UTC) for d in dumps}


def test_no_dump_no_picture() -> None:
    assert picture([]) is None


def test_the_rank_that_did_not_come() -> None:
    waiting = [call(1), call(2), call(3, pending=True)]
    (found,) = odd(job({0: waiting, 1: [call(1), call(2)], 2: waiting}))
    assert (found.rank, found.kind, found.waiting, found.call) == (1, "elsewhere", (0, 2), "all_reduce no. 3")


def test_a_chain_of_groups_ends_at_the_rank_that_waits_for_nobody() -> None:
    """0 waits for 1 in one group, 1 waits for 2 in another one."""
    dumps = [
        dump(0, group("a", [call(5, pending=True)], [0, 1])),
        dump(1, group("a", [call(4)], [0, 1]), group("b", [call(7, pending=True)], [1, 2])),
        dump(2, group("b", [call(6)], [1, 2])),
    ]
    (found,) = odd(dumps)
    assert (found.rank, found.waiting) == (2, (0, 1))


def test_a_rank_without_a_dump() -> None:
    (found,) = odd(job({0: [call(1, pending=True)], 1: [call(1, pending=True)], 2: []})[:2])
    assert (found.rank, found.kind) == (2, "no_dump")


@pytest.mark.parametrize(("other", "kind"), [({"op": "broadcast"}, "other_call"), ({"inputs": "Float[4]"}, "other_shape")])
def test_a_call_that_differs(other: dict[str, str], kind: str) -> None:
    usual = [call(1), call(2, pending=True)]
    (found,) = odd(job({0: usual, 1: [call(1), call(2, pending=True, line=20, **other)], 2: usual}))  # type: ignore[arg-type]
    assert (found.rank, found.kind) == (1, kind)
    assert [found.place and found.place.line, found.others and found.others.line] == [20, 10]


def test_of_two_ranks_the_one_that_leaves_its_habit_is_odd() -> None:
    habit = [call(n, "all_reduce" if n % 2 else "barrier") for n in range(1, 9)]
    usual, other = [*habit, call(9, "all_reduce", pending=True)], [*habit, call(9, "broadcast", pending=True)]
    (found,) = odd(job({0: other, 1: usual}))
    assert (found.rank, found.kind) == (0, "other_call")


def test_uneven_shards_are_no_difference() -> None:
    calls = {r: [call(1, "all_to_all", inputs=f"Float[{r}]"), call(2, pending=True)] for r in range(3)}
    (found,) = odd(job(calls))
    assert found.kind == "device"


def test_a_barrier_between_two_ranks_that_one_skips_is_left_out() -> None:
    """Three calls, then a barrier: the longer row of calls as before tells that the barrier was due."""
    habit = [call(n, "barrier" if n % 4 == 0 else "all_reduce") for n in range(1, 12)]
    due, skips = [*habit, call(12, "barrier", pending=True, at=12.5)], [*habit, call(12, pending=True, line=20)]
    (found,) = odd(job({0: skips, 1: due}))
    assert (found.rank, found.kind, found.place and found.place.line) == (0, "barrier", 20)
    assert "it left out barrier no. 12" in found.doing
    (other,) = odd(job({0: [*habit, call(12, pending=True, inputs="Float[9]")], 1: due}))
    assert (other.kind, "it left out" in other.doing) == ("barrier", False)  # such a call never followed a barrier


def test_groups_in_another_order() -> None:
    """The usual order is a, then b. Rank 1 enters b first."""
    history = [(call(1, at=1), call(1, at=1.1)), (call(2, at=2), call(2, at=2.1))]
    a, b = [h[0] for h in history], [h[1] for h in history]
    usual = [dump(r, group("a", [*a, call(3, at=3, pending=True)], [0, 1, 2]), group("b", b, [0, 1, 2])) for r in (0, 2)]
    other = dump(1, group("a", a, [0, 1, 2]), group("b", [*b, call(3, at=3, pending=True, line=20)], [0, 1, 2]))
    (found,) = odd([*usual, other])
    assert (found.rank, found.kind, found.place and found.place.line) == (1, "other_order", 20)


@pytest.mark.parametrize(
    ("usual_function", "function", "line", "kind"),
    [
        ("step", "finish", 98, "other_batches"),
        ("step", "swap", 96, "other_order"),
        ("step", "", 98, "other_batches"),
        ("", "", 98, "other_order"),
        ("step b", "b", 98, "other_order"),  # the call of this group alone, from another line than before
    ],
)
def test_a_call_behind_the_loop_is_no_other_order(usual_function: str, function: str, line: int, kind: str) -> None:
    """Rank 1 waits in b while the others wait in a. `function`: that of its call, which the loop called at `line`."""

    def at(one: Call, name: str, loop: int) -> Call:
        inner = (Frame("/run/train.py", 30, name),) if name else ()
        return replace(one, frames=(*inner, Frame("/run/train.py", loop, "epoch"), Frame("/run/train.py", 200, "main")))

    usual_function, _, of_b = usual_function.partition(" ")
    names = (usual_function, 0.0), (of_b or usual_function, 0.1)
    a, b = ([at(call(n, at=n + k), name, 97) for n in range(1, 6)] for name, k in names)
    last = at(call(6, at=6, pending=True), usual_function, 97)
    usual = [dump(r, group("a", [*a, last], [0, 1, 2]), group("b", b, [0, 1, 2])) for r in (0, 2)]
    other = dump(1, group("a", a, [0, 1, 2]), group("b", [*b, at(last, function, line)], [0, 1, 2]))
    (found,) = odd([*usual, other])
    assert (found.rank, found.kind) == (1, kind)
    assert ("left the loop" in found.doing) == (kind == "other_batches")


@pytest.mark.parametrize(("before", "kind"), [(False, "other_batches"), (True, "left_out")])
def test_a_rank_that_repeats_its_call_while_the_others_come_below_it_for_the_first_time_has_more_batches(
    before: bool, kind: str
) -> None:
    """As where each epoch ends with the sum of some numbers. Those that made that call before may make it in the loop."""

    def at(seq: int, op: str, name: str, line: int, pending: bool = False) -> Call:
        frames = (Frame("/run/train.py", 30, name), Frame("/run/train.py", line, "epoch"), Frame("/run/train.py", 200, "main"))
        return replace(call(seq, op, pending=pending), frames=frames)

    steps = [at(n, "all_reduce", "step", 97) for n in range(1, 8)]
    steps = [*steps[:3], at(4, "all_gather", "sums", 98), *steps[4:]] if before else steps
    others = [*steps, at(8, "all_gather", "sums", 98, pending=True)]
    (found,) = odd(job({0: others, 1: [*steps, at(8, "all_reduce", "step", 97, pending=True)], 2: others}))
    assert (found.rank, found.kind) == (1, kind)


def test_of_a_group_with_many_calls_only_those_that_were_kept_tell_the_usual_order() -> None:
    """Rank 0 goes from `a` to `c` without `b`. Of the early steps only the calls of `a` and `c` were kept."""

    def calls(rank: int, last: int) -> list[GroupCalls]:
        at = {name: [call(n, at=3 * n + k) for n in range(1, 11)] for k, name in enumerate("abc")}
        waits = "c" if rank == 0 else "b"
        ends = {"a": [call(11, at=33)], "b": [], "c": [], waits: [call(11, at=34, pending=True, line=20 + rank)]}
        made = [group(name, [*at[name], *ends[name]], [0, 1]) for name in "abc"]
        return [g if g.name != "b" else replace(g, calls=g.calls[last:]) for g in made]

    (found,) = odd([dump(rank, *calls(rank, 6)) for rank in (0, 1)])
    assert (found.rank, found.kind, found.place and found.place.line) == (0, "other_order", 20)


def test_shapes_of_a_gather_tell_how_many_ranks_there_are() -> None:
    """Gloo's dumps tell no members. The last rank left no dump."""
    calls = [call(1, "all_gather"), call(2, pending=True)]
    dumps = [dump(r, replace(group("0", calls), description="default_pg", size=3), backend="gloo") for r in range(2)]
    (found,) = odd(dumps, ends=Ends(gave_up={0: Ended("it raised", None, ProofPlace("job.log", 3, "closed"), "")}))
    assert (found.rank, found.kind, found.waiting) == (2, "no_dump", (0, 1))


def test_a_device_that_is_behind() -> None:
    """Rank 1 called all that the others did, and does not finish what they finished."""
    ahead = [call(1), call(2), call(3, pending=True)]
    (found,) = odd(job({0: ahead, 1: [call(1), call(2, pending=True), call(3, pending=True)], 2: ahead}))
    assert (found.rank, found.kind) == (1, "device")


def test_a_call_that_no_device_finishes() -> None:
    (found,) = odd(job({r: [call(1), call(2, pending=True)] for r in range(4)}))
    assert found.kind == "device"
    assert "started and not finished on any" in found.doing


def test_point_to_point() -> None:
    """The second stage waits for what the first one did not send: it is in no call."""
    dumps = [
        dump(4, group("pp", [call(1, "send 0->1")], [4, 8])),
        dump(8, group("pp", [call(1, "recv 1<-0"), call(2, "recv 1<-0", pending=True)], [4, 8])),
    ]
    (found,) = [o for o in odd(dumps) if o.kind != "no_dump"]
    assert (found.rank, found.waiting) == (4, (8,))


def test_point_to_point_that_both_entered_is_no_wait_for_one_of_them() -> None:
    dumps = [
        dump(0, group("pp", [call(2, "send 0->1", pending=True)], [0, 1])),
        dump(1, group("pp", [call(2, "recv 1<-0", pending=True)], [0, 1])),
    ]
    found = picture(dumps)
    assert found is not None and found.edges == ()


def test_a_run_that_ended_well_is_silent() -> None:
    assert odd(job({r: [call(n) for n in range(20)] for r in range(4)})) == []


def test_a_short_wait_is_ordinary_and_a_long_one_is_not() -> None:
    dumps = job({0: [call(n) for n in range(9)], 1: [call(n) for n in range(8)]}, backend="gloo")
    dumps[0] = dump(0, group("0", [*(call(n) for n in range(8)), call(8, pending=True)], [0, 1]), backend="gloo")
    assert odd(dumps, written=written(dumps, 9.5)) == []
    assert [o.rank for o in odd(dumps, written=written(dumps, 60))] == [1]
    assert [o.rank for o in odd(dumps, written=written(dumps, 400 * 86400))] == [1]  # copied: the time of the file says nothing


def test_a_straggler_is_told_with_numbers_and_since_when() -> None:
    def calls(rank: int) -> list[object]:
        return [call(n, at=n * 0.5 + (0.3 if rank == 2 and n >= 20 else 0.001 * rank)) for n in range(40)]

    (found,) = odd(job({r: calls(r) for r in range(4)}))  # type: ignore[misc]
    assert (found.rank, found.kind, found.since) == (2, "late", 20)
    assert found.late_s == pytest.approx(0.3, abs=0.01)


def test_a_rank_whose_dump_was_written_earlier_is_none_for_which_others_wait_beside_a_straggler() -> None:
    def calls(rank: int) -> list[Call]:
        made = [call(n, at=n * 0.5 + (0.3 if rank == 2 else 0.001 * rank)) for n in range(40)]
        return [*made, call(40, at=20.0, pending=True)] if rank == 0 else made

    dumps = job({r: calls(r) for r in range(4)}, backend="gloo")
    (found,) = odd(dumps, written=written(dumps, 60))
    assert (found.rank, found.kind, found.since) == (2, "late", 0)


@pytest.mark.parametrize(("after_s", "line"), [(12.0, 47), (2.0, 10)])
def test_the_line_of_a_straggler_is_that_of_a_stack_since_it_is_late(after_s: float, line: int) -> None:
    """Rank 2 is late since 10 s after the start. The stacks are older than its last call, 19.8 s after the start."""

    def calls(rank: int) -> list[Call]:
        return [call(n, at=n * 0.5 + (0.3 if rank == 2 and n >= 20 else 0.001 * rank)) for n in range(40)]

    taken = datetime.fromtimestamp(START_NS / 1e9 + after_s, UTC).isoformat()
    head = f"forensics run: stacks of pid 4711 (python), rank 2 on gpu-1 at {taken}"
    text = [head, 'Thread 4711 (active+gil): "MainThread"', "    trim (/run/train.py:47)", "    <module> (/run/train.py:90)"]
    stacks = read_stacks([Line(n, t) for n, t in enumerate(text, 1)], "stacks/4711.txt")
    (found,) = odd(job({r: calls(r) for r in range(4)}), stacks=stacks)
    assert (found.rank, found.kind, found.place and found.place.line) == (2, "late", line)


def test_a_straggler_in_a_step_of_two_calls() -> None:
    """The second call of a step follows the first one at once, and nobody can be late to it."""

    def calls(rank: int) -> list[object]:
        late = 0.3 if rank == 1 else 0.0
        steps = [n * 0.5 + late for n in range(20)]
        first = [call(2 * n, at=at) for n, at in enumerate(steps)]
        second = [call(2 * n + 1, at=n * 0.5 + 0.301) for n in range(20)]
        return [c for pair in zip(first, second, strict=True) for c in pair]

    (found,) = odd(job({r: calls(r) for r in range(4)}))  # type: ignore[misc]
    assert (found.rank, found.kind) == (1, "late")


def test_a_straggler_that_works_between_two_calls_that_others_make_at_once() -> None:
    def calls(rank: int) -> list[Call]:
        late = 0.3 if rank == 1 else 0.0
        return [one for n in range(20) for one in (call(2 * n, at=n * 0.4), call(2 * n + 1, at=n * 0.4 + 0.001 + late))]

    (found,) = odd(job({r: calls(r) for r in range(4)}))
    assert (found.rank, found.kind) == (1, "late")


def test_a_rank_that_is_late_because_it_waited_is_not_the_late_one() -> None:
    """Rank 0 is late to its shards, where calls that follow at once come late now and then; rank 1, who waits for it there, is late
    to its replica in every round."""

    def calls(rank: int, name: str, n: int) -> list[Call]:
        began = 2.0 * n + (0.5 if rank in (0, 1) else 0.0)  # the pair of rank 0 goes on when rank 0 has come
        if name == "shards":
            came = began if rank != 1 else 2.0 * n
            return [call(3 * n + k, at=came if k == 0 else began + 0.05 * k + (0.03 * rank if k == 2 else 0)) for k in range(3)]
        return [call(n, at=began + 0.3)]

    pairs, replicas = {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}, (1, 3)
    dumps = [
        dump(
            r,
            group(f"shards {pairs[r][0]}", [c for n in range(20) for c in calls(r, "shards", n)], pairs[r]),
            *([group("replicas", [c for n in range(20) for c in calls(r, "replicas", n)], replicas)] if r in replicas else []),
        )
        for r in range(4)
    ]
    (found,) = odd(dumps)
    assert (found.rank, found.kind, found.group) == (0, "late", "group_shards 0 (shards 0)")


def test_a_slow_run_has_no_straggler() -> None:
    dumps = job({r: [call(n, at=n * 2 + 0.4 * ((n + r) % 4)) for n in range(40)] for r in range(4)})
    assert odd(dumps) == []


STACK = """Process 4711: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 4711 ({state}): "MainThread"
    {inner} ({file}:88)
    load (train.py:40)
    <module> (train.py:9)
"""


@pytest.mark.parametrize(
    ("state", "inner", "file", "kind", "said"),
    [
        ("active+gil", "decode", "train.py", "computes", "it loads data, and holds the interpreter's lock"),
        ("active", "forward", "train.py", "computes", "it loads data"),
        ("idle", "acquire", "train.py", "lock", "it waits for a lock"),
        ("idle", "recv_into", "socket.py", "outside", "it waits for the network"),
        ("idle", "wait_for_file", "train.py", "outside", "it waits for a file"),
        ("idle", "all_reduce", "torch/distributed/distributed_c10d.py", "elsewhere", "nothing shows"),
        ("idle", "monitored_barrier", "torch/distributed/distributed_c10d.py", "barrier", "it waits in monitored_barrier"),
    ],
)
def test_what_the_rank_does_instead(state: str, inner: str, file: str, kind: str, said: str) -> None:
    text = STACK.format(state=state, inner=inner, file=file).split("\n")
    stacks = read_stacks([Line(n, t) for n, t in enumerate(text, 1)], "stacks/4711.txt")
    waiting = [call(1), call(2), call(3, pending=True)]
    (found,) = odd(job({0: waiting, 1: [call(1), call(2)]}), stacks=stacks, processes={1: RankProcess(4711)})
    assert (found.rank, found.kind, found.pid) == (1, kind, 4711)
    assert said in found.doing
    if kind in ("computes", "outside", "lock"):
        assert [p.source for p in found.proofs[:2]] == ["stacks/4711.txt"] * 2


def stack_of(rank: int, *frames: str) -> ProcessStacks:
    head = f"forensics run: stacks of pid {4711 + rank} (python), rank {rank} on gpu-04"
    lines = [head, 'Thread 1 (idle): "MainThread"', *(f"    {frame}" for frame in frames)]
    return read_stacks([Line(n, t) for n, t in enumerate(lines, 1)], f"stacks/{rank}.txt")[0]


@pytest.mark.parametrize(
    "inner",
    [
        "load (shards.py:7)",
        "load (run/data/shards.py:7)",
        "load (/home/u/data/shards.py:7)",
        "wait (queue.py:9)",
        "x (torch/y.py:5)",
    ],
)
def test_the_line_is_that_of_the_program_in_whichever_file_it_is(inner: str) -> None:
    waiting = [call(1), call(2), call(3, pending=True)]
    stack = stack_of(1, "acquire (threading.py:3)", inner, "step (train.py:10)")
    (found,) = odd(job({0: waiting, 1: [call(1), call(2)]}), stacks=[stack])
    is_library = "queue" in inner or "torch" in inner
    assert found.place is not None and found.place.place == ("train.py:10" if is_library else "shards.py:7")


def test_stacks_from_before_the_wait_tell_nothing() -> None:
    dumps = job({0: [call(1), call(2), call(3, pending=True)], 1: [call(1), call(2)]})
    moments = {"stacks/1.txt": datetime.fromtimestamp(START_NS / 1e9 + 0.5, UTC)}
    (found,) = odd(dumps, stacks=[stack_of(1, "acquire (train.py:3)")], written=moments)
    assert found.kind == "elsewhere"


def test_a_dump_from_before_the_end_of_its_rank_tells_nothing() -> None:
    dumps = job({0: [*(call(n) for n in range(1, 9)), call(9, pending=True)], 1: [call(1), call(2)]}, "gloo")
    ended = Ended("it was ended by SIGKILL", None, ProofPlace("job.log", 7, "killed"), "stopped.user")
    moments = written(dumps[1:], 3.0) | written(dumps[:1], 30.0)
    (found,) = odd(dumps, ends=Ends({1: ended}), written=moments)
    assert (found.rank, found.kind, found.doing) == (1, "left", "it was ended by SIGKILL")
    assert found.last_ns == 0


def test_an_exception_tells_more_than_the_stack_while_it_is_handled() -> None:
    ended = Ended("it raised KeyError", Frame("train.py", 5, "step"), ProofPlace("job.log", 7, "KeyError"), "code.key")
    dumps = job({0: [call(1), call(2), call(3, pending=True)], 1: [call(1), call(2)]})
    (found,) = odd(dumps, stacks=[stack_of(1, "hook (train.py:3)")], ends=Ends({1: ended}))
    assert (found.kind, found.cause, found.place and found.place.line) == ("left", "code.key", 5)


@pytest.mark.parametrize(("silent_s", "ranks"), [(60.0, [1]), (1.0, [])])
def test_stacks_show_a_wait_that_no_dump_has(silent_s: float, ranks: list[int]) -> None:
    """Gloo records no call between two ranks."""
    dumps = job({rank: [call(n, at=n * 0.5) for n in range(9)] for rank in range(3)}, "gloo")
    waiting = ("recv (torch/distributed/distributed_c10d.py:9)", "step (train.py:10)")
    stacks = [stack_of(0, *waiting), stack_of(1, "load (train.py:7)"), stack_of(2, *waiting)]
    moment = datetime.fromtimestamp(START_NS / 1e9 + 4.0 + silent_s, UTC)
    dumped = {one.source: moment for one in dumps}
    found = odd(dumps, stacks=stacks, written={one.source: moment for one in stacks} | dumped)
    assert [(o.rank, o.kind, o.waiting, o.place and o.place.line) for o in found] == [(r, "outside", (0, 2), 7) for r in ranks]
    at_work = datetime.fromtimestamp(
        START_NS / 1e9 + 4.1, UTC
    )  # the dumps show a run that works, and the stacks one later moment
    assert not odd(dumps, stacks=stacks, written={one.source: moment for one in stacks} | dict.fromkeys(dumped, at_work))


def test_the_sentence_names_the_process_the_host_and_the_gpu_of_the_rank() -> None:
    waiting = [call(1), call(2), call(3, pending=True)]
    head = "forensics run: stacks of pid 4711 (python), rank 1 on GPU-04"
    lines = [head, *STACK.format(state="idle", inner="acquire", file="train.py").split("\n")]
    stacks = read_stacks([Line(n, t) for n, t in enumerate(lines, 1)], "stacks/4711.txt")
    (found,) = odd(job({0: waiting, 1: [call(1), call(2)]}), stacks=stacks)
    assert found.named == "rank 1 (pid 4711 on gpu-04)"
    known = {1: RankProcess(4711, "gpu-05", 3)}  # as a log tells
    (found,) = odd(job({0: waiting, 1: [call(1), call(2)]}), processes=known)
    assert found.named == "rank 1 (pid 4711 on gpu-05, GPU 3)"


@pytest.mark.parametrize("by_logs", [True, False])
def test_a_rank_that_ended_after_all_dumps_is_told_by_the_logs(by_logs: bool) -> None:
    """A launcher ends the others at once, so none of them tells that it waited."""
    dumps = job({r: [call(n) for n in range(20)] for r in range(3)})
    killed = Ended("it was ended by SIGKILL", None, ProofPlace("job.log", 9, "exitcode: -9"), "process.worker_died")
    found = odd(dumps, ends=Ends({1: killed}), written=written(dumps, 30), by_logs=by_logs)
    assert [(one.rank, one.kind) for one in found] == ([(1, "left")] if by_logs else [])


def test_where_others_gave_up_waiting_the_rank_without_a_dump_is_gone() -> None:
    """Gloo counts the call that failed as finished, so all dumps look alike."""
    dumps = job({r: [call(1), call(2)] for r in range(4)}, backend="gloo")
    told = Ended("it raised RuntimeError", None, ProofPlace("job.log", 3, "Connection closed by peer"), "")
    present = [dumps[r] for r in (0, 1, 3)]
    (found,) = odd(present, ends=Ends(gave_up={0: told}))
    assert (found.rank, found.kind, found.waiting) == (2, "no_dump", (0, 1, 3))
    assert odd(present) == []


def test_dumps_of_the_last_attempt_with_a_call_count() -> None:
    old = job({0: [call(1), call(2, pending=True)], 1: [call(1)]})
    new = [replace(one, attempt=1) for one in job({0: [call(1), call(2), call(3, pending=True)], 2: [call(1), call(2)]})]
    (found,) = odd([*old, *new])
    assert found.rank == 2
    empty = [replace(one, attempt=1) for one in job({0: [], 1: []})]
    (found,) = odd([*old, *empty])
    assert found.rank == 1


def test_dumps_without_a_call_leave_it_to_the_stacks() -> None:
    waiting = ("all_reduce (torch/distributed/distributed_c10d.py:9)", "step (train.py:10)")
    stacks = [stack_of(0, *waiting), stack_of(1, "load (train.py:7)"), stack_of(2, *waiting)]
    (found,) = odd(job({0: [], 1: [], 2: []}), stacks=stacks)
    assert (found.rank, found.by_stacks) == (1, True)


def test_where_a_dump_was_cut_short_of_its_lines_the_stack_tells_that_of_the_call() -> None:
    """A dump is written twice, at once without the lines of code; a rank may end before the second time."""

    def bare(seq: int, op: str) -> Call:
        return replace(call(seq, op, pending=seq == 7), frames=())

    usual = [bare(n, "all_reduce") for n in range(1, 8)]
    dumps = job({0: usual, 1: [*usual[:6], bare(7, "broadcast")], 2: usual})
    site = "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
    text = [
        line
        for rank in range(3)
        for line in (
            f"forensics run: stacks of pid {10 + rank} (python), rank {rank} on gpu-1",
            f'Thread {10 + rank} (idle): "MainThread"',
            f"    call ({site}:3252)",
            f"    step (/run/train.py:{20 + (rank == 1)})",
        )
    ]
    (found,) = odd(dumps, stacks=read_stacks([Line(n, line) for n, line in enumerate(text, 1)], "stacks"))
    assert (found.rank, found.kind) == (1, "other_call")
    assert (found.place and found.place.line, found.others and found.others.line) == (21, 20)


@pytest.mark.parametrize(("steps", "kind"), [(6, "other_batches"), (7, "other_call")])
def test_a_rank_that_left_the_loop_with_the_others_has_no_other_number_of_batches(steps: int, kind: str) -> None:
    """All evaluate after `steps` calls, and rank 1 once more, or it leaves the loop alone."""

    def made(seq: int, function: str, line: int, op: str = "all_reduce") -> Call:
        at = Frame("/run/t.py", line, function), Frame("/run/t.py", 30 if function == "run_epoch" else 31, "fit")
        return replace(call(seq, op, pending=seq == 8), frames=at)

    loop = [made(seq, "run_epoch", 10) for seq in range(1, 7)]
    both = [made(7, "run_epoch" if steps == 6 else "validate", 10 if steps == 6 else 20)]
    usual = [*loop, *both, made(8, "run_epoch", 10)]
    dumps = job({0: usual, 1: [*loop, *both, made(8, "validate", 21, "broadcast")], 2: usual})
    site = "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
    stacks = []
    for rank in range(3):
        own = ("validate (/run/t.py:21)", 31) if rank == 1 else ("run_epoch (/run/t.py:10)", 30)
        head = f"forensics run: stacks of pid {10 + rank} (python), rank {rank} on gpu-1"
        frames = f"call ({site}:3252)", own[0], f"fit (/run/t.py:{own[1]})"
        stacks += [head, f'Thread {10 + rank} (idle): "MainThread"', *(f"    {frame}" for frame in frames)]
    (found,) = odd(dumps, stacks=read_stacks([Line(n, line) for n, line in enumerate(stacks, 1)], "stacks"))
    assert (found.rank, found.kind) == (1, kind)


def test_the_line_of_a_call_through_a_helper_is_that_of_its_caller() -> None:
    def at(one: Call, caller: int) -> Call:
        return replace(one, frames=(Frame("/run/w.py", 6, "agree"), Frame("/run/w.py", caller, "step")))

    usual = [at(call(1), 15), at(call(2, pending=True), 15)]
    (found,) = odd(job({0: usual, 1: [at(call(1), 15), at(call(2, "broadcast", pending=True), 12)], 2: usual}))
    assert [found.place and found.place.line, found.others and found.others.line] == [12, 15]


def test_where_a_dump_has_no_lines_those_are_told_at_which_ranks_gave_up_or_ended() -> None:
    def bare(inputs: str) -> Call:
        return replace(call(1, pending=True, inputs=inputs), frames=())

    calls = {0: [bare("Float[8]")], 1: [bare("Float[4]")], 2: [bare("Float[8]")]}
    ends = {n: Ended("", Frame("/run/w.py", 20 + n, "step"), ProofPlace("job.log", n, ""), "", received=n) for n in (0, 1)}
    (found,) = odd(job(calls), ends=Ends(gave_up={1: ends[1]}))
    assert (found.kind, found.place and found.place.line, found.others) == ("other_shape", 21, None)
    (found,) = odd(job(calls), ends=Ends(own={0: replace(ends[0], received=9)}))
    assert (found.place, found.others and found.others.line) == (None, 20)


@pytest.mark.parametrize(("line", "told"), [(30, (1, "left_out", 10, 30)), (10, None)])
def test_a_rank_that_waits_alone_left_out_the_call_of_the_others_that_no_dump_has(line: int, told: tuple[object, ...]) -> None:
    """PyTorch records no monitored_barrier. Where the others gave up at the line of the call in which one waits, they came late."""
    before = [call(1), call(2)]
    gave_up = {n: Ended("it raised", Frame("/run/train.py", line, "step"), ProofPlace("job.log", n, ""), "") for n in (0, 2)}
    waits = call(3, pending=True)
    found = odd(job({0: before, 1: [*before, waits], 2: before}, "gloo"), ends=Ends(gave_up=gave_up))
    shown = [(o.rank, o.kind, o.place and o.place.line, o.others and o.others.line) for o in found]
    assert shown == [told] if told else {o.rank for o in found} == {0, 2}


def test_a_rank_that_left_out_the_call_of_its_own_group_is_odd_and_not_those_that_wait_there() -> None:
    """Two broadcasts among all and a barrier among 2 to 4 in each step; rank 4 leaves the fifth barrier out."""
    steps = [([call(2 * n + 1, "broadcast", at=3 * n), call(2 * n + 2, "broadcast", at=3 * n + 1)], n) for n in range(5)]
    shared = [one for calls, _ in steps for one in calls]
    own = [call(n + 1, "barrier", at=3 * n + 2, line=20) for n in range(4)]
    waits = [*own, call(5, "barrier", at=14, pending=True, line=20)]
    ahead = call(11, "broadcast", at=15, pending=True)
    goes_on = [*shared, call(11, "broadcast", at=14), call(12, "broadcast", at=15, pending=True)]
    everyone = {0: [*shared, ahead], 1: [*shared, ahead], 2: shared, 3: shared, 4: goes_on}
    apart = {2: [group("b", waits, [2, 3, 4])], 3: [group("b", waits, [2, 3, 4])], 4: [group("b", own, [2, 3, 4])]}
    dumps = [dump(r, group("a", calls, range(5)), *apart.get(r, []), backend="gloo") for r, calls in everyone.items()]
    (found,) = odd(dumps)
    assert (found.rank, found.kind, found.call) == (4, "barrier", "barrier no. 5")
    assert [found.place and found.place.line, found.others and found.others.line] == [10, 20]


def test_of_two_groups_the_rank_that_enters_one_sooner_than_ever_is_odd() -> None:
    """Group 2 has its turn after each fifth call of group 1; rank 1 enters it after four, and all ranks are in both."""
    ranks = range(3)
    rounds = [(call(n, at=n), call(n // 5, at=n + 0.5) if n % 5 == 0 else None) for n in range(1, 20)]
    first, second = [one for one, _ in rounds], [two for _, two in rounds if two]
    waits = {rank: group("1", [*first, call(20, pending=True, at=20)], ranks) for rank in (0, 2)}
    dumps = [dump(rank, alike(own), alike(group("2", second, ranks))) for rank, own in waits.items()]
    late = group("2", [*second, call(4, pending=True, at=20, line=30)], ranks)
    (found,) = odd([*dumps, dump(1, alike(group("1", first, ranks)), alike(late))])
    assert (found.rank, found.kind, found.place and found.place.line) == (1, "other_order", 30)


def alike(one: GroupCalls) -> GroupCalls:
    """A group as gloo describes all of them."""
    return replace(one, description="undefined")


def test_a_call_that_a_rank_of_the_group_did_not_enter_is_no_hang_of_the_device() -> None:
    """Each of two ranks waits in a group of both, in which the other one is not, and nothing tells which of them is wrong."""
    two = [dump(rank, alike(group(str(rank), [call(1, pending=True)], (0, 1)))) for rank in (0, 1)]
    assert "device" not in {one.kind for one in odd(two)}


def test_a_call_that_is_made_elsewhere_in_place_of_a_barrier_left_it_out() -> None:
    row = [("all_reduce", 10), ("all_gather", 20), ("barrier", 30), ("all_reduce", 10)]
    habit = [call(n, op, line=line) for n, (op, line) in enumerate(row)]
    dumps = {rank: [*habit, call(4, "barrier", pending=True, line=30)] for rank in (0, 1)}
    for line, told in ((20, "it left out barrier"), (44, "where the others called barrier")):
        (found,) = odd(job({**dumps, 2: [*habit, call(4, "all_gather", pending=True, line=line)]}))
        assert (found.rank, found.kind, told in found.doing) == (2, "barrier", True)


def test_of_many_ranks_fewer_calls_show_a_straggler_and_the_one_in_which_it_is_awaited_counts() -> None:
    """The time at which its dump was written is one by which it had not come."""

    def calls(rank: int, late: int, count: int) -> list[Call]:
        made = [call(n, at=n * 20.0 + (15.0 if rank == late else 0.01 * rank)) for n in range(count)]
        return made if rank == late else [*made, call(count, at=count * 20.0, pending=True)]

    for ranks, count, named in ((5, 3, [(2, "late")]), (5, 2, []), (2, 7, [(1, "late")]), (2, 6, [])):
        late = 2 if ranks > 2 else 1
        dumps = job({r: calls(r, late, count) for r in range(ranks)}, backend="gloo")
        found = odd(dumps, written=written(dumps, count * 20 + 12))
        assert [(one.rank, one.kind) for one in found] == named
