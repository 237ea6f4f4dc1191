"""The main job on small inputs: several sources become one answer."""

from collections.abc import Callable
from pathlib import Path

import pytest

import forensics
from forensics import pipeline
from forensics.core.errors import SourceError
from forensics.database import Database
from forensics.model import Report
from forensics.report.document import document
from tests.conftest import ROOT, text_source

JUPYTER = """\
[I 2025-08-22 03:00:01.111 ServerApp] Kernel started: bdd9e049-0000-4000-8000-000000000000
[I 2025-08-22 03:00:09.800 ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports
[W 2025-08-22 03:00:09.801 ServerApp] kernel bdd9e049-0000-4000-8000-000000000000 restarted
"""
DMESG = """\
[Fri Aug 22 03:00:09 2025] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[Fri Aug 22 03:00:09 2025] memory: usage 409600kB, limit 409600kB, failcnt 331
[Fri Aug 22 03:00:09 2025] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/job,task_memcg=/job,task=python3,pid=1917,uid=0
[Fri Aug 22 03:00:09 2025] Memory cgroup out of memory: Killed process 1917 (python3) total-vm:469992kB, anon-rss:393356kB, file-rss:4kB, shmem-rss:0kB
"""


def test_a_kernels_kill_is_the_root_of_a_notebook_that_died(analyze: Callable[..., Report]) -> None:
    for report in (analyze(dmesg_txt=DMESG, jupyter_log=JUPYTER), analyze(jupyter_log=JUPYTER, dmesg_txt=DMESG)):
        assert report.verdict == "crash"
        roles = {f.id: f.role for f in report.causes}
        assert report.causes[0].id == "host_memory.oom_cgroup"
        assert roles["notebook.kernel_died"] == "symptom"
        assert "400 MiB" in report.causes[0].summary
        assert any("time, " in link for link in report.incidents[0].links)
        assert report.incidents[0].start is not None


def test_alone_each_half_says_what_it_can(analyze: Callable[..., Report]) -> None:
    assert analyze(dmesg_txt=DMESG).causes[0].id == "host_memory.oom_cgroup"
    alone = analyze(jupyter_log=JUPYTER)
    assert alone.causes[0].id == "notebook.kernel_died"
    assert alone.missing, "it must say what would settle it"


def test_a_rank_that_died_of_a_real_error_is_the_root(analyze: Callable[..., Report]) -> None:
    lost = "[rank{r}]: RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:4242\n"
    error = (
        "[rank3]: Traceback (most recent call last):\n"
        '[rank3]:   File "train.py", line 7, in step\n'
        "[rank3]:     y = a @ b\n"
        "[rank3]: RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
    )
    report = analyze(torchrun_log="".join(lost.format(r=r) for r in range(3)) + error)
    assert report.causes[0].id == "code.shape"
    assert report.causes[0].facts["rank"] == 3
    assert {f.id: f.role for f in report.causes}["distributed.peer_lost"] == "symptom"


def test_what_a_finalizer_prints_at_the_end_never_stands_before_the_error(analyze: Callable[..., Report]) -> None:
    error = (
        '7: [rank7]:   File "resume.py", line 90, in restore\n'
        "7: [rank7]:     return codec.loads(raw)\n"
        "7: [rank7]: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xfe in position 3: invalid start byte\n"
        "0: slurmstepd: error: *** STEP 77.0 CANCELLED AT 2026-03-01T02:00:00 ***\n"
    )
    finalizer = (
        "{r}: Traceback (most recent call last):\n"
        '{r}:   File "multiprocessing/util.py", line 303, in _run_finalizers\n'
        '{r}:   File "multiprocessing/synchronize.py", line 87, in _cleanup\n'
        "{r}: FileNotFoundError: [Errno 2] No such file or directory: '/tmp/sem-{r}'\n"
    )
    log = "0: restoring the weights of step 400\n7: [rank7]: Traceback (most recent call last):\n" + error
    report = analyze(job_log=log + finalizer.format(r=8) + finalizer.format(r=9))
    assert "UnicodeDecodeError" in report.causes[0].evidence[0].text


def test_a_text_in_code_that_a_traceback_quotes_is_no_message(analyze: Callable[..., Report]) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "labels.py", line 40, in collect\n'
        "    assert found, 'No labels found in %s. See %s' % (folder, HELP)\n"
        "AssertionError: No labels found in /data/bees/labels/val. See the page\n"
    )
    first = analyze(train_log=log).causes[0]
    assert first.evidence[0].line == 4
    assert not any("%s" in str(value) for value in first.facts.values())


