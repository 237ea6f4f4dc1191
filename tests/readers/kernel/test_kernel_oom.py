"""The kernel's report in its wordings: who was killed, whose limit it was, what it held."""

import re
from pathlib import Path

import pytest

from forensics import pipeline, readers
from forensics.database import Database
from forensics.line_formats.cgroup_paths import owner_phrase
from forensics.model import Report
from forensics.scan import scan
from tests.conftest import text_source

KILLED = re.compile(r"(?P<cgroup>Memory cgroup )?[Oo]ut of memory: Killed process (?P<pid>\d+) \((?P<task>[^)]+)\)")
KERNEL_LOGS = sorted(
    log
    for log in (Path(__file__).parents[3] / "sample_logs").glob("*/dmesg*.log")
    if KILLED.search(log.read_text("utf-8", "replace"))
)


def report(text: str, knowledge: Database) -> Report:
    return pipeline.analyze([text_source("dmesg", text)], "case", knowledge)


NEW = """\
[  100.000001] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[  100.000002] CPU: 1 PID: 1917 Comm: python3 Not tainted 6.1.0
[  100.000003] memory: usage 409600kB, limit 409600kB, failcnt 331
[  100.000004] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[  100.000005] [   1900]     0  1900     2000      512    53248        0             0 bash
[  100.000006] [   1917]     0  1917   117498    98339   900000        0             0 python3
[  100.000007] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/uid_1000/job_77,\
task_memcg=/slurm/uid_1000/job_77/step_0,task=python3,pid=1917,uid=1000
[  100.000008] Memory cgroup out of memory: Killed process 1917 (python3) total-vm:469992kB, anon-rss:393356kB, file-rss:4kB, \
shmem-rss:0kB, UID:1000 pgtables:900kB oom_score_adj:0
"""


def test_a_cgroup_report_is_read_whole(knowledge: Database) -> None:
    first = report(NEW, knowledge).causes[0]
    assert first.id == "host_memory.oom_cgroup"
    expected = {
        "task": "python3",
        "pid": 1917,
        "uid": 1000,
        "limit_bytes": 409600 * 1024,
        "anon_rss_bytes": 393356 * 1024,
        "owner": "Slurm job 77",
        "invoker": "python3",
    }
    assert {k: first.facts.get(k) for k in expected} == expected
    assert str(first.facts["biggest"]).startswith("python3 384 MiB")
    assert first.evidence[0].line == 8


def test_a_process_whose_name_has_spaces_keeps_its_name(knowledge: Database) -> None:
    first = report(NEW.replace("             0 bash", "           167 Isolated Web Co"), knowledge).causes[0]
    assert "Isolated Web Co" in str(first.facts)


def test_the_invoker_is_not_taken_for_the_victim(knowledge: Database) -> None:
    text = (
        "[1.000000] postgres invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO), order=0, oom_score_adj=0\n"
        "[1.000001]  __alloc_pages_slowpath.constprop.0+0xc2d/0xdd0\n"
        "[1.000002] Out of memory: Killed process 4242 (trainer) total-vm:1kB, anon-rss:2048kB, file-rss:0kB, shmem-rss:0kB\n"
    )
    first = report(text, knowledge).causes[0]
    assert (first.id, first.facts["pid"], first.facts["task"]) == ("host_memory.oom_global", 4242, "trainer")
    assert "limit_bytes" not in first.facts


def test_a_kill_that_a_person_asked_for_is_no_shortage(knowledge: Database) -> None:
    text = "[1.000000] kworker/0:1 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1, oom_score_adj=0\n"
    assert not any(m.event == "kernel_oom" for m in report(text, knowledge).timeline)


def test_a_report_cut_off_behind_its_first_line_tells_whose_limit_it_was_with_a_hint_only(knowledge: Database) -> None:
    head = "[1.000000] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
    cut = report(head, knowledge)
    assert cut.verdict == "undetermined" and cut.causes[0].id.startswith("host_memory.oom_")
    whole = report(head + "[1.000001] Out of memory: Killed process 7 (a) total-vm:1kB, anon-rss:1kB, file-rss:1kB\n", knowledge)
    assert (whole.verdict, whole.causes[0].id) == ("crash", "host_memory.oom_global")


