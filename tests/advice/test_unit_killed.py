"""systemd counts a kill for want of memory in a unit, and does not tell whether the host or the unit's own limit was reached."""

from collections.abc import Callable

import pytest

from forensics import Report
from forensics.database import Database
from forensics.explain import explain

UNIT = "Dec 01 03:44:58 gpu-02 systemd[1]: trainer.service: {}\n"
KILLED = UNIT.format("A process of this unit has been killed by the OOM killer.")
FAILED = UNIT.format("Failed with result 'oom-kill'.")
BARE = "Dec 01 03:44:58 gpu-02 systemd[1]: A process of this unit has been killed by the OOM killer.\n"
KERNEL = "Dec 01 03:44:58 gpu-02 kernel: [81023.5] "
SIZES = "total-vm:87033376kB, anon-rss:60356340kB, file-rss:0kB, shmem-rss:12kB, UID:1042 pgtables:169956kB oom_score_adj:0\n"
OF_HOST = f"{KERNEL}Out of memory: Killed process 2201 (python) {SIZES}"
OF_LIMIT = f"{KERNEL}Memory cgroup out of memory: Killed process 2201 (python) {SIZES}"
EITHER = "Memory ran out, the whole machine's or the unit's own limit"


@pytest.mark.parametrize("lines", [KILLED, FAILED, KILLED + FAILED, BARE])
def test_systemd_alone_leaves_it_open(analyze: Callable[..., Report], lines: str) -> None:
    told = analyze(journal_log=lines)
    assert told.causes[0].title == EITHER
    assert "MemoryMax=" in told.causes[0].summary
    asked = "systemctl show trainer.service -p MemoryMax -p MemoryHigh -p MemoryPeak" in [q.command for q in told.missing]
    assert asked == ("trainer.service" in lines)


@pytest.mark.parametrize(("kernel", "cause"), [(OF_HOST, "host_memory.oom_global"), (OF_LIMIT, "host_memory.oom_cgroup")])
def test_the_kernel_says_which_it_was(analyze: Callable[..., Report], kernel: str, cause: str) -> None:
    told = analyze(journal_log=kernel + KILLED + FAILED)
    assert told.causes[0].id == cause
    assert told.causes[0].title != EITHER
    assert "MemoryMax" not in told.causes[0].summary + "".join(q.command for q in told.missing)


def test_explain_leaves_it_open_too(knowledge: Database) -> None:
    assert [c.title for c in explain(FAILED.strip(), knowledge).causes] == [EITHER]
