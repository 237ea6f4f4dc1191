"""A Diagnosis to what a report says of each cause: role, evidence, remedies, open questions."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from forensics.advice import findings, open_questions
from forensics.advice.findings import NO_END_SHOWN, STILL_RUNS, UNLINKED, UNPROVEN, _with_reasons
from forensics.advice.whereabouts import location_text
from forensics.database import HEALTHY, Database
from forensics.decision.decide import DecisionInput, decide
from forensics.decision.structure import Precedence
from forensics.model import Proof, Report, Value
from forensics.model.answers import REASON_LINE
from forensics.model.verdicts import Diagnosis, OwnedObservation
from tests.decision.made import lane, model, question, seen

KILL, DIED = "host_memory.oom_cgroup", "notebook.kernel_died"


def decided(knowledge: Database, asked: DecisionInput, bad: float = 6.0) -> Diagnosis:
    return decide(asked, knowledge, model(bad, proof=4.0, strong=3.0, explained=-2.0, unlisted=-2.0), Precedence(()))


def test_the_first_is_the_root_and_what_it_explains_a_symptom(knowledge: Database) -> None:
    asked = question(seen(KILL, 50, "proof"), seen(DIED, 60), seen("storage.full", 70, "hint"))
    found = findings(decided(knowledge, asked), knowledge)
    assert [(f.id, f.role) for f in found][:2] == [(KILL, "root"), (DIED, "symptom")]
    assert {f.id: f.role for f in found}["storage.full"] == "contributing"


def test_only_the_first_cause_has_remedies_and_every_one_its_evidence(knowledge: Database) -> None:
    found = findings(decided(knowledge, question(seen(KILL, 50, "proof"), seen(DIED, 60))), knowledge)
    assert [a.rank for a in found[0].remediations] == list(range(1, len(found[0].remediations) + 1))
    assert found[0].remediations
    assert found[1].remediations == ()
    assert [[p.line for p in f.evidence] for f in found[:2]] == [[50], [60]]


def test_a_log_that_ended_well_gets_no_advice_and_no_questions(knowledge: Database) -> None:
    diagnosis = decided(knowledge, question(), -4.0)
    diagnosis = replace(diagnosis, outcome=replace(diagnosis.outcome, state="ended_well"))
    found = findings(diagnosis, knowledge)
    assert [(f.id, f.remediations) for f in found] == [(HEALTHY, ())]
    assert open_questions(diagnosis, found, knowledge) == ()


def test_of_a_log_that_shows_no_end_it_is_asked_how_it_ended(knowledge: Database) -> None:
    whole = decided(knowledge, question(), -4.0)
    assert whole.verdict == "no_crash"
    for state, asked in (("cut_off", NO_END_SHOWN), ("unknown", NO_END_SHOWN), ("going_on", STILL_RUNS)):
        broken = replace(whole, outcome=replace(whole.outcome, state=state))
        questions = open_questions(broken, findings(broken, knowledge), knowledge)
        assert [q.what for q in questions] == [q.what for q in asked]
    no_log = replace(whole, outcome=replace(whole.outcome, state="unknown", lines=()))
    assert open_questions(no_log, findings(no_log, knowledge), knowledge) == ()


def test_where_nothing_is_proven_the_ending_is_shown_and_what_to_collect_is_asked(knowledge: Database) -> None:
    made = model(6.0, {"flurb": {"code.shape": 9.0, "storage.full": 0.0}}, text=3.0)
    diagnosis = decide(question(lanes=(lane(trouble=("error: flurb",)),)), knowledge, made, Precedence(()))
    found = findings(diagnosis, knowledge)
    assert diagnosis.verdict == "undetermined"
    assert [(p.line, p.text) for p in found[0].evidence] == [(90, "error: flurb")]
    assert found[1].evidence == ()
    asked = open_questions(diagnosis, found, knowledge)
    assert [q.what for q in asked[: len(UNPROVEN)]] == [q.what for q in UNPROVEN]


def test_of_a_death_that_only_time_ties_it_is_asked_whose_it_was(knowledge: Database) -> None:
    unknown = seen(KILL, 5, "proof", "unknown", source="dmesg.txt", before=1.0)
    diagnosis = decided(knowledge, question(unknown))
    asked = open_questions(diagnosis, findings(diagnosis, knowledge), knowledge)
    assert asked[0].what == UNLINKED[0].what
    own = decided(knowledge, question(seen(KILL, 5, "proof")))
    assert UNLINKED[0].what not in [q.what for q in open_questions(own, findings(own, knowledge), knowledge)]


@pytest.mark.parametrize(("whose", "lines"), [("mine", [5, 6]), ("unknown", [5])])
def test_the_subjects_own_lines_are_told_where_there_are_some(knowledge: Database, whose: str, lines: list[int]) -> None:
    second: OwnedObservation = replace(seen(KILL, 6, "proof"), owner=whose)
    found = findings(decided(knowledge, question(seen(KILL, 5, "proof"), second)), knowledge)
    assert [p.line for p in found[0].evidence] == lines


def test_what_failed_is_told_before_what_only_warned(knowledge: Database) -> None:
    said = "/opt/py/hub/download.py:752: UserWarning: Not enough free space"
    warned = seen("storage.full", 5, "proof")
    proof = replace(warned.observation.proofs[0], text=said)
    warned = replace(warned, observation=replace(warned.observation, proofs=(proof,)))
    found = findings(decided(knowledge, question(warned, seen("storage.full", 9))), knowledge)
    assert [p.line for p in found[0].evidence] == [9, 5]


@pytest.mark.parametrize(("traceback_line", "where"), [(60, "train.py:7"), (90, "")])
def test_the_place_is_that_of_the_traceback_next_to_the_message(knowledge: Database, traceback_line: int, where: str) -> None:
    """TensorFlow prints `indices[2] = 1000 is not in [0, 1000)` some lines below the traceback that it belongs to."""
    raised = seen("code.exception", traceback_line, "hint")
    raised = replace(raised, observation=replace(raised.observation, fields={"file": "train.py", "line_no": 7}))
    found = findings(decided(knowledge, question(seen("code.index", 50, "proof"), raised)), knowledge)
    assert (found[0].id, found[0].where) == ("code.index", where)


def with_fields(observation: OwnedObservation, **fields: Value) -> OwnedObservation:
    return replace(observation, observation=replace(observation.observation, fields=fields))


@pytest.mark.parametrize(("outer_line", "where"), [(90, "train.py:7"), (40, "urllib3/pool.py:3, in a library")])
def test_of_a_chain_of_exceptions_the_place_is_the_programs_own(knowledge: Database, outer_line: int, where: str) -> None:
    """The first exception is raised and caught inside a library; the later ones of its chain have the program's frames."""
    inner = with_fields(seen("data.download", 50, "proof"), file="/e/site-packages/urllib3/pool.py", line_no=3)
    outer = with_fields(seen("code.exception", outer_line, "hint"), file="train.py", line_no=7)
    found = findings(decided(knowledge, question(inner, outer)), knowledge)
    assert (found[0].id, found[0].where) == ("data.download", where)