def test_the_head_of_a_traceback_does_not_decide_where_its_message_stands_below(analyze: Callable[..., Report]) -> None:
    log = (
        "ImportError                               Traceback (most recent call last)\n"
        "Cell In[3], line 1\n"
        "----> 1 from ..tools import load\n"
        "\n"
        "ImportError: attempted relative import with no known parent package\n"
    )
    assert analyze(notebook_log=log).causes[0].evidence[0].line == 5


def test_a_benign_phrase_silences_what_it_holds(analyze: Callable[..., Report]) -> None:
    line = (
        "2024-01-01 00:00:00.1: W tensorflow/core/common_runtime/bfc_allocator.cc:311] Allocator (GPU_0_bfc) ran out of memory trying to "
        "allocate 2.00GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be "
        "performance gains if more memory were available.\n"
    )
    assert analyze(train_log=line * 3).verdict == "no_crash"


def test_the_order_of_sources_changes_nothing(knowledge: Database) -> None:
    given = [text_source("a.log", JUPYTER), text_source("b.log", DMESG), text_source("c.log", "all is well\n")]
    one, other = pipeline.analyze(given, "case", knowledge), pipeline.analyze(given[::-1], "case", knowledge)
    assert one.causes == other.causes
    assert one.incidents == other.incidents


@pytest.mark.seconds
def test_the_number_of_threads_changes_nothing(knowledge: Database) -> None:
    busy = "".join(f"step {i} loss 0.{i % 97} lr 0.1\nrank {i % 8}: NCCL WARN call to ibv_reg_mr failed\n" for i in range(30_000))
    given = [text_source("a.log", JUPYTER), text_source("b.log", busy * 2), text_source("c.log", DMESG)]
    alone, *others = [pipeline.analyze(given, "case", knowledge, workers=n) for n in (1, 2, 7)]
    assert all(document(other) == document(alone) for other in others)


def test_a_report_of_this_program_is_no_log(tmp_path: Path, knowledge: Database) -> None:
    (tmp_path / "r.json").write_text('{\n  "schema": "forensics-report/1",\n  "verdict": "crash"\n}\n')
    with pytest.raises(SourceError, match="forensics report FILE"):
        pipeline.analyze_paths([tmp_path / "r.json"], "r", knowledge)


def test_an_empty_input_is_no_crash(knowledge: Database) -> None:
    report = pipeline.analyze([], "case", knowledge)
    assert report.verdict == "no_crash"
    assert report.causes


def test_the_public_api_reads_paths(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "train.log"
    path.write_text("ModuleNotFoundError: No module named 'apex'\n")
    report = forensics.analyze(path)
    assert report.causes[0].id == "code.import"
    assert isinstance(report, forensics.Report)


def test_what_another_gpu_did_days_before_is_no_rival_of_the_one_that_was_lost(analyze: Callable[..., Report]) -> None:
    contained = (
        "[402117.553310] NVRM: Xid (PCI:0000:3b:00): 94, pid=2113305, name=python, Contained: SM (0x1). RST: No, D-RST: No\n"
    )
    lost = (
        "[511040.201196] NVRM: Xid (PCI:0000:86:00): 79, pid=2240117, name=python, GPU has fallen off the bus.\n"
        "[511040.201205] NVRM: GPU 0000:86:00.0: GPU has fallen off the bus.\n"
    )
    alone, both = analyze(dmesg_txt=lost), analyze(dmesg_txt=contained + lost)
    assert [f.id for f in both.causes if f.id == "gpu_hardware.ecc"] == []
    assert both.causes[0].probability == pytest.approx(alone.causes[0].probability, abs=0.03)
    assert [i.causes[0] for i in both.incidents] == ["gpu_hardware.fallen_off_bus", "gpu_hardware.ecc"]
    assert sum(a.value for a in both.causes[0].ledger if a.feature) != 0  # the sum that is shown is that of this incident


def test_a_kill_of_another_job_is_no_cause_in_the_timeline() -> None:
    report = forensics.analyze([str(ROOT / "sample_logs" / "oom_beside_others")])
    assert sorted(t.role for t in report.timeline if t.cause == "host_memory.oom_cgroup") == ["noise", "root"]
