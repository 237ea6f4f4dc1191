"""A file is read in blocks that end at line ends where they can, and lose nothing."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model import Warning
from forensics.sources import blob, open_paths
from forensics.sources.blob import file_blob, read_blocks
from forensics.sources.files import open_regular


@pytest.mark.seconds
@given(st.lists(st.sampled_from([b"a", b"bc" * 40, b"\n", b"\r\n", b"\0", b"x" * 300]), max_size=120))
def test_blocks_are_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[bytes]) -> None:
    monkeypatch.setattr(blob, "BLOCK_BYTES", 500)
    monkeypatch.setattr(blob, "LINE_BYTES", 120)
    (tmp_path / "log").write_bytes(b"".join(parts))
    noted: list[Warning] = []
    read = list(read_blocks(file_blob(tmp_path / "log"), noted.append))
    assert (b"".join(read), noted) == (b"".join(parts), [])
    assert all(b.endswith(b"\n") or b"\n" not in b[-120:] or len(b) <= 380 for b in read[:-1])


def test_what_is_appended_while_it_is_read_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"line\n" * 300_000)
    noted: list[Warning] = []
    size = 0
    for block in read_blocks(file_blob(log), noted.append):
        size += len(block)
        with log.open("ab") as file:
            file.write(b"more\n" * 100_000)
    assert size == 1_500_000
    assert [w.kind for w in noted] == ["truncated"]


def test_a_file_that_shrinks_while_it_is_read_ends_early(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"line\n" * 600_000)
    read = []
    for block in read_blocks(file_blob(log), lambda _w: None):
        read.append(block)
        log.write_bytes(b"")
    assert b"".join(read) == b"line\n" * (len(read[0]) // 5)


def test_a_small_file_is_opened_once_to_know_it_and_once_to_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.log").write_bytes(b"step 1\nRuntimeError: failed\n")
    opened: list[Path] = []

    def counted(path: Path, top: str | None = None) -> io.FileIO:
        opened.append(path)
        return open_regular(path, top)

    monkeypatch.setattr(blob, "open_regular", counted)
    (source,) = open_paths([tmp_path], lambda _: None)
    assert len(opened) == 1
    assert b"".join(source.blocks(lambda _: None)).endswith(b"failed\n")
    assert len(opened) == 2