def test_a_long_traceback_belongs_to_the_message_that_it_names(knowledge: Database) -> None:
    """IPython prints the code around each frame: a hundred lines may stand between a traceback's heading and its message."""
    message = seen("gpu_memory.capacity", 95, "proof")
    told = replace(message.observation.proofs[0], text="OutOfMemoryError: CUDA out of memory.")
    message = replace(message, observation=replace(message.observation, proofs=(told,)))
    heading = with_fields(seen("code.exception", 50, "hint"), exc_type="OutOfMemoryError", file="Cell In[35]", line_no=17)
    other = with_fields(seen("code.exception", 20, "hint"), exc_type="ValueError", file="Cell In[3]", line_no=1)
    found = findings(decided(knowledge, question(message, heading, other)), knowledge)
    assert (found[0].id, found[0].where) == ("gpu_memory.capacity", "cell 35, line 17")


def test_an_exception_that_only_announces_what_failed_is_told_behind_the_message_of_it(knowledge: Database) -> None:
    """`mockbuild.exception.Error: Command failed:`, and the linker's error stands in the output of the command."""
    linker = with_fields(seen("code.exception", 50), symbol="TIFFErrorExtR")
    for said, first in (("Command failed:", 50), ("Command failed, see build.log", 90)):
        raised = with_fields(seen("code.exception", 90), exc_type="Error", exc_message=said, file="build.py", line_no=3)
        found = findings(decided(knowledge, question(linker, raised)), knowledge)
        assert (found[0].id, found[0].evidence[0].line) == ("code.exception", first)


