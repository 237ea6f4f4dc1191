"""Memory that grows, and memory that only seems to."""

import random
from collections.abc import Callable

import pytest

from forensics.model import Observation

Told = Callable[[str], list[Observation]]


def rss(values: list[float]) -> str:
    return "".join(f"step {10 * i} loss 2.1 rss {v:.0f} MiB\n" for i, v in enumerate(values))


def test_a_leak_is_told_with_its_speed_and_its_ends(told: Told) -> None:
    (event,) = told(rss([1000 + 20 * i for i in range(40)]))
    assert (event.kind, event.cause, event.weight) == ("series/growth", "host_memory.leak", "strong")
    assert event.fields["first_bytes"] == 1000 << 20
    assert event.fields["last_bytes"] == 1780 << 20
    assert event.fields["growth_bytes"] == 20 << 20
    assert event.fields["step_bytes"] == 2 << 20
    assert (event.line, event.last_line) == (1, 40)
    assert [p.line for p in event.proofs] == [1, 40, 21]


def test_the_limit_of_the_same_log_is_extrapolated_to(told: Told) -> None:
    kernel = (
        "[ 99.1] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
        "[ 99.2] memory: usage 1843200kB, limit 1843200kB, failcnt 302\n"
        "[ 99.3] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/train,task_memcg=/train,"
        "task=python,pid=24768,uid=1000\n"
        "[ 99.4] Memory cgroup out of memory: Killed process 24768 (python) total-vm:4094000kB, anon-rss:1800000kB, file-rss:0kB\n"
    )
    events = [e for e in told(rss([1000 + 20 * i for i in range(40)]) + kernel) if e.kind == "series/growth"]
    assert len(events) == 1
    assert events[0].fields["limit_bytes"] == 1800 << 20
    assert events[0].fields["limit_step"] == 400


@pytest.mark.parametrize(
    "values",
    [
        [1000 + 600 * (1 - 0.8**i) for i in range(40)],
        [1000 + 300 * (i % 8) / 8 for i in range(40)],
        [1000 + random.Random(i).gauss(0, 100) for i in range(40)],
        [1000] * 10 + [1600] * 30,
        [1000, 1700, 1710],
    ],
    ids=["warm-up", "teeth", "noise", "one step", "start"],
)
def test_healthy_memory_is_silent(values: list[float], told: Told) -> None:
    assert told(rss(values)) == []


def test_readings_of_different_places_are_no_series(told: Told) -> None:
    assert told("after imports: rss 300 MiB\nafter the model: rss 900 MiB\nafter the data: rss 1800 MiB\n") == []


def test_ranks_are_series_of_their_own(told: Told) -> None:
    text = "".join(f"[rank{r}]: step {i} rss {1000 + 30 * i * r} MiB\n" for i in range(20) for r in range(2))
    (event,) = told(text)
    assert event.fields["rank"] == 1


@pytest.mark.parametrize(("allocators", "events"), [([608, 608, 608], 1), ([608, 608, 612], 0)])
def test_growth_beside_the_allocator(allocators: list[int], events: int, told: Told) -> None:
    text = "".join(
        f"torch.cuda.memory_reserved(0) {a * 10**6}\nnvidia-smi GPU-0 memory (MB) {2796 + 2 * i}\nIter {i}\n"
        f"torch.cuda.memory_reserved(0) {a * 10**6}\n"
        for i, a in enumerate(allocators)
    )
    found = told(text)
    assert [e.cause for e in found] == ["gpu_memory.leak"] * events


def test_free_memory_sinks_only_where_allocations_failed(told: Told) -> None:
    free = [8852.5, 8852.5, 7142.5, 7142.5, 6788.5]
    quiet = "".join(f"DEBUG Free GPU ram: {f}\nDEBUG loss: 0.1\n" for f in free)
    failed = "RuntimeError: CUDA out of memory. Tried to allocate 478.00 MiB (GPU 0; 15.78 GiB total capacity; 13.47 GiB already allocated; 178.75 MiB free; 13.97 GiB reserved in total by PyTorch)\n"
    assert told(quiet) == []
    assert [e.kind for e in told(quiet + failed)] == ["series/sinking"]


def test_a_high_water_mark_needs_many_readings(told: Told) -> None:
    few = "".join(f"step {i} loss 2.0 max_memory_allocated {10**9 + 10**8 * i}\n" for i in range(10))
    many = "".join(f"step {i} loss 2.0 max_memory_allocated {10**9 + 10**8 * i}\n" for i in range(40))
    assert told(few) == []
    assert [(e.cause, e.weight) for e in told(many)] == [("gpu_memory.leak", "hint")]


def test_a_leak_in_a_large_log_whose_beginning_is_sampled_more_densely(told: Told) -> None:
    pad = "x" * 120
    text = "".join(f"step {i} loss 2.0 rss {1000 + i * 0.05:.2f} MiB {pad}\n" for i in range(60_000))
    (event,) = told(text)
    assert (event.cause, event.weight) == ("host_memory.leak", "strong")
    assert event.fields["step_bytes"] == pytest.approx(0.05 * 2**20, rel=0.05)


def test_steps_that_two_handlers_print_count_once(told: Told) -> None:
    lines = rss([1000 + 20 * i for i in range(40)]).splitlines(keepends=True)
    (event,) = told("".join(line * (1 + n % 2) for n, line in enumerate(lines)))
    assert (event.kind, event.weight, event.fields["readings"]) == ("series/growth", "strong", 40)


def test_readings_with_a_time_tell_growth_an_hour_and_what_as_long_again_would_bring(told: Told) -> None:
    """As mprof 0.61 sampled a program that keeps 4 MiB every half second."""
    (event,) = told(
        "CMDLINE python train.py\n" + "".join(f"MEM {6 + 4 * i}.699219 {1795406401.4168 + i / 2:.4f}\n" for i in range(60))
    )
    assert event.fields["hour_bytes"] == 8 * 3600 << 20
    assert event.fields["span_s"] == 30
    assert 477 << 20 < int(str(event.fields["forecast_bytes"])) < 480 << 20


def test_a_table_of_chosen_columns_of_ps_is_read(told: Told) -> None:
    """`ps -o pid,etime,rss,vsz,args -p PID` again and again."""
    head = "  PID     ELAPSED   RSS    VSZ COMMAND\n"
    log = "".join(f"{head}10719       00:{i:02} {12840 + 8192 * i}  {16612 + 8192 * i} python train.py\n" for i in range(25))
    (event,) = told(log)
    assert event.fields["pid"] == 10719
    assert event.fields["growth_bytes"] == 8 << 20
