"""Rules of the structure: the last word, what was survived, a stage that failed, a last attempt that reached its end."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forensics import pipeline
from forensics.advice.evidence import told_first
from forensics.database import HEALTHY, Database
from forensics.decision.decide import decide
from forensics.decision.events import events_of
from forensics.decision.first_failure import FAILED_FIRST, failed_process_first
from forensics.decision.structure import (
    AT_WORK,
    DIES_AGAIN,
    FAILED_ALREADY,
    FAILED_STAGE,
    LAST_ERROR,
    LOST_TO_END,
    MAX_BAD_IF_FINISHED,
    MIN_BAD_OF_LAST_ERROR,
    MIN_BAD_OF_LOST_NUMBERS,
    REACHED_END,
    SERVICE_DIES_AGAIN,
    SURVIVED,
    WARNED,
    Precedence,
)
from forensics.model import Line, Report
from forensics.model.verdicts import Attempt, Candidate, Diagnosis, Entity, OwnedObservation
from forensics.outcome.tiers import ENDING_STRONG
from forensics.pipeline import analyze_paths
from tests.conftest import text_source
from tests.decision.made import lane, model, question, seen

OOM, DIED, STOPPED, INDEX, CONFIG, MISSING = (
    *("gpu_memory.capacity", "process.worker_died", "stopped.user", "code.index"),
    *("code.config", "data.missing"),
)
LOCKUP, DISK, LOST = "host_os.lockup", "storage.io_error", "distributed.network"
SURE = {"proof": 4.0, "strong": 3.0, "hint": 0.5, "unlisted": -2.0}
OWN = lane()


def in_lane(o: OwnedObservation, **fields: Any) -> OwnedObservation:
    return replace(o, lane=OWN, observation=replace(o.observation, fields=fields))


def decided(knowledge: Database, *owned: OwnedObservation, **weights: float) -> Diagnosis:
    return decide(question(*owned, lanes=(OWN,)), knowledge, model(6.0, **{**SURE, **weights}), Precedence(()))


@pytest.mark.parametrize("after", [{"later_attempts": 1}, {"positions": 2}])
@pytest.mark.parametrize("last", [DIED, STOPPED])
def test_the_last_word_is_ranked_before_what_the_program_survived(after: dict[str, int], last: str, knowledge: Database) -> None:
    found = decided(knowledge, in_lane(seen(OOM, 10, "proof", **after)), in_lane(seen(last, 99)))
    first = found.candidates[0]
    assert (first.cause, found.verdict) == (last, "crash")
    assert (SURVIVED, 99) in {(a.feature, a.line) for a in first.ledger}


def test_a_word_of_a_signal_that_ends_nothing_by_itself_is_proof_as_the_last_word(knowledge: Database) -> None:
    found = decided(knowledge, in_lane(seen(INDEX, 10, "proof", positions=3)), in_lane(seen(STOPPED, 99, ends="nothing")))
    assert (found.candidates[0].cause, found.verdict) == (STOPPED, "crash")


def bare(line: int, **after: int) -> OwnedObservation:
    return seen(STOPPED, line, "hint", **{"lines_after": 0, **after})


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (seen(OOM, 10, "proof"), seen(DIED, 99)),
        (seen(OOM, 10, "proof", positions=1), seen(DIED, 99)),
        (seen(OOM, 10, "proof", later_attempts=1), seen(DIED, 60, progress=9)),
        (seen(OOM, 10, "proof", later_attempts=1), seen(DIED, 60)),
        (seen("numerics.nan", 10, "proof", positions=9), seen(DIED, 99)),
        (seen("gpu_hardware.ecc", 10, "proof", later_attempts=1), seen(DIED, 99)),
    ],
    ids=["not survived", "one late step", "work behind the word", "far from the end", "a worthless result", "the machine"],
)
def test_without_that_structure_the_model_ranks(error: OwnedObservation, word: OwnedObservation, knowledge: Database) -> None:
    found = decided(knowledge, in_lane(error), in_lane(word))
    assert found.candidates[0].cause == error.observation.cause


def test_a_death_with_which_a_launcher_begins_the_next_attempt_is_no_last_word(knowledge: Database) -> None:
    again = replace(OWN, attempts=(Attempt(1, 1, 98), Attempt(2, 99, 100)))
    error, word = (replace(o, lane=again) for o in (seen(OOM, 10, "proof", later_attempts=1), seen(DIED, 99)))
    found = decide(question(error, word, lanes=(again,)), knowledge, model(6.0, **SURE), Precedence(()))
    assert found.candidates[0].cause == OOM


def test_an_error_that_ended_the_last_attempt_keeps_the_last_word_behind_it(knowledge: Database) -> None:
    survived, ended = in_lane(seen(OOM, 10, "proof", later_attempts=1)), in_lane(seen(INDEX, 95, "proof"))
    found = decided(knowledge, survived, ended, in_lane(seen(DIED, 99)))
    assert found.candidates[0].cause != DIED


def test_a_stage_with_a_usage_error_explains_what_a_later_stage_lacks(knowledge: Database) -> None:
    usage = in_lane(seen(CONFIG, 50), program="sample.py", argument="--fast")
    found = decided(knowledge, usage, in_lane(seen(MISSING, 99, "proof")))
    assert found.candidates[0].cause == CONFIG
    assert FAILED_STAGE in {a.feature for a in found.candidates[0].ledger}
    uncompiled = in_lane(seen(CONFIG, 50), compiler="g++")
    assert decided(knowledge, uncompiled, in_lane(seen(MISSING, 99, "proof"))).candidates[0].cause == CONFIG
    behind = in_lane(seen(CONFIG, 99), program="sample.py", argument="--fast")
    for first in (in_lane(seen(CONFIG, 50), argument="--fast"), behind):
        assert decided(knowledge, first, in_lane(seen(MISSING, 60, "proof"))).candidates[0].cause == MISSING


def test_a_command_that_a_signal_ended_explains_what_its_script_cannot_start_behind_it(knowledge: Database) -> None:
    unstarted = in_lane(seen(CONFIG, 60, "proof"), unstarted="--amp")
    found = decided(knowledge, in_lane(seen(DIED, 50), signal_name="Killed"), unstarted)
    assert (found.candidates[0].cause, found.candidates[0].ledger[-2].feature) == (DIED, FAILED_STAGE)
    for first, last in (
        (in_lane(seen(DIED, 50)), unstarted),
        (in_lane(seen(DIED, 50, later_attempts=1), signal_name="Killed"), unstarted),
        (in_lane(seen(DIED, 50), signal_name="Killed"), in_lane(seen(CONFIG, 60, "proof"))),
    ):
        assert decided(knowledge, first, last).candidates[0].cause == CONFIG


def test_an_exception_that_quotes_another_tells_of_the_same_event(knowledge: Database) -> None:
    text = "the ledger of the mine is full"
    inner = in_lane(seen(INDEX, 50), exc_type="IndexError", exc_message=text)
    outer = in_lane(seen(INDEX, 60), exc_type="IndexError", exc_message=f"worker failed: {text}", file="run.py", line_no=3)
    other = in_lane(seen(INDEX, 60), exc_type="IndexError", exc_message="worker failed", file="run.py", line_no=3)
    for second, told in ((outer, 2), (other, 1)):
        first = decided(knowledge, inner, second).candidates[0]
        assert len(first.owned) == told
    assert [o.line for o in told_first(decided(knowledge, inner, outer).candidates[0], knowledge)] == [50, 60]


def test_a_failure_is_ranked_before_the_cancel_that_cleaned_up_behind_it(knowledge: Database) -> None:
    cancelled = in_lane(seen(STOPPED, 99, "proof"))
    first = decided(knowledge, in_lane(seen(OOM, 95)), cancelled).candidates[0]
    assert (first.cause, FAILED_ALREADY in {a.feature for a in first.ledger}) == (OOM, True)
    for other in (seen(OOM, 95, "hint"), seen(OOM, 95, progress=2), seen(OOM, 95, repeated=2), seen(OOM, 40)):
        assert decided(knowledge, in_lane(other), cancelled).candidates[0].cause == STOPPED


@pytest.mark.parametrize(
    ("count", "behind", "good", "bad"),
    [(3, 9, -1, MIN_BAD_OF_LAST_ERROR), (2, 9, -1, 0.0), (3, 60, -1, 0.0), (3, 9, 5, 0.0)],
    ids=["again and again", "twice", "long before the end", "something ended well"],
)
def test_processes_that_die_to_the_end_of_a_log_ended_it_badly(
    count: int, behind: int, good: int, bad: float, knowledge: Database
) -> None:
    own = lane(trouble=("ERROR a worker died",), good=good)
    own = replace(own, digest=replace(own.digest, progress=-1))
    died = seen(DIED, 20, lines_after=behind)
    died = replace(died, lane=own, observation=replace(died.observation, count=count, last_line=100 - behind))
    found = decide(question(died, lanes=(own,)), knowledge, model(-4.0, **SURE), Precedence(()))
    assert round(found.outcome.ended_badly, 1) == bad
    assert (found.outcome.ledger[-1].feature == DIES_AGAIN) == bool(bad)


@pytest.mark.parametrize(
    ("count", "alike", "good", "bad"),
    [(3, True, -1, MIN_BAD_OF_LAST_ERROR), (2, True, -1, 0.0), (3, False, -1, 0.0), (3, True, 5, 0.0)],
    ids=["again and again", "twice", "it came further", "something ended well"],
)
def test_what_starts_alike_again_and_again_and_fails_ended_badly(
    count: int, alike: bool, good: int, bad: float, knowledge: Database
) -> None:
    """The log of a container that is restarted ends, by chance, where it starts once more."""
    own = replace(lane(trouble=("PermissionError: x",), good=good), starts_alike=alike)
    own = replace(own, digest=replace(own.digest, progress=-1))
    failed = seen(CONFIG, 20, lines_after=60, later_attempts=1)
    failed = replace(failed, lane=own, observation=replace(failed.observation, count=count))
    found = decide(question(failed, lanes=(own,)), knowledge, model(-4.0, **SURE), Precedence(()))
    assert round(found.outcome.ended_badly, 1) == bad
    assert (found.outcome.ledger[-1].feature == DIES_AGAIN) == bool(bad)


def test_a_run_that_reached_its_end_shows_no_end_by_the_last_line_of_a_process_of_it(knowledge: Database) -> None:
    """Of two actors one had a line of trouble last, and the other counted to its end and said that it was over."""
    failed = replace(OWN, entity=Entity("process", "Worker 2"), last_error=Line(70, "an error"))
    failed = replace(failed, digest=replace(failed.digest, trouble=0, trouble_repeats=1))
    over = replace(OWN, entity=Entity("process", "Runner 1"), reached_end=Line(99, "3/3"), closing=Line(99, "3/3"))
    for closing, told in ((over.closing, False), (None, True)):
        lanes = (failed, replace(over, closing=closing))
        found = decide(question(lanes=lanes), knowledge, model(-3.0, **SURE), Precedence(()))
        assert (found.outcome.ended_badly == MIN_BAD_OF_LAST_ERROR) is told


@pytest.mark.parametrize(
    ("low", "progress", "line", "told"), [(True, 1, 50, True), (False, 1, 50, False), (True, 0, 50, False), (True, 1, 95, False)]
)
def test_a_warning_behind_which_a_program_worked_and_closed_ended_nothing(
    low: bool, progress: int, line: int, told: bool, knowledge: Database
) -> None:
    over = replace(OWN, closing=Line(90, "training complete"))
    warned = replace(seen(CONFIG, line, low_severity=low, progress=progress), lane=over)
    found = decide(question(warned, lanes=(over,)), knowledge, model(6.0, **SURE), Precedence(()))
    assert (found.outcome.ledger[-1].feature == WARNED) is told


def test_a_last_attempt_that_reached_its_end_ended_well(knowledge: Database) -> None:
    done = replace(OWN, reached_end=Line(98, "100%|##| 90/90"))
    for after in ({"later_attempts": 1}, {"positions": 5}):
        told = replace(seen(OOM, 10, "proof", **after), lane=done)
        found = decide(question(told, lanes=(done,)), knowledge, model(6.0, **SURE), Precedence(()))
        assert (found.verdict, found.candidates[0].cause, found.outcome.state) == ("no_crash", HEALTHY, "ended_well")
        assert found.outcome.ended_badly == MAX_BAD_IF_FINISHED
        assert found.outcome.lines == (("train.log", 98, "100%|##| 90/90"),)
        assert found.outcome.ledger[-1].feature == REACHED_END
    told = replace(seen(OOM, 10, "proof"), lane=done)
    found = decide(question(told, lanes=(done,)), knowledge, model(6.0, **SURE), Precedence(()))
    assert found.verdict == "crash", "nothing shows that the program survived it"


@pytest.mark.parametrize(("line", "verdict"), [(99, "no_crash"), (100, "crash")], ids=["printed on", "the last line"])
def test_trouble_of_one_process_behind_the_end_of_the_program_is_no_end(line: int, verdict: str, knowledge: Database) -> None:
    done, rank = replace(OWN, reached_end=Line(98, "100%|##| 90/90")), replace(OWN, entity=Entity("rank", "7"))
    told = replace(seen(LOST, line, "strong"), lane=rank)
    found = decide(question(told, lanes=(rank, done)), knowledge, model(6.0, **SURE), Precedence(()))
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("kind", "times", "behind", "told"),
    [("service", 3, 0, True), ("service", 2, 0, False), ("service", 3, 60, False), ("kernel", 3, 0, False)],
    ids=["again and again", "twice", "the service works on", "the kernel"],
)
def test_a_service_of_a_machine_that_dies_again_and_again_failed(
    kind: Any, times: int, behind: int, told: bool, knowledge: Database
) -> None:
    service = replace(OWN, entity=Entity("unit", "fit"), kind=kind)
    deaths = [replace(seen(DIED, 100 - behind - i, lines_after=behind + i), lane=service) for i in range(times)]
    found = decide(question(*deaths, lanes=(service,), machine=True), knowledge, model(-3.0, **SURE), Precedence(()))
    assert (found.outcome.ledger[-1].feature == SERVICE_DIES_AGAIN) is told
    assert (found.outcome.ended_badly == MIN_BAD_OF_LAST_ERROR) is told


@pytest.mark.parametrize(("weight", "later", "told"), [("strong", 0, True), ("hint", 0, False), ("strong", 1, False)])
@pytest.mark.parametrize("kind", ["series/nan", "series/divergence"])
def test_numbers_that_are_lost_to_the_end_outweigh_a_good_end(
    kind: str, weight: Any, later: int, told: bool, knowledge: Database
) -> None:
    lost = seen("numerics.nan", 90, weight, later_attempts=later, good=1)
    lost = replace(lost, observation=replace(lost.observation, kind=kind))
    found = decide(question(lost), knowledge, model(-3.0, **SURE), Precedence(()))
    assert (found.outcome.ledger[-1].feature == LOST_TO_END) is told
    assert (found.outcome.ended_badly == MIN_BAD_OF_LOST_NUMBERS) is told


@pytest.mark.parametrize(
    ("after", "verdict"), [({"later_attempts": 1}, "no_crash"), ({"positions": 30}, "no_crash"), ({"positions": 3}, "crash")]
)
def test_a_log_that_breaks_off_at_work_shows_no_crash_by_what_was_overcome(
    after: dict[str, int], verdict: str, knowledge: Database
) -> None:
    cut = replace(OWN, at_work=Line(98, "step 40/90"))
    told = replace(seen(OOM, 10, "proof", **after), lane=cut)
    found = decide(question(told, lanes=(cut,)), knowledge, model(6.0, **SURE), Precedence(()))
    assert found.verdict == verdict
    if verdict == "no_crash":
        assert (found.outcome.state, found.outcome.ledger[-1].feature) == ("cut_off", AT_WORK)


@pytest.mark.parametrize("fields", [{}, {"signal_name": "Killed"}])
@pytest.mark.parametrize(("at_work", "behind", "stopped"), [(90, 1, True), (0, 1, False), (90, 9, False)])
@pytest.mark.parametrize("cause", [STOPPED, DIED])
def test_a_signal_that_ends_a_log_that_was_counting_ended_it_badly(
    cause: str, at_work: int, behind: int, stopped: bool, fields: dict[str, str], knowledge: Database
) -> None:
    own = replace(OWN, at_work=Line(at_work, "update 63 of 90") if at_work else None)
    told = in_lane(seen(cause, 100 - behind, ends="nothing", handled=bool(fields)), **fields)
    found = decide(question(replace(told, lane=own), lanes=(own,)), knowledge, model(-3.0, **SURE), Precedence(()))
    assert (found.outcome.ended_badly == MIN_BAD_OF_LAST_ERROR) is stopped


@pytest.mark.parametrize(
    ("last", "repeats", "told"),
    [
        ("2026-02-01 10:12:11,221 CRITICAL trainer: the ledger of shards does not fit", 1, True),
        ("train: error: the corpus is sealed", 1, True),
        ("[rank 3] FATAL: the arena is used up", 1, True),
        ("2026-02-01 10:12:11,221 WARNING trainer: shard 7 failed", 1, False),
        ("2022/01/23 14:17:45 [ERROR] [Failed to proxy to http://node:4444/session: context canceled]", 1, False),
        ("monitor: error: the disk is nearly full", 9, False),
        ('(Worker pid=9)   warnings.warn(f"Error while the cache was made: {e}", stacklevel=1)', 1, False),
    ],
)
def test_a_job_whose_log_ends_with_an_error_of_no_known_kind_ended_badly(
    last: str, repeats: int, told: bool, knowledge: Database
) -> None:
    own = lane(trouble=(last,))
    own = replace(own, digest=replace(own.digest, trouble_repeats=repeats, progress=-1), last_error=own.trouble_lines[-1])
    found = decide(question(lanes=(own,)), knowledge, model(-3.0, **SURE), Precedence(()))
    assert (found.outcome.ended_badly == MIN_BAD_OF_LAST_ERROR) is told
    assert (found.verdict, found.outcome.ledger[-1].feature == LAST_ERROR) == ("undetermined" if told else "no_crash", told)


@pytest.mark.parametrize(("since", "told"), [(3, True), (115, False)], ids=["at work", "a server that counted while it started"])
def test_a_record_of_an_error_ends_a_program_that_counted_shortly_before_it(since: int, told: bool, knowledge: Database) -> None:
    own = lane(trouble=("2026-02-01 10:12:11,221 ERROR trainer: aborting",))
    own = replace(own, digest=replace(own.digest, trouble_repeats=1, progress=since), last_error=own.trouble_lines[-1])
    found = decide(question(lanes=(own,)), knowledge, model(-3.0, **SURE), Precedence(()))
    assert (found.outcome.ledger[-1].feature == LAST_ERROR) is told


@pytest.mark.parametrize(("attempts", "told"), [(6, True), (5, False)])
def test_each_attempt_may_end_with_the_error(attempts: int, told: bool, knowledge: Database) -> None:
    own = lane(trouble=("Error: the table is locked",))
    own = replace(own, digest=replace(own.digest, trouble_repeats=6), last_error=own.trouble_lines[-1])
    own = replace(own, attempts=tuple(Attempt(i, i * 10, i * 10 + 9) for i in range(1, attempts + 1)))
    found = decide(question(lanes=(own,)), knowledge, model(-3.0, **SURE), Precedence(()))
    assert (found.outcome.ended_badly == MIN_BAD_OF_LAST_ERROR) is told


@pytest.mark.parametrize(("status", "verdict"), [(41, "undetermined"), (0, "no_crash")])
def test_an_error_that_tells_its_exit_status_is_an_error_unless_it_is_zero(
    status: int, verdict: str, tmp_path: Path, knowledge: Database
) -> None:
    log = tmp_path / "train.log"
    rows = ("INFO quark: step 10 loss 2.1", "INFO quark: step 20 loss 2.0", f"CRITICAL quark: giving up, exit {status}")
    log.write_text("".join(f"2026-02-01 10:12:0{i} {row}\n" for i, row in enumerate(rows)))
    assert analyze_paths([log], "case", knowledge).verdict == verdict


TIMEOUT, NETWORK, RENDEZVOUS = "distributed.timeout", "distributed.network", "distributed.rendezvous"
EXCEPTION = "code.exception"
TAKEN = in_lane(seen(RENDEZVOUS, 10), listen_error="Address already in use")
TOLD_AS_WARNING = in_lane(seen(RENDEZVOUS, 10, low_severity=True), listen_error="Address already in use")


@pytest.mark.parametrize(
    ("error", "behind", "first"),
    [
        (in_lane(seen(MISSING, 10, "strong")), seen(TIMEOUT, 90), MISSING),
        (TAKEN, seen(NETWORK, 90), RENDEZVOUS),
        (TOLD_AS_WARNING, seen(NETWORK, 90), RENDEZVOUS),
        (in_lane(seen(MISSING, 10, "strong", low_severity=True)), seen(TIMEOUT, 90), TIMEOUT),
        (in_lane(seen(RENDEZVOUS, 10)), seen(NETWORK, 90), NETWORK),
        (in_lane(seen(MISSING, 10, "hint")), seen(TIMEOUT, 90), TIMEOUT),
        (in_lane(seen(MISSING, 95, "strong")), seen(TIMEOUT, 90), TIMEOUT),
        (in_lane(seen(MISSING, 10, "strong", later_attempts=1)), seen(TIMEOUT, 90), TIMEOUT),
        (in_lane(seen(MISSING, 10, "strong", positions=3)), seen(TIMEOUT, 90), TIMEOUT),
        (in_lane(seen(OOM, 10, "strong")), seen(INDEX, 90), INDEX),
    ],
    ids=[
        "own error",
        "port taken",
        "port taken, a warning",
        "a warning",
        "waits too",
        "hint",
        "behind",
        "earlier attempt",
        "survived",
        "no waiting",
    ],
)
def test_the_error_of_one_process_is_ranked_before_what_waited_for_it(
    error: OwnedObservation, behind: OwnedObservation, first: str, knowledge: Database
) -> None:
    ranked = [Candidate(str(error.observation.cause), (error,), {}, 0.1)]
    ranked.append(Candidate(str(behind.observation.cause), (in_lane(behind),), {}, 0.8))
    found = {c.cause: c for c in failed_process_first(ranked, (), knowledge)}
    assert found[first].probability == 0.8
    assert any(a.feature == FAILED_FIRST for a in found[first].ledger) is (first == error.observation.cause)


@pytest.mark.parametrize(("fields", "events"), [({"timeout_s": 28.0}, 1), ({}, 2)])
def test_ranks_that_gave_up_waiting_at_their_limits_are_of_one_event(
    fields: dict[str, float], events: int, knowledge: Database
) -> None:
    """One was sending and one receiving, as their messages say."""
    own = [in_lane(seen(TIMEOUT, 50 + n), rank=n, exc_message=f"timed out in {n}", **fields) for n in range(2)]
    assert len(events_of(own, {id(o): ENDING_STRONG for o in own}, knowledge)) == events


def test_a_taken_port_is_no_consequence_of_an_error_before_it(knowledge: Database) -> None:
    ranked = [Candidate(MISSING, (in_lane(seen(MISSING, 5)),), {}, 0.1), Candidate(RENDEZVOUS, (TAKEN,), {}, 0.8)]
    assert failed_process_first(ranked, (), knowledge) == ranked


def code_cell(count: int, source: str, *told: str, error: tuple[str, str] = ("", "")) -> dict[str, Any]:
    """A cell of a notebook that printed `told`, and, where it failed, the name and the message of its exception."""
    name, message = error
    rule = "-" * 75
    frames = f"Cell In[{count}], line 1\n----> 1 {source}\n"
    raised = [rule, f"{name}                                Traceback (most recent call last)", frames, f"{name}: {message}"]
    outputs: list[dict[str, Any]] = [{"output_type": "stream", "name": "stdout", "text": "".join(f"{t}\n" for t in told)}]
    if name:
        outputs += [{"output_type": "error", "ename": name, "evalue": message, "traceback": raised}]
    return {"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": outputs, "source": source}


def of_notebook(knowledge: Database, folder: Path, *cells: dict[str, Any]) -> Report:
    path = folder / "fit.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    return analyze_paths([path], "case", knowledge)


NAN_LOSS = code_cell(5, "fit(net)", *(f"round {n}\ntrain loss nan, held-out loss nan, rate 0.0{n}" for n in (1, 2, 3)))


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("message", "cause", "marked"),
    [
        ("autodetected range of [nan, nan] is not finite", "numerics.nan", "loss nan"),
        ("cannot convert float infinity to integer", "numerics.nan", ""),
        ("the axes 'nanmean' and 'info' do not fit", "code.exception", "ValueError"),
    ],
)
def test_lost_numbers_of_an_earlier_cell_explain_an_exception_about_them(
    knowledge: Database, tmp_path: Path, message: str, cause: str, marked: str
) -> None:
    report = of_notebook(
        knowledge, tmp_path, NAN_LOSS, code_cell(6, "look(net)"), code_cell(8, "draw(net)", error=("ValueError", message))
    )
    assert (report.verdict, report.causes[0].id) == ("crash", cause)
    assert marked in report.causes[0].evidence[0].text


STEPS = "".join(f"[rank0] step {i} loss {4 - i * 0.01:.3f}\n" for i in range(1, 40))
MORE = "".join(f"[rank0] step {i} loss {4 - i * 0.01:.3f}\n" for i in range(40, 80))
ERROR = 'Traceback (most recent call last):\n  File "/srv/fit/train.py", line 61, in main\n    batch = table[key]\nKeyError: 9\n'
TIME_IS_UP = "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-11-27T21:49:18 DUE TO TIME LIMIT ***\n"


@pytest.mark.parametrize(
    ("behind", "cause"),
    [
        ("", "code.exception"),
        ("srun: error: n1: task 3: Exited with exit code 1\n", "code.exception"),
        (MORE, "stopped.time_limit"),
    ],
    ids=["silence", "the launcher's word", "steps of another rank"],
)
def test_an_exception_behind_which_all_was_silent_is_why_the_time_ran_out(behind: str, cause: str, knowledge: Database) -> None:
    report = pipeline.analyze([text_source("job.log", STEPS + ERROR + behind + TIME_IS_UP)], "case", knowledge)
    assert report.causes[0].id == cause
