"""Owned observations to candidates with named features: what speaks for each, and what they have to do with each other."""

from math import log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.decision.candidates import FEATURE_NAMES, FEATURES, UNLISTED, candidates, with_words
from forensics.model import Weight
from forensics.model.verdicts import Candidate, Owner
from tests.decision.made import features_of, seen

FALLEN = "gpu_hardware.fallen_off_bus"
KILL, DIED = "host_memory.oom_cgroup", "notebook.kernel_died"  # the first explains the second


def offered(knowledge: Database, *owned: object, **text: float) -> list[str]:
    return [c.cause for c in candidates(owned, {k.replace("__", "."): v for k, v in text.items()}, knowledge, {})]  # type: ignore[arg-type]


def test_every_feature_says_what_it_is_and_which_sign_it_may_have() -> None:
    assert {group for group, _, _ in FEATURES.values()} >= {"evidence", "aftermath", "ownership", "order", "graph", "text"}
    assert all(sign in (-1, 0, 1) and len(told) > 10 for _, sign, told in FEATURES.values())
    assert tuple(FEATURES) == FEATURE_NAMES


def test_each_cause_with_an_observation_is_a_candidate_and_so_is_none_of_them(knowledge: Database) -> None:
    assert offered(knowledge, seen("code.shape"), seen("code.shape", 20), seen("storage.full")) == [
        "code.shape",
        "storage.full",
        "code.exception",
        UNLISTED,
    ]


def test_somebody_elses_observation_and_a_healthy_one_make_no_candidate(knowledge: Database) -> None:
    assert offered(knowledge, seen(KILL, owner="others"), seen(HEALTHY)) == ["code.exception", UNLISTED]
    assert offered(knowledge, seen(KILL, owner="unknown")) == [KILL, "code.exception", UNLISTED]


def test_words_name_candidates_only_where_no_line_is_evidence(knowledge: Database) -> None:
    words = {"code__shape": 0.6, "storage__full": 0.3}
    assert offered(knowledge, **words) == ["code.shape", "storage.full", "code.exception", UNLISTED]
    assert offered(knowledge, seen("data.missing"), **words) == ["data.missing", "code.exception", UNLISTED]
    found = candidates((), {"code.shape": 0.6, "storage.full": 0.3}, knowledge, {})
    assert features_of(found, "code.shape")["no evidence"] == 1
    assert features_of(found, "code.shape")["text"] == pytest.approx(log(0.6))
    assert features_of(found, "code.shape")["text first"] == 1
    assert features_of(found, "storage.full")["text first"] == 0
    assert {c.cause for c in found if c.features["exception by words"]} == {"code.exception"}


@pytest.mark.parametrize("weight", ["proof", "strong", "hint"])
def test_evidence_counts_by_its_weight(knowledge: Database, weight: Weight) -> None:
    found = features_of(
        candidates([seen("code.shape", 1, weight), seen("code.shape", 2, weight)], {}, knowledge, {}), "code.shape"
    )
    assert {n for n in ("proof", "strong", "hint") if found[n]} == {weight}


def test_what_ends_nothing_is_a_notice_whatever_its_weight(knowledge: Database) -> None:
    found = features_of(candidates([seen("code.shape", 1, "proof", ends="nothing")], {}, knowledge, {}), "code.shape")
    assert (found["proof"], found["notice proof"]) == (0, 1)


def test_a_measured_rate_is_used_or_else_the_prior(knowledge: Database) -> None:
    one = seen("code.shape", 1)
    measured = features_of(candidates([one], {}, knowledge, {one.observation.kind: (1.5, -2.0)}), "code.shape")
    assert measured["rate"] == -2.0
    assert features_of(candidates([one], {}, knowledge, {}), "code.shape")["rate"] > 0


