"""Each number of a report is the sum of the rows that it shows; tests/report/test_gold.py adds up every sample."""

from collections.abc import Callable
from math import exp

import pytest

from forensics.decision.ledger import moved, probability_of, rows_of, total, with_rule
from forensics.model import Report
from forensics.model.verdicts import Candidate


def test_what_a_rule_moves_is_a_row() -> None:
    plain = Candidate("code.shape", (), {}, 0.5, ledger=rows_of([("strong", 1.0, -0.6931)]))
    capped = moved(plain, 0.25, "rule: a cap", "train.log", 7)
    assert exp(total(capped.ledger)) == pytest.approx(0.25, abs=1e-3)
    assert [(r.feature, r.line) for r in capped.ledger] == [("strong", None), ("rule: a cap", 7)]
    assert moved(capped, 0.25, "rule: of no effect") == capped


def test_small_contributions_are_not_lost() -> None:
    rows = rows_of([("a", 1.0, 2.0), *((f"b{i}", 1.0, 0.004) for i in range(100))])
    assert (len(rows), total(rows)) == (2, pytest.approx(2.4))


@pytest.mark.parametrize("wanted", [0.1, 0.5, 0.98, 0.0, 1.0])
def test_a_rule_moves_log_odds_to_its_probability(wanted: float) -> None:
    assert probability_of(with_rule(rows_of([("a", 1.0, 1.3)]), wanted, "rule")) == pytest.approx(wanted, abs=1e-3)


def test_the_report_tells_how_likely_none_of_its_causes_is(analyze: Callable[..., Report]) -> None:
    told = analyze(train_log="step 1\nRuntimeError: CUDA error: an illegal memory access was encountered\n")
    assert told.subject is not None and 0 < told.subject.none_of_these < 0.5
    assert sum(f.probability for f in told.causes) + told.subject.none_of_these <= 1.02
