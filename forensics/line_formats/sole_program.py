"""The one process whose output a journal or a syslog file holds: `journalctl -u train` is a log of the job, not of its host.

Aug 22 03:00:07 node-7 train.sh[4711]: step 3 loss 0.41      ->  the label `Aug 22 03:00:07 node-7 train.sh[4711]: `
Aug 22 03:00:08 node-7 systemd[1]: train.service: Failed     (what starts and ends it may write between)
"""

import re
from collections.abc import Iterable

from forensics.core import lazy
from forensics.line_formats import first_format
from forensics.line_formats.common_label import MIN_LABELLED_LINES, CommonLabel

WRITTEN_BY_HOSTS = ("syslog", "journal")
# Whose journal is a job's: scripts, and what runs them. Of a daemon, whose log has no end, nothing of a job is asked.
RUNS_JOBS = lazy.regex(
    r"\S+\.(?:py|sh)|i?python[\d.]*|(?:ba|da|z)?sh|torchrun|accelerate|deepspeed|papermill|jupyter\S*|horovodrun|srun|mpirun|mpiexec"
    r"|train\S*"
)
STARTER = "systemd"
STAMP = r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))"
BEHIND_STAMP = b" | "  # as the format `own journal` has it


def sole_program(lines: Iterable[str]) -> CommonLabel | None:
    """What stands in front of each of `lines` that the init system did not write; None where several processes wrote them.

    Its pattern has the stamp as its first group, which stays.
    """
    whose: set[tuple[str, str, int]] = set()
    count, first = 0, ""
    for text in lines:
        form = first_format(text)
        prefix = form.parse(text) if form and form.name.startswith(WRITTEN_BY_HOSTS) else None
        if prefix is None or prefix.program is None:
            return None
        if prefix.program == STARTER:
            continue
        if prefix.pid is None or prefix.host is None or not RUNS_JOBS.fullmatch(prefix.program):
            return None
        whose.add((prefix.host, prefix.program, prefix.pid))
        count, first = count + 1, first or text
        if len(whose) > 1:
            return None
    if count < MIN_LABELLED_LINES:
        return None
    (host, program, pid) = whose.pop()
    own = re.compile(rf"^({STAMP}) {re.escape(host)} {re.escape(program)}\[{pid}\]: ?".encode(), re.MULTILINE)
    found = own.match(first.encode())
    return CommonLabel(found[0].decode(), own) if found else None
