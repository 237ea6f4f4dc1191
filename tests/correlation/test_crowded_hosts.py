"""A log without times beside a host's log with deaths of several hours: none of them is told as its own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from forensics import Report, pipeline
from forensics.database import Database
from tests.conftest import text_source

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


def test_a_refused_fork_in_a_group_that_nothing_ties_to_the_log_is_not_its_own_either(analyze: Callable[..., Report]) -> None:
    refused = "2026-11-28T09:11:01+00:00 node7 kernel: [26011.1] cgroup: fork rejected by pids controller in /jobs/other\n"
    told = analyze(train_log=STEPS, kern_log=EARLY + refused)
    assert told.causes[0].id == "none.healthy"
    assert {n.line for n in told.notices if n.owner == "others"} == {1, 2}


def test_of_several_the_one_of_the_moment_at_which_the_file_was_written_last_may_be_its_own(knowledge: Database) -> None:
    moment = datetime(2026, 11, 28, 8, 11, 0, 200_000, UTC)  # the later kill is at 08:11:01
    told = {}
    for late_s in (0, 600):
        log = replace(text_source("train.log", STEPS), modified=moment + timedelta(seconds=late_s))
        report = pipeline.analyze([log, text_source("kern.log", EARLY + LATE)], "case", knowledge)
        told[late_s] = report.causes[0].id, "81822" in report.causes[0].summary, report.causes[0].probability < 0.9
    assert told == {0: ("host_memory.oom_cgroup", True, True), 600: ("none.healthy", False, True)}
