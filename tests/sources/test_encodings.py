"""Any encoding gives the same lines; what is no text is told as what it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.encodings import binary_kind, decode_blocks, detect_encoding

TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_characters="\ufeff"), max_size=300)


@given(st.lists(TEXT, min_size=1, max_size=6), st.sampled_from(["utf-16-le", "utf-16-be"]), st.integers(1, 50))
def test_marked_text_comes_out_as_utf_8_however_it_is_cut(lines: list[str], name: str, size: int) -> None:
    text = "\r\n".join(lines)
    data = ("\ufeff" + text).encode(name)
    blocks = [data[i : i + size] for i in range(0, len(data), size)]
    assert detect_encoding(data) == name
    assert b"".join(decode_blocks(iter(blocks), name)).decode() == text


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
def test_a_lost_mark_is_seen_by_the_zeros(name: str) -> None:
    text = "RuntimeError: CUDA out of memory – größer\n"
    assert detect_encoding(text.encode(name)) == name
    assert detect_encoding(text.encode()) is None


def test_utf_8_passes_as_it_lies() -> None:
    blocks = [b"abc\xff\n", b"\xe2\x82\xac\n"]
    assert list(decode_blocks(iter(blocks), None)) == blocks


def test_zeros_and_marks_go_and_lines_stay() -> None:
    blocks = [b"\xef\xbb\xbfa\0\0b\n", b"\0\0\0c\n"]
    assert b"".join(decode_blocks(iter(blocks), None)) == b"ab\nc\n"


def test_a_mark_in_the_middle_of_an_appended_file_goes() -> None:
    data = "\ufeffone\n\ufefftwo\n".encode("utf-16-le")
    assert b"".join(decode_blocks(iter([data]), "utf-16-le")) == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\x02", "program or core dump"),
        (b"LPKSHHRH", "binary systemd journal"),
        (bytes(9000), "nothing but zeros"),
        (b"ab\0cd\0ef\0gh\0" * 200, "binary data"),
        (bytes(range(256)) * 30, "binary data"),
        (bytes(4096) + b"Aug 22 03:00:07 node-7 kernel: text\n" * 100, None),
        ("größer als erwartet\n".encode("latin-1") * 50, None),
        (b"\x1b[31mred\x1b[0m\r 3%|#  |\r\n" * 50, None),
        (b"6,1,2,-;text\n\0" * 300, None),
        (b"[  1.5] dump follows\n" + (b"[  2.5] regs: \x01\x02\0\x03\n" + b"[  2.6] Code: 00 00\n") * 200, None),
        (b"a warning of the loader\n" + (b"\r  6%|#  | 12/200 [05:53<1:29:56, 28.70s/it]" + bytes(40)) * 90, None),
        (b"\xcb\r\r\n" + (b"\0\x01\x02\0" + b"A long text of documentation in lines.\n" * 5) * 20, "binary data"),
    ],
)
def test_what_is_no_text_is_told(data: bytes, kind: str | None) -> None:
    assert binary_kind(data) == kind


def test_a_log_with_zeros_all_over_it_is_text() -> None:
    lines = b"".join(b"2026-11-21 10:00:%02d INFO step %d loss 0.4\n" % (i % 60, i) + b"\0" * (i % 5 * 12) for i in range(200))
    assert lines.count(0) > len(lines) / 5
    assert binary_kind(lines) is None
