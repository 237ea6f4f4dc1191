"""What is known about an end, as numbers with names. All logs are made for these tests."""

from collections.abc import Iterator, Mapping
from math import log1p
from typing import Any

import pytest
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.model import Weight
from forensics.model.verdicts import Aftermath, Attempt, Lane, LaneKind, OwnedObservation, Owner
from forensics.outcome.ending_words import UNTRAINED_ENDING_MODEL
from forensics.outcome.features import ABSENT, OUTCOME_FEATURES, features, is_silent, is_terminal_by_nature
from forensics.outcome.own_lanes import OwnLanes
from forensics.outcome.tiers import ENDING_HINT, ENDING_PROOF, ENDING_STRONG, NOTICE, evidence_tier
from tests.decision.made import DIGEST, lane, seen
from tests.outcome.made import lanes_of, seen_at

STEPS = "".join(f"step {i} loss 0.{90 - i}\n" for i in range(1, 41))
CAUSE = "code.shape"


def owned(
    text: str, number: int, knowledge: Database, cause: str = CAUSE, weight: Weight = "strong", owner: Owner = "mine"
) -> tuple[OwnedObservation, Lane]:
    seen = seen_at(text, number, cause, weight)
    (lane,) = lanes_of(text, knowledge, [seen]).values()
    return OwnedObservation(seen, owner, "made", lane, lane.aftermath[number, seen.kind], 3.0), lane


def told(o: OwnedObservation, lane: Lane, knowledge: Database) -> Mapping[str, float]:
    return dict(zip(OUTCOME_FEATURES, features([o], [lane], False, False, knowledge, UNTRAINED_ENDING_MODEL), strict=True))


def test_feature_names_are_unique() -> None:
    assert len(set(OUTCOME_FEATURES)) == len(OUTCOME_FEATURES)


def test_features_without_observations_and_lanes_are_absent(knowledge: Database) -> None:
    found = dict(zip(OUTCOME_FEATURES, features([], [], False, False, knowledge, UNTRAINED_ENDING_MODEL), strict=True))
    assert found["strong.count"] == 0
    assert found["strong.behind"] == found["lane.trouble"] == ABSENT
    assert found["strong.handled"] == found["strong.mild"] == found["strong.repeats"] == 0


def test_an_error_at_the_end_and_one_with_work_after_it_have_different_features(knowledge: Database) -> None:
    last = told(*owned(STEPS + "RuntimeError: x\n", 41, knowledge), knowledge)
    survived = told(*owned("step 0 loss 1.2\nRuntimeError: x\n" + STEPS, 2, knowledge), knowledge)
    assert (last["strong.count"], last["strong.behind"], last["strong.again"], last["lane.trouble"]) == (log1p(1), 0, 0, 0)
    assert (survived["strong.behind"], survived["strong.again"]) == (log1p(40), log1p(40))
    assert survived["strong.least again"] == log1p(80)


def test_only_the_subjects_own_observations_count(knowledge: Database) -> None:
    text = STEPS + "RuntimeError: x\n"
    others = told(*owned(text, 41, knowledge, owner="others"), knowledge)
    unknown = told(*owned(text, 41, knowledge, owner="unknown"), knowledge)
    assert others["strong.count"] == unknown["strong.count"] == others["unknown.count"] == 0
    assert (unknown["unknown.count"], unknown["unknown.least seconds before"]) == (log1p(1), log1p(3.0))


def test_a_good_end_that_a_signature_knows_is_a_feature_of_its_own(knowledge: Database) -> None:
    found = told(*owned(STEPS + "all is done\n", 41, knowledge, HEALTHY, "proof"), knowledge)
    assert (found["healthy.told"], found["healthy.behind"], found["strong.count"]) == (2.0, 0.0, 0.0)


def test_an_observation_that_ends_nothing_is_no_good_end(knowledge: Database) -> None:
    found, lane = owned(STEPS + "RuntimeError: x\n", 41, knowledge)
    harmless = replace(found, observation=replace(found.observation, ends="nothing"))
    assert told(harmless, lane, knowledge)["lanes.own end good"] == 0


def test_a_hint_alone_shows_no_good_end(knowledge: Database) -> None:
    found = told(*owned(STEPS + "all is well\n", 41, knowledge, HEALTHY, "hint"), knowledge)
    assert (found["healthy.told"], found["healthy.behind"], found["lanes.own end good"]) == (0, ABSENT, 0)


def test_words_of_trouble_are_a_sign_in_a_jobs_log_and_none_in_a_kernels(knowledge: Database) -> None:
    said = ("usb 1-2: device descriptor read error",)
    assert not is_silent([], [lane("job", said)])
    assert not is_silent([], [lane("kernel", said), lane("job", said)])
    assert is_silent([], [lane("kernel", said)])
    assert not is_silent([seen("host_os.panic")], [lane("kernel", said)])


def test_a_cause_is_no_good_end(knowledge: Database) -> None:
    assert told(*owned(STEPS + "RuntimeError: x\n", 41, knowledge), knowledge)["healthy.told"] == 0


def test_a_good_end_is_shown_by_the_lane_or_by_a_signature(knowledge: Database) -> None:
    good, lane = owned(STEPS + "all is done\n", 41, knowledge, HEALTHY, "proof")
    assert told(good, lane, knowledge)["lanes.own end good"] == 1
    assert told(*owned(STEPS + "RuntimeError: x\n", 41, knowledge), knowledge)["lanes.own end good"] == 0


def test_worthless_results_count_though_a_hint_tells_of_them(knowledge: Database) -> None:
    found = told(*owned(STEPS + "loss: nan\n", 41, knowledge, "numerics.nan", "hint"), knowledge)
    assert (found["trait.worthless_result"], found["trait.program_error"]) == (1, 0)


