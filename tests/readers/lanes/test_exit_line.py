"""The exit status in the last lines of a log."""

import pytest

from forensics.database import Database
from forensics.readers.lanes.line_classes import exit_status
from tests.outcome.made import lanes_of


def status_of(text: str, knowledge: Database) -> int | None:
    return exit_status(*lanes_of(text, knowledge).values())


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("exit status 0", 0),
        ("Done. Your build exited with 1.", 1),
        ("web_1 exited with code 132", 132),
        ("Process finished with exit code 0", 0),
        ("Command exited with non-zero status 1", 1),
        ("EXIT_CODE=137", 137),
        ("rc=1", 1),
        ("status: 0", 0),
    ],
)
def test_a_status_in_the_words_of_shells_and_wrappers(line: str, status: int, knowledge: Database) -> None:
    assert status_of(f"step 1\nstep 2\n{line}\n", knowledge) == status


@pytest.mark.parametrize("line", ["GET /health status 200", "status code 404", "loss: 0", "returned 0.5", "exit 0 of 3 doors"])
def test_another_number_is_no_exit_status(line: str, knowledge: Database) -> None:
    assert status_of(f"step 1\n{line}\n", knowledge) is None


def test_a_status_far_from_the_end_is_that_of_a_part(knowledge: Database) -> None:
    assert status_of("exit status 1\n" + "next file\n" * 9, knowledge) is None


def test_of_two_the_last_counts(knowledge: Database) -> None:
    assert status_of("exit status 1\nexit status 0\n", knowledge) == 0


MORE_ROWS = ("Max Swap", "Max Processes", "Max Threads", "Run time", "Turnaround time")  # of LSF 10


def report(status: str, more: tuple[str, ...] = ()) -> str:
    """What LSF writes below the output of a job, without the job's script."""
    rows = ("Max Memory", "Average Memory", "Total Requested Memory", "Delta Memory", *more)
    used = "".join(f"    {what} :    1 MB\n" for what in rows)
    return f"Sender: LSF System <lsfadmin@n1>\n{status}\n\nResource usage summary:\n\n    CPU time :  1.90 sec.\n{used}"


ABOVE = "\nThe output (if any) is above this job summary.\n"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (report("Successfully completed.") + ABOVE, 0),
        (
            report("Successfully completed.", MORE_ROWS)
            + ABOVE
            + "\n\n\nPS:\n\nRead file <e.err> for stderr output of this job.\n\n",
            0,
        ),
        (report("Exited with exit code 3.") + ABOVE, None),
        (report("Exited with exit code 1.") + ABOVE + "step 1\nstep 2\n" + report("Successfully completed.") + ABOVE, 0),
        (report("Successfully completed.") + ABOVE + "step 1\nstep 2\n" + report("Exited with exit code 1.") + ABOVE, None),
        (
            report("Successfully completed.") + "step 1\n" * 30 + "\nPS:\n\nRead file <err.txt> for stderr output of this job.\n",
            None,
        ),
        (report("Successfully completed.") + "\nThe output (if any) follows:\n\nstep 1\nstep 2\nstep 3\n", None),
    ],
)
def test_the_report_below_the_output_of_a_job_tells_that_it_completed(text: str, status: int | None, knowledge: Database) -> None:
    assert status_of(f"loading data\nstep 1\n{text}", knowledge) == status
