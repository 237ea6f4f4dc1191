"""Did it end badly, and why: the verdict, what leads, what is only told. The models here are made by hand, not learned."""

from math import exp
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.decision.decide import MAX_CAUSES, DecisionInput, decide
from forensics.decision.ledger import AGAINST_ALL, BAD_END
from forensics.decision.model import Model, active_model
from forensics.decision.structure import Precedence
from forensics.decision.unlinked import UNKNOWN_OWNER_MAX_PROBABILITY
from forensics.model import Line
from forensics.model.verdicts import Diagnosis, LaneDigest, LaneKind
from forensics.outcome.ending_words import ending_rows
from forensics.outcome.recorded_status import RecordedStatus
from tests.decision.made import lane, model, question, seen

KILL = "host_memory.oom_cgroup"
SURE = {"proof": 4.0, "strong": 3.0, "hint": 0.5, "unlisted": -2.0}
NONE = Precedence(())


def with_status(asked: DecisionInput, end: RecordedStatus) -> DecisionInput:
    return DecisionInput(asked.owned, asked.lanes, asked.machine, asked.host_log, end)


def decided(knowledge: Database, asked: DecisionInput, made: Model | None = None) -> Diagnosis:
    return decide(asked, knowledge, made or model(6.0, **SURE), NONE)


def test_a_cause_with_evidence_behind_a_bad_end_is_a_crash(knowledge: Database) -> None:
    found = decided(knowledge, question(seen("code.shape", 99)))
    assert (found.verdict, found.candidates[0].cause, found.outcome.state) == ("crash", "code.shape", "failed")
    assert [c.cause for c in found.candidates] == ["code.shape", HEALTHY]
    assert found.outcome.lines == (("train.log", 99, "what line 99 says of shape"),)


def test_what_did_not_end_badly_is_no_crash_whatever_stands_in_it(knowledge: Database) -> None:
    found = decided(knowledge, question(seen("code.shape", 9, "proof")), model(-3.0, **SURE))
    assert (found.verdict, found.candidates[0].cause) == ("no_crash", HEALTHY)
    assert found.candidates[0].probability == pytest.approx(1 - found.outcome.ended_badly)
    assert [n.line for n in found.notices] == [9]


def test_a_cause_without_an_evidence_line_is_not_reported(knowledge: Database) -> None:
    """Words order causes that have evidence, and speak where there is none; they make no crash."""
    words = {"flurb": {"code.shape": 9.0, "storage.full": 0.0}}
    asked = question(lanes=(lane(trouble=("error: flurb",)),))
    found = decided(knowledge, asked, model(6.0, words, text=3.0))
    assert (found.verdict, found.candidates[0].cause) == ("undetermined", "code.shape")
    assert found.candidates[0].owned == ()
    assert found.outcome.lines == (("train.log", 90, "error: flurb"),), "the ending is shown"
    evidence = question(seen("storage.full", 95), lanes=(lane(trouble=("error: flurb",)),))
    shown = {c.cause for c in decided(knowledge, evidence, model(6.0, words, text=3.0)).candidates}
    assert shown == {"storage.full", "code.exception", HEALTHY}, "beside evidence words name nothing but the general cause"


def test_the_general_cause_leads_only_where_no_evidence_is_more_likely_than_not(knowledge: Database) -> None:
    asked = question(seen("data.download", 5))
    for weight, first in ((9.0, "code.exception"), (-9.0, "data.download")):
        found = decided(knowledge, asked, model(6.0, proof=3.0, strong=3.0, exception_beside_others=weight))
        assert found.candidates[0].cause == first
        assert found.verdict == ("undetermined" if first == "code.exception" else "crash")
        assert ("code.exception" in [c.cause for c in found.candidates]) == (first == "code.exception")


def test_words_alone_raise_no_alarm(knowledge: Database) -> None:
    words = {"flurb": {"code.shape": 9.0, "storage.full": 0.0}}
    asked = question(lanes=(lane(trouble=("error: flurb",)),))
    found = decided(knowledge, asked, model(-4.0, words, text=3.0))
    assert found.verdict == "no_crash"
    assert [c.cause for c in found.candidates] == [HEALTHY]


def test_hints_alone_are_undetermined(knowledge: Database) -> None:
    found = decided(knowledge, question(seen("process.worker_died", 99, "hint")), model(6.0, hint=6.0))
    assert (found.verdict, found.candidates[0].cause) == ("undetermined", "process.worker_died")


def test_a_line_that_ends_nothing_makes_no_crash(knowledge: Database) -> None:
    found = decided(knowledge, question(seen("code.shape", 99, "proof", ends="nothing")), model(6.0, notice_proof=6.0))
    assert found.verdict == "undetermined"