def test_the_graph_tells_root_and_consequence_whatever_the_order(knowledge: Database) -> None:
    assert knowledge.explains(KILL, DIED)
    for first, second in ((9, 3), (3, 9), (5, 5)):
        found = candidates([seen(KILL, first, "proof"), seen(DIED, second)], {}, knowledge, {})
        by = {c.cause: c for c in found}
        assert (by[DIED].explained_by, by[KILL].explained_by) == (KILL, None)
        assert (by[DIED].features["explained"], by[KILL].features["explains"]) == (1, log1p(1))


def test_a_hint_explains_as_a_hint(knowledge: Database) -> None:
    found = features_of(candidates([seen(KILL, 1, "hint"), seen(DIED, 2)], {}, knowledge, {}), DIED)
    assert (found["explained"], found["explained by hint"]) == (0, 1)


def test_what_stands_behind_is_counted_from_the_last_observation(knowledge: Database) -> None:
    both = [seen("code.shape", 10), seen("code.shape", 90)]
    assert features_of(candidates(both, {}, knowledge, {}), "code.shape")["behind"] == pytest.approx(log1p(10))


@pytest.mark.parametrize(("owner", "longer"), [("mine", log1p(38)), ("unknown", 0.0)])
def test_only_the_subjects_own_rivals_count_for_outlived(knowledge: Database, owner: Owner, longer: float) -> None:
    both = [seen("code.shape", 10, repeated=40), seen("storage.full", 90, owner=owner, repeated=2)]
    assert features_of(candidates(both, {}, knowledge, {}), "code.shape")["outlived"] == pytest.approx(longer)


def test_evidence_linked_by_time_alone_beside_an_end_of_its_own_has_a_feature(knowledge: Database) -> None:
    kill = seen(KILL, 5, "proof", "unknown", source="dmesg.txt", before=9.0)
    alone = features_of(candidates([kill], {}, knowledge, {}), KILL)
    assert alone["unknown against own"] == 0
    beside = features_of(candidates([kill, seen("code.shape", 90)], {}, knowledge, {}), KILL)
    assert beside["unknown against own"] == 1


@pytest.mark.parametrize(("kind", "explained"), [("lock", 0), ("other_shape", 0), ("outside", 1), ("left", 1)])
def test_a_fault_that_only_time_ties_to_the_job_explains_no_doing_of_a_rank(
    kind: str, explained: int, knowledge: Database
) -> None:
    disk = seen("storage.io_error", 5, "proof", "unknown", source="kernel.log", before=9.0)
    hang = seen("distributed.timeout", 90)
    hang = replace(hang, observation=replace(hang.observation, fields={"culprit_kind": kind}))
    found = candidates([disk, hang], {}, knowledge, {})
    assert features_of(found, "distributed.timeout")["explained"] == explained
    assert features_of(found, "storage.io_error")["unknown against own"] == 1 - explained


CAUSES = st.sampled_from([KILL, DIED, "code.shape", "storage.full", "code.exception", "process.worker_died", HEALTHY])
SEEN = st.builds(
    seen,
    CAUSES,
    st.integers(1, 99),
    st.sampled_from(["proof", "strong", "hint"]),
    st.sampled_from(["mine", "others", "unknown"]),
    st.sampled_from(["process", "job", "machine", "nothing"]),
)


@pytest.mark.seconds
@given(st.lists(SEEN, max_size=8), st.randoms())
def test_any_observations_make_finite_features_in_any_order(knowledge: Database, owned: list[object], chance: object) -> None:
    found = candidates(owned, {"code.shape": 0.5}, knowledge, {})  # type: ignore[arg-type]
    assert found[-1].cause == UNLISTED
    assert all(tuple(c.features) == FEATURE_NAMES for c in found)
    assert all(x == x and abs(x) < 1e6 for c in found for x in c.features.values())
    chance.shuffle(owned)  # type: ignore[attr-defined]
    again = candidates(owned, {"code.shape": 0.5}, knowledge, {})  # type: ignore[arg-type]
    assert {c.cause: dict(c.features) for c in found} == {c.cause: pytest.approx(dict(c.features)) for c in again}


