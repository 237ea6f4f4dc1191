"""Tests of the texts that conditions of remedies read."""

from forensics.advice.quoted import quoted_evidence
from forensics.model import Proof


def test_curved_quotes_are_quotes() -> None:
    said = Proof("train.log", 8, "No module named \u2018a.b\u2019, \u201cc\u201d", "code.import/module", "proof")
    assert quoted_evidence([said])["evidence"] == "No module named 'a.b', \"c\""
