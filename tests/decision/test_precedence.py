"""The few absolutes: what is ranked in front of what, whatever was learned."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics.database import Database, builtin_folder
from forensics.database.records import read_precedence
from forensics.decision.structure import Precedence, Row, precedence_of
from forensics.model import Report
from forensics.model.verdicts import Candidate
from forensics.report.course import consequences
from tests.decision.made import seen

KILL, DIED = "host_memory.oom_cgroup", "process.worker_died"


def ranked(knowledge: Database, row: Row, *candidates: Candidate) -> dict[str, float]:
    return {c.cause: c.probability for c in Precedence((row,)).applied(candidates, knowledge)}


def offered(weight: str = "proof", owner: str = "mine") -> tuple[Candidate, Candidate]:
    first = Candidate(KILL, (seen(KILL, 5, weight, owner),), {}, 0.2)  # type: ignore[arg-type]
    return first, Candidate(DIED, (seen(DIED, 9),), {}, 0.7)


def test_a_row_exchanges_the_probabilities_of_its_two_causes(knowledge: Database) -> None:
    row = Row(KILL, DIED, "a signal is how a process is ended, and no reason")
    assert ranked(knowledge, row, *offered()) == {KILL: 0.7, DIED: 0.2}
    assert ranked(knowledge, row, *(replace(c, probability=1.0) for c in offered())) == {KILL: 1.0, DIED: 1.0}


def test_a_row_needs_strong_evidence_of_the_subjects_own(knowledge: Database) -> None:
    row = Row(KILL, DIED, "see above")
    assert ranked(knowledge, row, *offered("hint")) == {KILL: 0.2, DIED: 0.7}
    assert ranked(knowledge, row, *offered(owner="unknown")) == {KILL: 0.2, DIED: 0.7}


def test_a_row_changes_nothing_if_the_order_is_right_already(knowledge: Database) -> None:
    first, second = offered()
    leads = (replace(first, probability=0.7), replace(second, probability=0.2))
    assert ranked(knowledge, Row(KILL, DIED, ""), *leads) == {KILL: 0.7, DIED: 0.2}


def test_no_rows_change_nothing(tmp_path: Path) -> None:
    assert read_precedence(tmp_path) == ((), [])
    (tmp_path / "precedence.yaml").write_text(f"- before: {KILL}\n  after: {DIED}\n  why: a signal is\n    no reason\n")
    assert read_precedence(tmp_path) == (((KILL, DIED, "a signal is no reason"),), [])


@pytest.mark.parametrize("text", ["- before: a\n", "a: b\n", "- [a, b]\n", "- {before: a, after: b, why: c, how: d}\n"])
def test_a_row_of_another_form_is_a_fault_with_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "precedence.yaml").write_text(text)
    rows, faults = read_precedence(tmp_path)
    assert not rows and len(faults) == 1 and faults[0].line


def test_the_built_in_rows_name_what_exists_and_say_why(knowledge: Database) -> None:
    """Fewer than fifteen: more of them would be a second decision."""
    rows = precedence_of(knowledge).rows
    assert [(r.before, r.after, r.why) for r in rows] == list(read_precedence(builtin_folder())[0])
    assert len(rows) < 15
    for row in rows:
        assert row.why
        assert {row.before, row.after} <= knowledge.causes.keys()


def test_what_the_first_cause_of_a_row_explains_is_one_story_with_it(knowledge: Database) -> None:
    """Evidence of both never makes the answer less sure than that of one."""
    row, (first, second) = Row(KILL, DIED, ""), offered()
    assert ranked(knowledge, row, first, replace(second, explained_by=KILL)) == {KILL: pytest.approx(0.9), DIED: 0.0}
    assert ranked(knowledge, row, offered("hint")[0], replace(second, explained_by=KILL)) == {KILL: 0.2, DIED: 0.7}


GREW = "".join(f"step {i} loss {1 / (i + 1):.4f} rss {100 + 10 * i} MiB\n" for i in range(29))
ENDED = "bash: line 1:  8063 Killed                  python train.py\n"
WORKER = "RuntimeError: DataLoader worker (pid 8063) is killed by signal: Killed. \n"
AT = "[Fri Aug 22 03:39:30 2025] "
KERNEL = (
    AT + "oom-kill:constraint={},task_memcg=/job,task=python,pid=8063,uid=0\n"
    f"{AT}{{}}: Killed process 8063 (python) total-vm:409588kB, anon-rss:391200kB, file-rss:5828kB, shmem-rss:0kB\n"
)
OF_LIMIT = KERNEL.format("CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/job", "Memory cgroup out of memory")
OF_HOST = KERNEL.format("CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom", "Out of memory")


@pytest.mark.parametrize("kernel", [OF_LIMIT, OF_HOST])
@pytest.mark.parametrize("end", [ENDED, WORKER])
def test_the_kernels_kill_does_not_make_growth_less_sure(analyze: Callable[..., Report], end: str, kernel: str) -> None:
    alone, both = analyze(train_log=GREW + end).causes[0], analyze(train_log=GREW + end, dmesg_txt=kernel)
    assert (alone.id, both.causes[0].id) == ("host_memory.leak", "host_memory.leak")
    assert both.causes[0].probability > 0.9
    assert any(f.id.startswith("host_memory.oom_") for f in consequences(both)), "the kill is told as what followed"
