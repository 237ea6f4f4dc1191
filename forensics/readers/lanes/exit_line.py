"""The exit status that the last lines of a log record, as a wrapper, a shell or a CI system prints it.

    Done. Your build exited with 1.   -> 1
    exit status 0                     -> 0
    status code 200 of /health        -> None: it is no status of the program
    Successfully completed.           -> 0, in the report that LSF writes below the output of a job

Such a line is written by the process that waited for the program, so it counts beside what the program itself printed.

The phrases `status` of good_end and bad_end ask something else: whether a line tells of an end, anywhere in a log and anywhere in
the line. Of 613 lines with a status at their end in the logs of five corpora they match 386; the others (`return code -22` of a
driver, `exit 1` of a script that is printed) are no ends there, but are the status if they are the last thing that is said. One
pattern for both would move what was learned of either.
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import unlabelled
from forensics.model.verdicts import Lane

LAST_LINES_WITH_STATUS = 3  # chosen by hand: a date or a closing line may follow the status
MAX_STATUS = 255  # of a process
PATTERNS = patterns_of("exit line")
REPORTED_SUCCESS = "Successfully completed."
MAX_LINES_BEHIND_SUCCESS = 18  # in such a report: the table of what the job used, and where its output is


def exit_status(lane: Lane | None) -> int | None:
    """The last exit status that the last lines of `lane` record; None where they record none."""
    if lane is None:
        return None
    last = [line for line in lane.last_lines if line.text.strip()]
    if any(PATTERNS.report_end.match(line.text) for line in last):
        done = (line for line in lane.good_lines if line.number >= last[-1].number - MAX_LINES_BEHIND_SUCCESS)
        return 0 if any(line.text.strip() == REPORTED_SUCCESS for line in done) else None
    return _last_status([unlabelled(line.text) for line in last])


def _last_status(texts: Sequence[str]) -> int | None:
    for text in reversed(texts[-LAST_LINES_WITH_STATUS:]):
        found = PATTERNS.exit_line.search(text)
        if found and int(found[1]) <= MAX_STATUS:
            return int(found[1])
    return None
