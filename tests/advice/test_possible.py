"""What an undetermined end may be: the causes of the setting, and what lines of the logs rule out."""

import pytest
from msgspec.structs import replace

from forensics import analyze
from forensics.advice.possible import ENDED_STATES, RULED_OUT_BY, possible_causes
from forensics.database.differential import differentials
from forensics.model import Curve, Possible, Report, Setting

UNKNOWN = "loaded 12 shards\nsomething odd happened in the trainer, giving up\nrun failed\n"


@pytest.fixture(scope="module")
def undetermined(tmp_path_factory: pytest.TempPathFactory) -> Report:
    log = tmp_path_factory.mktemp("unknown") / "run.log"
    log.write_text(UNKNOWN)
    return analyze(log, workers=1)


def told_of(report: Report, cause: str) -> Possible:
    return next(p for p in possible_causes(report) if cause in p.causes)


def test_an_end_that_no_line_names_gets_the_causes_of_its_setting(undetermined: Report) -> None:
    assert undetermined.verdict == "undetermined"
    assert undetermined.possible == possible_causes(undetermined)
    assert {"host_memory.oom_global", "data.missing"} <= {c for p in undetermined.possible for c in p.causes}
    notebook = replace(undetermined, environment=(Setting("notebook", "jupyter", "run.log", 1),))
    assert [p.sign for p in possible_causes(notebook)] != [p.sign for p in undetermined.possible]


def test_a_case_whose_cause_a_line_names_gets_none(undetermined: Report) -> None:
    assert possible_causes(replace(undetermined, verdict="crash")) == ()


def test_a_line_rules_out_what_it_contradicts_and_that_stands_last(undetermined: Report) -> None:
    assert undetermined.subject is not None and undetermined.subject.outcome in ENDED_STATES
    ended = told_of(undetermined, "process.stalled")
    assert (ended.line, ended.why) == (3, "it ended there")
    assert [p.why != "" for p in undetermined.possible] == sorted(p.why != "" for p in undetermined.possible)


def test_a_finite_loss_a_program_without_gpu_and_progress_rule_out_theirs(undetermined: Report) -> None:
    loss = Curve("loss", "loss", "", "run.log", None, ((1, 0.9), (2, 0.4)))
    seen = replace(undetermined, curves=(loss,), environment=(Setting("device", "cpu", "run.log", 1),))
    assert (told_of(seen, "numerics.nan").line, told_of(seen, "gpu_memory.capacity").line) == (2, 1)
    assert told_of(seen, "code.import").why
    lost = replace(seen, curves=(replace(loss, points=((1, 0.9), (2, None))),), environment=())
    assert not told_of(lost, "numerics.nan").why
    assert not told_of(lost, "gpu_memory.capacity").why


def test_an_exception_or_a_status_of_its_own_rules_out_a_kill(undetermined: Report) -> None:
    first = undetermined.causes[0]
    for facts in ({"exc_type": "ValueError"}, {"exit_code": 1}):
        seen = replace(undetermined, causes=(replace(first, facts=facts),))
        assert told_of(seen, "host_memory.oom_global").why
    killed = replace(undetermined, causes=(replace(first, facts={"exit_code": 137}),))
    assert not told_of(killed, "host_memory.oom_global").why


def test_each_rule_of_the_table_is_known_and_used() -> None:
    assert {rule for d in differentials() for p in d.possibilities for rule in p.ruled_out} == set(RULED_OUT_BY)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_report_tells_what_it_may_be_and_what_is_ruled_out(undetermined: Report, form: str) -> None:
    from forensics.report import render
    from forensics.report.style import Style

    said = render(undetermined, form, Style())
    assert "hat it may be" in said.replace("what", "hat")
    assert "it ended there" in said and "uled out" in said