@pytest.mark.parametrize(
    ("cause", "kind", "good", "machine", "terminal"),
    [
        ("host_memory.oom_cgroup", "kernel", -1, False, True),
        ("host_memory.oom_cgroup", "kernel", -1, True, True),
        ("host_memory.oom_cgroup", "kernel", 0, False, False),  # its own log ended well
        ("host_memory.oom_cgroup", "job", -1, False, False),  # not the kernel's word
        ("code.shape", "kernel", -1, False, False),
    ],
)
def test_a_kill_for_memory_by_the_kernel_is_an_end(
    knowledge: Database, cause: str, kind: LaneKind, good: int, machine: bool, terminal: bool
) -> None:
    o = replace(seen(cause, 9, "proof", source="dmesg.txt"), lane=lane(kind))
    o = replace(o, observation=replace(o.observation, scope=("any",)), aftermath=Aftermath(lines_after=0, good=int(good >= 0)))
    assert is_terminal_by_nature([o], [lane(good=good)], machine, knowledge) is terminal


def test_the_worst_of_two_lanes_ends_with_trouble_in_its_last_line() -> None:
    last, earlier = (replace(lane(), digest=replace(DIGEST, trouble=n, trouble_count=1)) for n in (0, 5))
    assert OwnLanes.of([earlier, last]).worst is last


def test_given_rates_replace_those_of_the_database(knowledge: Database) -> None:
    o, lane = owned(STEPS + "RuntimeError: x\n", 41, knowledge)
    place = OUTCOME_FEATURES.index("strong.rate")
    assert (
        features([o], [lane], False, False, knowledge, UNTRAINED_ENDING_MODEL, {o.observation.kind: (-2.5, 0.0)})[place] == -2.5
    )
    assert features([o], [lane], False, False, knowledge, UNTRAINED_ENDING_MODEL, {})[place] > 0, "the promise of its weight"


def test_the_worst_lane_ends_with_trouble(knowledge: Database) -> None:
    text = "".join(f"[rank{r}]: step {i} loss 0.5\n" for i in range(30) for r in (0, 1)) + "[rank1]: RuntimeError: x\n"
    found = lanes_of(text, knowledge)
    assert OwnLanes.of(found.values()).worst is found["rank 1"]
    assert OwnLanes.of([]).worst is None


def test_the_tier_follows_from_weight_ends_and_lane(knowledge: Database) -> None:
    o, _ = owned(STEPS + "RuntimeError: x\n", 41, knowledge)
    by_weight = {
        w: evidence_tier(replace(o, observation=replace(o.observation, weight=w, ends="process")), knowledge) for w in WEIGHTS
    }
    assert by_weight == {"proof": ENDING_PROOF, "strong": ENDING_STRONG, "hint": ENDING_HINT}
    assert evidence_tier(replace(o, observation=replace(o.observation, ends="nothing")), knowledge) == NOTICE
    assert evidence_tier(replace(o, observation=replace(o.observation, ends="process", scope=("kernel",))), knowledge) == NOTICE
    assert evidence_tier(replace(o, observation=replace(o.observation, ends="process", cause=HEALTHY)), knowledge) == NOTICE


WEIGHTS: tuple[Weight, ...] = ("proof", "strong", "hint")
LONG = "part 7 attempt 3 failed: Get https://cdn.example/" + "blob/" * 80 + ": TLS handshake timeout, retrying in 8s"


@pytest.mark.parametrize("line", ["connection reset by peer, retrying in 8s", LONG])
def test_a_message_that_says_itself_that_the_program_goes_on_shows_no_end(line: str, knowledge: Database) -> None:
    """What stands in the next line, an exception, and the fault of a machine are not taken back by such words."""
    (told, _), (near, _) = owned(f"{STEPS}{line}\n", 41, knowledge), owned(f"{STEPS}timeout\n{line}\n", 41, knowledge)
    told, near = (replace(o, observation=replace(o.observation, ends="process")) for o in (told, near))
    assert evidence_tier(told, knowledge) == NOTICE
    assert near.aftermath.handled and evidence_tier(near, knowledge) == ENDING_STRONG
    for other in ({"weight": "proof"}, {"ends": "machine"}, {"fields": {"exc_type": "OSError"}}):
        assert evidence_tier(replace(told, observation=replace(told.observation, **other)), knowledge) < NOTICE


def test_of_several_logs_the_one_that_records_a_failing_status_is_the_worst(knowledge: Database) -> None:
    (server,) = lanes_of("ready to serve\nWARNING: request 4 failed\n", knowledge, []).values()
    (failed,) = lanes_of("no configuration was given\nmetrics exited with code 2\n", knowledge, []).values()
    (stopped,) = lanes_of("no configuration was given\nmetrics exited with code 143\n", knowledge, []).values()
    assert OwnLanes.of([server, failed]).worst is failed and OwnLanes.of([failed, server]).worst is failed
    assert OwnLanes.of([server, stopped]).worst is server


class Counted(tuple[Attempt, ...]):
    """Attempts that count how many of them are looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        type(self).looks += 1
        return super().__getitem__(at)

    def __iter__(self) -> Iterator[Attempt]:
        type(self).looks += len(self)
        return super().__iter__()


def test_the_attempt_of_an_observation_is_found_without_a_look_at_all(knowledge: Database) -> None:
    one, lane_of_it = owned(STEPS + "RuntimeError: shape\n", 41, knowledge)
    assert one.lane is not None
    many = Counted(Attempt(n, n * 10 - 9, n * 10) for n in range(1, 5001))
    assert replace(one, lane=replace(lane_of_it, attempts=many)).attempt == 5
    assert Counted.looks < 50