@pytest.mark.parametrize("log", KERNEL_LOGS, ids=lambda log: log.parent.name)
def test_captured_reports_give_the_victims_that_the_kernel_names(log: Path, knowledge: Database) -> None:
    """Each line of a kill in the kernel's own words is one event, of the limit that the line names."""
    text = log.read_text(encoding="utf-8", errors="replace")
    seen = readers.read(scan(text_source("dmesg", text), knowledge, lambda _w: None), knowledge)
    kills = [(e.fields["pid"], e.fields["task"], e.cause) for e in seen if e.kind == "kernel_oom" and "pid" in e.fields]
    causes = {True: "host_memory.oom_cgroup", False: "host_memory.oom_global"}
    named = [(int(m["pid"]), m["task"], causes[bool(m["cgroup"])]) for m in KILLED.finditer(text)]
    assert kills == named and named


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/slurm/uid_1000/job_123/step_0", "Slurm step 123.0"),
        ("/system.slice/slurmstepd.scope/job_9/step_batch/user/task_0", "Slurm step 9.batch"),
        ("/kubepods/burstable/pod4711aaaa-1234-1234-1234-1234567890ab/" + "a" * 64, "the pod with uid 4711aaaa…"),
        ("/docker/" + "0123456789abcdef" * 4, "the container 0123456789ab"),
        ("/system.slice/jupyter-ada.service", "the notebook of ada"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice", "the session of user id 1000"),
        ("/user.slice/user-1000.slice/session-3.scope", "the session of user id 1000"),
        ("/user.slice/user-1000.slice/train.scope", "the unit train.scope of user id 1000"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/nb.service", "the unit nb.service of user id 1000"),
        ("/system.slice/train.service", "the unit train.service"),
        ("/mine", "the cgroup /mine"),
        ("/", None),
    ],
)
def test_a_cgroup_is_told_in_words(path: str, words: str | None) -> None:
    assert owner_phrase(path) == words


def test_of_kernels_that_announce_one_process_and_kill_its_child_the_child_is_told(knowledge: Database) -> None:
    old = (
        "[  100.000001] java invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
        "[  100.000003] memory: usage 409600kB, limit 409600kB, failcnt 331\n"
        "[  100.000004] Memory cgroup out of memory: Kill process 25942 (java) score 996 or sacrifice child\n"
        "[  100.000005] Killed process 11160 (worker) total-vm:20255636kB, anon-rss:306160kB, file-rss:13684kB\n"
    )
    facts = report(old, knowledge).causes[0].facts
    assert (facts["pid"], facts["task"], facts["kills"]) == (11160, "worker", 1)


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ("memory: usage 1048576kB, limit 1048576kB, failcnt 4021", "host_memory.oom_cgroup"),
        ("Task in /docker/ab killed as a result of limit of /docker/ab", "host_memory.oom_cgroup"),
        ("[<ffffffff811c4f1b>] mem_cgroup_handle_oom+0x1bb/0x1f0", "host_memory.oom_cgroup"),
        ("Killed process 11160 (worker) total-vm:2025kB, anon-rss:306kB, file-rss:13kB", "host_memory.oom_cgroup"),
        ("", "host_memory.oom_cgroup"),
        ("Out of memory: Kill process 11160 (worker) score 996 or sacrifice child", "host_memory.oom_global"),
        ("16777104 pages RAM", "host_memory.oom_global"),
    ],
)
def test_a_charge_of_old_kernels_is_no_shortage_of_the_host_unless_the_report_shows_one(
    lines: str, cause: str, knowledge: Database
) -> None:
    head = "[  100.000001] java invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
    answer = report(head + (f"[  100.000003] {lines}\n" if lines else ""), knowledge)
    assert answer.causes[0].id == cause
    assert "gfp_mask" not in answer.causes[0].facts


CAPTURED = (Path(__file__).parents[3] / "sample_logs" / "oom_cgroup_python" / "dmesg.log").read_text("utf-8").splitlines(True)


@pytest.mark.parametrize("cut", [1, 4, 7, 8, 12, 30, 50, 68, 70, 72, 76])
def test_what_is_left_of_a_report_whose_beginning_is_overwritten_says_nothing_else(cut: int, knowledge: Database) -> None:
    """The kernel's ring keeps the last lines of the oldest report, whole ones stand behind it."""
    text = "".join(CAPTURED[cut:] + [line.replace("3010.", "9010.").replace("24488", "31") for line in CAPTURED])
    seen = readers.read(scan(text_source("dmesg", text), knowledge, lambda _w: None), knowledge)
    assert {(e.cause, e.kind) for e in seen if str(e.cause).startswith("host_memory")} == {
        ("host_memory.oom_cgroup", "kernel_oom")
    }
    assert [e.fields["pid"] for e in seen if e.kind == "kernel_oom"] == [24488, 31]


def test_a_line_outside_reports_takes_none_of_their_lines_along(knowledge: Database) -> None:
    text = "".join([CAPTURED[74], *CAPTURED])
    seen = readers.read(scan(text_source("dmesg", text), knowledge, lambda _w: None), knowledge)
    dump = next(e for e in seen if e.kind == "host_memory.oom_global/kernel_task_dump")
    assert ([p.line for p in dump.proofs], dump.count) == ([1], 1)
