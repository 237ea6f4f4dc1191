"""Of more files than may be read, the logs and the newest are; the report says what was left out."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forensics.core import limits
from forensics.core.limits import Limits
from forensics.model import Warning
from forensics.sources.walk import walk_files


@pytest.fixture
def bound() -> Iterator[Callable[[int], None]]:
    before = limits.current
    yield lambda files: limits.use(limits.replace(Limits(), files=files))
    limits.use(before)


def made(folder: Path, names: str) -> None:
    """Files of these names, each a second newer than the one before."""
    for age, name in enumerate(names.split()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
        os.utime(folder / name, (1e9 + age, 1e9 + age))


def found(folder: Path) -> tuple[list[str], list[Warning]]:
    noted: list[Warning] = []
    return [str(Path(file.path).relative_to(folder)) for file in walk_files(folder, noted.append)], noted


def test_logs_come_before_data_however_old(tmp_path: Path, bound: Callable[[int], None]) -> None:
    made(tmp_path, "z/train.log z/kern.log.1 z/rank0.err z/dmesg z/catalog.json a/1.json a/2.json a/3.json")
    bound(5)
    names, noted = found(tmp_path)
    assert names == ["a/3.json", "z/dmesg", "z/kern.log.1", "z/rank0.err", "z/train.log"]
    assert [w.kind for w in noted] == ["limit"]


def test_among_logs_the_newest_are_read_in_order_of_name(tmp_path: Path, bound: Callable[[int], None]) -> None:
    made(tmp_path, "c.log a.log b.log")
    bound(2)
    assert found(tmp_path)[0] == ["a.log", "b.log"]
    os.utime(tmp_path / "c.log")
    assert found(tmp_path)[0] == ["b.log", "c.log"]


def test_what_was_left_out_is_told_and_how_to_have_it_read(tmp_path: Path, bound: Callable[[int], None]) -> None:
    made(tmp_path, "run/old.log run/new.log run/newer.log")
    bound(2)
    (warning,) = found(tmp_path)[1]
    assert warning.message.startswith("2 of 3 files were read")
    assert "left out was run/old.log" in warning.message
    assert "FORENSICS_LIMIT_FILES=3" in warning.message
    bound(3)
    assert len(found(tmp_path)[0]) == 3
    assert found(tmp_path)[1] == []


def test_a_folder_without_end_is_not_walked_to_its_end(tmp_path: Path, bound: Callable[[int], None]) -> None:
    made(tmp_path, " ".join(f"{n:03d}.log" for n in range(60)))
    bound(1)
    names, (warning,) = found(tmp_path)
    assert names == ["049.log"]
    assert "the folder holds more than 50" in warning.message


def test_empty_files_take_no_other_file_s_place(tmp_path: Path, bound: Callable[[int], None]) -> None:
    made(tmp_path, "dmesg.log data.bin")
    for number in range(5):
        (tmp_path / f"rank{number}.log").touch()  # newer, and called like logs
    bound(2)
    assert found(tmp_path)[0] == ["data.bin", "dmesg.log"]
