"""A remedy is chosen from the event that decided; an unsure cause is read first, and another event's step stands below."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.advice.case import case_facts
from forensics.advice.evidence import own_lines
from forensics.advice.quoted import quoted_evidence
from forensics.advice.remedies import fitting_remedies
from forensics.database import Cause
from forensics.database.entries import Remedy
from forensics.model import JobContext, Observation, Proof, Value
from forensics.model.logs import Line

LOST = Proof("job.log", 9, "RuntimeError: x", "code.exception/traceback", "strong")
SERVICE = Proof(
    "job.log", 40, "web.service: start operation timed out", "reason", "hint", before=(Line(39, "DataLoader worker"),)
)
EVENT = Observation("traceback", "code.exception", "strong", "job.log", 9, 9, (LOST,))


def test_the_lines_of_the_event_are_those_that_conditions_read() -> None:
    assert [*own_lines((LOST, SERVICE), [EVENT])] == [LOST]
    assert [*own_lines((SERVICE, LOST), [EVENT])] == [SERVICE, LOST]  # a line that most likely says why leads
    assert [*own_lines((), [EVENT])] == []


def test_what_stands_around_another_line_is_not_around_the_first_one() -> None:
    assert "DataLoader worker" not in str(quoted_evidence((LOST, SERVICE))["around"])
    assert "DataLoader worker" in str(quoted_evidence((SERVICE, LOST))["around"])


@pytest.mark.parametrize(
    ("do", "condition", "begins"),
    [
        ("Raise the limit", "evidence~refused", "Read job.log:9 and the lines around it. If x ended: Raise the limit"),
        ("Raise the limit", "exc_message~refused", "Raise the limit"),
        ("See which limit it is", "evidence~refused", "See which limit it is"),
        ("Raise what was {what}", r"evidence~(?P<what>refused)", "Raise what was refused"),
    ],
    ids=["a change", "the exception's own message", "an observation", "a word of the line"],
)
def test_of_an_unsure_cause_its_line_is_read_before_anything_is_changed(do: str, condition: str, begins: str) -> None:
    given = Cause(
        id="process.x", title="X ended", means="", signatures=(), remedies=(Remedy(do=do, who="user", why="", when=(condition,)),)
    )
    known: dict[str, Value] = {"evidence": "it was refused", "exc_message": "it was refused", "around": "above\nit was refused"}
    assert fitting_remedies(given, known, first_line="job.log:9")[0].action == begins
    assert fitting_remedies(given, known)[0].action == do.format(what="refused")


def test_an_unsure_cause_without_a_fix_of_its_message_tells_its_usual_first_step() -> None:
    usual = Remedy(do="Install it", who="user", why="", unless=("earlier_remedy",))
    given = Cause(id="process.x", title="X is missing", means="", signatures=(), remedies=(usual,))
    told = fitting_remedies(given, {"evidence": "x", "around": "x y"}, first_line="job.log:9")
    assert told[0].action == "Read job.log:9 and the lines around it. If x is missing: Install it"


@pytest.mark.parametrize(
    ("message", "folder"),
    [
        ("No module named 'app.auth'", "/srv"),
        ("cannot import name 'key' from 'app.auth' (/usr/lib/app/auth.py)", "/srv"),
        ("cannot import name 'key' from 'app.auth' (/srv/app/auth.py)", None),
    ],
)
def test_a_package_that_was_found_needs_no_other_folder(message: str, folder: str | None) -> None:
    known = {"file": "/srv/app/admin.py", "module": "app.auth", "exc_message": message}
    assert case_facts(known, JobContext()).get("own_folder") == folder


def test_the_fix_of_an_exception_is_none_of_the_status_that_decided(tmp_path: Path) -> None:
    exception = "RuntimeError: DataLoader worker (pid(s) 8124) exited unexpectedly\n"
    (tmp_path / "run.log").write_text(f"Traceback (most recent call last):\n{OWN.format('for x in loader:')}{exception}")
    assert "num_workers" in analyze(tmp_path).causes[0].remediations[0].action
    with (tmp_path / "run.log").open("a") as log:
        log.write("Process finished with exit code -1073741795 (0xC000001D)\n")
    first = analyze(tmp_path).causes[0]
    assert first.id == "process.illegal_instruction" and "build for this CPU" in first.remediations[0].action


OWN = '  File "/w/train.py", line 7, in fit\n    {}\n'


@pytest.mark.parametrize(
    ("log", "words", "never"),
    [
        (
            OWN.format("link.step(action)") + "sim.errors.LinkError: connection closed by peer",
            "read what that process wrote last",
            "was given",
        ),
        (
            OWN.format("trainer.fit(model)")
            + '  File "/env/lib/python3.11/site-packages/store/local.py", line 3, in close\n    self.f.close()\n'
            + "InterruptedError: [Errno 4] Interrupted system call",
            "on which file system store/local.py:3 worked",
            "Print model",
        ),
        (
            OWN.format("for i in range(bar):") + "TypeError: 'tqdm' object cannot be interpreted as an integer",
            "a whole number where `for i in range(bar):` hands over a tqdm",
            "Change tqdm",
        ),
        (
            OWN.format("rate = config.getfloat('optim', 'decay')")
            + "configparser.NoOptionError: No option 'decay' in section: 'optim'",
            "Add the option decay to the section optim",
            "against what the message asks for",
        ),
        (
            OWN.format("first = output.logits") + "AttributeError: 'ModelOutput' object has no attribute 'logits'",
            "as a ModelOutput - `first = output.logits` asks it for `.logits`",
            "Set `.logits`",
        ),
        (
            OWN.format("self.optim.step()") + "AttributeError: 'Trainer' object has no attribute 'optim'",
            "Set `.optim` before /w/train.py:7 asks for it",
            "as a Trainer",
        ),
    ],
    ids=[
        "a lost connection",
        "a refused call of the system",
        "no whole number",
        "no such option",
        "another object",
        "not set yet",
    ],
)
def test_what_a_message_is_about_chooses_the_first_remedy(tmp_path: Path, log: str, words: str, never: str) -> None:
    (tmp_path / "job.log").write_text(f"Traceback (most recent call last):\n{log}\n")
    first = analyze(tmp_path).causes[0].remediations[0].action
    assert words in first and never not in first
