"""A log without times beside a host's log with deaths of several hours: none of them is told as its own."""

from collections.abc import Callable

from forensics import Report

STEPS = "".join(f"epoch 0 step {n} loss {3 - n / 400:.2f}\n" for n in range(0, 500, 100))
KILL = (
    "2026-11-28T{at}+00:00 node7 kernel: [{up}] Memory cgroup out of memory: Killed process {pid} ({task}) total-vm:9549296kB, "
    "anon-rss:8611088kB, file-rss:0kB, shmem-rss:0kB, UID:1003 pgtables:1kB oom_score_adj:0\n"
)
EARLY, LATE = (
    KILL.format(at="02:11:01", up=811.1, pid=71822, task="python"),
    KILL.format(at="08:11:01", up=22411.1, pid=81822, task="java"),
)


def test_of_deaths_of_several_hours_none_is_that_of_a_log_that_nothing_ties_to_one(analyze: Callable[..., Report]) -> None:
    told = analyze(train_log=STEPS, kern_log=EARLY + LATE)
    assert told.verdict != "crash"
    assert told.causes[0].id == "none.healthy"
    assert {n.line for n in told.notices if n.owner == "others"} == {1, 2}


def test_one_that_the_log_names_is_its_own_and_a_single_one_may_be(analyze: Callable[..., Report]) -> None:
    named = analyze(train_log=STEPS + "run.sh: line 3: 71822 Killed    python train.py\n", kern_log=EARLY + LATE)
    alone = analyze(train_log=STEPS, kern_log=EARLY)
    assert [r.causes[0].id for r in (named, alone)] == ["host_memory.oom_cgroup"] * 2
    assert "71822" in named.causes[0].summary
