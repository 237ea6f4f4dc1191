"""Root against consequence: the formula on small made incidents."""

from datetime import UTC, datetime, timedelta

import pytest
from forensics.diagnose import diagnose
from forensics.diagnose.score import standings, strength
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.model import Incident, Observation, Proof

START = datetime(2025, 1, 1, tzinfo=UTC)


def event(
    cause: str, line: int, weight: str = "strong", source: str = "log", second: float | None = None, **fields: object
) -> Observation:
    return Observation(
        kind=f"{cause}/made{line}",
        cause=cause,
        weight=weight,  # type: ignore[arg-type]
        source=source,
        line=line,
        last_line=line,
        proofs=(Proof(source, line, f"text {line}", "made", weight),),  # type: ignore[arg-type]
        fields=fields,  # type: ignore[arg-type]
        time=None if second is None else START + timedelta(seconds=second),
        uncertainty_s=None if second is None else 0.1,
    )


def order(knowledge: Database, *events: Observation) -> list[tuple[str, str]]:
    return [(f.id, f.role) for f in diagnose(Incident(events), knowledge).findings]


def test_a_kill_explains_the_kernel_that_died_whatever_the_order(knowledge: Database) -> None:
    kill = event("host_memory.oom_cgroup", 9, "proof", "dmesg", 10.0)
    died = event("notebook.kernel_died", 3, "strong", "jupyter", 10.7)
    for events in ((kill, died), (died, kill)):
        assert order(knowledge, *events) == [("host_memory.oom_cgroup", "root"), ("notebook.kernel_died", "symptom")]


def test_the_real_error_beats_the_victims_that_were_printed_first(knowledge: Database) -> None:
    lost = [event("distributed.peer_lost", i) for i in range(1, 8)]
    said = order(knowledge, *lost, event("code.shape", 50))
    assert said[0] == ("code.shape", "root")
    assert said[1] == ("distributed.peer_lost", "symptom")


def test_an_uncaught_exception_beats_the_peers_it_took_along(knowledge: Database) -> None:
    said = order(knowledge, event("distributed.peer_lost", 1), event("code.exception", 9))
    assert said[0] == ("code.exception", "root")


def test_of_two_that_explain_each_other_the_surer_one_does(knowledge: Database) -> None:
    said = order(knowledge, event("code.exception", 1, "hint"), event("process.worker_died", 9, "strong"))
    assert said[0] == ("process.worker_died", "root")


def test_of_two_files_without_times_that_explain_each_other_one_stays_the_root(knowledge: Database) -> None:
    notebook = event("code.exception", 2, source="notebook")
    nanny = [event("process.worker_died", 1, source="nanny"), event("process.worker_died", 2, "hint", "nanny")]
    for events in ((notebook, *nanny), (*nanny, notebook)):
        by = {s.cause: s.explained_by for s in standings(Incident(events), knowledge)}
        assert by["process.worker_died"] is None
        assert by["code.exception"] == "process.worker_died"


def test_what_only_hints_say_gives_way(knowledge: Database) -> None:
    said = standings(Incident((event("stopped.user", 1, "hint"), event("storage.full", 2, "strong"))), knowledge)
    assert said[0].cause == "storage.full"
    assert said[0].probability > 0.8


def test_a_signature_counts_once_however_often_it_hit() -> None:
    once = event("code.shape", 1)
    assert strength([once] * 50) == strength([once])
    assert strength([once, event("code.shape", 2)]) > strength([once])


def test_a_run_that_went_on_to_its_end_did_not_crash(knowledge: Database) -> None:
    error, end = event("data.corrupt", 5), event(HEALTHY, 90, "strong")
    assert diagnose(Incident((error, end)), knowledge).verdict == "no_crash"
    assert diagnose(Incident((end, event("data.corrupt", 95))), knowledge).findings[0].id == "data.corrupt"
    assert diagnose(Incident((event("data.corrupt", 5, source="other"), end)), knowledge).findings[0].id == "data.corrupt"


def test_a_server_that_started_says_nothing_of_what_came_behind(knowledge: Database) -> None:
    started = replace(event(HEALTHY, 5), kind="none.healthy/server_started")
    hinted = event("code.exception", 9, "hint")
    assert standings(Incident((started, hinted)), knowledge)[0].cause == "code.exception"
    assert standings(Incident((replace(hinted, line=3, last_line=3), started)), knowledge)[0].cause == HEALTHY


def test_nothing_found_is_no_crash_and_never_certain(knowledge: Database) -> None:
    decision = diagnose(None, knowledge)
    assert decision.verdict == "no_crash"
    assert [f.id for f in decision.findings] == [HEALTHY]
    assert decision.findings[0].probability < 0.99


def test_hints_alone_are_undetermined_and_say_what_would_settle_it(knowledge: Database) -> None:
    decision = diagnose(Incident((event("process.worker_died", 1, "hint"),)), knowledge)
    assert decision.verdict == "undetermined"
    assert decision.findings[0].id == "process.worker_died"
    assert decision.missing


@pytest.mark.parametrize("weight", ["proof", "strong", "hint"])
def test_probabilities_are_shares(knowledge: Database, weight: str) -> None:
    said = standings(Incident((event("code.shape", 1, weight), event("storage.full", 2, weight))), knowledge)
    assert 0.8 < sum(s.probability for s in said) <= 1.0001
    assert said[0].cause == "code.shape"


@pytest.mark.parametrize(("script", "role"), [("evaluate.py", "symptom"), ("train.py", "contributing")])
def test_what_a_program_that_failed_was_to_make_is_missed_by_the_next(knowledge: Database, script: str, role: str) -> None:
    failed, missed = event("code.import", 5, file="/run/train.py"), event("data.missing", 20, file=f"/run/{script}")
    assert order(knowledge, failed, missed) == [("code.import", "root"), ("data.missing", role)]


def test_a_crash_that_a_log_misses_in_front_of_a_signal_did_not_come_of_it(knowledge: Database) -> None:
    crash, missed = event("process.segfault", 1, "proof", "dmesg", pid=4711), event("process.worker_died", 5, pid=4711)
    assert order(knowledge, crash, missed, event("stopped.user", 9))[0] == ("process.segfault", "root")