def test_the_words_of_the_end_are_those_of_the_log_with_strong_evidence(knowledge: Database) -> None:
    job, beside = (
        lane(last="the job says farewell"),
        replace(lane(last="nobody reads this", trouble=("error",)), source="beside.log"),
    )
    strong, hint = seen("code.shape", 99), seen("storage.full", 99, "hint", source="beside.log")
    assert question(strong, hint, lanes=(job, beside)).ending_rows(knowledge) == ending_rows(job) != ()
    assert question(hint, lanes=(job, beside)).ending_rows(knowledge) == ending_rows(beside), "the one that ends worse"


def test_two_equally_likely_causes_are_undetermined(knowledge: Database) -> None:
    both = question(seen("code.shape", 10), seen("storage.full", 10), seen("data.missing", 10))
    assert decided(knowledge, both).verdict == "undetermined"


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ({"repeated": 3, "progress": 7}, "the log continues after it"),
        ({"repeated": 9}, "the log continues after it"),
        ({"handled": True}, "its wording suggests a warning, a retry or a recovery"),
        ({}, ""),
    ],
)
def test_a_notice_says_why_it_ended_nothing(knowledge: Database, after: dict[str, int], why: str) -> None:
    found = decided(knowledge, question(seen("code.shape", 9, **after)), model(-3.0, **SURE))
    assert [n.why for n in found.notices] == [why]


def test_hints_that_follow_each_other_are_one_notice(knowledge: Database) -> None:
    frames = [seen("code.exception", n, "hint") for n in (9, 10, 12, 40)]
    found = decided(knowledge, question(*frames, seen("code.shape", 11)), model(-3.0, **SURE))
    assert sorted(n.line for n in found.notices) == [9, 11, 40]
    strong = [seen("code.exception", n) for n in (9, 10)]
    assert len(decided(knowledge, question(*strong), model(-3.0, **SURE)).notices) == 2


def test_where_no_end_is_shown_the_last_line_is_told_and_no_harmless_one_above(knowledge: Database) -> None:
    harmless = seen(HEALTHY, 7, "hint")
    found = decided(knowledge, question(harmless, lanes=(lane("kernel"),), machine=True), model(-3.0, **SURE))
    assert (found.outcome.state, found.outcome.lines) == ("going_on", (("train.log", 100, "the last line"),))
    ended = decided(knowledge, question(seen(HEALTHY, 7)), model(-3.0, **SURE))
    assert (ended.outcome.state, ended.outcome.lines[0][1]) == ("ended_well", 7)


def test_somebody_elses_death_is_a_notice_and_never_a_cause(knowledge: Database) -> None:
    asked = question(seen(KILL, 5, "proof", "others", source="dmesg.txt"), seen("code.shape", 99))
    found = decided(knowledge, asked)
    assert [c.cause for c in found.candidates] == ["code.shape", HEALTHY]
    assert [(n.source, n.line, n.owner) for n in found.notices] == [("dmesg.txt", 5, "others")]
    assert "not this job's" in found.notices[0].why


def test_evidence_linked_by_time_alone_never_reaches_a_high_probability(knowledge: Database) -> None:
    found = decided(knowledge, question(seen(KILL, 5, "proof", "unknown", source="dmesg.txt", before=1.0)))
    assert (found.candidates[0].cause, found.candidates[0].probability) == (KILL, UNKNOWN_OWNER_MAX_PROBABILITY)
    assert UNKNOWN_OWNER_MAX_PROBABILITY < 0.9


def test_evidence_linked_by_time_alone_does_not_outrank_the_subjects_own_exception(knowledge: Database) -> None:
    """With the weights that were learned."""
    asked = question(seen(KILL, 5, "proof", "unknown", source="dmesg.txt", before=1.0), seen("code.shape", 99))
    assert decided(knowledge, asked, active_model()[0]).candidates[0].cause == "code.shape"


@pytest.mark.parametrize(
    ("cause", "state"),
    [("stopped.user", "stopped"), ("numerics.nan", "spoiled"), ("process.stalled", "stalled"), ("code.shape", "failed")],
)
def test_the_state_follows_from_the_causes_traits(knowledge: Database, cause: str, state: str) -> None:
    assert decided(knowledge, question(seen(cause, 90, progress=9))).outcome.state == state


def test_a_spoiled_run_that_did_not_continue_has_failed(knowledge: Database) -> None:
    assert decided(knowledge, question(seen("numerics.nan", 99))).outcome.state == "failed"


@pytest.mark.parametrize(
    ("asked", "state"),
    [
        pytest.param(question(seen(HEALTHY, 99)), "ended_well", id="a signature tells"),
        pytest.param(question(lanes=(lane(good=1),)), "ended_well", id="its last lines tell"),
        pytest.param(question(lanes=(lane(),)), "cut_off", id="in the midst of its work"),
        pytest.param(question(lanes=(lane("service"),)), "going_on", id="a service"),
        pytest.param(question(lanes=(lane("kernel"),), machine=True), "going_on", id="a machine"),
        pytest.param(DecisionInput((), (), False, False), "unknown", id="nothing"),
    ],
)
def test_a_good_or_unknown_end_has_its_state(knowledge: Database, asked: DecisionInput, state: str) -> None:
    found = decided(knowledge, asked, model(-4.0))
    assert (found.verdict, found.outcome.state) == ("no_crash", state)
    assert found.outcome.why


