"""The line of a program that a message itself names."""

import pytest

from forensics.readers.near_lines import named_place
from forensics.readers.platforms.places import tasks_of_srun
from tests.report.made import proof


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("./run_splice.sh: line 3: syntax error near unexpected token `&'", "./run_splice.sh:3"),
        ("switch_button.go:21:2: DefaultLanguage redeclared in this block", "switch_button.go:21"),
        ("kernel BUG at fs/ext4/inode.c:2700!", "fs/ext4/inode.c:2700"),
        ("at com.example.Main.run(Main.java:17)", "Main.java:17"),
        ('File "solve.f90", line 7', "solve.f90:7"),
        ("make: *** [Makefile:12: all] Error 2", "Makefile:12"),
        ("2026-03-01 12:00:00 W op_kernel.cc:1858] OP_REQUIRES failed", ""),
        ("/usr/lib/python3/dist-packages/apt/cache.py:169: it failed", ""),
        ("at ../aten/src/ATen/native/cuda/Loss.cu:250", ""),
        ("#8 0x7fccae105fcf in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58", ""),
        (
            "\tat com.mysql.cj.jdbc.exceptions.SQLError.createSQLException(SQLError.java:130) ~[mysql-connector-j-8.3.0.jar!/:8.3.0]",
            "",
        ),
        ("\tat java.base/java.lang.Thread.run(Thread.java:833)", ""),
        ("FAILED tests/test_api.py::TestUser::test_name[a-1] - AssertionError", "tests/test_api.py, test_name"),
        ("[3] include/shm.h:48 NCCL WARN Error while creating shared memory segment", ""),
        ("bash: line 1:  2596 Bus error               python replay.py", ""),
        ("make[1]: *** [CMakeFiles/Makefile2:83: CMakeFiles/converter.dir/all] Error 2", ""),
        ("[2031-06-20 00:41:18] {scheduler_job_runner.py:2086} WARNING - Failing (1) jobs without heartbeat", ""),
        ("the run ended at 12:30:05", ""),
    ],
)
def test_the_place_that_a_message_names(text: str, place: str) -> None:
    assert named_place([proof(text)]) == place


def test_the_first_line_of_evidence_that_names_one_counts() -> None:
    lines = [proof("it failed"), proof("a.c:3: no such field"), proof("b.c:9: here too")]
    assert named_place(lines) == "a.c:3"
    assert named_place([proof("it failed")] * 3 + lines[1:]) == ""


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("srun: error: gpu-7: tasks 0-1,3-7: Killed", {0, 1, 3, 4, 5, 6, 7}),
        ("srun: error: gpu-7: task 2: Out Of Memory", {2}),
        ("srun: error: gpu-7: tasks 3-,9: Killed", {3, 9}),
        ("srun: job 4711 queued", set()),
    ],
)
def test_the_tasks_that_srun_lists(text: str, tasks: set[int]) -> None:
    assert tasks_of_srun(text) == tasks