def test_a_java_chain_is_told_by_what_caused_the_others(knowledge: Database) -> None:
    thrown = with_fields(seen("code.config", 50), exc_type="org.example.BeanError", exc_message="Error creating bean")
    reasons = [
        Proof("app.log", n, text, REASON_LINE, "hint")
        for n, text in (
            (80, "Caused by: java.sql.SQLException: Access denied for user 'root'"),
            (60, "Caused by: a.B: no session"),
        )
    ]
    found = findings(decided(knowledge, question(thrown)), knowledge, reasons=reasons)
    assert found[0].facts["exc_message"] == "Access denied for user 'root'"
    assert found[0].facts["exc_type"] == "java.sql.SQLException"


@pytest.mark.parametrize(
    "error", ["x and y must have same first dimension, but have shapes (3,) and (5,)", "Found array with dim 3"]
)
def test_the_message_is_marked_and_not_the_code_that_raises_it(analyze: Callable[..., Report], error: str) -> None:
    frames = '  File "main.py", line 6, in <module>\n    plot(a)\n  File "/opt/py/site-packages/p/q.py", line 9, in plot\n'
    log = f'step 1\nTraceback (most recent call last):\n{frames}    raise ValueError(f"{error[:40]}"\nValueError: {error}\n'
    assert analyze(train_log=log).causes[0].evidence[0].text == f"ValueError: {error}"


def test_a_warning_is_no_reason_before_the_evidence() -> None:
    """A cancel is a hint alone; what a library warned of long before it does not stand in front of it."""
    told = Proof("job.err", 13, "slurmstepd: error: *** STEP 7.8 ON n1 CANCELLED AT 2026-07-16T17:59:04 ***", "step", "hint")
    text = "[W716 17:55:31.912032432 socket.cpp:764] [c10d] The client socket cannot be initialized"
    mild = Proof("job.err", 7, text, REASON_LINE, "hint")
    grave = Proof("job.err", 9, "RuntimeError: the shards do not fit", REASON_LINE, "hint")
    assert _with_reasons((told,), (mild,)) == (told, mild)
    assert _with_reasons((told,), (grave, mild)) == (grave, mild, told)
    assert _with_reasons((told, mild), (mild,)) == (mild, told)


def test_a_cell_is_named_once() -> None:
    facts = {"pid": 3002, "python_file": "Cell In[2]", "python_line": 2, "cell": 2}
    assert location_text(facts) == "pid 3002, cell 2, line 2"


def test_of_a_kernel_fault_the_line_is_told_with_which_it_began(knowledge: Database) -> None:
    """The panic behind a stall names its reason, and the stall nothing; another cause is told by what knows most."""
    for cause, first in (("host_os.lockup", 50), ("storage.io_error", 60)):
        known = seen(cause, 60)
        later = replace(known, observation=replace(known.observation, fields={"reason": "RCU Stall"}))
        found = findings(decided(knowledge, question(seen(cause, 50), later)), knowledge)
        assert found[0].evidence[0].line == first


def test_the_step_of_a_scheduler_is_none_of_the_training(analyze: Callable[..., Report]) -> None:
    log = "Epoch [0/90][ 300/1252]  loss 6.2190 (6.5733)\nEpoch [0/90][ 400/1252]  loss 6.0120 (6.4561)\n" + (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=88123.0. Some of the step tasks have been OOM Killed.\n"
    )
    assert analyze(slurm_out=log).causes[0].where.endswith("epoch 0, step 400")


def test_a_size_of_kubernetes_is_told_in_units_for_people(analyze: Callable[..., Report]) -> None:
    log = (
        "4m3s   Warning   Evicted   pod/prep-1   The node was low on resource: ephemeral-storage. Threshold quantity: 10120387530, "
        "available: 4871928Ki. Container prep was using 91823412Ki, request is 0, has larger consumption of ephemeral-storage.\n"
    )
    first = analyze(events_txt=log).causes[0]
    assert "used 87.6 GiB of it" in first.summary
    assert first.remediations[0].who == "user"
