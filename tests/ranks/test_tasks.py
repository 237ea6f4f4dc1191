"""Which thread or task of a rank is at work while its main thread waits for another one, and what its source tells."""

import pytest

from tests.ranks.test_by_stacks import IN_CALL, WAITS, drawn, stack

LOOP = "select (/usr/lib/python3.11/selectors.py:468)|_run_once (/usr/lib/python3.11/asyncio/base_events.py:1884)|main (/run/w.py:75)"
SLEEPS = "sleep (/usr/lib/python3.11/asyncio/tasks.py:649)|arrived (/run/shards.py:22)|feed (/run/w.py:33)"
FULL = "put (/usr/lib/python3.11/asyncio/queues.py:130)|feed (/run/w.py:33)"
EMPTY = "get (/usr/lib/python3.11/asyncio/queues.py:158)|work (/run/w.py:55)"
BEATS = "sleep (/usr/lib/python3.11/asyncio/tasks.py:649)|beat (/run/w.py:12)"
GET = "wait (/usr/lib/python3.11/threading.py:327)|get (/usr/lib/python3.11/queue.py:171)"


def threads(first: list[str], **more: str) -> list[str]:
    """The stacks of a process with further threads, by name."""
    return [*first, *(row for name, text in more.items() for row in _thread(name.replace("__", " "), text))]


def _thread(name: str, frames: str) -> list[str]:
    return ["", f'Thread 7 (idle): "{name}"', *(f"    {frame}" for frame in frames.split("|"))]


def asyncio_rank(rank: int, feeder: str, caller: str = "") -> list[str]:
    pool = {"asyncio_0": f"{WAITS}|average (/run/w.py:26)|run (/usr/lib/python3.11/concurrent/futures/thread.py:58)"}
    tasks = {"asyncio__task__Task-1": caller or EMPTY, "asyncio__task__beat": BEATS, "asyncio__task__feeder": feeder}
    return threads(stack(rank, LOOP, kernel="epoll_wait"), **tasks, **(pool if caller else {}))


def test_the_task_is_told_for_which_the_others_of_its_event_loop_wait() -> None:
    """A task that sleeps at one line in all ranks is no reason."""
    learns = "to_thread (/usr/lib/python3.11/asyncio/threads.py:25)|learn (/run/w.py:43)|work (/run/w.py:56)"
    (odd,) = drawn(*(asyncio_rank(rank, FULL, learns) for rank in (0, 1)), asyncio_rank(2, SLEEPS)).odd
    assert (odd.rank, odd.place and odd.place.place, odd.doing) == (2, "shards.py:22", "it sleeps")
    assert odd.others is not None and odd.others.place == "w.py:26"


def test_a_thread_that_waits_for_work_is_not_at_work() -> None:
    """Those of the other ranks stand in a call; here the main thread waits for one that fills its queue."""
    asks = f"{GET}|ask (/run/comm.py:29)|main (/run/t.py:30)"
    calls = {"comm": f"{WAITS}|mean (/run/comm.py:37)|serve (/run/comm.py:21)", "fill": f"{GET}|fill (/run/source.py:18)"}
    idle = {"comm": f"{GET}|serve (/run/comm.py:18)", "beat": "beat (/run/log.py:5)", "fill": "poll (/run/source.py:31)"}
    given = [threads(stack(rank, asks), **calls) for rank in (0, 1)]
    (odd,) = drawn(*given, threads(stack(2, f"{GET}|rows (/run/source.py:34)|main (/run/t.py:55)"), **idle)).odd
    assert (odd.rank, odd.place and odd.place.place) == (2, "source.py:31")


def test_ranks_whose_threads_stand_at_one_line_are_told_apart_by_the_lines_that_ask_for_the_call() -> None:
    call = f"{WAITS}|mean (/run/comm.py:37)|serve (/run/comm.py:21)"
    asks = f"{GET}|ask (/run/comm.py:29)|mean (/run/comm.py:40)|advance (/run/t.py:%d)|main (/run/t.py:61)"
    (odd,) = drawn(*(threads(stack(rank, asks % (38 if rank == 2 else 42)), comm=call) for rank in range(3))).odd
    assert (odd.rank, odd.place and odd.place.line, odd.others and odd.others.line) == (2, 38, 42)


