"""An error that no signature knows: it is the line to read first, and the report says how to teach it."""

from collections.abc import Callable

from msgspec.structs import replace

from forensics.model import Proof, Report
from forensics.report import render
from forensics.report.overview import do_first
from forensics.report.phrases import quoted_evidence

LOG = """\
2026-11-30 04:00:01 INFO  heron-launcher 3.2 starting train.py on 4 workers
2026-11-30 04:00:09 INFO  step 1 loss 3.11
2026-11-30 04:01:09 INFO  step 2 loss 3.01
2026-11-30 04:02:11 ERROR HRN-0417 lease of shard 12 expired on node kn-07, giving up after 5 renewals
2026-11-30 04:02:11 INFO  heron-launcher stopped, status 71
"""


def test_an_unknown_error_is_the_line_to_read_and_what_only_informs_is_none(analyze: Callable[..., Report]) -> None:
    report = analyze(train_log=LOG)
    assert [p.line for p in report.causes[0].evidence] == [4]
    assert [n.number for p in report.causes[0].evidence for n in (*p.before, *p.after)] == [3, 5]
    assert do_first(report).startswith("Read train.log:4 ")


def test_a_command_teaches_the_unknown_error(analyze: Callable[..., Report]) -> None:
    commands = [m.command for m in analyze(train_log=LOG).missing]
    assert [c for c in commands if c.startswith("forensics signatures new FAMILY.CAUSE ") and "train.log:4 --into mine" in c]
    quiet = analyze(train_log=LOG.replace("ERROR HRN-0417 lease of shard 12 expired", "INFO  lease of shard 12 is over"))
    assert not any("signatures new" in m.command for m in quiet.missing)


def test_of_an_error_of_its_own_it_is_not_told_what_is_frequent_elsewhere(analyze: Callable[..., Report]) -> None:
    bare = "step 1 loss 3.1\nstep 2 loss 3.0\nHRN-0417 lease of shard 12 failed, giving up\n"
    own, silent = analyze(train_log=LOG), analyze(train_log=bare)
    assert (own.possible, bool(silent.possible)) == ((), True)
    assert "reports an error of its own" in render(own, "text") and "reports an error of its own" not in render(silent, "text")


def test_a_captured_run_that_tells_an_error_of_its_own_has_the_command_that_teaches_it(analyze: Callable[..., Report]) -> None:
    end = "[2026-11-30T04:02:12+00:00] forensics run: the command, pid 7 (bash), ended with exit status 41 after 0.1 s\n"
    report = analyze(job_log=LOG + end)
    assert [m.command.split()[:3] for m in report.missing] == [["forensics", "signatures", "new"]]


def test_a_line_of_evidence_stands_once(analyze: Callable[..., Report]) -> None:
    """Not again as the continuation of the one above it, nor word for word from another file of the same folder."""
    report = analyze(
        slurm_out="step 1300 loss 1.18\nslurmstepd: error: *** JOB 7711 ON gpu-c04 CANCELLED AT 2026-11-30T01:22:10 DUE TO NODE "
        "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\nsrun: error: Node failure on gpu-c05\n"
    )
    text = render(report, "text")
    assert text.count("srun: error: Node failure on gpu-c05") == 1
    assert "more line" not in text
    best = Proof("run/job.log", 3, "Fatal Python error: Segmentation fault", "process.segfault/faulthandler", "proof")
    again, other = (
        replace(best, source="run/faulthandler.log", line=1),
        replace(best, source="run/job.log", line=9, text="killed"),
    )
    found = replace(report.causes[0], evidence=(best, again, other))
    assert quoted_evidence(found, 5) == [best, other]
    elsewhere = replace(again, source="other/faulthandler.log")
    assert quoted_evidence(replace(found, evidence=(best, elsewhere)), 5) == [best, elsewhere]
