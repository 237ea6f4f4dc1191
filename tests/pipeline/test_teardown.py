"""Exceptions that are ignored are no sign of an end, wherever in a log they stand."""

from collections.abc import Callable

import pytest

from forensics.database import Database
from forensics.model import Report
from forensics.pipeline.teardown import find_teardown
from forensics.readers import read
from forensics.readers.lanes.line_classes import line_classes
from forensics.scan import scan
from tests.conftest import text_source

IGNORED = """\
Exception ignored in: <function Pool.__del__ at 0x7f2a11223344>
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in close
FlurbError: connection refused
"""


def test_an_ignored_exception_far_above_the_end_is_ignored_as_well(knowledge: Database) -> None:
    work = "".join(f"update {n}\n" for n in range(900))
    source = scan(text_source("train.log", IGNORED + work + IGNORED), knowledge, lambda _w: None)
    lines = find_teardown(source, read(source, knowledge), line_classes(knowledge)).lines
    assert {2, 3, 4, 905, 906, 907, 908} <= lines
    assert not lines & {20, 500, 904}


STEPS = "".join(
    f"2026-10-03 08:00:{n:02d} INFO train: epoch {n // 10 + 1}/4 step {n}/40 loss {3 / (n + 1):.4f}\n" for n in range(40)
)
SAVED = "2026-10-03 08:07:46 INFO train: Training complete. Saved model.\n"
FLUSH = 'Traceback (most recent call last):\n  File "/home/u/log.py", line 3, in flush\n    self.s.send(b)\n{}\n'
CHAINED = "\nDuring handling of the above exception, another exception occurred:\n\n" + FLUSH.format("FlurbError: not flushed")
AT_EXIT = {
    "hook": "Error in atexit._run_exitfuncs:\n" + FLUSH,
    "two hooks": ("Error in atexit._run_exitfuncs:\n" + FLUSH) * 2,
    "chain": "Error in atexit._run_exitfuncs:\n" + FLUSH + CHAINED,
    "callback": "Exception ignored in atexit callback <function flush at 0x7f2a11223344>:\n" + FLUSH,
    "destructor": "Exception ignored in: <function Writer.__del__ at 0x7f2a11223344>\n" + FLUSH,
    "finalizer": FLUSH.replace("/home/u/log.py", "/usr/lib/python3.11/multiprocessing/util.py").replace(
        "flush", "_run_finalizers"
    ),
    "rank": "".join(f"[rank0]: {line}\n" for line in ("Error in atexit._run_exitfuncs:\n" + FLUSH).splitlines()),
}
ERRORS = (
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "OSError: [Errno 28] No space left on device",
    "KeyError: 'x'",
)


@pytest.mark.seconds
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("form", AT_EXIT)
def test_what_fails_at_the_exit_behind_a_good_end_ends_nothing(analyze: Callable[..., Report], form: str, error: str) -> None:
    found = analyze(train_log=STEPS + SAVED + AT_EXIT[form].replace("{}", error))
    assert (found.verdict, found.causes[0].evidence[0].text) == ("no_crash", SAVED.strip())


@pytest.mark.seconds
@pytest.mark.parametrize("form", AT_EXIT)
def test_what_fails_at_the_exit_does_not_hide_what_ended_the_program(analyze: Callable[..., Report], form: str) -> None:
    died = FLUSH.format("KeyError: 'label'").replace("log.py", "train.py")
    first = analyze(train_log=STEPS[:1200] + "\n" + died + AT_EXIT[form].replace("{}", ERRORS[0])).causes[0]
    assert (first.id, first.evidence[0].text) == ("code.exception", "KeyError: 'label'")


@pytest.mark.seconds
def test_an_error_behind_the_exit_counts(analyze: Callable[..., Report]) -> None:
    log = STEPS + SAVED + AT_EXIT["hook"].replace("{}", ERRORS[0]) + "Segmentation fault (core dumped)\n"
    assert analyze(train_log=log).verdict == "crash"


BOOTED = (
    "[    0.000000] Linux version 6.1.0-18-amd64 (gcc-12) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n"
    "[    0.512345] ACPI Error: AE_NOT_FOUND, While resolving a named reference package element\n"
    "[    1.712345] mce: [Hardware Error]: Machine check events logged\n[    2.112345] EXT4-fs (sda2): recovery complete\n"
)


@pytest.mark.seconds
@pytest.mark.parametrize(
    "harmless",
    [
        "[    3.212345] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n",
        "[    3.112345] nvidia: loading out-of-tree module taints kernel.\n",
    ],
)
def test_a_line_that_is_known_as_harmless_tells_no_reason(analyze: Callable[..., Report], harmless: str) -> None:
    found = analyze(dmesg_log=BOOTED + harmless).causes[0]
    assert found.evidence and harmless.strip() not in [p.text for p in found.evidence]
