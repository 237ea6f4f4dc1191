"""Only regular files inside the given folder are opened, whatever is put in their place."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics import sources
from forensics.core.errors import SourceError
from forensics.model import Warning
from forensics.sources import files, walk
from forensics.sources.files import ROOT_VARIABLE
from tests.sources.helpers import read_path, read_source

OUTSIDE = "a line from outside"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.log"
    path.parent.mkdir()
    path.write_text(f"{OUTSIDE}\n" * 50)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "given"
    path.mkdir()
    (path / "train.log").write_text("step 1\n")
    return path


def test_a_link_that_leads_out_is_not_followed_and_one_inside_is(folder: Path, outside: Path) -> None:
    (folder / "a.log").symlink_to(outside)
    (folder / "b").symlink_to(outside.parent)
    (folder / "deeper").mkdir()
    (folder / "deeper" / "c.log").symlink_to("../../outside/secret.log")
    (folder / "inner.log").symlink_to(folder / "train.log")
    found, noted = read_path(folder)
    assert [f.lines for f in found] == [["step 1"]]
    assert [w.kind for w in noted] == ["skipped"] * 3


def test_a_link_that_is_named_itself_is_followed(folder: Path, outside: Path) -> None:
    (folder / "a.log").symlink_to(outside)
    assert read_path(folder / "a.log")[0][0].lines[0] == OUTSIDE


def test_nothing_outside_of_a_root_is_read(folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(folder))
    (folder / "a.log").symlink_to(outside)
    assert read_path(folder / "train.log")[0][0].lines == ["step 1"]
    for path in (folder / "a.log", outside, outside.parent):
        with pytest.raises(SourceError):
            sources.open_paths([path], lambda _w: None)


def read_while_swapped(folder: Path, outside: Path, times: int) -> Iterator[tuple[list[str], list[Warning]]]:
    """The lines that are read, and the warnings, while a file and a folder change with links that lead out, `times` times."""
    (folder / "own").write_text("an own line\n")
    (folder / "link").symlink_to(outside)
    (folder / "d").mkdir()
    (folder / "dlink").symlink_to(outside.parent)
    done = threading.Event()

    def swap() -> None:
        kinds = (("own", "link"), ("d", "dlink"))
        while not done.is_set():
            for name, (own, link) in zip(("swapped.log", "sub"), kinds, strict=True):
                for chosen in (own, link):
                    (folder / chosen).rename(folder / name)
                    (folder / name).rename(folder / chosen)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(times):
            noted: list[Warning] = []
            read = [read_source(s, noted) for s in sources.open_paths([folder], noted.append)]
            yield [line for r in read for line in r.lines], noted
    finally:
        done.set()
        swapping.join()


@pytest.mark.seconds
def test_a_file_that_is_swapped_for_a_link_while_it_is_read_shows_nothing_from_outside(folder: Path, outside: Path) -> None:
    for lines, noted in read_while_swapped(folder, outside, 150):
        assert OUTSIDE not in lines
        assert not any("secret.log" in w.source for w in noted)


@pytest.mark.seconds
def test_without_the_guard_these_tests_see_the_file_outside(folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail: it is `check_inside` that keeps the file out."""
    for room in (files, walk):
        monkeypatch.setattr(room, "check_inside", lambda _place, _top: None)
    (folder / "a.log").symlink_to(outside)
    found, _ = read_path(folder)
    assert any(OUTSIDE in f.lines for f in found)
    (folder / "a.log").unlink()
    assert any(OUTSIDE in lines for lines, _ in read_while_swapped(folder, outside, 150))


@pytest.mark.parametrize("path", ["/proc/kmsg", "/dev/zero", "/proc/self/mem"])
def test_what_has_no_end_is_refused_at_once(path: str) -> None:
    if not os.path.exists(path):  # noqa: PTH110 - a container may hide it
        pytest.skip("not on this machine")
    with pytest.raises(SourceError, match="not opened"):
        sources.open_paths([Path(path)], lambda _w: None)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="a pipe"):
        sources.open_paths([tmp_path / "pipe"], lambda _w: None)


def test_an_ordinary_file_of_the_kernel_is_read() -> None:
    assert read_path(Path("/proc/self/status"))[0][0].lines[0].startswith("Name:")
