"""Compressed streams: known by content, read to where they are damaged, stopped where they grow beyond reason."""

import bz2
import functools
import gzip
import io
import lzma
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from forensics.core import limits
from forensics.sources import compression
from tests.sources.helpers import read_bytes, read_path

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}
random.seed(7)
TEXT = b"".join(b"line %d %s\n" % (i, random.randbytes(20).hex().encode()) for i in range(40_000))


@functools.cache
def packed_text(kind: str) -> bytes:
    return PACK[kind](TEXT)


def unpack(data: bytes, kind: str, size: int = 100_000) -> bytes:
    stream = compression.unpacked_stream(io.BytesIO(data), kind)
    return b"".join(iter(lambda: stream.read(size), b""))


@pytest.mark.seconds
@pytest.mark.parametrize("kind", PACK)
def test_a_kind_is_known_by_its_first_bytes(kind: str) -> None:
    assert compression.detect_compression(packed_text(kind)[:64]) == kind


@given(st.binary(max_size=5000), st.sampled_from(sorted(PACK)), st.integers(1, 6000))
def test_what_was_packed_comes_out(data: bytes, kind: str, size: int) -> None:
    assert unpack(PACK[kind](data), kind, size) == data


@pytest.mark.parametrize("kind", ["gzip", "xz", "bzip2", "zstd"])
def test_streams_in_a_row_are_one(kind: str) -> None:
    packed = PACK[kind](b"one\n") + PACK[kind](b"two\n")
    assert unpack(packed, kind) == b"one\ntwo\n"
    assert unpack(packed + (bytes(512) if kind == "gzip" else b""), kind) == b"one\ntwo\n"


@pytest.mark.seconds
@pytest.mark.parametrize("kind", PACK)
def test_a_cut_stream_gives_what_it_holds_and_a_warning(kind: str, tmp_path: Path) -> None:
    packed = packed_text(kind)
    (tmp_path / "cut").write_bytes(packed[: len(packed) * 3 // 4])
    (found,), noted = read_path(tmp_path / "cut")
    assert TEXT.decode().startswith("\n".join(found.lines))
    assert len(found.lines) > 10_000
    assert [w.kind for w in noted] == ["truncated"]


@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_damage_in_the_middle_is_a_warning(kind: str, tmp_path: Path) -> None:
    packed = bytearray(packed_text(kind))
    middle = len(packed) // 2
    packed[middle : middle + 64] = bytes(64)
    (tmp_path / "bad").write_bytes(packed)
    (found,), noted = read_path(tmp_path / "bad")
    assert found.lines[:100] == TEXT.decode().split("\n")[:100]
    assert "truncated" in {w.kind for w in noted}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", PACK)
def test_a_bomb_is_stopped(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "current", limits.with_values(limits.current, {"free": 1 << 20, "ratio": 100}))
    (tmp_path / "bomb").write_bytes(PACK[kind](b"0" * (64 << 20)))
    (found,), noted = read_path(tmp_path / "bomb")
    assert sum(map(len, found.lines)) < 40 << 20
    assert [w.kind for w in noted] == ["limit"]


def test_an_xz_stream_cannot_ask_for_all_memory() -> None:
    huge = bytearray(lzma.compress(b"text\n"))
    head = slice(12, 12 + (huge[12] + 1) * 4)  # of the block: size, flags, then the filter with the size of its dictionary
    assert huge[head][2:4] == b"\x21\x01" and unpack(bytes(huge), "xz") == b"text\n"
    huge[16] = 36  # 1 GiB; 4 GiB are 40
    huge[head.stop - 4 : head.stop] = zlib.crc32(huge[head.start : head.stop - 4]).to_bytes(4, "little")
    assert lzma.decompress(huge) == b"text\n"
    with pytest.raises(OSError, match="damaged"):
        unpack(bytes(huge), "xz")


def test_text_that_begins_like_zlib_is_text() -> None:
    assert read_bytes(b"x^2 + y^2 = 1\nMemoryError\n").lines == ["x^2 + y^2 = 1", "MemoryError"]


def test_packed_twice_is_unpacked_twice_and_a_hundred_times_is_not(tmp_path: Path) -> None:
    data = gzip.compress(lzma.compress(b"text\n"))
    assert read_bytes(data).lines == ["text"]
    for _ in range(10):
        data = gzip.compress(data)
    (tmp_path / "deep").write_bytes(data)
    (tmp_path / "a.log").write_text("text\n")
    found, noted = read_path(tmp_path)
    assert [f.lines for f in found] == [["text"]]
    assert [w.kind for w in noted] == ["limit"]
