"""A table of Slurm's accounting with rows of several jobs: each row is evidence of its own job. The rows are made for these tests."""

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report
from tests.conftest import text_source

ROWS = (
    ("4711", "COMPLETED", "0:0"),
    ("4712", "OUT_OF_MEMORY", "0:125"),
    ("4712.batch", "OUT_OF_MEMORY", "0:125"),
    ("4713", "TIMEOUT", "0:0"),
    ("4713.batch", "CANCELLED", "0:15"),
    ("4714", "FAILED", "1:0"),
    ("4714.batch", "FAILED", "1:0"),
)
GOOD = "starting train.py\nepoch 1/2 loss 0.5\nepoch 2/2 loss 0.3\nTraining finished. Model saved to out.pt\n"
BAD = 'starting train.py\nTraceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyError: 1\n'


def table(form: str) -> str:
    if form == "|":
        return "JobID|JobName|State|ExitCode\n" + "".join(f"{job}|train|{state}|{code}\n" for job, state, code in ROWS)
    rows = [f"{job:12} {'train':>10} {(s if len(s) < 11 else s[:9] + '+'):>10} {code:>8} \n" for job, s, code in ROWS]
    return (
        f"{'JobID':12} {'JobName':>10} {'State':>10} {'ExitCode':>8} \n{'-' * 12} {'-' * 10} {'-' * 10} {'-' * 8} \n"
        + "".join(rows)
    )


def analyzed(knowledge: Database, **texts: str) -> Report:
    return pipeline.analyze([text_source(name, text) for name, text in texts.items()], "case", knowledge)


@pytest.mark.parametrize("form", ["|", " "])
def test_each_job_is_an_incident_and_the_last_that_failed_is_told(knowledge: Database, form: str) -> None:
    found = analyzed(knowledge, **{"sacct.txt": table(form)})
    assert found.subject is not None
    assert (found.subject.name, found.causes[0].id) == ("4714", "code.exception")
    assert [c.id for c in found.causes if c.role == "symptom"] == []
    told = [(i.subject, i.candidates[0].id) for i in found.incidents if i.verdict == "crash"]
    assert told == [
        ("job 4714", "code.exception"),
        ("job 4713", "stopped.time_limit"),
        ("job 4712", "host_memory.oom_cgroup"),
    ]


@pytest.mark.parametrize("form", ["|", " "])
def test_what_befell_other_jobs_is_not_told_of_a_job_that_ended_well(knowledge: Database, form: str) -> None:
    found = analyzed(knowledge, **{"sacct.txt": table(form), "slurm-4711.out": GOOD})
    assert found.verdict == "no_crash"


@pytest.mark.parametrize("form", ["|", " "])
def test_the_row_of_a_job_is_evidence_beside_its_log(knowledge: Database, form: str) -> None:
    found = analyzed(knowledge, **{"sacct.txt": table(form), "slurm-4714.out": BAD})
    assert found.subject is not None
    assert (found.subject.name, found.causes[0].id) == ("4714", "code.exception")
    rows = {p.text.split("|")[0].split()[0] for c in found.causes for p in c.evidence if p.source == "sacct.txt"}
    assert rows <= {"4714", "4714.batch"}


def test_scripts_that_begin_with_a_traceback_are_no_attempts_of_one_job(knowledge: Database) -> None:
    logs = {"slurm-4711.out": BAD.partition("\n")[2], "slurm-4712.out": BAD.partition("\n")[2].replace("train.py", "genomes.py")}
    assert analyzed(knowledge, **logs).earlier_attempts == ()
