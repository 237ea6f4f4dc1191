"""Whose an observation is, and by which link: mine, somebody else's, or unknown. All logs are made for these tests."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics import correlation, pipeline, sources
from forensics.correlation.asked_subject import Subject
from forensics.correlation.owners import assign_owners
from forensics.database import Database
from forensics.model import Fields, Incident, Link, Observation, Proof, Weight
from forensics.model.verdicts import Aftermath, Entity, Fact, Lane, OwnedObservation
from tests.conftest import text_source
from tests.decision.made import DIGEST, lane

SIZES = "total-vm:9kB, anon-rss:7kB, file-rss:0kB"
KILL, DIED = "host_memory.oom_global", "notebook.kernel_died"  # the first explains the second
ID, OTHER = ("3f2a91c07d55" + "0" * 52), ("77aa91c07d55" + "0" * 52)


def killed(pid: int, time: str = "03:40:01", group: str = "/job") -> str:
    head = f"[Fri Aug 22 {time} 2025] "
    constraint = f"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={group},"
    victim = f"task_memcg={group},task=python,pid={pid},uid=1000\n"
    return f"{head}{constraint}{victim}{head}Memory cgroup out of memory: Killed process {pid} (python) {SIZES}\n"


def steps(first: int = 0, last: int = 40) -> str:
    return "".join(f"2025-08-22 03:39:{s:02d},000 INFO train: step {s} loss 0.5\n" for s in range(first, last + 1))


def asked(knowledge: Database, **texts: str) -> tuple[tuple[OwnedObservation, ...], Subject]:
    """Everything observed in `texts`, by name of source, with its owner, and whom it is about."""
    seen = pipeline.place_case([text_source(name, text) for name, text in texts.items()], knowledge)
    return assign_owners(correlation.join_incidents(seen.incidents), seen.asked, knowledge), seen.asked


def of_kernel(found: tuple[OwnedObservation, ...]) -> set[tuple[str, str]]:
    """Owner and link of what dmesg.txt tells."""
    return {(o.owner, o.link) for o in found if o.observation.source == "dmesg.txt"}


def test_a_log_of_a_program_is_its_own(knowledge: Database) -> None:
    found, about = asked(knowledge, **{"train.log": steps() + "RuntimeError: CUDA out of memory.\n"})
    assert found
    assert {(o.owner, o.link) for o in found} == {("mine", "its own log")}
    assert not about.machine
    assert str(about.entity) == "job train.log"


def test_a_hosts_log_alone_is_about_the_machine(knowledge: Database) -> None:
    found, about = asked(knowledge, **{"dmesg.txt": killed(4711)})
    assert about.machine
    assert of_kernel(found) == {("mine", "the machine's own log")}


def test_a_pid_in_the_jobs_log_is_a_link(knowledge: Database) -> None:
    log = steps() + "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.\n"
    found, about = asked(knowledge, **{"dmesg.txt": killed(4711, "03:39:41"), "train.log": log})
    assert about.own == {"train.log"}
    assert about.has_host_log
    alone = type(about)(about.own, about.starts, about.ends, about.pids, False, {n: about.lanes[n] for n in about.own})
    assert not alone.has_host_log
    assert {(whose, "4711" in link) for whose, link in of_kernel(found)} == {("mine", True)}


def test_a_process_that_the_job_does_not_name_is_anothers(knowledge: Database) -> None:
    log = steps() + "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.\n"
    found, _ = asked(knowledge, **{"dmesg.txt": killed(5820, "03:39:41"), "train.log": log})
    assert {whose for whose, _ in of_kernel(found)} == {"others"}


def test_pids_of_another_size_show_nothing(knowledge: Database) -> None:
    """A container counts its processes from 1; the kernel's log has the host's numbers."""
    log = steps() + "RuntimeError: DataLoader worker (pid 47) is killed by signal: Killed.\n"
    found, _ = asked(knowledge, **{"dmesg.txt": killed(581200, "03:39:41"), "train.log": log})
    assert {whose for whose, _ in of_kernel(found)} == {"unknown"}


@pytest.mark.parametrize(("job", "whose"), [(127, "mine"), (128, "others")])
def test_the_job_in_a_files_name_owns_the_group_of_that_job(knowledge: Database, job: int, whose: str) -> None:
    texts = {"dmesg.txt": killed(4711, "03:39:41", f"/slurm/uid_1000/job_{job}/step_0"), "slurm-127.out": steps()}
    found, about = asked(knowledge, **texts)
    assert str(about.entity) == "job 127"
    assert {w for w, link in of_kernel(found) if str(job) in link} == {whose}


def test_the_file_name_of_an_array_names_no_job(knowledge: Database) -> None:
    texts = {"dmesg.txt": killed(4711, "03:39:41", "/slurm/uid_1000/job_127/step_0"), "slurm-123_4.out": steps()}
    found, _ = asked(knowledge, **texts)
    assert {whose for whose, _ in of_kernel(found)} == {"unknown"}


@pytest.mark.parametrize(("container", "whose"), [(ID, "mine"), (OTHER, "others")])
def test_the_container_in_a_files_name_owns_its_group(knowledge: Database, container: str, whose: str) -> None:
    texts = {"dmesg.txt": killed(4711, "03:39:41", f"/docker/{container}"), f"{ID}-json.log": steps()}
    found, _ = asked(knowledge, **texts)
    assert whose in {w for w, _ in of_kernel(found)}
    assert {w for w, _ in of_kernel(found)} <= {whose, "unknown"}


def test_an_observation_before_the_jobs_start_is_anothers(knowledge: Database) -> None:
    found, _ = asked(knowledge, **{"dmesg.txt": killed(4711, "03:10:00"), "train.log": steps() + "Killed\n"})
    assert {(whose, link.endswith("before the first line of the job's log")) for whose, link in of_kernel(found)} == {
        ("others", True)
    }


def test_near_in_time_alone_leaves_the_owner_unknown(knowledge: Database) -> None:
    found, _ = asked(knowledge, **{"dmesg.txt": killed(4711, "03:39:39"), "train.log": steps()})
    assert of_kernel(found) == {("unknown", "time, 1.0 s before its last line")}
    assert {o.seconds_before for o in found if o.observation.source == "dmesg.txt"} == {1.0}


def test_an_observation_after_an_end_in_the_jobs_own_log_is_anothers(knowledge: Database) -> None:
    log = steps() + "RuntimeError: CUDA out of memory.\n"
    found, _ = asked(knowledge, **{"dmesg.txt": killed(4711, "03:39:50"), "train.log": log})
    assert of_kernel(found) == {("others", "10.0 s after the last line of the job's log")}
    found, _ = asked(knowledge, **{"dmesg.txt": killed(4711, "03:39:50"), "train.log": steps()})
    assert of_kernel(found) == {("unknown", "time, 10.0 s after its last line")}


@pytest.mark.parametrize(
    ("time", "stamp", "whose", "before"),
    [
        ("03:40:05", "", "unknown", 0.0),
        ("03:40:45", "", "others", -65.0),
        ("03:40:05", "2025-08-22 03:39:40,000 ERROR train: ", "others", -25.0),
    ],
)
def test_a_fault_may_explain_an_end_without_a_time(knowledge: Database, time: str, stamp: str, whose: str, before: float) -> None:
    fault = (
        f"[Fri Aug 22 {time} 2025] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    )
    log = steps() + f"{stamp}RuntimeError: CUDA error: unspecified launch failure\n"
    found, _ = asked(knowledge, **{"dmesg.txt": fault, "train.log": log})
    assert {(o.owner, o.seconds_before) for o in found if o.observation.source == "dmesg.txt"} == {(whose, before)}


def test_without_times_the_owner_is_unknown(knowledge: Database) -> None:
    found, _ = asked(knowledge, **{"dmesg.txt": killed(4711), "train.log": "step 1 of it\nKilled\n"})
    assert of_kernel(found) == {("unknown", "given beside it")}
    assert {o.seconds_before for o in found} == {None}


def test_another_programs_line_in_a_jobs_log_is_not_surely_its(knowledge: Database) -> None:
    """A console that is shared: the host's services write into it, too."""
    host = "Aug 22 03:39:41 node-7 kernel: python[4711]: segfault at 0 ip 00007f9a sp 00007ffc error 4 in libc.so.6[7f9a+1000]\n"
    found, _ = asked(knowledge, **{"train.log": steps() + host + steps(41, 50)})
    assert {(o.owner, o.link) for o in found if o.observation.line == 42} == {("unknown", "another program's line in its log")}


