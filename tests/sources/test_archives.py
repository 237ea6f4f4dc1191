"""Archives: members under their own names, read in any order, with limits; nothing is written to disk."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from forensics import sources
from forensics.core import limits
from forensics.core.errors import SourceError
from forensics.model import Warning
from tests.sources.helpers import read_path
from tests.sources.wrapping import tar, zipped


def archive(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as out:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))


MEMBERS = {f"logs/rank{i}.log": b"".join(b"rank %d line %d\n" % (i, j) for j in range(20_000)) for i in range(5)}


@pytest.mark.seconds
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_members_are_read_in_any_order(mode: str, tmp_path: Path) -> None:
    archive(tmp_path / "a", MEMBERS, mode)
    found = sources.open_paths([tmp_path / "a"], lambda _w: None)
    assert [s.name for s in found] == [f"{tmp_path / 'a'}!{name}" for name in MEMBERS]
    for source in (*found, *reversed(found)):
        assert b"".join(source.blocks(print)) == MEMBERS[source.name.split("!")[1]]


def test_members_are_read_side_by_side(tmp_path: Path) -> None:
    archive(tmp_path / "a", MEMBERS)
    found = sources.open_paths([tmp_path / "a"], lambda _w: None)
    streams = [s.blocks(print) for s in found]
    texts = [b""] * len(found)
    going = True
    while going:
        parts = [next(s, b"") for s in streams]
        texts = [t + p for t, p in zip(texts, parts, strict=True)]
        going = any(parts)
    assert texts == list(MEMBERS.values())


def test_the_same_path_twice_gets_two_names(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a", "w") as out:
        for data in (b"first\n", b"second\n"):
            entry = tarfile.TarInfo("x.log")
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
    found, _ = read_path(tmp_path / "a")
    assert [(f.name, f.lines) for f in found] == [
        (f"{tmp_path / 'a'}!x.log", ["first"]),
        (f"{tmp_path / 'a'}!x.log (2)", ["second"]),
    ]


def test_a_cut_archive_gives_what_it_holds(tmp_path: Path) -> None:
    archive(tmp_path / "whole", MEMBERS)
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "whole").unlink()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    found, noted = read_path(tmp_path / "cut")
    assert found[0].lines[-1] == "rank 0 line 19999"
    assert {w.kind for w in noted} == {"truncated"}


def test_a_damaged_zip_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(zipped(b"text\n" * 1000)[:-40])
    (tmp_path / "good.log").write_text("text\n")
    found, noted = read_path(tmp_path)
    assert [f.name for f in found] == [str(tmp_path / "good.log")]
    assert [w.kind for w in noted] == ["truncated"]


def test_a_damaged_member_of_a_zip_leaves_the_others(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.log", "".join(f"line {i}\n" for i in range(50_000)))
        made.writestr("b.log", "text\n")
    data = bytearray(out.getvalue())
    data[20_000:20_100] = bytes(100)
    (tmp_path / "a.zip").write_bytes(data)
    found, noted = read_path(tmp_path / "a.zip")
    assert found[-1].lines == ["text"]
    assert [w.kind for w in noted] == ["truncated"]


def test_too_many_members_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "current", limits.with_values(limits.current, {"members": 3}))
    archive(tmp_path / "a", MEMBERS)
    found, noted = read_path(tmp_path / "a")
    assert len(found) == 3
    assert [w.kind for w in noted] == ["limit"]


def test_an_archive_in_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(tar(tar(tar(b"deep\n", path="c.log"), path="b.tar"), path="a.tar"))
    found, noted = read_path(tmp_path / "a")
    assert not any("deep" in f.lines for f in found)
    assert "limit" in {w.kind for w in noted}


def test_a_large_zip_inside_a_stream_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "current", limits.with_values(limits.current, {"inner_zip": 100}))
    (tmp_path / "a").write_bytes(gzip.compress(zipped(b"text\n" * 1000)))
    noted: list[Warning] = []
    with pytest.raises(SourceError):
        sources.open_paths([tmp_path / "a"], noted.append)
    assert [w.kind for w in noted] == ["limit"]


def test_no_member_can_reach_out(tmp_path: Path) -> None:
    archive(tmp_path / "a", {"../../etc/x\x1b[31m.log": b"text\n"})
    (found,), _ = read_path(tmp_path / "a")
    assert found.lines == ["text"]
    assert "\x1b" not in found.name
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a"]
