"""Whatever bytes are given, reading ends without an error that a user would see as a traceback."""

import gzip
import io

from hypothesis import given
from hypothesis import strategies as st

from forensics.core.errors import SourceError
from forensics.model import Warning
from forensics.sources.stdin import stream_sources
from tests.sources.helpers import read_source
from tests.sources.wrapping import WAYS

STARTS = [
    b"",
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
    b"\xff\xfe",
    b"BZh91AY&SY",
    b"[{",
    b'{"cells"',
]
TEXT = b"Aug 22 03:00:07 node-7 kernel: one\n" * 30


def read_all(data: bytes) -> None:
    noted: list[Warning] = []
    try:
        found = stream_sources(io.BytesIO(data), "<stdin>", noted.append)
    except SourceError:
        assert noted or not data
        return
    for source in found:
        read = read_source(source, noted)
        assert all(n >= 1 for n in read.numbers)


@given(st.sampled_from(STARTS), st.binary(max_size=600))
def test_arbitrary_bytes_are_read_without_an_error(start: bytes, rest: bytes) -> None:
    read_all(start + rest)
    read_all(gzip.compress(start + rest))


@given(st.sampled_from(sorted(WAYS)), st.integers(0, 20_000), st.binary(min_size=1, max_size=8))
def test_a_wrapping_with_bytes_overwritten(way: str, at: int, junk: bytes) -> None:
    data = bytearray(WAYS[way](TEXT))
    at %= len(data)
    data[at : at + len(junk)] = junk
    read_all(bytes(data))


@given(st.sampled_from(sorted(WAYS)), st.integers(0, 20_000))
def test_a_wrapped_log_cut_short_is_read_without_an_error(way: str, at: int) -> None:
    data = WAYS[way](TEXT)
    read_all(data[: at % len(data)])
