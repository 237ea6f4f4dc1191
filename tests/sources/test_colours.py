"""Colours between an exception's name and its message are taken out; others stay, and the lines are the same."""

from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.colours import rejoin_exceptions


def test_the_name_and_the_message_stand_side_by_side() -> None:
    python = b"\x1b[1;35mIndexError\x1b[0m: \x1b[35mlist index out of range\x1b[0m\n"
    ipython = b"\x1b[0;31mValueError\x1b[0m: bad\n"
    other = b"\x1b[32mError\x1b[0m\n\x1b[31mred\x1b[0m Exception\n"
    assert list(rejoin_exceptions(iter([python, ipython, other]))) == [
        b"\x1b[1;35mIndexError: list index out of range\x1b[0m\n",
        b"\x1b[0;31mValueError: bad\n",
        other,
    ]


@given(st.lists(st.sampled_from([b"KeyError", b"\x1b[0m", b"\x1b[", b": ", b"\n", b"x", b"\x1b[31m", b"Exception"])))
def test_no_line_is_lost(parts: list[bytes]) -> None:
    assert b"".join(rejoin_exceptions(iter([b"".join(parts)]))).count(b"\n") == parts.count(b"\n")