@pytest.mark.parametrize(
    ("loops", "call", "kind"),
    [
        ({"/run/w.py:50": "45-52"}, "all_reduce", "other_batches"),  # the rank stands behind it
        ({"/run/w.py:50": "45-60"}, "all_reduce", "other_call"),  # both stand in it
        ({"/run/w.py:20": "18-21"}, "all_reduce", "other_batches"),  # the rank has returned from the function with the loop
        ({"/run/w.py:5": "4-5"}, "all_reduce", "other_call"),  # a loop over parameters
        ({"/run/w.py:5": "3-9"}, "backward", "other_batches"),
        ({}, "all_reduce", "other_batches"),
    ],
)
def test_by_the_loops_in_its_source_a_rank_is_behind_the_one_of_the_others(loops: dict[str, str], call: str, kind: str) -> None:
    told = [f"forensics run: at {place}: in loops of lines {spans}" for place, spans in loops.items()]
    waits = WAITS if call == "all_reduce" else f"{WAITS}|Tensor.backward (/venv/lib/python3.11/site-packages/torch/_tensor.py:6)"
    usual = f"{waits}|sync (/run/w.py:5)|epoch (/run/w.py:20)|fit (/run/w.py:50)"
    other = f"{WAITS}|close (/run/w.py:70)|fit (/run/w.py:57)"
    given = [stack(rank, other if rank == 1 else usual) for rank in range(3)]
    (odd,) = drawn(*([one[0], *told, *one[1:]] for one in given)).odd
    assert (odd.rank, odd.kind) == (1, kind)


@pytest.mark.parametrize(("spans", "kind"), [("24-30", "other_batches"), ("20-30", "other_call")])
def test_a_rank_at_the_end_of_a_block_has_left_the_loops_in_it(spans: str, kind: str) -> None:
    """While its end is carried out, the line is the first one of the block; PyTorch started the ranks itself."""
    spawned = "_wrap (/venv/lib/python3.11/site-packages/torch/multiprocessing/spawn.py:87)"
    usual = f"{WAITS}|sync (/run/w.py:5)|fit (/run/w.py:25)|{spawned}"
    ends = f"{WAITS}|close (/run/w.py:12)|_GeneratorContextManager.__exit__ (/usr/lib/python3.11/contextlib.py:144)"
    told = f"forensics run: at /run/w.py:25: in loops of lines {spans}"
    given = [stack(rank, f"{ends}|fit (/run/w.py:23)|{spawned}" if rank == 1 else usual) for rank in range(3)]
    (odd,) = drawn(*([one[0], told, *one[1:]] for one in given)).odd
    assert (odd.rank, odd.kind) == (1, kind)
    apart = stack(1, f"{ends}|eval (/run/w.py:23)|{spawned}")  # in another function nothing says what stands behind what
    (odd,) = drawn(*([one[0], told, *one[1:]] for one in (given[0], apart, given[2]))).odd
    assert odd.kind == "other_order"


@pytest.mark.parametrize(
    ("inner", "told"),
    [("_poll (/run/source.py:31)", True), ("read (/usr/lib/python3.11/x.py:3)|_poll (/run/source.py:31)", False)],
)
def test_the_file_is_told_for_which_a_loop_looks_that_sleeps(inner: str, told: bool) -> None:
    head, *rest = stack(1, f"{inner}|main (/run/t.py:55)", kernel="clock_nanosleep" if told else "read of /data/x")
    looks = "forensics run: at /run/source.py:31: it looks for path: /data/block 50.npy"
    (odd,) = drawn(stack(0, IN_CALL), [head, looks, *rest], stack(2, IN_CALL)).odd
    assert (odd.rank, "(/data/block 50.npy)" in odd.doing) == (1, told)
