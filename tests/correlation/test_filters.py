"""What is asked about with --since, --until, --pid, --job and --last, on made logs of several incidents."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics import pipeline
from forensics.core.errors import UsageError
from forensics.correlation import Filter
from forensics.correlation.filters import names_job, parse_time_bound
from forensics.database import HEALTHY, Database
from forensics.model import Report
from tests.conftest import text_source
from tests.correlation.helpers import event

SHAPE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)"
INVOKED = "node7 kernel: python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
OOM = (
    "node7 kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/uid_1/job_{job},"
    "task_memcg=/slurm/uid_1/job_{job}/step_0,task=python3,pid={pid},uid=1000\n"
)
KILLED = "node7 kernel: Memory cgroup out of memory: Killed process {pid} (python3) total-vm:1229208kB, anon-rss:326484kB, file-rss:20136kB, shmem-rss:0kB, UID:1000 pgtables:888kB oom_score_adj:0\n"


def killed(stamp: str, pid: int, job: int) -> str:
    return f"{stamp} {INVOKED}{stamp} {OOM.format(pid=pid, job=job)}{stamp} {KILLED.format(pid=pid)}"


DMESG = killed("2026-11-18T09:00:00+01:00", 100, 4711) + killed("2026-11-20T10:00:00+01:00", 200, 4712)
TRAIN = (
    "2026-11-18 09:30:00,000 INFO step 1 loss 0.5\n2026-11-18 12:30:00,000 ERROR " + SHAPE + "\n"
    "2026-11-21 08:00:00,000 INFO step 1 loss 0.5\n2026-11-21 08:30:00,000 ERROR "
    + SHAPE
    + "\n2026-11-21 09:30:00,000 INFO bye\n"
)
ENDED_WELL = TRAIN.replace("INFO bye", "INFO Training completed successfully")


def asked(
    since: str | None = None, until: str | None = None, pid: int | None = None, job: str | None = None, last: bool = False
) -> Filter:
    return Filter.of(since, until, pid, job, last)


@pytest.fixture
def about(knowledge: Database) -> Callable[..., Report]:
    def run(event_filter: Filter, **texts: str) -> Report:
        given = [text_source(name.replace("_", "."), text) for name, text in texts.items()]
        return pipeline.analyze(given, "case", knowledge, event_filter=event_filter)

    return run


def told(report: Report) -> str:
    return " ".join(w.message for w in report.warnings if w.kind == "choice")


def test_a_message_that_comes_again_days_later_is_two_incidents(about: Callable[..., Report]) -> None:
    report = about(asked(), train_log=TRAIN)
    assert [i.start.day for i in report.incidents if i.start] == [21, 18]
    assert 4 in [p.line for p in report.causes[0].evidence]


@pytest.mark.parametrize(
    ("event_filter", "cause", "pid"),
    [
        (asked(since="2026-11-20T08:59:00Z", until="2026-11-20T09:01:00Z"), "host_memory.oom_cgroup", 200),
        (asked(since="2026-11-20 09:59", until="2026-11-20 10:01"), "host_memory.oom_cgroup", 200),  # the log's own clock
        (asked(until="2026-11-18 09:10"), "host_memory.oom_cgroup", 100),
        (asked(since="-30h"), "host_memory.oom_cgroup", 200),
        (asked(since="09:59"), "host_memory.oom_cgroup", 200),  # of the last day
        (asked(pid=100), "host_memory.oom_cgroup", 100),
        (asked(pid=200), "host_memory.oom_cgroup", 200),
        (asked(job="4711"), "host_memory.oom_cgroup", 100),
        (asked(job="4712"), "host_memory.oom_cgroup", 200),
        (asked(last=True), "host_memory.oom_cgroup", 200),
    ],
    ids=str,
)
def test_the_verdict_speaks_of_what_was_asked_for(
    about: Callable[..., Report], event_filter: Filter, cause: str, pid: int
) -> None:
    report = about(event_filter, dmesg_log=DMESG)
    assert (report.verdict, report.causes[0].id, report.causes[0].facts["pid"]) == ("crash", cause, pid)
    assert len(report.incidents) == 1
    assert ("left out" in told(report)) == bool(str(event_filter))


def test_without_a_choice_all_incidents_are_listed_and_the_last_comes_first(about: Callable[..., Report]) -> None:
    report = about(asked(), dmesg_log=DMESG)
    assert report.causes[0].facts["pid"] == 200
    assert [i.start.day for i in report.incidents if i.start] == [20, 18]
    assert told(report) == ""


def test_two_processes_killed_in_one_incident_are_told_apart(about: Callable[..., Report]) -> None:
    log = killed("2026-11-18T09:00:00+01:00", 100, 4711) + killed("2026-11-18T09:00:02+01:00", 200, 4712)
    for pid, job in ((100, "4711"), (200, "4712")):
        for event_filter in (asked(pid=pid), asked(job=job)):
            report = about(event_filter, dmesg_log=log)
            assert {p.line for p in report.causes[0].evidence} == ({1, 2, 3} if pid == 100 else {4, 5, 6}), event_filter


def test_a_time_in_which_the_log_tells_of_nothing_bad_is_no_crash(about: Callable[..., Report]) -> None:
    report = about(asked(since="2026-11-21 09:00"), train_log=ENDED_WELL)
    assert (report.verdict, report.causes[0].id) == ("no_crash", HEALTHY)
    assert "left out by --since 2026-11-21 09:00: " in told(report)


@pytest.mark.parametrize("event_filter", [asked(pid=999), asked(job="4999"), asked(since="2027-01-01")], ids=str)
def test_what_the_logs_do_not_speak_of_is_undetermined(about: Callable[..., Report], event_filter: Filter) -> None:
    report = about(event_filter, train_log=TRAIN, dmesg_log=DMESG)
    assert report.verdict == "undetermined"
    assert report.causes[0].probability <= 0.5
    assert report.missing[0].what == f"what happened with {event_filter}"
    assert "2026-11-18" in report.missing[0].why


def test_lines_without_a_time_are_kept_with_a_warning(about: Callable[..., Report]) -> None:
    report = about(asked(since="2026-11-20"), job_log=f"step 1\n{SHAPE}\n", dmesg_log=DMESG)
    assert {f.id for f in report.causes} >= {"code.shape", "host_memory.oom_cgroup"}
    assert "have no time; they were kept" in told(report)


def test_relative_times_count_back_from_the_last_time_of_the_logs(about: Callable[..., Report]) -> None:
    assert about(asked(since="-2h"), train_log=TRAIN).causes[0].id == "code.shape"
    assert about(asked(since="-30min"), train_log=ENDED_WELL).verdict == "no_crash"


@pytest.mark.parametrize(
    ("job", "text", "hit"),
    [
        ("4711", "slurmstepd: error: *** JOB 4711 ON node7 CANCELLED", True),
        ("4711", "slurmstepd: error: *** STEP 4711.0 ON node7 CANCELLED", True),
        ("4711", "task_memcg=/slurm/uid_1/job_4711/step_0", True),
        ("4711", "Killed process 4711 (python3)", False),
        ("4711", "JobId=47110 finished", False),
        ("trainer-0", "pod trainer-0 was evicted", True),
        ("trainer-0", "pod trainer-01 was evicted", False),
        ("4f3a9c0d1e2b", "container 4f3a9c0d1e2b77aa died", True),
    ],
)
def test_a_job_is_known_by_its_name_and_a_number_only_behind_a_word_for_jobs(job: str, text: str, hit: bool) -> None:
    assert names_job(job)(event("a.log", 1, text)) is hit
    assert names_job(job)(event(f"slurm-{job}.out", 1, "x"))


@pytest.mark.parametrize("text", ["yesterday-ish", "-2parsecs", "2026-13-01", "", "-", "25:00"])
def test_a_text_that_is_no_time_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match=r"--since takes a time, not '.*'"):
        parse_time_bound(text, "--since")


END = datetime(2026, 11, 21, 12, tzinfo=UTC)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)), st.integers(0, 10_000))
def test_every_time_is_read_as_it_was_written(moment: datetime, minutes: int) -> None:
    absolute, relative = parse_time_bound(moment.isoformat(" "), "--until"), parse_time_bound(f"-{minutes}min", "--until")
    assert absolute and absolute.resolved(None) == moment
    assert relative and relative.resolved(END) == END - timedelta(minutes=minutes)
    assert relative.resolved(None) is None


@pytest.mark.seconds
def test_the_filters_are_options_of_the_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from forensics.cli.app import build

    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "dmesg.log").write_text(DMESG)
    options = ["--since", "-30h", "--last", "-f", "json"]
    for command in (["analyze", str(tmp_path / "case")], ["batch", str(tmp_path)]):
        said = CliRunner().invoke(build(), [*command, *options])
        (line,) = [x for x in said.stdout.splitlines() if "4712" in x][:1]
        assert "4712" in line
    piped = CliRunner().invoke(build(), ["stdin", "--pid", "100", "-f", "json"], input=DMESG)
    assert json.loads(piped.stdout)["causes"][0]["facts"]["pid"] == 100


@pytest.mark.parametrize(
    ("row", "named_by"),
    [
        ("4711|train|gpu|COMPLETED|0:0|2026-11-20T08:00:00", True),
        ("4711.batch|batch||COMPLETED|0:0|2026-11-20T08:00:00", True),
        ("4711         train        gpu    account      8  COMPLETED      0:0", True),
        ("47110|train|gpu|COMPLETED|0:0|2026-11-20T08:00:00", False),
        ("epoch 4711 loss 0.3", False),
        ("4711 samples read in 0:03", False),
    ],
)
def test_a_row_of_sacct_names_its_job(row: str, named_by: bool) -> None:
    assert names_job("4711")(event("accounting.txt", 1, row)) is named_by


def test_a_job_that_sacct_says_ended_well_is_answered(knowledge: Database) -> None:
    rows = (
        "JobID|JobName|Partition|State|ExitCode|Start|End|Elapsed|NodeList\n"
        "4711|train|gpu|COMPLETED|0:0|2026-11-20T08:00:00|2026-11-20T10:00:00|02:00:00|node04\n"
    )
    report = pipeline.analyze([text_source("sacct.txt", rows)], "case", knowledge, event_filter=Filter(job="4711"))
    assert (report.verdict, report.causes[0].id, report.missing) == ("no_crash", HEALTHY, ())
    other = pipeline.analyze([text_source("sacct.txt", rows)], "case", knowledge, event_filter=Filter(job="4712"))
    assert other.verdict == "undetermined"


def test_an_age_counts_back_from_now() -> None:
    found = parse_time_bound("7d", "--since")
    assert found
    assert found.moment
    assert abs(datetime.now().astimezone() - timedelta(days=7) - found.moment) < timedelta(minutes=5)


def test_an_error_without_a_stamp_is_not_of_a_time_behind_the_whole_log(about: Callable[..., Report]) -> None:
    log = "2026-11-13 23:30:02 INFO step 9 loss 1.0\nTraceback (most recent call last):\nOSError: [Errno 28] No space left on device: '/o/p'\n"
    assert about(asked(since="2026-11-10"), train_log=log).causes[0].id == "storage.full"
    later = about(asked(since="2026-11-24"), train_log=log)
    assert [q.what for q in later.missing] == ["what happened with --since 2026-11-24"]
