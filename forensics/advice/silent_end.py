"""What a recorded exit status of the program's own leaves open; if the program said nothing, where to look in it.

    python -c 'raise SystemExit(7)'    -> what gives the status 7: sys.exit(7), os._exit(7), exit 7

What a kill, a full memory or a lost GPU leave is no answer here: none of them gives a status below 127. So the causes of the
setting, the nearest causes by their words, and the questions for the kernel's log are left out. Whoever recorded the status
recorded the whole output, too.
"""

from msgspec.structs import replace

from forensics.advice.possible import MAX_OWN_STATUS, is_open
from forensics.model import Possible, Report
from forensics.model.answers import OUTCOME_LINE


def told_by_status(report: Report) -> Report:
    """`report`; of an end that only a status of the program's own tells, without questions for others; of a silent one with the
    answer above alone."""
    subject = report.subject
    if subject is None or subject.status is None or not 0 < subject.status <= MAX_OWN_STATUS or not is_open(report):
        return report
    if report.unusual or any(p.signature != OUTCOME_LINE for p in report.causes[0].evidence):
        return replace(report, missing=())
    why = f"it ended with exit status {subject.status}, and no line of its own says why"
    said = replace(subject, silent=True, why=why)
    return replace(report, subject=said, possible=(_statement(subject.status),), missing=())


def _statement(status: int) -> Possible:
    """What gives a program such a status, and how to find it."""
    return Possible(
        ("code.exception",),
        f"A statement ends it so: sys.exit({status}), os._exit({status}) or exit {status}; or it hands on the status of what it"
        " called last",
        (rf"grep -rnE '\bexit *\(? *{status}\b' --include='*.py' --include='*.sh' .",),
        "Print why on the line before it, or write `set -x` at the top of the script",
    )
