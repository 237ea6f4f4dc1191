"""How often each signature fired: smoothed towards what its weight promises, written and read again."""

from math import exp
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database, builtin_folder
from forensics.database.rates import (
    CAUSE_PRIOR,
    FAILED_PRIOR,
    PRIOR_LOGS,
    prior_rate,
    read_rates,
    smoothed_rate,
)
from scripts.rates_page import PAGE, page
from scripts.train.rates import RATES_HEADER, rates_csv

WEIGHTS = ("proof", "strong", "hint")
COUNTS = st.floats(0, 1e5)


def share(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))


@pytest.mark.parametrize("weight", WEIGHTS)
def test_what_never_fired_keeps_the_promise_of_its_weight(weight: str) -> None:
    found = prior_rate(weight)
    assert share(found.failed) == pytest.approx(FAILED_PRIOR[weight], abs=0.001)
    assert share(found.cause) == pytest.approx(CAUSE_PRIOR[weight], abs=0.001)


def test_a_surer_weight_promises_more() -> None:
    promised = [prior_rate(w) for w in WEIGHTS]
    assert sorted(promised, key=lambda r: -r.failed) == sorted(promised, key=lambda r: -r.cause) == promised


def test_the_field_outweighs_the_promise() -> None:
    found = smoothed_rate("proof", healthy=97.0, own=0.0, other=0.0)
    assert share(found.failed) == pytest.approx(PRIOR_LOGS * FAILED_PRIOR["proof"] / 100, abs=0.001)
    assert smoothed_rate("hint", 0, 500, 0).cause > prior_rate("proof").cause


@given(st.sampled_from(WEIGHTS), COUNTS, COUNTS, COUNTS)
def test_more_failed_logs_never_speak_against_a_failure(weight: str, healthy: float, own: float, other: float) -> None:
    before = smoothed_rate(weight, healthy, own, other)
    assert smoothed_rate(weight, healthy, own + 1, other).cause >= before.cause
    assert smoothed_rate(weight, healthy, own, other + 1).failed >= before.failed
    assert smoothed_rate(weight, healthy + 1, own, other).failed <= before.failed
    assert before.cause <= before.failed, "who died of it died"


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        ("b/two", 0.2, 31.0, 4.1, smoothed_rate("proof", 0.2, 31.0, 4.1)),
        ("a/one", 1.0, 0.0, 2.0, smoothed_rate("hint", 1, 0, 2)),
    ]
    text = rates_csv(rows)
    (tmp_path / "rates.csv").write_text(text)
    assert text.splitlines()[0] == ",".join(RATES_HEADER)
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ["a/one", "b/two"]
    assert read_rates(tmp_path) == {n: (r.failed, r.cause) for n, _, _, _, r in rows}
    assert read_rates(tmp_path / "none") == {}


def test_the_built_in_table_reaches_the_database_and_is_what_it_says(knowledge: Database) -> None:
    rates = read_rates(builtin_folder())
    assert rates
    assert dict(knowledge.rates) == dict(rates)
    for line in (builtin_folder() / "rates.csv").read_text().splitlines()[1:]:
        name, healthy, own, other, failed, cause = line.split(",")
        assert min(float(healthy), float(own), float(other)) >= 0
        told = [smoothed_rate(w, float(healthy), float(own), float(other)) for w in WEIGHTS]
        assert any(abs(r.failed - float(failed)) < 0.2 and abs(r.cause - float(cause)) < 0.2 for r in told), name


def test_the_published_page_says_what_the_table_says(knowledge: Database) -> None:
    """After a new table: python -m scripts.rates_page."""
    assert PAGE.read_text(encoding="utf-8") == page(knowledge)