def test_facts_say_what_is_known_of_each(knowledge: Database) -> None:
    log = steps(0, 20) + "2025-08-22 03:39:20,500 WARNING train: No space left on device, retrying in 1 s\n" + steps(21, 40)
    found, _ = asked(knowledge, **{"train.log": log})
    (facts,) = {tuple((f.name, f.value) for f in o.facts) for o in found if o.observation.line == 22}
    assert facts == (("mine", True), ("continued", True), ("handled", True))


def test_a_notebook_is_asked_about_as_such(knowledge: Database, tmp_path: Path) -> None:
    (tmp_path / "out.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["fit()"], "outputs": '
        '[{"name": "stdout", "output_type": "stream", "text": ["step 1 loss 0.5\\n"]}]}],'
        ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    given = sources.open_paths([tmp_path / "out.ipynb"], lambda _warning: None)
    assert pipeline.place_case(given, knowledge).asked.entity.kind == "notebook"


def observed(cause: str, source: str, line: int = 1, **fields: object) -> Observation:
    """An observation of weight proof with `fields`."""
    return Observation("made", cause, "proof", source, line, line, (Proof(source, line, "made", "made", "proof"),), dict(fields))  # type: ignore[arg-type]


def owned(
    knowledge: Database, *given: Observation, own: str = "train.log", pids: tuple[int, ...] = (), lanes: tuple[Lane, ...] = ()
) -> tuple[OwnedObservation, ...]:
    """What is `given` with its owners, where the job wrote the file `own`, which has these `lanes` and names these processes."""
    about = Subject(frozenset({own}), {}, {}, frozenset(pids), False, {own: lanes})
    return assign_owners(Incident(given), about, knowledge)


def owner_of(
    knowledge: Database, fields: Fields, own: str = "train.log", pids: tuple[int, ...] = (), host: str = ""
) -> tuple[str, str]:
    """Owner and link of a death with `fields` in a host's log, beside the job's file `own`, a line of which names its `host`."""
    death = observed(KILL, "dmesg.txt", **fields)
    first, _ = owned(knowledge, death, observed("code.shape", own, **{"host": host} if host else {}), own=own, pids=pids)
    return first.owner, first.link


@pytest.mark.parametrize(
    ("host", "named", "owner"),
    [
        ("", "gpu-7", "mine"),  # nothing tells that it is another host
        ("gpu-7", "", "mine"),
        ("gpu-7", "gpu-7", "mine"),
        ("gpu-9", "gpu-7", "unknown"),
    ],
)
def test_a_pid_is_the_jobs_unless_both_name_their_hosts_and_two_different_ones(
    knowledge: Database, host: str, named: str, owner: str
) -> None:
    fields: Fields = {"pid": 4711, "host": host} if host else {"pid": 4711}
    assert owner_of(knowledge, fields, pids=(4711,), host=named)[0] == owner


@pytest.mark.parametrize(
    ("fields", "owner", "link"),
    [
        ({"job": "127.0"}, "mine", "job 127"),
        ({"job": "128.0"}, "others", "job 128 is another one"),
        ({"job": "128", "cgroup": "/slurm/uid_1000/job_127/step_0"}, "mine", "job 127"),  # the path is nearer than the name
        ({}, "unknown", "given beside it"),
    ],
)
def test_the_job_that_a_line_names_is_that_of_the_files_name_or_another(
    knowledge: Database, fields: Fields, owner: str, link: str
) -> None:
    assert owner_of(knowledge, fields, "slurm-127.out") == (owner, link)


@pytest.mark.parametrize(
    ("pid", "signal", "owner"),
    [
        (4700, "SIGKILL", "others"),
        (4712, "", "others"),  # a kill names the process itself
        (4712, "SIGSEGV", "unknown"),  # a crash may name a thread of the job's
        (5211, "SIGSEGV", "unknown"),
        (5212, "SIGSEGV", "others"),
        (999, "", "unknown"),  # as a container counts
        (9500, "", "unknown"),  # too far from the job's to be told from them
        ("none", "", "unknown"),
        ("4700", "", "others"),
    ],
)
def test_a_death_of_a_number_like_the_jobs_is_somebody_elses(
    knowledge: Database, pid: int | str, signal: str, owner: str
) -> None:
    fields: Fields = {"pid": pid, "signal": signal} if signal else {"pid": pid}
    assert owner_of(knowledge, fields, pids=(4711,))[0] == owner


def test_the_smallest_number_that_tells_processes_apart(knowledge: Database) -> None:
    assert owner_of(knowledge, {"pid": 1000}, pids=(1500,)) == ("others", "pid 1000 is not named in the job's log")
    assert owner_of(knowledge, {"pid": 999}, pids=(1500,))[0] == "unknown"


def test_a_machine_speaks_through_its_kernel_or_else_through_its_longest_lane() -> None:
    short, long, kernel = (
        replace(lane(kind), digest=replace(DIGEST, lines=lines))  # type: ignore[arg-type]
        for kind, lines in (("service", 10), ("service", 90), ("kernel", 20))
    )
    names = frozenset({"a file without lines", "syslog"})
    about = Subject(names, {}, {}, frozenset(), True, {"syslog": (short, long, kernel)})
    assert about.own_lanes[:] == (kernel,)
    assert replace(about, lanes={"syslog": (short, long)}).own_lanes[:] == (long,)
    assert about.entity == Entity("machine", "")


def test_a_jobs_files_speak_through_its_programs_or_else_through_all_their_lanes() -> None:
    job, service = lane("job"), lane("service")
    about = Subject(frozenset({"a.log"}), {}, {}, frozenset(), False, {"a.log": (service, job), "syslog": (lane("kernel"),)})
    assert about.own_lanes[:] == (job,)
    assert replace(about, lanes={"a.log": (service,)}).own_lanes[:] == (service,)


def test_a_job_of_several_numbers_is_named_by_them() -> None:
    about = Subject(frozenset({"slurm-11.out", "slurm-12.out"}), {}, {}, frozenset(), False)
    assert about.entity == Entity("job", "11 and 12")
    assert replace(about, own=frozenset({"train.log"})).entity == Entity("job", ""), "no line of it is known"


def test_of_two_deaths_the_one_that_no_pid_ties_to_the_job_is_somebody_elses(knowledge: Database) -> None:
    mine, other = owned(knowledge, observed(KILL, "dmesg.txt", pid=4711), observed(KILL, "dmesg.txt", 2, pid=9500), pids=(4711,))
    assert (mine.owner, mine.link) == ("mine", "pid 4711")
    assert (other.owner, other.link) == ("others", "its pid is 9500, and pid 4711 is tied to the job")
    (other,) = owned(knowledge, observed(KILL, "dmesg.txt", 2, pid=9500), pids=(4711,))
    assert other.owner == "unknown"


@pytest.mark.parametrize(
    ("effects", "behind"),
    [
        ([(DIED, 7)], 7),
        ([(DIED, 7), (DIED, 3)], 3),
        ([("code.shape", 7)], 0),  # an error of the program's own: nothing that the kill did
        ([], 0),
    ],
)
def test_what_a_host_did_to_the_job_was_survived_as_the_jobs_log_tells(
    knowledge: Database, effects: list[tuple[str, int]], behind: int
) -> None:
    felt = [observed(cause, "train.log", line) for line, (cause, _) in enumerate(effects, 1)]
    own = replace(lane(), aftermath={(line, "made"): Aftermath(lines_after=n) for line, (_, n) in enumerate(effects, 1)})
    kill, *_ = owned(knowledge, observed(KILL, "dmesg.txt", 5), *felt, lanes=(own,))
    assert kill.aftermath.lines_after == behind


def test_what_a_host_did_to_somebody_else_was_not_survived_by_the_job(knowledge: Database) -> None:
    felt = observed(DIED, "train.log", 1)
    own = replace(lane(), aftermath={(1, "made"): Aftermath(lines_after=7)})
    kill, _ = owned(knowledge, observed(KILL, "dmesg.txt", 5, pid=4700), felt, pids=(4711,), lanes=(own,))
    assert (kill.owner, kill.aftermath.lines_after) == ("others", 0)


@pytest.mark.parametrize(
    ("source", "owner"), [("train.log", ("mine", "pod train-0")), ("syslog", ("unknown", "given beside it"))]
)
def test_what_a_name_links_to_the_jobs_own_line_is_the_jobs(knowledge: Database, source: str, owner: tuple[str, str]) -> None:
    kill, felt = observed(KILL, "dmesg.txt", 5), observed(DIED, source, 1)
    about = Subject(frozenset({"train.log"}), {}, {}, frozenset(), False, {"train.log": ()})
    link = Link(felt.place, kill.place, "pod train-0", "pod")
    found, _ = assign_owners(Incident((kill, felt), (link,)), about, knowledge)
    assert (found.owner, found.link) == owner


@pytest.mark.parametrize(
    ("weight", "owner"),
    [
        ("strong", ("others", "10.0 s after the last line of the job's log")),
        ("hint", ("unknown", "time, 10.0 s after its last line")),
    ],
)
def test_a_hint_does_not_show_that_the_job_had_ended(knowledge: Database, weight: Weight, owner: tuple[str, str]) -> None:
    end = datetime(2025, 8, 22, 3, 40, tzinfo=UTC)
    kill = replace(observed(KILL, "dmesg.txt", 5), time=end + timedelta(seconds=10))
    felt = replace(observed("code.shape", "train.log", 1), weight=weight, ends="process")
    about = Subject(frozenset({"train.log"}), {}, {"train.log": end}, frozenset(), False, {"train.log": ()})
    found, _ = assign_owners(Incident((kill, felt)), about, knowledge)
    assert (found.owner, found.link) == owner


def test_each_fact_names_the_line_that_shows_it(knowledge: Database) -> None:
    after = Aftermath(lines_after=9, repeated=4, repeated_line=12, handled=True, handled_line=13)
    own = replace(lane(), aftermath={(8, "made"): after})
    (found,) = owned(knowledge, observed(DIED, "train.log", 8), lanes=(own,))
    assert found.facts == (
        Fact("mine", True, "train.log", 8),
        Fact("continued", True, "train.log", 12),
        Fact("handled", True, "train.log", 13),
    )
    (other,) = owned(knowledge, observed(KILL, "dmesg.txt", 2, pid=4700), pids=(4711,))
    assert other.facts == (Fact("mine", False, "dmesg.txt", 2),)


def test_an_observation_after_the_end_has_the_fact_after_end(knowledge: Database) -> None:
    found, _ = asked(
        knowledge, **{"dmesg.txt": killed(4711, "03:39:50"), "train.log": steps() + "RuntimeError: CUDA out of memory.\n"}
    )
    (facts,) = {tuple(o.facts) for o in found if o.observation.source == "dmesg.txt"}
    assert [(f.name, f.value, f.source) for f in facts] == [("mine", False, "dmesg.txt"), ("after_end", True, "dmesg.txt")]
    assert facts[1].line == facts[0].line > 0


def test_a_file_of_a_service_alone_is_the_jobs_own_log(knowledge: Database) -> None:
    """Only beside lines of a program are those of another one somebody's who is not known."""
    service, job = (replace(lane(kind), aftermath={(8, "made"): Aftermath(lines_after=9)}) for kind in ("service", "job"))  # type: ignore[arg-type]
    (found,) = owned(knowledge, observed(DIED, "train.log", 8), lanes=(service,))
    assert (found.owner, found.link, found.lane) == ("mine", "its own log", service)
    (found,) = owned(knowledge, observed(DIED, "train.log", 8), lanes=(service, replace(job, aftermath={})))
    assert (found.owner, found.lane) == ("unknown", service)


def test_a_container_is_nobodys_where_no_file_is_named_after_one(knowledge: Database) -> None:
    assert owner_of(knowledge, {"cgroup": f"/docker/{OTHER}"}) == ("unknown", "given beside it")
    assert owner_of(knowledge, {"cgroup": f"/docker/{OTHER}"}, f"{ID}-json.log") == ("others", "another container")
