"""What a line does, whatever its cause. All lines are made for these tests, or kept from logs that were misread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.core.shapes import ZEROS
from forensics.database import Database, builtin_folder
from forensics.database.phrases import read_phrases
from forensics.outcome import line_classes, trouble_test
from forensics.readers.lanes.line_classes import (
    FRAME,
    GOES_ON,
    GOOD,
    NOT_AN_END,
    PROGRESS,
    SERVICE,
    SHUT_DOWN,
    START,
    TRACEBACK,
    TROUBLE,
    LineClasses,
)

DIGITS = ("0123456789", "1111111111", "0000000000", "9876543210")


@pytest.mark.parametrize(
    ("line", "holds", "lacks"),
    [
        ("corrupt image 17.jpg, skipping", TROUBLE | GOES_ON, PROGRESS),
        ("failed to connect; trying again in 2.5 seconds", TROUBLE | GOES_ON, 0),
        ("504 steps, 0 failed", 0, TROUBLE),
        ("Epoch 3/10 loss 0.41", PROGRESS, TROUBLE),
        (" 41%|####1     | 41/100 [00:21<00:31,  1.9it/s]", PROGRESS, TROUBLE),
        ("Traceback (most recent call last):", TROUBLE | TRACEBACK, GOES_ON | PROGRESS),
        ('  File "/home/u/train.py", line 6, in load', FRAME, TROUBLE),
        ("k8s.io/kubernetes/pkg/scheduler.(*Scheduler).findNodesThatPassFilters(0x40ad3e?)", FRAME, TROUBLE),
        ("        /src/pkg/scheduler/schedule_one.go:609 +0xe4", FRAME, TROUBLE),
        ("k8s.io/client-go/util/workqueue.ParallelizeUntil.func1()", FRAME, TROUBLE),
        ("main.main", FRAME, TROUBLE),
        ("   9: main", FRAME, TROUBLE),
        ("  11: __libc_start_main", FRAME, TROUBLE),
        ("   9: main thread of rank 9", 0, FRAME),
        ("\tat nextflow.cli.Launcher.main(Launcher.groovy:642)", FRAME, TROUBLE),
        ("main.go holds it", 0, FRAME),
        ("Training completed in 3h", GOOD, TROUBLE),
        ("exited with code 0", GOOD, TROUBLE),
        ("exited with code 1 after an error", TROUBLE, GOOD),
        ("Resuming from checkpoint-500", START, TROUBLE),
        ("-- Reboot --", START, TROUBLE),
        ("Sending process 10274 closing signal SIGTERM", SHUT_DOWN, 0),
        ("Nov 20 11:22:33 cn12 sshd[2345]: error: maximum authentication attempts exceeded", SERVICE, 0),
        ("KeyError: 0", TROUBLE, GOES_ON | SERVICE | GOOD | PROGRESS),
        ("", 0, TROUBLE | GOOD | PROGRESS | START),
    ],
)
def test_a_line_has_the_classes_of_its_phrases(knowledge: Database, line: str, holds: int, lacks: int) -> None:
    found = line_classes(knowledge).classify(line)
    assert found & holds == holds
    assert not found & lacks


@pytest.mark.parametrize(
    "text",
    [
        *("    ECC Errors", "Failures:", "Error Counts", "504 steps, 0 failed", "No errors found", "0 killed, 0 lost"),
        *("args: timeout=600, retries=3", "{'connect_timeout': 30}", "ignore_errors=True", "fail_fast: false"),
        *("step 30 train_error 0.19917", "mean_absolute_error: 0.2213", "final error 3.6e-2", "top-1 error rate = 23.4%"),
        r"0.0 seconds: C:\ui\custom_nodes\task-killer",
        "node1: Invalidate trace cache @ step 402: expected module 1207, but got module 1206",
        "(EmbodiedActor pid=77) the agent's skills were loaded",
    ],
)
def test_a_heading_a_figure_or_a_count_of_none_is_no_trouble(knowledge: Database, text: str) -> None:
    assert not trouble_test(knowledge)(text)


@pytest.mark.parametrize(
    "text",
    [
        *("KeyError: 0", "10 failed", "0 failed, 1 killed", "no errors but a timeout"),
        *("Read timed out. (read timeout=60)", "uvicorn.error ERROR: closed", "ERROR 404: no such page"),
        "driver error 12.2.140 is too old",
        r"cannot open C:\ui\custom_nodes\one.py",
        "error: 3 columns are expected, not 2",
        "trainer failed to reach sshd",
        "[ 8812.596952] nvme nvme0: failed to start",
    ],
)
def test_an_error_in_an_unusual_wording_is_trouble(knowledge: Database, text: str) -> None:
    assert trouble_test(knowledge)(text)
    assert not line_classes(knowledge).classify(text) & NOT_AN_END


@pytest.mark.parametrize(
    "line",
    [
        "Nov 20 11:22:33 cn12 sshd[2345]: error: maximum authentication attempts exceeded for root",
        '[ 8341.933370] audit: type=1400 audit(1621966268.393:633): apparmor="DENIED" operation="ptrace" comm="fit"',
        "I0304 10:00:01.112233    1042 kubelet.go:814] cannot measure the memory of a pod that is gone",
        "workers get a signal at the end, which may fail: this is expected",
    ],
)
def test_errors_of_services_and_routine_lines_show_no_end(knowledge: Database, line: str) -> None:
    found = line_classes(knowledge).classify(line)
    assert not found & TROUBLE or found & NOT_AN_END


@given(st.text(max_size=400))
def test_any_text_has_classes_and_the_rest_of_a_long_line_changes_none(knowledge: Database, text: str) -> None:
    classes = line_classes(knowledge)
    head = f"{text[:200]:240.240s}"
    assert classes.classify(head + text) & ~TROUBLE & ~TRACEBACK == classes.classify(head) & ~TROUBLE & ~TRACEBACK


def test_classes_are_compiled_once_for_a_database(knowledge: Database) -> None:
    assert line_classes(knowledge) is line_classes(knowledge)


def test_trouble_is_a_word_of_failure_that_no_other_phrase_takes_back() -> None:
    def anything_possible(_text: str) -> tuple[int, int]:
        return 0b11, 0

    phrases = {"trouble": (("fail", "lost"), (r"fail\w*", "lost")), "no_trouble": ((), ("no failures",))}
    made = LineClasses(phrases, anything_possible)
    assert [made.is_trouble(text) for text in ("it failed", "contact lost", "no failures", "all is well")] == [
        True,
        True,
        False,
        False,
    ]
    assert not LineClasses({}, anything_possible).is_trouble("it failed")


def test_the_classes_of_a_shape_are_those_of_each_of_its_lines(knowledge: Database) -> None:
    classes = line_classes(knowledge)
    texts = [text for found in read_phrases(builtin_folder())[0].values() for p in found for text in (*p.match, *p.no_match)]
    lines = [text.translate(str.maketrans("0123456789", digits)) for text in texts if text.isascii() for digits in DIGITS]
    lines += [f"step {n} of 400 | loss: 0.{n}" for n in range(3)]
    known = [(line, found) for line in lines if (found := classes.classify_shape(line.translate(ZEROS))) is not None]
    assert [line for line, found in known if classes.classify(line) != found] == []
    assert len(known) > len(DIGITS)
    assert classes.classify_shape("step 00 | tokens/s 00000 | loss: 0.0000") == PROGRESS  # whatever other lines of work show
    assert classes.classify_shape("00 failed") is None  # of `0 failed`, which is no trouble, and of `7 failed`
