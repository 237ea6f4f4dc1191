"""Tests of the texts that conditions of remedies read."""

from forensics.advice.quoted import PLAIN_QUOTES


def test_curved_quotes_are_quotes() -> None:
    assert "No module named \u2018a.b\u2019, \u201cc\u201d".translate(PLAIN_QUOTES) == "No module named 'a.b', \"c\""
