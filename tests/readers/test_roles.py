"""The role of a line, by the line and its neighbours alone; the phrases are data with examples."""

from pathlib import Path

import pytest

from forensics.model import Line
from forensics.readers import roles as module
from forensics.readers.roles import role_faults, role_of

TRACEBACK = 'Traceback (most recent call last):\n  File "/w/train.py", line 3, in main\n    step()\n'
CHAIN = "\nThe above exception was the direct cause of the following exception:\n\n"
PHRASES = """\
roles:
  - id: kiln
    role: reported
    where: line
    pattern: 'kiln \\d+ went out'
    source: kilnd
    examples: {match: [kiln 3 went out], no_match: [the kiln]}
"""


def role(text: str, marked: str, label: str = "") -> str | None:
    """The role of the last line that begins with `marked`."""
    lines = [Line(n, f"{label}{line}") for n, line in enumerate(text.splitlines(), 1)]
    own = [line for line in lines if line.text.removeprefix(label).startswith(marked)][-1]
    return role_of(own, lines)


@pytest.mark.parametrize("label", ["", "trainer-1  | ", "3: "])
def test_an_exception_below_its_traceback_was_raised(label: str) -> None:
    assert role(TRACEBACK + "KeyError: 'lr'\n", "KeyError", label) == "raised"


@pytest.mark.parametrize(
    "text",
    [
        "job.sh: line 3: 22738 Killed                  python train.py",
        "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-05-01T10:00:07 DUE TO TIME LIMIT ***",
        "train.service: Main process exited, code=killed, status=9/KILL",
        "trainer-1 exited with code 137",
        "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ",
        "[W 2026-05-01 13:03:00.911 ServerApp] KernelRestarter: restarting kernel (1/5), keep random ports",
    ],
)
def test_what_tells_of_anothers_end_is_reported(text: str) -> None:
    assert role_of(Line(1, text), [Line(1, text)]) == "reported"
    assert role(TRACEBACK + text, text[:12]) == "reported"


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-01 10:00:00,123 WARNING train: shard 7: Connection reset by peer",
        "ConnectionError: reset by peer, retrying in 4 s",
        "OSError: bad shard\nRetrying in 1s [Retry 1/5].",
    ],
)
def test_what_the_program_says_and_goes_on_is_printed(text: str) -> None:
    assert role(text, text[:8]) == "printed"


def test_a_logged_exception_is_printed() -> None:
    assert role("2026-05-01 10:00:00,123 ERROR train: batch 7\n" + TRACEBACK + "KeyError: 'lr'", "KeyError") == "printed"


@pytest.mark.parametrize(
    "text",
    [
        "Exception ignored in: <function Pool.__del__ at 0x7f>\n" + TRACEBACK,
        "Error in atexit._run_exitfuncs:\n" + TRACEBACK,
        TRACEBACK.replace("main", "_run_finalizers"),
        TRACEBACK.replace("main", "__del__"),
    ],
)
def test_what_is_raised_while_the_program_ends_is_teardown(text: str) -> None:
    assert role(text + "OSError: handle is closed", "OSError") == "teardown"


def test_code_that_a_traceback_quotes_is_source() -> None:
    text = '      7     if bad:\n      8         raise ValueError("bad value here")\n----> 9     return x\n     10 \n'
    assert role(text, "      8") == "source"


@pytest.mark.parametrize("text", ["checking for cudnn.h... no", "TF-TRT Warning: Could not find TensorRT"])
def test_a_test_that_may_fail_is_a_probe(text: str) -> None:
    assert role(text, text[:8]) == "probe"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("FAILED tests/test_step.py::test_loss - KeyError: 'lr'", "FAILED"),
        (
            TRACEBACK + "ValueError: cannot read shard 7 of 12" + CHAIN + TRACEBACK + "TrainError: cannot read shard 7 of 12",
            "TrainE",
        ),
        ("[rank0]: ValueError: cannot read shard 7 of 12\n[rank1]: ValueError: cannot read shard 7 of 12", "[rank1]"),
    ],
)
def test_the_same_error_printed_again_is_an_echo(text: str, marked: str) -> None:
    assert role(text, marked) == "echo"


def test_the_first_of_a_chain_and_one_with_a_message_of_its_own_were_raised() -> None:
    text = TRACEBACK + "ValueError: cannot read shard 7 of 12" + CHAIN + TRACEBACK + "TrainError: no data is left"
    assert role(text, "ValueError") == role(text, "TrainError") == "raised"


def test_a_line_that_tells_no_role_has_none() -> None:
    assert role("step 3 loss 0.4", "step") is None


def test_the_phrases_of_the_package_have_no_fault() -> None:
    assert role_faults() == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[kiln 3 went out]", "[kiln went out]", "does not match its example 'kiln went out'"),
        ("[the kiln]", "[kiln 4 went out]", "matches 'kiln 4 went out', and must not"),
        ("role: reported", "role: told", "role must be one of"),
        ("'kiln", "'(kiln", "pattern: "),
    ],
)
def test_a_wrong_phrase_is_told_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    path = tmp_path / "roles.yaml"
    monkeypatch.setattr(module, "data_files", lambda _: [path])
    path.write_text(PHRASES.replace(old, new))
    assert any(told in str(fault.what if hasattr(fault, "what") else fault) for fault in role_faults())
