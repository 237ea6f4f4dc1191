"""The first step after a crash in native code: with the library or the Python line that any of the logs names, else how to find it.

The lines have the forms of bash, of x86's show_signal_msg() and of faulthandler.
"""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
SHELL = "{stamp},042 INFO scoring batch 1\nbash: line 1: 26563 Segmentation fault      python segv/score.py\nexit status 139\n"
STACK = """\
{stamp},042 INFO scoring batch 1
Fatal Python error: Segmentation fault

Current thread 0x00007fec67434b80 (most recent call first):
  File "/work/segv/score.py", line 7 in score
  File "/work/segv/score.py", line 9 in <module>
bash: line 1: 26563 Segmentation fault      python -X faulthandler segv/score.py
exit status 139
"""
KERNEL = (
    "[Tue Dec  1 04:38:30 2026] python[26563]: segfault at 55f53cc9d280 ip 00007f198bdbd128 sp 00007ffcc7429e40 error 4 in "
    "{library}[1128,7f198bdbd000+1000] likely on CPU 0 (core 0, socket 0)\n"
)
STAMP = "2026-12-01 04:38:31"


def test_of_an_unknown_library_the_step_is_to_find_it(analyze: Analyze) -> None:
    first = analyze(job_log=SHELL.format(stamp=STAMP)).causes[0]
    assert first.remediations[0].action.startswith("Run it once more with faulthandler on")
    assert "PYTHONFAULTHANDLER=1 python -X faulthandler segv/score.py" in first.remediations[0].commands


@pytest.mark.parametrize("library", ["libfastlib.so", "_kernels.cpython-311-x86_64-linux-gnu.so", "libtorch_cpu.so"])
def test_the_kernels_library_is_named_and_the_script_is_kept(analyze: Analyze, library: str) -> None:
    first = analyze(job_log=SHELL.format(stamp=STAMP), kern_log=KERNEL.format(library=library)).causes[0]
    assert library in first.remediations[0].action
    assert any("segv/score.py" in c for c in first.remediations[0].commands)
    assert first.where == "python (pid 26563), segv/score.py"


def test_the_python_line_and_the_library_are_named_together(analyze: Analyze) -> None:
    first = analyze(job_log=STACK.format(stamp=STAMP), kern_log=KERNEL.format(library="libfastlib.so")).causes[0]
    assert "/work/segv/score.py:7" in first.remediations[0].action and "libfastlib.so" in first.remediations[0].action


def test_the_script_of_another_death_is_not_taken(analyze: Analyze) -> None:
    other = KERNEL.format(library="libfastlib.so").replace("26563", "777")
    log = SHELL.format(stamp=STAMP) + "bash: line 2: 778 Killed      python other.py\n"
    first = analyze(job_log=log.replace("26563", "777").replace("segv/score.py", "segv/this.py"), kern_log=other).causes[0]
    assert "other.py" not in first.where
