"""Adds up the rows of a report."""

from math import exp

import pytest

from forensics.decision.ledger import probability_of, total
from forensics.model import Report

ROUNDED = 0.01  # of a probability: rows are rounded to four digits, probabilities to as many


def assert_rows_add_up(told: Report) -> None:
    """Each probability of `told` is the sum of its rows: that it ended badly, and that of each cause."""
    assert told.subject is not None and told.subject.ended_badly is not None
    assert probability_of(told.subject.ledger) == pytest.approx(told.subject.ended_badly, abs=ROUNDED)
    for finding in told.causes:
        assert exp(total(finding.ledger)) == pytest.approx(finding.probability, abs=ROUNDED), finding.id
