"""Cases: what a capture says about itself, and how its logs and expected.yaml reach sample_logs/.

A case is a function that takes a Stage factory and returns {file name: text}; its docstring says what is made to
happen.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .stage import VENVS, Stage

SAMPLES = Path(__file__).parents[2] / "sample_logs"
LIMIT = 200_000  # bytes a log may have
Files = Mapping[str, str]
_TOKEN = re.compile(r"token=[0-9a-f]{48}")


@dataclass(frozen=True)
class Case:
    """A capture: the function that makes it, and what a right diagnosis of it says.

    `evidence` holds (file, text) pairs: a line of that file that contains the text is evidence of the first cause.
    `earlier`: causes of what went wrong before, in the same logs, and was overcome. `series`: the lines with these texts prove
    the cause together, as numbers that grow do, none of them alone. `venv`: the packages that the victims see.
    """

    name: str
    make: Callable[[Callable[..., Stage]], Files]
    cause: str
    accept: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()
    about: str = field(default="")
    earlier: tuple[str, ...] = ()
    series: bool = False
    venv: str = "venv"

    @property
    def verdict(self) -> str:
        """`no_crash` for healthy cases."""
        return "no_crash" if self.cause == "none.healthy" else "crash"


CASES: dict[str, Case] = {}


def case(
    cause: str,
    *evidence: tuple[str, str],
    accept: tuple[str, ...] = (),
    symptoms: tuple[str, ...] = (),
    earlier: tuple[str, ...] = (),
    series: bool = False,
    venv: str = "venv",
) -> Callable[[Callable[[Callable[..., Stage]], Files]], Callable[[Callable[..., Stage]], Files]]:
    """Register the decorated function as a case of its own name."""

    def register(make: Callable[[Callable[..., Stage]], Files]) -> Callable[[Callable[..., Stage]], Files]:
        name = make.__name__
        if name in CASES:
            raise ValueError(f"two cases are called {name}")
        about = " ".join((make.__doc__ or "").split())
        CASES[name] = Case(name, make, cause, accept, symptoms, evidence, about, earlier, series, venv)
        return make

    return register


def capture(one: Case, work: Path) -> None:
    """Make the case happen and write sample_logs/<case>/; AssertionError when the logs are not what they must be."""

    def stage(**options: object) -> Stage:
        return Stage(work, one.name, venv=one.venv, **options)  # type: ignore[arg-type]

    files = {name: rekey(text) for name, text in one.make(stage).items()}
    (work / "raw" / one.name).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (work / "raw" / one.name / name).write_text(text)
    check(one, files, work)
    folder = SAMPLES / one.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "expected.yaml").write_text(expected(one))


def rekey(text: str) -> str:
    """Take out what names this machine; the stage has kept out all but the kernel's build name and server tokens."""
    release = os.uname().release
    return _TOKEN.sub("token=...", text).replace(release, release.split("-")[0])


def check(one: Case, files: Files, work: Path) -> None:
    """Assert that the evidence stands in the logs and that nothing in them names this machine."""
    own = {str(work), str(Path.home()), str(Path(sys.base_prefix)), str(SAMPLES.parent)}
    names = [re.escape(path) for path in own if path != "/"]
    if len(host := socket.gethostname()) > 3:  # a shorter name is a word of other meaning, too; victims cannot see it
        names.append(rf"\b{re.escape(host)}\b")
    foreign = re.compile("|".join(names))
    for name, text in files.items():
        assert text.strip(), f"{one.name}: {name} is empty"
        assert len(text.encode()) < LIMIT, f"{one.name}: {name} is larger than {LIMIT} bytes"
        found = foreign.search(text)
        assert not found, f"{one.name}: {name} names this machine: {found and found[0]}"
    for name, wanted in one.evidence:
        assert name in files, f"{one.name}: no file {name}"
        assert any(wanted in line for line in files[name].splitlines()), f"{one.name}: {name} lacks {wanted!r}"


def expected(one: Case) -> str:
    """The text of expected.yaml."""
    pinned = ", ".join(f"{n}: '{v}'" for n, _, v in (p.partition("==") for p in VENVS[one.venv]) if v)
    kernel = ".".join(os.uname().release.split(".")[:2])
    lines = [
        f"cause: {one.cause}",
        f"accept: [{', '.join(one.accept)}]",
        f"verdict: {one.verdict}",
        f"symptoms: [{', '.join(one.symptoms)}]",
        *([f"earlier: [{', '.join(one.earlier)}]"] if one.earlier else []),
        *(["series: true"] if one.series else []),
        "evidence:" + ("" if one.evidence else " []"),
        *(f"  - {{file: {file}, text: {_quoted(text)}}}" for file, text in one.evidence),
        f"made_by: {one.name}",
        f"captured: {{date: {datetime.date.today()}, kernel: '{kernel}', python: '{sys.version.split()[0]}', {pinned}}}",
    ]
    return "\n".join(lines) + "\n"


def readme() -> str:
    """The text of sample_logs/README.md: one row for each case that has been captured."""
    rows = [
        f"| [{name}]({name}/) | {one.about} | `{one.cause}`{_also(one)} |"
        for name, one in sorted(CASES.items())
        if (SAMPLES / name / "expected.yaml").exists()
    ]
    return _INTRODUCTION + "\n".join(rows) + "\n"


def _also(one: Case) -> str:
    return "".join(f" or `{other}`" for other in one.accept)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_INTRODUCTION = """# Sample logs

Every log here was captured while the failure really happened; none was written by hand. `scripts/capture` makes them
again: `python -m scripts.capture` (as root, on Debian with cgroup v1) or `python -m scripts.capture CASE...`.

The victims ran as `user` on `node-1` in namespaces of their own. Changed afterwards: the suffix of the kernel's release
name and the tokens of notebook servers; `healthy_dmesg` leaves out the lines that name the virtual machine's own
set-up. Process ids and times are as they were. `expected.yaml` beside the logs says what a right diagnosis contains:
`cause` comes first (or one of `accept`), `symptoms` are present with that role, and each `evidence` text stands in a
line that the first cause shows. `earlier` are causes of what was overcome before; they must not come first. `series`
says that all lines with these texts prove the cause together, as numbers that grow do.

| case | what was made to happen | cause |
| --- | --- | --- |
"""
