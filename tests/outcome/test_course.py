"""The course of a lane: what grows behind a line, and whether the last attempt reaches its end. All logs are made here."""

import pytest

from forensics.database import Database
from forensics.model.verdicts import Lane
from tests.outcome.made import lanes_of, seen_at

CRASH = ["Traceback (most recent call last):", '  File "a.py", line 3, in <module>', "    go()", "ValueError: too short"]
ERROR = "error!! index 2 is out of bounds"


def text_of(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def own(text: str, knowledge: Database) -> Lane:
    return lanes_of(text, knowledge)["job train.log"]


def bar(now: int, total: int, time: str = "00:09") -> str:
    return f" {100 * now // total}%|##| {now}/{total} [{time}<00:10,  1.33it/s]"


@pytest.mark.parametrize(
    "course",
    [
        ["Epoch {}/9 loss 0.4", (1, 2, 3, 4)],
        ["Step {} of 1000, loss 0.3", (197, 198, 199, 200)],
        ["[41, {}] loss: 0.31", (2020, 2040, 2060, 2080)],
        ["update {} reward 0.41, loss 0.1", (5, 6, 7, 8)],
        [" 10%|##| {}/900 [00:09<00:10,  1.33it/s]", (5, 6, 7, 8)],
    ],
    ids=["epoch", "step", "bracket", "update", "bar"],
)
def test_a_position_that_grows_behind_an_error_is_counted(course: tuple[str, tuple[int, ...]], knowledge: Database) -> None:
    before, *behind = [course[0].format(n) for n in course[1]]
    text = text_of(before, ERROR, *behind)
    seen = seen_at(text, 2)
    assert lanes_of(text, knowledge, [seen])["job train.log"].aftermath[2, seen.kind].positions == 3


def test_positions_that_stand_still_or_are_of_a_further_attempt_do_not_grow(knowledge: Database) -> None:
    for lines in (["Epoch 3/9 loss 0.4"] * 4, ["Epoch 1/9 loss 0.5", "Epoch 2/9 loss 0.4", "Epoch 3/9 loss 0.3"]):
        text = text_of("Epoch 7/9 loss 0.4", "Epoch 8/9 loss 0.4", "Epoch 9/9 loss 0.4", ERROR, *lines)
        seen = seen_at(text, 4)
        assert lanes_of(text, knowledge, [seen])["job train.log"].aftermath[4, seen.kind].positions == 0


def test_an_attempt_begins_where_a_bar_starts_again_behind_a_traceback(knowledge: Database) -> None:
    again = text_of("loading", bar(0, 90, "00:00"), bar(40, 90), *CRASH, "one more time", bar(0, 90, "00:00"), bar(20, 90))
    assert [a.first_line for a in own(again, knowledge).attempts] == [1, 9]
    validation = text_of("loading", bar(40, 90), *CRASH, "one more time", bar(0, 20, "00:00"), bar(20, 20))
    assert len(own(validation, knowledge).attempts) == 1
    redrawn = text_of("loading", bar(0, 90, "00:00"), *CRASH, bar(0, 90, "00:03"), "bye")
    assert len(own(redrawn, knowledge).attempts) == 1


def test_the_end_of_the_last_attempt_is_reached_where_its_counters_are_full(knowledge: Database) -> None:
    failed = ["loading data", bar(0, 90, "00:00"), *CRASH, "loading data", bar(0, 90, "00:00")]
    reached = own(text_of(*failed, bar(90, 90)), knowledge).reached_end
    assert reached is not None and reached.number == len(failed) + 1
    for short in ([bar(60, 90)], [bar(90, 90), *CRASH], ["Epoch 3/8 loss 0.4", bar(90, 90)]):
        assert own(text_of(*failed, *short), knowledge).reached_end is None


def test_trouble_that_was_printed_before_is_no_end_behind_the_last_position(knowledge: Database) -> None:
    notice = "(monitor) error: the disk is over 95% full, available: 5 GB"
    steps = [notice, "Step 1/3 loss 0.9", notice, "Step 2/3 loss 0.8", "Step 3/3 loss 0.7"]
    end = own(text_of(*steps, notice), knowledge).reached_end
    assert end and end.number == 5
    assert own(text_of(*steps, "error: the disk is gone"), knowledge).reached_end is None


def test_a_counter_without_a_total_behind_a_full_bar_is_of_the_same_end(knowledge: Database) -> None:
    full = ["ERROR: no more shards, trying the next", bar(5, 6), bar(6, 6)]
    assert own(text_of(*full, "step 6 reward 0.4, loss 0.1"), knowledge).reached_end
    assert own(text_of(*full, "step 7 reward 0.4, loss 0.1"), knowledge).reached_end is None
    assert own(text_of(*full[:1], "Epoch: [5][30/30] loss 0.1"), knowledge).reached_end is None  # of an epoch, not of the run


def test_the_first_line_again_as_the_last_one_begins_no_attempt(knowledge: Database) -> None:
    warning = "Warning: the process group has NOT been destroyed before the exit"
    lines = [warning, "loading the corpus", "ready to serve", *(f"request {n} served" for n in range(5)), *CRASH, warning]
    assert len(own(text_of(*lines), knowledge).attempts) == 1
    assert len(own(text_of(*lines, "loading the corpus", "ready to serve"), knowledge).attempts) == 2


def test_trouble_behind_the_end_is_none_if_the_program_did_its_work_behind_it(knowledge: Database) -> None:
    first = ["reading the corpus", "building the model", "compiling it"]
    steps = [*first, *(line for n in (1, 2, 3) for line in (f"Step {n}/3 loss 0.9", f"saved model_{n}.pt"))][:-1]
    told = own(text_of(*steps, *CRASH, "saved model_3.pt", "that is all"), knowledge).reached_end
    assert told and told.number == 8
    for behind in ((), ("that is all",), ("saved model_3.pt", ERROR)):
        assert own(text_of(*steps, *CRASH, *behind), knowledge).reached_end is None
    assert own(text_of(*steps[:-1], *CRASH, "saved model_2.pt"), knowledge).at_work is None
