"""Logs of several runs: the last one is what is asked about, the others are attempts before it. All logs are made for these tests."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics import pipeline
from forensics.correlation.runs import separate_runs
from forensics.database import Database
from forensics.model import Report, SourceSummary
from tests.conftest import text_source

SHAPES = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
MISSING = "FileNotFoundError: [Errno 2] No such file or directory: 'labels.csv'\n"


def run(hour: int, end: str = "", batch: int = 64, head: str = "starting the training of a small net", steps: int = 30) -> str:
    rows = [f"{head}, batch_size {batch}", *(f"step {i} loss {1 / (i + 1):.3f}" for i in range(steps))]
    return "".join(f"2025-08-22 {hour:02d}:00:{i:02d},000 INFO {row}\n" for i, row in enumerate(rows)) + end


def analyzed(knowledge: Database, **texts: str) -> Report:
    return pipeline.analyze([text_source(name, text) for name, text in texts.items()], "case", knowledge)


def earlier(report: Report) -> list[tuple[int, str, str]]:
    return [(a.number, a.source, a.cause) for a in report.earlier_attempts]


def test_the_last_run_is_asked_about_and_the_one_before_is_an_attempt(knowledge: Database) -> None:
    found = analyzed(knowledge, **{"run1.log": run(3, SHAPES), "run2.log": run(5, MISSING, batch=32)})
    assert found.causes[0].id == "data.missing"
    assert {p.source for p in found.causes[0].evidence} == {"run2.log"}
    assert found.subject is not None
    assert (found.subject.name, found.subject.attempt, found.subject.attempts) == ("run2.log", 2, 2)
    assert earlier(found) == [(1, "run1.log", "code.shape")]
    assert [(c.what, c.then, c.last) for c in found.earlier_attempts[0].changes] == [("batch size", "64", "32")]


def test_a_good_last_run_is_healthy_and_tells_of_the_failed_one(knowledge: Database) -> None:
    good = run(7, "2025-08-22 07:01:00,000 INFO training finished, model saved\n")
    found = analyzed(knowledge, **{"slurm-12.out": run(3, SHAPES), "slurm-13.out": good})
    assert found.verdict == "no_crash"
    assert earlier(found) == [(1, "slurm-12.out", "code.shape")]
    assert all(n.source != "slurm-12.out" for n in found.notices)


def test_the_tasks_of_an_array_are_one_run_behind_the_jobs_before_it(knowledge: Database) -> None:
    """The last of the other jobs is no part of the array, though its name has another form."""
    logs = {
        "slurm-11.out": run(3, SHAPES),
        "slurm-12.out": run(4, MISSING),
        "slurm-20_1.out": run(5),
        "slurm-20_2.out": run(5, SHAPES),
    }
    found = analyzed(knowledge, **logs)
    assert found.subject is not None
    assert found.subject.name == "slurm-20_2.out"
    assert earlier(found) == [(1, "slurm-11.out", "code.shape"), (2, "slurm-12.out", "data.missing")]


def test_each_runs_incident_is_its_own(knowledge: Database) -> None:
    found = analyzed(knowledge, **{"run1.log": run(3, SHAPES), "run2.log": run(23, MISSING)})
    assert [i.candidates[0].id for i in found.incidents] == ["data.missing", "code.shape"]


def test_ranks_that_ran_at_the_same_time_are_one_run(knowledge: Database) -> None:
    found = analyzed(knowledge, **{"rank0.log": run(3, SHAPES), "rank1.log": run(3)})
    assert found.causes[0].id == "code.shape"
    assert earlier(found) == []


def test_pieces_of_one_log_are_one_run(knowledge: Database) -> None:
    """The later piece begins in the middle of the steps, or is named by the day alone."""
    cut = run(4, MISSING, head="step 30 loss 0.03").replace(", batch_size 64", "", 1)
    for names in (("train.log.1", "train.log"), ("train1.log", "train2.log")):
        assert earlier(analyzed(knowledge, **{names[0]: run(3, SHAPES), names[1]: cut})) == []
    days = {"train-2025-08-21.log": run(3, SHAPES), "train-2025-08-22.log": run(5, MISSING)}
    assert earlier(analyzed(knowledge, **days)) == []


def test_a_saved_log_of_the_run_before_is_an_earlier_run(knowledge: Database) -> None:
    found = analyzed(knowledge, **{"train.log.old": run(3, SHAPES), "train.log": run(5, MISSING)})
    assert earlier(found) == [(1, "train.log.old", "code.shape")]


def test_a_log_without_times_goes_with_the_numbers_of_its_run(knowledge: Database) -> None:
    texts = {"run1.out": run(3), "run1.err": SHAPES, "run2.out": run(5), "run2.err": MISSING}
    found = analyzed(knowledge, **texts)
    assert found.causes[0].id == "data.missing"
    assert earlier(found) == [(1, "run1.err", "code.shape")]


def test_without_times_nobody_knows_which_run_was_last(knowledge: Database) -> None:
    found = analyzed(knowledge, **{"run1.log": "starting the net\n" + SHAPES, "run2.log": "starting the net\n" + MISSING})
    assert earlier(found) == []


def test_jobs_are_told_apart_by_their_numbers(knowledge: Database) -> None:
    """Without any time, too; a number that may be a pid's is no job's."""
    texts = {"train_21205505.out": SHAPES, "train_21207306.err": "", "train_21207306.out": MISSING, "train_21205505.err": ""}
    found = analyzed(knowledge, **texts)
    assert found.causes[0].id == "data.missing"
    assert found.subject is not None
    assert found.subject.attempts == 2
    assert earlier(found) == [(1, "train_21205505.out", "code.shape")]
    assert earlier(analyzed(knowledge, **{"worker_41207.log": SHAPES, "worker_41208.log": MISSING})) == []
    assert earlier(analyzed(knowledge, **{"rank0_1755831600.log": SHAPES, "rank1_1755831602.log": MISSING})) == []


TIME_LIMIT = "slurmstepd: error: *** JOB {job} ON node-{job} CANCELLED AT 2025-08-22T{time} DUE TO TIME LIMIT ***\n"
KILLED = "slurmstepd: error: Detected 1 oom_kill event in StepId={job}.0. Some of the step tasks have been OOM Killed.\n"


def incidents(report: Report) -> list[tuple[str, str]]:
    return [(i.subject, i.causes[0]) for i in report.incidents]


def test_jobs_that_ran_at_the_same_time_are_an_incident_each(knowledge: Database) -> None:
    """Their logs begin alike, or have one name; the first is the one that ended last, whatever its number."""
    for name in ("slurm-{}.out", "train-{}.out"):
        ended = run(3, TIME_LIMIT.format(job=4712001, time="04:00:00"))
        found = analyzed(knowledge, **{name.format(4712001): ended, name.format(4712002): run(3, SHAPES)})
        assert [cause for _, cause in incidents(found)] == ["stopped.time_limit", "code.shape"]
        assert [("4712001" in job, "4712002" in job) for job, _ in incidents(found)] == [(True, False), (False, True)]
        assert earlier(found) == []
        assert found.subject is not None
        assert (found.subject.attempts, "4712001" in found.subject.name) == (1, True)


def test_jobs_of_scripts_that_begin_otherwise_are_none_of_each_others_attempts(knowledge: Database) -> None:
    """A row that names the job is the cluster's, and stands above every script's own."""
    logs = {
        4001: "Job 4001 starts on node 7\nreading the genomes of mice\n" + KILLED.format(job=4001),
        4002: "Job 4002 starts on node 8\nepoch 1 train loss 3.1\n" + TIME_LIMIT.format(job=4002, time="05:00:00"),
        4003: "Job 4003 starts on node 9\nsampling a thousand images\n" + TIME_LIMIT.format(job=4003, time="04:00:00"),
    }
    found = analyzed(knowledge, **{f"slurm-{n}.out": text for n, text in logs.items()})
    assert earlier(found) == []
    assert incidents(found) == [
        ("job 4002", "stopped.time_limit"),
        ("job 4003", "stopped.time_limit"),
        ("job 4001", "host_memory.oom_cgroup"),
    ]


def test_a_job_without_times_ended_behind_those_that_were_submitted_before(knowledge: Database) -> None:
    ended = TIME_LIMIT.format(job=4001, time="05:00:00")
    found = analyzed(
        knowledge, **{"slurm-4001.out": ended, "slurm-4002.out": "sampling a few images\n" + KILLED.format(job=4002)}
    )
    assert incidents(found) == [("job 4002", "host_memory.oom_cgroup"), ("job 4001", "stopped.time_limit")]


def test_the_errors_of_a_job_that_alone_wrote_a_log_of_them_are_its_own(knowledge: Database) -> None:
    found = analyzed(knowledge, **{"slurm-11.out": run(3), "slurm-11.err": SHAPES, "slurm-12.out": run(5, MISSING)})
    assert found.causes[0].id == "data.missing"
    assert earlier(found) == [(1, "slurm-11.err", "code.shape")]


def test_a_log_that_names_no_job_does_not_tell_when_one_began(knowledge: Database) -> None:
    setup = run(2, head="installing the packages of the project")
    found = analyzed(knowledge, **{"slurm-11.out": run(3, SHAPES), "slurm-12.out": run(5, MISSING), "setup.log": setup})
    assert earlier(found) == [(1, "slurm-11.out", "code.shape")]


def test_the_attempts_of_one_job_go_past_another_job(knowledge: Database) -> None:
    other = run(4, MISSING, head="evaluating the big net")
    found = analyzed(knowledge, **{"slurm-11.out": run(3, SHAPES), "slurm-12.out": other, "slurm-13.out": run(5, SHAPES)})
    assert earlier(found) == [(1, "slurm-11.out", "code.shape")]
    assert ("job 12", "data.missing") in incidents(found)


def test_of_several_jobs_the_last_that_failed_stands_first(knowledge: Database) -> None:
    good = run(3, "2025-08-22 03:01:00,000 INFO training finished, model saved\n")
    found = analyzed(knowledge, **{"slurm-12.out": run(3, SHAPES), "slurm-13.out": good})
    assert found.verdict == "crash"
    assert incidents(found)[0] == ("job 12", "code.shape")
    both = analyzed(knowledge, **{"slurm-12.out": good, "slurm-13.out": good})
    assert both.verdict == "no_crash"


@pytest.mark.parametrize(
    ("group", "own"),
    [
        ("/slurm/uid_1/job_12", KILLED.format(job=12)),
        ("/box", "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.\n"),
    ],
    ids=["it names the job", "a number links them"],
)
def test_what_a_hosts_log_tells_of_a_job_is_in_that_jobs_incident(knowledge: Database, group: str, own: str) -> None:
    head = "2025-08-22T03:00:29+00:00 node-1 kernel: "
    kill = (
        f"{head}oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        f"oom_memcg={group},task_memcg={group},task=python,pid=4242,uid=1\n"
        f"{head}Memory cgroup out of memory: Killed process 4242 (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB\n"
    )
    logs = {"slurm-12.out": run(3, own), "slurm-13.out": run(3, TIME_LIMIT.format(job=13, time="04:00:00"))}
    found = analyzed(knowledge, **logs, **{"kern.log": kill})
    assert incidents(found) == [("job 13", "stopped.time_limit"), ("job 12", "host_memory.oom_cgroup")]
    assert "kern.log" in {p.source for f in found.incidents[1].findings for p in f.evidence}


def test_of_many_runs_the_last_ones_are_listed(knowledge: Database) -> None:
    found = analyzed(knowledge, **{f"slurm-{4000 + i}.out": SHAPES for i in range(30)})
    assert found.subject is not None
    assert (found.subject.name, found.subject.attempts) == ("4029", 30)
    assert [a.number for a in found.earlier_attempts] == list(range(10, 30))


def summary(name: str, hour: int) -> SourceSummary:
    first = datetime(2025, 8, 22, hour, tzinfo=UTC)
    return SourceSummary(name, "plain", None, 100, 30, 2, first, first + timedelta(minutes=9), "wall")


def runs_of(*given: tuple[str, int], head: str = "starting training") -> list[set[str]]:
    own = [summary(name, hour) for name, hour in given]
    return [set(names) for names in separate_runs(own, lambda _name: [head])]


def test_a_log_that_names_no_run_counts_to_the_last_one() -> None:
    assert runs_of(("run1.log", 1), ("run2.log", 2), ("run3.log", 3), ("run2.err", 9), ("dmesg.log", 9)) == [
        {"run1.log"},
        {"run2.log", "run2.err"},
        {"run3.log", "dmesg.log"},
    ]


def test_of_two_programs_the_one_with_more_logs_tells_the_runs() -> None:
    own = [("eval1.log", 1), ("eval2.log", 2), ("train1.log", 1), ("train2.log", 2), ("train3.log", 3)]
    assert runs_of(*own) == [{"train1.log", "eval1.log"}, {"train2.log", "eval2.log"}, {"train3.log"}]


def test_a_first_line_of_one_word_may_begin_any_log() -> None:
    own = [("run1.log", 1), ("run2.log", 2)]
    assert len(runs_of(*own)) == 2
    assert len(runs_of(*own, head="loading 7")) == 1


SEGFAULT = "bash: line 1: 24058 Segmentation fault      python train.py\n"
LOSSES = "".join(f"step {i} loss {1 / (i + 1) if i < 20 else float('nan'):.3f}\n" for i in range(30))
DAMAGED = "starting\nloading shards\n" + SHAPES


@pytest.mark.parametrize("name", ["run_{:02}.log", "exp-{}.txt", "out/trial{}.out"])
def test_runs_that_nothing_joins_are_a_job_each(knowledge: Database, name: str) -> None:
    """The process of one is not the place of the other, and what one printed is no reason of the other's end."""
    logs = {name.format(6): SEGFAULT, name.format(8): DAMAGED, name.format(10): LOSSES, "sweep.txt": MISSING}
    found = analyzed(knowledge, **logs)
    assert found.causes[0].id == "numerics.nan"
    assert {p.source for c in found.causes for p in c.evidence} == {name.format(10)}
    assert "24058" not in found.causes[0].where
    assert {c.source for c in found.curves} <= {name.format(10)}
    assert {cause for _, cause in incidents(found)} == {"numerics.nan", "process.segfault", "code.shape", "data.missing"}


def test_runs_that_time_a_process_or_a_rank_joins_are_one(knowledge: Database) -> None:
    """So are logs whose names number parts of one run."""
    at_once = {"run_1.log": run(3, SHAPES, head="reading mice"), "run_2.log": run(3, head="epoch of cats")}
    one_process = {"run_1.log": SEGFAULT + SHAPES, "run_2.log": SEGFAULT + MISSING}
    ranks = {"run_1_rank0.log": SHAPES, "run_1_rank1.log": MISSING}
    parts = {"worker_1.log": SHAPES, "worker_2.log": MISSING}
    resumed = {"run_1.log": "step 8\n" + MISSING, "run_2.log": "resuming from ckpt/last.pt\n" + SHAPES}
    for logs in (at_once, one_process, ranks, parts, resumed):
        assert len(analyzed(knowledge, **logs).incidents) == 1, logs
