"""The bounds: one table, told in SECURITY.md, changed by the configuration and the environment, kept by the stages."""

import gzip
import io
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics import pipeline, sources
from forensics.config import config
from forensics.core import limits
from forensics.core.errors import UsageError
from forensics.core.limits import Limits, limit_names, table, with_unit, with_values
from forensics.database import Database
from forensics.model import Warning
from tests.commandline import in_text

SECURITY = Path(__file__).parents[2] / "SECURITY.md"


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def put(**values: float) -> None:
        monkeypatch.setattr(limits, "current", with_values(Limits(), values))

    return put


def test_security_md_tells_the_limits_as_they_are() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+?) \| (.+?) \|$", SECURITY.read_text(), re.MULTILINE)
    assert rows == table(Limits())


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [(1 << 30, "bytes", "1 GiB"), (1536 << 10, "bytes", "1,536 KiB"), (1001, "bytes", "1,001 bytes"), (0.2, "s", "0.2 s"), (5000, "", "5,000")],
)  # fmt: skip
def test_a_value_is_told_with_its_unit(value: float, unit: str, words: str) -> None:
    assert with_unit(value, unit) == words


@pytest.mark.parametrize(
    ("given", "number"), [("512 MiB", 512 << 20), ("1.5k", 1536), ("7", 7), (9, 9), ("2G", 2 << 30), ("10 KB", 10240)]
)
def test_a_size_is_read(given: object, number: int) -> None:
    assert with_values(Limits(), {"line": given}).line == number


@pytest.mark.parametrize("given", ["-1", "many", "", "1 XB", True, None, [], 0, "0", float("nan"), 1e300, "9" * 40])
def test_what_is_no_size_is_told(given: object) -> None:
    with pytest.raises(ValueError, match="limit line must be a number above 0"):
        with_values(Limits(), {"line": given})


def test_the_file_and_the_environment_change_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("limits: {files: 7, document: 1 GiB, confirm: 0.5}\n")
    monkeypatch.setenv("FORENSICS_CONFIG", str(path))
    monkeypatch.setenv("FORENSICS_LIMIT_FILES", "8")
    found = config().limits
    assert found == replace(Limits(), files=8, document=1 << 30, confirm=0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nlimits: {file: 3}\n", ":2: unknown key file; known are"),
        ("limits:\n  files: many\n", ":2: limit files must be a number above 0"),
        ("limits: 3\n", ":1: expected a mapping"),
    ],
)
def test_a_wrong_limit_is_told_with_its_place(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    monkeypatch.setenv("FORENSICS_CONFIG", str(path))
    with pytest.raises(UsageError) as error:
        config()
    assert said in str(error.value)


def test_a_wrong_variable_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_LIMIT_LINES", "3")
    with pytest.raises(UsageError, match="unknown limit lines; known are"):
        config()


def test_the_command_prints_those_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_LIMIT_MEMBERS", "9")
    rows = [line.split() for line in in_text("limits").stdout.splitlines()]
    assert [r[0] for r in rows] == limit_names()
    assert rows[1][:2] == ["members", "9"]


def archive(names: list[str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 4
            made.addfile(entry, io.BytesIO(b"abc\n"))
    return out.getvalue()


@pytest.mark.parametrize(
    ("bounds", "name", "data", "said"),
    [
        ({"files": 1}, "b.log", b"abc\n", "1 of 2 files were read"),
        ({"members": 2}, "b.tar", archive(["a", "b", "c"]), "more than 2 members"),
        ({"packings": 1}, "b.log.gz", gzip.compress(gzip.compress(b"abc\n", mtime=0), mtime=0), "compressed too many times"),
        ({"free": 1000, "ratio": 10}, "b.gz", gzip.compress(b"a" * 9000, mtime=0), "grows more than 10 times"),
        ({"unpacked": 1000}, "b.gz", gzip.compress(bytes(range(32, 127)) * 90, mtime=0), "when unpacked"),
    ],
)  # fmt: skip
def test_a_limit_that_is_reached_is_told(
    bounds: dict[str, float], name: str, data: bytes, said: str, bound: Callable[..., None], tmp_path: Path, knowledge: Database
) -> None:
    (tmp_path / "a.log").write_text("step 1\n")
    (tmp_path / name).write_bytes(data)
    bound(**bounds)
    noted: list[Warning] = []
    report = pipeline.analyze(sources.open_paths([tmp_path], noted.append), "case", knowledge, noted)
    assert any(w.kind == "limit" and said in w.message for w in report.warnings), report.warnings


def test_moments_and_incidents_of_a_report_are_bounded(bound: Callable[..., None], analyze: Callable[..., object]) -> None:
    bound(moments=2, incidents=1)
    text = "".join(f"2026-11-2{d} 08:00:00 CUDA out of memory. Tried to allocate 2.00 GiB\n" for d in range(9))
    report = analyze(train_log=text)
    assert len(report.timeline) == 2 and len(report.incidents) == 1  # type: ignore[attr-defined]