FEATURES_OF_ENDINGS = [
    # cause, its rival, then: fallback, exception
    (DIED, "", (0, 0)),
    (DIED, "code.shape", (1, 0)),
    ("code.exception", "", (0, 0)),
    ("code.exception", "storage.full", (1, 1)),
    ("code.shape", "storage.full", (0, 0)),
]


@pytest.mark.parametrize(("cause", "rival", "expected"), FEATURES_OF_ENDINGS)
def test_names_of_endings_and_exceptions_count_by_whether_there_is_a_rival(
    knowledge: Database, cause: str, rival: str, expected: tuple[int, ...]
) -> None:
    owned = [seen(cause, 20), *([seen(rival, 10)] if rival else [])]
    found = features_of(candidates(owned, {}, knowledge, {}), cause)
    assert tuple(found[n] for n in ("fallback", "exception")) == expected


def test_of_two_that_explain_the_one_with_strong_evidence_is_named(knowledge: Database) -> None:
    """By name the weaker one would come first."""
    owned = [seen(KILL, 1, "hint"), seen("host_memory.oom_global", 2, "proof"), seen(DIED, 3)]
    assert KILL < "host_memory.oom_global"
    by = {c.cause: c.explained_by for c in candidates(owned, {}, knowledge, {})}
    assert by[DIED] == "host_memory.oom_global"


@pytest.mark.parametrize(("owner", "explained"), [("mine", "gpu_hardware.fallen_off_bus"), ("unknown", None)])
def test_a_fault_of_the_machine_explains_an_error_of_the_program_only_where_it_is_its_own(
    knowledge: Database, owner: str, explained: str | None
) -> None:
    owned = [seen("gpu_hardware.fallen_off_bus", 1, "proof", owner, source="dmesg.txt"), seen("code.exception", 3)]  # type: ignore[arg-type]
    by = {c.cause: c.explained_by for c in candidates(owned, {}, knowledge, {})}
    assert by["code.exception"] == explained


@pytest.mark.parametrize(
    ("fault", "effect", "explains"),
    [
        ({"job": "4711"}, {"job": "4712"}, False),
        ({"job": "4711"}, {"job": "4711"}, True),
        ({"container_id": "f" * 64}, {"container_id": "e" * 64}, False),
        ({"pci": "0000:3b:00"}, {"pci": "0000:af:00"}, False),
        ({"pci": "0000:3b:00"}, {"job": "4711"}, True),
        ({}, {}, True),
    ],
)
@pytest.mark.parametrize(("effect_cause", "waits"), [("process.worker_died", False), ("distributed.timeout", True)])
def test_a_fault_of_another_job_container_or_device_explains_only_that_a_peer_was_waited_for(
    fault: dict[str, str], effect: dict[str, str], explains: bool, effect_cause: str, waits: bool, knowledge: Database
) -> None:
    owned = []
    for cause, line, fields in ((FALLEN, 10, fault), (effect_cause, 20, effect)):
        o = seen(cause, line)
        owned.append(replace(o, observation=replace(o.observation, fields=fields)))
    by = {c.cause: c.explained_by for c in candidates(owned, {}, knowledge, {})}
    assert by[effect_cause] == (FALLEN if explains or waits else None)


def test_a_cause_of_which_no_words_were_learned_has_those_of_the_likeliest() -> None:
    """A taught cause is in no weights; its words speak no less for it than those of its rivals."""
    words = {"storage.full": 0.6, "data.missing": 0.001}
    taught, full, missing = (Candidate(c, (), dict.fromkeys(FEATURE_NAMES, 0.0)) for c in ("acme.store", *words))
    found = {c.cause: c.features["text"] for c in with_words([taught, full, missing], True, words, words, ())}
    assert found["acme.store"] == found["storage.full"] > found["data.missing"]
