"""What a job asked for and used, in each form in which scripts and schedulers tell it."""

from pathlib import Path

import pytest

from forensics.readers.platforms.job_limits import TRIGGER, read
from tests.readers.regions import regions

HOUR, MIB = 3600, 1 << 20


def told(text: str, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> list[tuple[str, str, float]]:
    found = next((r for r in regions("\n".join([*before, text, *after]), TRIGGER) if r.text == text), None)
    return [(job, kind, value) for _, job, kind, value in read(found)] if found else []


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        ("#SBATCH --time=12:00:00", "asked_time_s", 12 * HOUR),
        ("#SBATCH -t 2-00:00:00", "asked_time_s", 48 * HOUR),
        ("#SBATCH --nodes=1 --time 90", "asked_time_s", 90 * 60),
        ("#SBATCH --time=1-6", "asked_time_s", 30 * HOUR),
        ("#BSUB -W 4:30", "asked_time_s", 4.5 * HOUR),
        ("#PBS -l walltime=24:00:00", "asked_time_s", 24 * HOUR),
        ("#PBS -l walltime=3600", "asked_time_s", HOUR),
        ("#SBATCH --mem=220M", "asked_memory_bytes", 220 * MIB),
        ("#SBATCH --mem=4000", "asked_memory_bytes", 4000 * MIB),
    ],
)
def test_a_job_script_asks(line: str, kind: str, value: float) -> None:
    assert told(line) == [("", kind, value)]


def test_what_is_unlimited_or_switched_off_is_no_number() -> None:
    assert told("   RunTime=00:00:00 TimeLimit=UNLIMITED TimeMin=N/A") == []
    assert told("##SBATCH --time=12:00:00") == []


def test_an_answer_of_scontrol_belongs_to_the_job_above_it() -> None:
    before = ("JobId=4711 JobName=fit", "   UserId=me(1000) GroupId=me(1000)")
    assert told("   RunTime=00:31:02 TimeLimit=12:00:00 TimeMin=N/A", before) == [
        ("4711", "used_time_s", 31 * 60 + 2),
        ("4711", "asked_time_s", 12 * HOUR),
    ]


@pytest.mark.parametrize("divided", [True, False])
def test_a_table_of_sacct_tells_each_row_and_column(divided: bool) -> None:
    head = "JobID|Elapsed|Timelimit|ReqMem|MaxRSS" if divided else "JobID           Elapsed  Timelimit     ReqMem     MaxRSS "
    rows = ("4711|12:00:23|12:00:00|4Gn|", "4711.batch|12:00:24|||3914212K") if divided else (
        "------------ ---------- ---------- ---------- ----------",
        "4711           12:00:23   12:00:00        4Gn            ",
        "4711.batch     12:00:24                         3914212K ",
    )  # fmt: skip
    assert told(head, after=rows) == [
        ("4711", "asked_time_s", 12 * HOUR),
        ("4711", "used_time_s", 12 * HOUR + 23),
        ("4711", "asked_memory_bytes", 4096 * MIB),
        ("4711", "used_time_s", 12 * HOUR + 24),
        ("4711", "used_memory_bytes", 3914212 << 10),
    ]


def test_the_folder_of_a_job_is_read_with_its_script(tmp_path: Path) -> None:
    from forensics import analyze

    (tmp_path / "job.sbatch").write_text("#!/bin/bash\n#SBATCH --time=12:00:00\npython train.py\n")
    epochs = "".join(f"Epoch {n}/100 loss {3 / n:.3f}\n" for n in range(1, 35))
    ended = "slurmstepd: error: *** JOB 4711 ON node07 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***\n"
    (tmp_path / "slurm-4711.out").write_text(epochs + ended)
    first = analyze(tmp_path).causes[0].remediations[0]
    assert first.action == "Ask for 36 h - the limit of 12 h was reached at epoch 34 of 100 (slurm-4711.out:34)"
    assert first.commands[0] == "sbatch --time=1-12:00:00 JOB_SCRIPT"


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        (
            "JobID JobName State ExitCode MaxRSS ReqMem Elapsed NodeList",
            (
                "4711 a-name-that-is-longer-than-its-column OUT_OF_MEMORY 0:125  16G 12:00:23 node17",
                "4711.batch batch OUT_OF_MEMORY 0:125 3914212K  12:00:24 node17",
            ),
        ),
        (
            "JobID           JobName      State     ReqMem     MaxRSS    Elapsed ",
            (
                "------------ ---------- ---------- ---------- ---------- ----------",
                "4711         a-name-that-is-longer-than-its-column OUT_OF_ME+        16G              12:00:23 ",
                "4711.batch        batch OUT_OF_ME+              3914212K   12:00:24 ",
            ),
        ),
    ],
    ids=["blanks were lost", "a long name"],
)
def test_columns_that_do_not_stand_below_each_other_are_told_by_their_form(head: str, rows: tuple[str, ...]) -> None:
    assert sorted(told(head, after=rows)) == [
        ("4711", "asked_memory_bytes", 16384 * MIB),
        ("4711", "used_memory_bytes", 3914212 << 10),
        ("4711", "used_time_s", 12 * HOUR + 23),
        ("4711", "used_time_s", 12 * HOUR + 24),
    ]
