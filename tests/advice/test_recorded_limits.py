"""The limits that a capture recorded are named by the remedies, and nobody is asked for them."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.capture import account
from forensics.model import Report

STAMP = "[2026-11-29T17:59:37.570867+00:00] forensics run: "
LIMITS = {"Max address space": "3072000000", "Max open files": "64", "Max processes": "96365", "Max stack size": "8388608"}


def told(folder: Path, raised: str, limits: dict[str, str]) -> Report:
    said = [
        *("Traceback (most recent call last):", '  File "/home/user/train.py", line 3, in main', "    main()", raised),
        f"{STAMP}the host counted no memory kill; at least 77 % of its 23.5 GiB were available",
        *(f"{STAMP}{line}" for line in account._bounds(limits)),
        f"{STAMP}the command, pid 13812 (python), ended with exit status 1 after 0.3 s",
    ]
    (folder / "job.log").write_text("".join(f"{line}\n" for line in said))
    return analyze(folder / "job.log", workers=1)


def test_the_account_tells_the_limits_that_programs_meet() -> None:
    assert account._bounds(LIMITS) == ["limits of the command: address space 2929.7 MiB, open files 64, processes 96365"]
    assert account._bounds({"Max stack size": "8388608"}) == []


@pytest.mark.parametrize(
    ("raised", "first"),
    [
        ("MemoryError", "Raise the limit on its address space, which was 2929 MiB, or ask for less"),
        (
            "OSError: [Errno 24] Too many open files: '/dev/null'",
            "Raise the soft limit of open files, which was 64, where the program is started",
        ),
    ],
)
def test_the_first_remedy_names_the_recorded_limit(tmp_path: Path, raised: str, first: str) -> None:
    report = told(tmp_path, raised, LIMITS)
    assert report.causes[0].remediations[0].action == first
    assert any(f"limit{said}" in report.causes[0].summary for said in ("ed to 2929 MiB", " was 64"))
    assert not any("limit" in question.what for question in report.missing)


def test_a_recorded_limit_comes_before_a_search_for_it(tmp_path: Path) -> None:
    small = "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 229. MiB for an array with shape (30, 1000) and data type f"
    first = told(tmp_path, small, LIMITS).causes[0].remediations[0].action
    assert first == "Raise the limit on its address space, which was 2929 MiB, or ask for less"


def test_without_a_limit_on_address_space_none_is_named(tmp_path: Path) -> None:
    report = told(tmp_path, "MemoryError", {"Max open files": "64"})
    assert not any("address space, which" in remedy.action for remedy in report.causes[0].remediations)