def test_the_ledger_adds_up_to_what_was_decided(knowledge: Database) -> None:
    found = decided(knowledge, question(seen("code.shape", 99), seen("storage.full", 50, "hint")))
    ledger = {a.feature: a.log_odds for a in found.candidates[0].ledger}
    assert ledger.pop("strong") == 3.0
    assert set(ledger) == {AGAINST_ALL, BAD_END}
    assert exp(3.0 + sum(ledger.values())) == pytest.approx(found.candidates[0].probability, abs=1e-3)
    assert (found.candidates[0].ledger[0].source, found.candidates[0].ledger[0].line) == ("train.log", 99)


@given(st.floats(-20, 20), st.lists(st.sampled_from(["code.shape", "storage.full", "data.missing", KILL]), max_size=5))
def test_probabilities_add_up_to_at_most_1(knowledge: Database, bad: float, causes: list[str]) -> None:
    found = decided(knowledge, question(*(seen(c, 10 + i) for i, c in enumerate(causes))), model(bad, **SURE))
    told = [c.probability for c in found.candidates]
    assert 0 < len(told) <= MAX_CAUSES
    assert all(0 <= p <= 1 for p in told)
    assert sum(told) <= 1.001
    causes_told = [c for c in found.candidates if c.cause != HEALTHY]
    assert causes_told == sorted(causes_told, key=lambda c: -c.probability)
    assert (found.candidates[0].cause == HEALTHY) == (found.verdict == "no_crash")


QUIET = replace(lane().digest, progress=-1)  # no line of progress in it


@pytest.mark.parametrize(
    ("kind", "digest", "state"),
    [("notebook", None, "ended_well"), ("notebook", QUIET, "ended_well"), ("job", None, "cut_off"), ("job", QUIET, "unknown")],
)
def test_an_end_that_nothing_tells_is_named_by_what_stands_in_front_of_it(
    knowledge: Database, kind: LaneKind, digest: LaneDigest | None, state: str
) -> None:
    """A notebook that says nothing has nothing to say; a job is cut off where it showed progress."""
    made = lane(kind)
    found = decided(knowledge, question(lanes=(replace(made, digest=digest or made.digest),)), model(-6.0))
    assert found.outcome.state == state


def test_a_line_that_tells_the_cause_shows_the_end_and_not_the_status_alone(knowledge: Database) -> None:
    status = RecordedStatus(7, "job.log", 200, "the command ended with exit status 7")
    shown = with_status(question(seen("code.shape", 99)), status)
    assert [line for _, line, _ in decided(knowledge, shown).outcome.lines] == [99]


def test_a_good_end_is_shown_by_the_line_that_tells_it_and_another_by_its_last(knowledge: Database) -> None:
    told = replace(lane(good=3), good_lines=(Line(97, "saved the model"),), last_lines=(Line(99, "bye"), Line(100, "")))
    assert decided(knowledge, question(lanes=(told,)), model(-6.0)).outcome.lines == (("train.log", 97, "saved the model"),)
    cut = replace(told, digest=lane().digest)
    assert decided(knowledge, question(lanes=(cut,)), model(-6.0)).outcome.lines == (("train.log", 100, ""),)


def test_a_death_that_nothing_ties_to_the_subject_is_told_beside_it(knowledge: Database, tmp_path: Path) -> None:
    """A crash of another program in the host's log is no cause of the job's exception, and is not passed over either."""
    from forensics import pipeline

    trace = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 8, in main\nValueError: the flurb is empty\n'
    (tmp_path / "slurm-4711.out").write_text("epoch 1 loss 0.9\nepoch 2 loss 0.8\n" + trace)
    crash = "blender[771]: segfault at 0 ip 00007f00 sp 00007f10 error 4 in libx.so[1000+2000]"
    (tmp_path / "kern.log").write_text(f"May  1 10:00:01 node-7 kernel: [11686.888109] {crash}\n")
    report = pipeline.analyze_paths([tmp_path], "job", knowledge)
    assert report.causes[0].id == "code.exception"
    (notice,) = [n for n in report.notices if "blender" in n.text]
    assert (notice.owner, notice.why) == ("unknown", "")


def test_notices_stand_in_the_order_of_their_weight(knowledge: Database) -> None:
    told = [seen(KILL, n, weight, owner="others") for n, weight in ((5, "hint"), (9, "proof"), (20, "strong"))]  # type: ignore[arg-type]
    found = decide(question(*told), knowledge, model(-6.0), Precedence(()))
    assert [n.line for n in found.notices] == [9, 20, 5]
