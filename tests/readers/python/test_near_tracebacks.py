"""Which tracebacks belong to a line: none of several ranks to a line that names no rank."""

from forensics.readers.python.near_tracebacks import tracebacks_near

ROWS = (
    "[rank{}]: Traceback (most recent call last):",
    '[rank{}]:   File "/run/ranks.py", line 9, in <module>',
    "[rank{}]:     step()",
)
KILLED = "job.sh: line 4: 22167 Killed                  python ranks.py"


def test_a_line_of_no_rank_takes_no_place_from_tracebacks_of_several() -> None:
    of_one, of_two = [row.format(1) for row in ROWS], [row.format(3) for row in ROWS]
    assert tracebacks_near([KILLED, *of_one], 0)
    assert not tracebacks_near([KILLED, *of_one, *of_two], 0)
    assert tracebacks_near([KILLED, *of_one, *of_two], 3)
