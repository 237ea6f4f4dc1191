"""Containers decoded a block at a time: what comes out is what one record after the other gives, on the same lines."""

import json
from collections.abc import Callable, Iterator

from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.formats import docker, journal_json
from forensics.sources.formats.base import Note
from forensics.sources.origin import LineOrigin, Piece, line_blocks

TEXTS = st.text(st.sampled_from('ab é"\\\t\x1b{}:,'), max_size=12)
Decode = Callable[[Iterator[bytes], Note], Iterator[Piece]]


def _docker(text: str, end: str, stream: str, close: bool) -> str:
    separators = (",", ":") if close else (", ", ": ")
    record = {"log": text + end, "stream": stream, "time": "2026-08-22T03:00:01.5Z"}
    return json.dumps(record, separators=separators, ensure_ascii=close)


DOCKER = st.one_of(
    st.builds(
        _docker, TEXTS, st.sampled_from(["\n", "\n", "\n", "\r\n", ""]), st.sampled_from(["stdout", "stderr"]), st.booleans()
    ),
    st.sampled_from(["", "not a record", '{"log":"cut', '{"log":1,"stream":"stderr"}']),
)


def _journal(message: object, boot: str, pid: object, more: dict[str, object]) -> str:
    entry = {"__REALTIME_TIMESTAMP": "1755831607123456", "MESSAGE": message, "_BOOT_ID": boot, "_PID": pid, "_COMM": "python3"}
    return json.dumps(entry | more, ensure_ascii=False)


JOURNAL = st.one_of(
    st.builds(
        _journal,
        st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from(["two\nlines", "end\n", None, [104, 105], []])),
        st.sampled_from(["a" * 32, "a" * 32, "a" * 32, "b" * 32]),
        st.sampled_from(["7", "7", None, ["1", "2"]]),
        st.dictionaries(st.sampled_from(["X", "_TRANSPORT"]), st.sampled_from(["kernel", "stdout"])),
    ),
    st.sampled_from(["", "-- Boot 1 --", '{"MESSAGE":"cut', '{"a":NaN}', "{}", "[1]", "{", "}"]),
)


def _numbered(decode: Decode, blocks: list[bytes]) -> list[tuple[int, bytes]]:
    origin = LineOrigin()
    text = b"".join(line_blocks(decode(iter(blocks), lambda *_: None), origin))
    return [(origin(i), line) for i, line in enumerate(text.split(b"\n"), 1) if line.strip()]


@given(st.lists(DOCKER, max_size=9))
def test_docker_records_of_a_block_are_those_of_single_lines(rows: list[str]) -> None:
    _same(docker.FORMATS[0].decode, rows)


@given(st.lists(JOURNAL, max_size=9))
def test_journal_entries_of_a_block_are_those_of_single_lines(rows: list[str]) -> None:
    _same(journal_json.decode, rows)


def _same(decode: Decode, rows: list[str]) -> None:
    lines = [row.encode() + b"\n" for row in rows]
    assert _numbered(decode, [b"".join(lines)]) == _numbered(decode, lines)


def test_a_block_of_plain_records_needs_no_json_parser() -> None:
    rows = [_docker(f"line {i}", "\n", "stderr", True) for i in range(50)]
    assert docker._whole_lines("\n".join(rows).encode(), 50) == b"\n".join(
        b"2026-08-22T03:00:01.5Z line %d" % i for i in range(50)
    )
