"""A log without times beside a host's log with several deaths: none is told as its own but that next to its end."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from forensics import Report, pipeline
from forensics.database import Database
from forensics.decision.unlinked import GUESSED_MAX_PROBABILITY, UNKNOWN_OWNER_MAX_PROBABILITY
from forensics.report import phrases
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


DIED = """\
[NbConvertApp] Converting notebook segv.ipynb to notebook
[NbConvertApp] ERROR | Kernel died while waiting for execute reply.
Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/nbclient/client.py", line 1009, in async_execute_cell
    raise DeadKernelError("Kernel died") from None
nbclient.exceptions.DeadKernelError: Kernel died
"""
HOST = "2026-11-28T04:{at}+00:00 node7 kernel: [{up}] "
KILLED = HOST + (
    "Memory cgroup out of memory: Killed process {pid} (python) total-vm:323856kB, anon-rss:306248kB, file-rss:5812kB, "
    "shmem-rss:0kB, UID:0 pgtables:660kB oom_score_adj:0\n"
)
CRASHED = (
    HOST + "python[{pid}]: segfault at 7f1aee5748e0 ip 00007f1b08cf2128 sp 00007ffdc851c270 error 4 in libfastlib.so[1128]\n"
)
KILL = KILLED.format(at="38:10.4", up=100.4, pid=26260)
CRASH = CRASHED.format(at="38:57.1", up=147.1, pid=26708)
MINUTE = datetime(2026, 11, 28, 4, 38, tzinfo=UTC)


def _told(knowledge: Database, kernel: str, written_s: float | None, log: str = DIED) -> Report:
    """`written_s`: after 04:38, when the file of the log was written last."""
    moment = None if written_s is None else MINUTE + timedelta(seconds=written_s)
    given = replace(text_source("run.log", log), modified=moment)
    return pipeline.analyze([given, text_source("kern.log", kernel)], "case", knowledge)


def test_the_death_next_to_the_end_of_its_file_is_told_and_an_earlier_one_is_of_others(knowledge: Database) -> None:
    told = {s: _told(knowledge, KILL + CRASH, s) for s in (58.9, 12.0)}
    assert [r.causes[0].id for r in told.values()] == ["process.segfault", "host_memory.oom_cgroup"]
    assert [{n.line for n in r.notices if n.owner == "others"} for r in told.values()] == [{1}, {2}]
    assert all(r.causes[0].probability <= UNKNOWN_OWNER_MAX_PROBABILITY for r in told.values())
    assert {phrases.evidence_worth(r) for r in told.values()} == {"only the time links the line marked > to this run"}


def test_a_death_that_can_not_be_the_end_that_its_log_tells_is_none_however_near(knowledge: Database) -> None:
    log = "loading shard 7\nsubprocess.CalledProcessError: Command 'python crash.py' died with <Signals.SIGSEGV: 11>.\n"
    kill = KILLED.format(at="38:58.2", up=148.2, pid=26800)
    told = _told(knowledge, KILL + CRASH + kill, 58.9, log)
    assert told.causes[0].id == "process.segfault"
    assert {n.line for n in told.notices if n.owner == "others"} == {1, 3}


def test_of_two_deaths_as_near_none_is_told_as_certain(knowledge: Database) -> None:
    kill = KILLED.format(at="39:00.3", up=150.3, pid=26730)
    told = _told(knowledge, KILL + CRASH + kill, 58.9)
    first, second = (next(f for f in told.causes if f.id == c) for c in ("process.segfault", "host_memory.oom_cgroup"))
    assert (told.verdict, first.probability) == ("undetermined", second.probability)
    assert "another one below is as likely" in phrases.verdict(told)


def test_where_no_time_tells_the_last_death_is_a_guess(knowledge: Database) -> None:
    for written in (None, 3600.0):
        told = _told(knowledge, KILL + CRASH, written)
        assert (told.verdict, told.causes[0].id) == ("undetermined", "process.segfault")
        assert told.causes[0].probability <= GUESSED_MAX_PROBABILITY
        assert "only the time" not in phrases.evidence_worth(told)


def test_a_single_death_keeps_its_probability_and_is_told_to_be_given_beside_the_log(knowledge: Database) -> None:
    told = _told(knowledge, CRASH, None)
    assert (told.verdict, told.causes[0].id) == ("crash", "process.segfault")
    assert told.causes[0].linked_only_by == "place"
    assert phrases.evidence_worth(told) == "the line marked > was given beside this run's log, and nothing else links it"
