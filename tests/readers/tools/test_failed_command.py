"""What a command said that a Python program called and that failed. The words are those of GNU tar, coreutils and git."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
STEPS = "".join(f"step {n} loss 0.5\n" for n in range(3))
RAISED = """\
Traceback (most recent call last):
  File "/home/u/fit.py", line 3, in <module>
    run({0}, check=True)
  File "/usr/lib/python3.11/subprocess.py", line 571, in run
    raise CalledProcessError(retcode, process.args,
subprocess.CalledProcessError: Command {0} returned non-zero exit status {1}.
"""
CASES = (
    (["tar: shards.tar: Cannot open: No such file or directory", "tar: Error is not recoverable: exiting now"], "data.missing"),
    (["gzip: stdin: not in gzip format", "tar: Child returned status 1"], "data.corrupt"),
    (
        ["tar: unrecognized option '--no-such-option'", "Try 'tar --help' or 'tar --usage' for more information."],
        "code.exception",
    ),
    (["tar: data/x.bin: Cannot write: No space left on device", "tar: Exiting with failure status"], "storage.full"),
)


@pytest.mark.seconds
@pytest.mark.parametrize(("said", "cause"), CASES)
def test_the_commands_own_error_is_the_cause(analyze: Analyze, said: list[str], cause: str) -> None:
    log = STEPS + "".join(f"{line}\n" for line in said) + RAISED.format("'['tar', '-xzf', 'shards.tar']'", 2)
    report = analyze(train_log=log)
    first = report.causes[0]
    assert (report.verdict, first.id, first.evidence[0].text) == ("crash", cause, said[0])
    assert any("CalledProcessError" in p.text for p in first.evidence[1:])  # what follows from it


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("'cd . && cp last.pt old.pt'", 1, "cp: cannot stat 'last.pt': No such file or directory"),
        (
            "'['git', '-C', '/srv/repo', 'rev-parse', 'HEAD']'",
            128,
            "fatal: cannot change to '/srv/repo': No such file or directory",
        ),
    ],
)
def test_the_command_is_found_in_a_shells_line_and_by_its_form(analyze: Analyze, command: str, status: int, said: str) -> None:
    first = analyze(train_log=f"{STEPS}{said}\n{RAISED.format(command, status)}").causes[0]
    assert (first.id, first.evidence[0].text) == ("data.missing", said)


@pytest.mark.seconds
def test_what_another_command_said_is_no_reason(analyze: Analyze) -> None:
    """The program went on behind `cp`; the Python program that failed says itself why."""
    log = f"cp: cannot stat 'a': No such file or directory\n{STEPS}" + RAISED.format(
        "'['python', '-c', 'raise SystemExit(3)']'", 3
    )
    assert "CalledProcessError" in analyze(train_log=log).causes[0].evidence[0].text
