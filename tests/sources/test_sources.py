"""What is given becomes Sources with the user's own names; what cannot be read is told, and the rest is read."""

import gzip
import io
import os
from pathlib import Path

import pytest

from forensics import sources
from forensics.core.errors import SourceError, UsageError
from forensics.model import Warning
from forensics.sources.stdin import stream_sources


def read(source: object, warn: object = None) -> bytes:
    noted: list[Warning] = []
    return b"".join(source.blocks(noted.append))  # type: ignore[attr-defined]


def opened(path: Path) -> tuple[dict[str, bytes], list[Warning]]:
    noted: list[Warning] = []
    return {s.name: read(s) for s in sources.open_paths([path], noted.append)}, noted


def test_a_folder_is_read_with_all_below_it_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.log").write_text("b")
    (tmp_path / "a.log").write_text("a")
    (tmp_path / "sub" / "c.log").write_text("c")
    found, noted = opened(tmp_path)
    assert list(found) == [str(tmp_path / n) for n in ("a.log", "b.log", "sub/c.log")]
    assert noted == []


def test_gzip_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "kern.log").write_bytes(gzip.compress(b"one\ntwo\n"))
    (tmp_path / "plain.gz").write_bytes(b"not compressed\n")
    found, _ = opened(tmp_path)
    assert set(found.values()) == {b"one\ntwo\n", b"not compressed\n"}
    noted: list[Warning] = []
    assert {s.compression for s in sources.open_paths([tmp_path], noted.append)} == {"gzip", None}


def test_a_cut_gzip_gives_what_it_holds_and_a_warning(tmp_path: Path) -> None:
    text = b"".join(b"line %d\n" % i for i in range(20_000))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(text)[:-2000])
    noted: list[Warning] = []
    (source,) = sources.open_paths([tmp_path / "cut.gz"], noted.append)
    got = b"".join(source.blocks(noted.append))
    assert text.startswith(got[:1000])
    assert [w.kind for w in noted] == ["truncated"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "binary"),
        (bytes(range(256)) * 20, "binary"),
        (b"SQLite format 3\0" + bytes(100), "binary"),
        (bytes(5000), "binary"),
    ],
)
def test_what_is_no_text_is_a_warning_beside_what_is(tmp_path: Path, content: bytes, kind: str) -> None:
    (tmp_path / "bad").write_bytes(content)
    (tmp_path / "good.log").write_text("text\n")
    found, noted = opened(tmp_path)
    assert list(found) == [str(tmp_path / "good.log")]
    assert [(w.kind, w.source) for w in noted] == [(kind, str(tmp_path / "bad"))]


def test_a_journal_is_told_with_the_command_that_exports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    (tmp_path / "system.journal").write_bytes(b"LPKSHHRH" + bytes(100))
    with pytest.raises(SourceError):
        opened(tmp_path)
    noted: list[Warning] = []
    with pytest.raises(SourceError):
        sources.open_paths([tmp_path], noted.append)
    assert "journalctl --file" in noted[0].message


def test_utf16_is_turned_into_utf8(tmp_path: Path) -> None:
    for name, encoding in (("le", "utf-16-le"), ("be", "utf-16-be")):
        (tmp_path / name).write_bytes("\ufeffMemoryError: ä\r\nnext\r\n".encode(encoding))
    found, _ = opened(tmp_path)
    assert set(found.values()) == {"MemoryError: ä\r\nnext\r\n".encode()}


def test_a_missing_path_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no such file"):
        sources.open_paths([Path("/nowhere/at/all")], lambda _w: None)


def test_pipes_loops_and_doubles_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("a")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "again.log").symlink_to(tmp_path / "a.log")
    found, noted = opened(tmp_path)
    assert list(found.values()) == [b"a"]
    assert [w.kind for w in noted] == ["skipped"]


def test_a_stream_is_read_as_it_is_or_unpacked() -> None:
    text = b"line\n" * 100_000
    assert read(stream_sources(io.BytesIO(text), "<stdin>", print)[0]) == text
    assert read(stream_sources(io.BytesIO(gzip.compress(text)), "<stdin>", print)[0]) == text
