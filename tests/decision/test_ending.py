"""A bad end is claimed where the last lines or an exit status show one, and nowhere else. All logs are made for these tests."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.report.subjects import ending_sentence

TRACEBACK = "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\n    run()\nKeyError: 'image'\n"
STEPS = "".join(f"step {n} loss 0.{n}\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (STEPS + TRACEBACK, "train.log ended with a failure: see its last lines"),
        (STEPS + TRACEBACK + "exit status 1\n", "train.log ended with a failure: its last lines show exit status 1"),
        (STEPS + "Segmentation fault (core dumped)\n", "train.log ended with a failure: see its last lines"),
        ("".join(f"iteration {n}: rss {368 + 40 * n} MB\n" for n in range(30)), "in train.log something "),
    ],
)
def test_an_end_is_claimed_where_it_is_shown(analyze: Callable[..., Report], log: str, words: str) -> None:
    assert str(ending_sentence(analyze(train_log=log))).startswith(words)


def test_the_log_of_a_watcher_is_not_the_subject(analyze: Callable[..., Report]) -> None:
    watch = "mem avail: 11000 of 13500 MiB (81 %), swap free: 900 of 900 MiB (99 %)\n"
    report = analyze(
        earlyoom_log=watch * 4
        + 'sending SIGTERM to process 48555 uid 1000 "python3": badness 698, VmRSS 11793 MiB\n'
        + watch * 4,
        train_log="loading\nstep 1\njob.sh: line 2: 48555 Killed                  python3 train.py\n",
    )
    assert report.subject is not None
    assert "earlyoom" not in str(ending_sentence(report))


def test_a_file_tool_that_fails_behind_one_that_the_shell_survived_ends_nothing(analyze: Callable[..., Report]) -> None:
    failed, last = (
        "mv: cannot stat '*.pt': No such file or directory\n",
        "mv: cannot stat 'run_*.out': No such file or directory\n",
    )
    survived = analyze(train_log=f"{failed}the next one\n{last}")
    assert (survived.causes[0].id, survived.verdict) == ("none.healthy", "no_crash")
    assert analyze(train_log=f"the first one\n{last}").causes[0].id == "data.missing"
