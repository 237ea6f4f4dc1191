"""An error that no signature knows: it is the line to read first, and the report says how to teach it."""

from collections.abc import Callable

from forensics.model import Report
from forensics.report.overview import do_first

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
