"""How much to ask for the next time: numbers that follow from what the case tells."""

import pytest

from forensics.advice.amounts import amount_facts
from forensics.model import Fields, Habit, JobContext

GIB = 1 << 30


def limit(kind: str, value: float, job: str = "") -> Habit:
    return Habit(kind, "sacct.txt", 3, job, value)


def context(*limits: Habit, reached: float | None = None) -> JobContext:
    return JobContext(limits=limits, reached=Habit("reached", "job.log", 80, "epoch 34 of 100", reached) if reached else None)


def test_the_time_that_the_whole_run_takes_follows_from_how_far_it_came() -> None:
    told = amount_facts({"job": "4711"}, context(limit("asked_time_s", 12 * 3600, "4711"), reached=0.335))
    assert told["needed_time"] == "36 h"
    assert told["needed_slurm_time"] == "1-12:00:00"
    assert told["rest_time"] == "24 h"


def test_without_a_limit_only_the_ratio_is_told_and_of_a_start_nothing() -> None:
    told = amount_facts({}, context(reached=0.335))
    assert told["times_needed"] == "3.0"
    assert "needed_time" not in told
    assert amount_facts({}, context(reached=0.005)) == {}


@pytest.mark.parametrize("facts", [{"job": "4711"}, {"job": "4711_2"}])
def test_the_limit_of_another_job_is_none_of_this_one(facts: Fields) -> None:
    assert "asked_time_s" not in amount_facts(facts, context(limit("asked_time_s", 60, "4712")))
    assert (
        amount_facts(facts, context(limit("asked_time_s", 60, "4712"), limit("asked_time_s", 90, "4711")))["asked_time_s"] == 90
    )


def test_of_several_limits_without_a_job_none_is_chosen() -> None:
    assert "asked_time_s" not in amount_facts({}, context(limit("asked_time_s", 60), limit("asked_time_s", 90)))


@pytest.mark.parametrize(("bytes_", "text"), [(220 << 20, "500M"), (400 << 20, "800M"), (2 * GIB, "4G"), (12 * GIB, "24G")])
def test_twice_the_memory_is_asked_for_in_words_of_the_scheduler(bytes_: int, text: str) -> None:
    assert amount_facts({"limit_bytes": bytes_}, JobContext())["more_memory"] == text


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("/user.slice/jupyter.scope", "jupyter.scope"),
        ("/system.slice/fit.service/train", None),
        ("/user.slice/session-31.scope", None),
    ],
)
def test_only_a_unit_that_has_the_limit_is_set(path: str, unit: str | None) -> None:
    assert amount_facts({"limit_bytes": GIB, "limit_path": path}, JobContext()).get("limit_unit") == unit


def test_a_batch_of_one_has_no_half() -> None:
    assert amount_facts({"batch_size": 1}, JobContext()) == {}
    assert amount_facts({"batch_size": 6, "accumulation": 4}, JobContext()) == {"half_batch": 3, "twice_accumulation": 8}
