"""Why the first cause and not its rival: each contribution with its line and meaning, and how probable a bad end is."""

import re

import pytest
from msgspec.structs import replace

from forensics.decision.candidates import FEATURES
from forensics.model import Adjustment, Finding
from forensics.report import Style
from forensics.report.ledger import compared_findings, render_ledger
from tests.report import made
from tests.report.seeds import seeds

MEANINGS = {name: about[2] for name, about in FEATURES.items()}


def rival(cause: str, probability: float, *ledger: Adjustment) -> Finding:
    return Finding(cause, f"Title of {cause}", "contributing", probability, "", (), {}, (), ledger)


def test_the_best_rival_is_the_most_probable_that_was_weighed() -> None:
    report = made.report("words")
    weighed = Adjustment("hint", 1.0, 0.3)
    found = (report.causes[0], rival("none.healthy", 0.3), rival("a.b", 0.1, weighed), rival("c.d", 0.2, weighed))
    assert [f.id for f in compared_findings(replace(report, causes=found))] == [report.causes[0].id, "c.d"]
    assert [f.id for f in compared_findings(replace(report, causes=found[:2]))] == [report.causes[0].id]


def test_each_contribution_has_its_line_and_its_meaning() -> None:
    report = made.report("words")
    report = replace(
        report, causes=(report.causes[0], rival("c.d", 0.2, Adjustment("unheard of", 2.5, -0.75, "logs/run/jupyter.log", 20)))
    )
    text = render_ledger(report, MEANINGS, Style())
    assert "ended badly: 95 %" in text
    assert re.search(r"host_memory\.oom_cgroup +A memory limit was hit +93 %", text)
    assert re.search(rf"\+1\.20 +1\.00 +\S*train\.log:7 +proof: {re.escape(MEANINGS['proof'][:20])}", text)
    assert re.search(r"-0\.50 +-2\.00 {5,}text: ", text)
    assert re.search(r"\+0\.70 +in sum", text)
    assert re.search(r"best rival: c\.d +Title of c\.d +20 %", text)
    assert re.search(r"-0\.75 +2\.50 +\S*jupyter\.log:20 +unheard of\n", text)


@pytest.mark.parametrize("width", [60, 80, 140])
def test_it_is_as_wide_as_asked(width: int) -> None:
    first = made.report("words").causes[0]
    every = tuple(Adjustment(name, 1.0, 0.5, "logs/run/train.log", 7) for name in FEATURES)
    text = render_ledger(replace(made.report("words"), causes=(replace(first, ledger=every),)), MEANINGS, Style(width=width))
    assert max(map(len, text.splitlines())) <= width
    assert len(re.findall(r"^ +\+0\.50", text, re.M)) == len(FEATURES)


def test_where_nothing_ended_badly_that_is_said() -> None:
    report = made.report("words")
    healthy = replace(report, verdict="no_crash", causes=(rival("none.healthy", 0.99),))
    assert "nothing ended badly" in render_ledger(healthy, MEANINGS, Style())
    old = replace(report, causes=(replace(report.causes[0], ledger=()),), subject=None)
    text = render_ledger(old, MEANINGS, Style())
    assert "no contributions" in text
    assert "ended badly" not in text


def test_a_secret_in_a_name_does_not_leave() -> None:
    secret = seeds()[0].secret
    report = made.report("words")
    named = Adjustment("proof", 1.0, 1.0, f"logs/{secret}.log", 3)
    text = render_ledger(replace(report, causes=(replace(report.causes[0], ledger=(named,)),)), MEANINGS, Style(width=140))
    assert secret not in text
    assert "REDACTED" in text


def test_a_row_that_adds_nothing_is_not_shown() -> None:
    report = made.report()
    rows = (Adjustment("proof", 1.0, 0.3), Adjustment("it ended badly", 1.0, -0.0017))
    told = replace(report, causes=(replace(report.causes[0], ledger=rows),), subject=None)
    text = render_ledger(told, {}, Style())
    assert "proof" in text
    assert "it ended badly" not in text and "-0.00" not in text


def test_the_shares_make_up_the_whole_and_a_small_one_has_its_digits() -> None:
    report = made.report("words")
    first = replace(report.causes[0], probability=0.9)
    small = rival("c.d", 0.0003, Adjustment("hint", 1.0, -8.11))
    subject = report.subject and replace(report.subject, none_of_these=0.05)
    text = render_ledger(replace(report, causes=(first, small), subject=subject), MEANINGS, Style())
    assert "in sum: 0.03 %" in text and "all other causes: 5 %, a cause that is not listed: 5 %" in text
