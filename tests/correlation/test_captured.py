"""What a capture says of its run - when it started, in which memory groups it was - keeps the deaths of others out of it."""

from collections.abc import Callable

import pytest

from forensics.database import Database
from forensics.model import Report
from tests.correlation.test_owners import asked

AT = "[2025-08-22T03:40:41.000000+00:00] forensics run: "
GROUP = "memory group {} counted no kill; no limit"
RUNS = "the command, pid 91000, was still running when this was written, {} after its start"
OUTPUT = "step 1 loss 0.5\nstep 2 loss 0.4\n"  # without times, as most programs print
KILL = (
    "[Fri Aug 22 {time} 2025] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={group},"
    "task_memcg={group},task=python,pid=7100,uid=1000\n"
    "[Fri Aug 22 {time} 2025] Memory cgroup out of memory: Killed process 7100 (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB\n"
)
SEGFAULT = "[Fri Aug 22 {time} 2025] python[7100]: segfault at 0 ip 00007f9a40970a89 sp 00007ffc1ccf0558 error 4 in libc.so.6[7f9a+1000]\n"
XID = "[Fri Aug 22 {time} 2025] NVRM: Xid (PCI:0000:3b:00): 31, pid=7100, name=python, Ch 00000008, intr 00000000. MMU Fault\n"


def captured(lived: str = "10 min 0 s", group: str = "/job_1", output: str = OUTPUT) -> str:
    return output + "".join(f"{AT}{text}\n" for text in (GROUP.format(group), RUNS.format(lived)))


def owners(knowledge: Database, kernel: str, **run: str) -> set[str]:
    found, _ = asked(knowledge, **{"dmesg.txt": kernel, "job.log": captured(**run)})
    return {o.owner for o in found if o.observation.source == "dmesg.txt"}


@pytest.mark.parametrize("event", [KILL, SEGFAULT, XID])
@pytest.mark.parametrize(("lived", "owner"), [("10 min 0 s", "unknown"), ("12.5 s", "others"), ("3 h 20 min", "unknown")])
def test_what_the_kernel_tells_from_before_the_start_is_anothers(knowledge: Database, event: str, lived: str, owner: str) -> None:
    assert owners(knowledge, event.format(time="03:35:00", group="/job_1"), lived=lived) == {owner}


@pytest.mark.parametrize(
    ("own", "killed", "owner"),
    [
        ("/job_1", "/job_2", "others"),
        ("/job_1", "/job_1/step_0", "unknown"),
        ("/job_1", "/docker/3f2a/job_1", "unknown"),  # a container sees the end of the path alone
        ("/", "/docker/3f2a", "unknown"),
    ],
)
def test_a_kill_in_a_memory_group_of_no_own_process_is_anothers(knowledge: Database, own: str, killed: str, owner: str) -> None:
    assert owners(knowledge, KILL.format(time="03:40:40", group=killed), group=own) == {owner}


def test_a_run_that_goes_on_is_not_ended_by_the_kill_of_another(analyze: Callable[..., Report]) -> None:
    report = analyze(dmesg_txt=KILL.format(time="03:20:00", group="/job_2"), job_log=captured())
    assert report.verdict == "no_crash"


def test_a_pid_that_the_run_names_stays_its_own(knowledge: Database) -> None:
    log = OUTPUT + "RuntimeError: DataLoader worker (pid 7100) is killed by signal: Killed.\n"
    kill = KILL.format(time="03:40:40", group="/job_2")
    assert owners(knowledge, kill, output=log) == {"mine"}
