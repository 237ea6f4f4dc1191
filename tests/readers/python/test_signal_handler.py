"""An exception inside a signal handler is a consequence of the signal, unless the program called the handler or meant it."""

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report
from forensics.readers.python.signal_handler import TRIGGER, read
from tests.conftest import text_source
from tests.readers.regions import regions

HEAD = "Traceback (most recent call last):\n"
WAIT = """\
  File "/env/lib/python3.11/site-packages/farm/launcher.py", line 71, in main
    child.wait()
  File "/usr/lib/python3.11/subprocess.py", line 1806, in _wait
    (pid, sts) = self._try_wait(0)
                 ^^^^^^^^^^^^^^^^^
"""
HANDLER = '  File "/env/lib/python3.11/site-packages/farm/launcher.py", line 48, in sigterm_handler\n'
FAULT = "    for worker in workers:\n                  ^^^^^^^\nNameError: name 'workers' is not defined\n"
MEANT = "    raise Stopped(signum)\nStopped: 15\n"
CALLED = """\
  File "/env/lib/python3.11/site-packages/farm/launcher.py", line 80, in main
    sigterm_handler(signal.SIGTERM, None)
"""
STEPS = "step 1 loss 2.31\nstep 2 loss 2.11\n"


@pytest.mark.parametrize(
    ("text", "is_raised"),
    [
        (HEAD + WAIT + HANDLER + FAULT, True),
        (WAIT + HANDLER + FAULT, True),  # the log begins inside the traceback
        (
            HEAD
            + WAIT
            + HANDLER
            + "    stop(1)\n  File \"a.py\", line 2, in stop\n    x = y\nNameError: name 'y' is not defined\n",
            True,
        ),
        (HEAD + WAIT + HANDLER + MEANT, False),
        (HEAD + WAIT + HANDLER + "    sys.exit(1)\nSystemExit: 1\n", False),
        (HEAD + CALLED + HANDLER + FAULT, False),
        (HEAD + HANDLER + FAULT, False),  # nothing shows what it interrupted
    ],
)
def test_only_a_fault_of_a_handler_that_interrupted_something_counts(text: str, is_raised: bool) -> None:
    records = [read(region) for region in regions(STEPS + text, TRIGGER)]
    assert [r.fields["handler"] for r in records if r] == ["sigterm_handler"] * is_raised


def report(text: str, knowledge: Database) -> Report:
    return pipeline.analyze([text_source("train.log", STEPS + text)], "case", knowledge)


@pytest.mark.parametrize("head", [HEAD, ""])
def test_the_signal_is_the_cause_and_the_exception_its_consequence(head: str, knowledge: Database) -> None:
    found = report(head + WAIT + HANDLER + FAULT, knowledge)
    assert (found.verdict, found.causes[0].id) == ("crash", "stopped.user")
    assert "sigterm_handler" in found.causes[0].summary and "NameError" in found.causes[0].summary
    actions = [r.action for r in found.causes[0].remediations]
    assert any(a.startswith("Find out who sent the signal") for a in actions)
    assert not any("Define or import" in a for a in actions)


def test_a_handler_that_the_program_called_leaves_its_exception_the_cause(knowledge: Database) -> None:
    assert report(HEAD + CALLED + HANDLER + FAULT, knowledge).causes[0].id.startswith("code.")


def test_what_sent_the_signal_comes_first_where_it_is_told(knowledge: Database) -> None:
    limit = "slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***\n"
    assert report(limit + HEAD + WAIT + HANDLER + FAULT, knowledge).causes[0].id == "stopped.time_limit"


def test_an_error_of_the_program_before_it_stays_the_cause(knowledge: Database) -> None:
    error = '  File "train.py", line 8, in <module>\n    y = x @ w\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n'
    assert report(HEAD + error + HEAD + WAIT + HANDLER + FAULT, knowledge).causes[0].id == "code.shape"
