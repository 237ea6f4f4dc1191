"""Losses and gradient norms that leave the numbers, and those that come back."""

import math
import random
import re
from collections.abc import Callable, Sequence

import pytest

from forensics.model import Observation

Told = Callable[[str], list[Observation]]


def losses(values: Sequence[float], norm: float = 1.0) -> str:
    return "".join(f"step {i} loss {v:.5g} grad_norm {norm:.5g}\n" for i, v in enumerate(values))


def test_nan_to_the_end_is_told_with_the_steps_before(told: Told) -> None:
    (event,) = told(losses([2.0] * 28 + [50.0, 900.0] + [math.nan] * 10))
    assert (event.kind, event.cause, event.weight) == ("series/nan", "numerics.nan", "strong")
    assert event.fields["step_no"] == 30
    assert event.fields["last_finite"] == 900.0
    assert event.fields["spike"] == 450.0
    assert event.fields["grad_norm_before"] == 1.0
    assert event.proofs[0].line == 31


def test_a_spike_that_usual_values_follow_is_no_part_of_it(told: Told) -> None:
    (event,) = told(losses([2.0] * 20 + [9.0] + [2.1] * 5 + [math.nan] * 10))
    assert [p.line for p in event.proofs] == [27, 26, 36]
    assert "spike" not in event.fields


def test_a_gradient_norm_far_above_the_usual_is_told(told: Told) -> None:
    rows = [*losses([2.0] * 20).splitlines(), "step 20 loss 2.1 grad_norm 80"]
    (event,) = told("\n".join([*rows, *(f"step {i} loss nan grad_norm nan" for i in range(21, 31))]) + "\n")
    assert event.fields["grad_spike"] == 80.0


ROWS = {"on each line": "Epoch {0} [{1}/40] loss: {2:.4g}\n", "above them": "{1}/40 [=====>....] - 1s 2ms/step - loss: {2:.4g}\n"}


@pytest.mark.parametrize("form", ROWS)
def test_a_step_that_each_epoch_has_is_told_with_its_epoch(form: str, told: Told) -> None:
    rows = []
    for epoch in range(3):
        rows += [f"Epoch {epoch}/3\n"] if form == "above them" else []
        rows += [ROWS[form].format(epoch, i, math.nan if (epoch, i) >= (1, 35) else 2.0) for i in range(40)]
    event = next(e for e in told("".join(rows)) if e.kind == "series/nan")
    assert (event.fields["step_no"], event.fields["epoch_of_step"]) == (35, 1)
    assert "epoch_of_step" not in told(losses([2.0] * 28 + [math.nan] * 10))[0].fields


@pytest.mark.parametrize(
    "values",
    [
        [2.0] * 10 + [math.inf] + [2.0] * 10,
        [2.0] * 10 + [math.nan, math.nan] + [2.0] * 10,
        [2.0] * 20 + [math.inf],
        [8 * 0.99**i for i in range(60)],
        [2.0, 900.0] * 20,
        [9.0] * 5 + [0.01] * 20 + [0.05] * 20,
    ],
    ids=["an overflow", "two", "the last", "healthy", "spikes", "a little worse"],
)
def test_what_comes_back_is_silent(values: list[float], told: Told) -> None:
    assert told(losses(values)) == []


def test_a_held_out_loss_says_nothing(told: Told) -> None:
    assert told("".join(f"epoch {i} loss: 0.5 val_loss: {'nan' if i > 4 else 0.4}\n" for i in range(20))) == []


def test_a_loss_that_diverges_without_nan_is_told(told: Told) -> None:
    (event,) = told(losses([2.0] * 30 + [2.0 * 10 ** min(6, i) for i in range(20)]))
    assert (event.kind, event.weight) == ("series/divergence", "strong")
    assert event.fields["onset_step"] == 31
    assert told(losses([2.0] * 30 + [2.0 * 10 ** min(6, i) for i in range(10)] + [2.0] * 20)) == []


@pytest.mark.parametrize(("end", "weight"), [(36.0, "strong"), (6.0, "hint")])
def test_a_loss_far_above_that_of_the_untrained_model_is_no_mere_hint(end: float, weight: str, told: Told) -> None:
    (event,) = told(losses([3.5 * 0.9**i for i in range(20)] + [0.45 * 1.35**i for i in range(14)] + [end] * 10))
    assert (event.kind, event.weight) == ("series/divergence", weight)


@pytest.mark.parametrize(("norms", "since"), [((1.5, 100.0, 1000.0, 9000.0), 31), ((1.4, 1.6, 1.5, 9000.0), None)])
def test_the_step_since_which_the_gradient_norm_had_risen_is_told(norms: Sequence[float], since: int | None, told: Told) -> None:
    rows = [(0.3, 1.5)] * 27 + [(0.3, n) for n in norms] + [(math.nan, math.nan)] * 20
    (event,) = told("".join(f"step {i} loss {loss} grad_norm {norm}\n" for i, (loss, norm) in enumerate(rows, 3)))
    assert event.fields["grad_norm_before"] == 9000.0 and event.fields.get("grad_rise_step") == since


def test_an_absurd_gradient_norm_is_a_hint(told: Told) -> None:
    (event,) = told(losses([59307.0, 21082.0], norm=4e10))
    assert (event.kind, event.weight) == ("series/explosion", "hint")
    assert event.fields["loss"] == 59307.0
    assert told(losses([59307.0, 21082.0], norm=4e4)) == []


def test_a_loss_scale_that_reaches_its_floor_and_one_that_settles(told: Told) -> None:
    form = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}\n"
    floor = "".join(form.format(65536.0 / 2**i) for i in range(18))
    settles = "".join(form.format(65536.0 / 2**i) for i in range(6)) + "step 7 loss 2.0 loss_scale 4096.0\n"
    (event,) = [e for e in told(floor) if e.kind == "series/loss-scale"]
    assert event.fields["loss_scale"] == 0.5
    assert told(settles) == []


def test_trials_with_models_of_their_own_do_not_diverge(told: Told) -> None:
    losses = [56.5, 40.1, 3.5, 80.2, 4.1, 12.9, 7.7, 9.9, 26.3, 18_000.0, 41_000.0, 56_277.0]
    assert told("".join(f"trial {i}: lr=0.01 loss={v}\n" for i, v in enumerate(losses))) == []
    one = "".join(f"fold 3 epoch {i} loss {v}\n" for i, v in enumerate(losses))
    assert [e.kind for e in told(one)] == ["series/divergence"]


@pytest.mark.parametrize(("kept", "lost", "weight"), [(40, 12, "strong"), (40, 3, "hint"), (40, 1, None), (0, 40, None)])
def test_a_number_of_any_name_that_is_lost_to_the_end_is_told(told: Told, kept: int, lost: int, weight: str | None) -> None:
    """A program's own name for its loss, `L=`, is no word of any vocabulary."""
    rows = [f"[INFO] ep={n // 9} at={n % 9} L={3 - n / 50:.4f} top=1.1" for n in range(kept)]
    rows += [f"[INFO] ep={n // 9} at={n % 9} L=nan top=1.1" for n in range(kept, kept + lost)]
    found = [e for e in told("".join(f"{row}\n" for row in rows)) if e.kind == "series/nan"]
    assert [(e.weight, e.fields["series"], e.proofs[0].line) for e in found] == ([(weight, "L", kept + 1)] if weight else [])
    assert not told("".join(f"{row}\n" for row in rows).replace(" L=", " val_kl="))


@pytest.mark.parametrize(
    ("record", "times"), [("gain: nan, risk: nan, calmar: nan, top: 1.1", 3), ("gain: nan, risk: nan, top: 1.1", 9)]
)
def test_most_of_a_record_that_is_never_a_number_is_told(told: Told, record: str, times: int) -> None:
    found = told("".join(f"round {n} of 9, {record}\n" for n in range(times)))
    assert [(e.kind, e.weight, e.fields["never_known"]) for e in found] == (
        [("series/nan", "strong", "gain, risk, calmar")] if record.count("nan") == 3 else []
    )
    assert not told(
        f"round 0 of 9, {record}\n".replace("nan", "0.1") + "".join(f"round {n} of 9, {record}\n" for n in range(1, 3))
    )


@pytest.mark.parametrize(
    ("values", "weight"),
    [
        ([3.0, 2.0, 40.0, 9e4, 2e9], "hint"),
        ([3.0, 2.0, 40.0, 9e4, 2e9, 3e14], "strong"),
        ([3.0, 2.0, 40.0, 9e4, 2.0], None),
        ([3.0, 0.2, 0.1, 2.5, 2.6], None),
        ([2.0, 40.0, 9e4, 2e9], None),
    ],
    ids=["five", "six", "it comes back", "no thousand times", "four"],
)
def test_a_few_readings_tell_of_a_divergence_only_if_it_is_great(values: list[float], weight: str | None, told: Told) -> None:
    assert [e.weight for e in told(losses(values)) if e.kind == "series/divergence"] == ([weight] if weight else [])


@pytest.mark.parametrize("line", ["episode {} loss {}", "iter {} loss {}\n| rollout/ep_rew_mean | 3.5 |\n| mean reward | 7 |"])
def test_the_loss_of_a_training_by_rewards_rises_where_it_finds_some(line: str, told: Told) -> None:
    text = "".join(line.format(i, 0.001 if i < 20 else 900.0) + "\n" for i in range(40))
    assert told(text) == []
    assert told(re.sub("episode|reward|rew", "x", text)) != []


def test_a_loss_that_jumps_about_has_not_diverged_and_one_that_lost_what_it_learnt_has(told: Told) -> None:
    found = 0
    for seed in range(400):
        chance = random.Random(seed)
        found += bool(told(losses([abs(chance.gauss(0.5, 0.5)) + 0.001 for _ in range(40)])))
        found += bool(told(losses([chance.random() for _ in range(20)])))
    assert found <= 4, f"{found} of 800 losses without a course"
    fell = [2.3 * 0.8**i for i in range(20)]
    assert [e.kind for e in told(losses([*fell, *(2.2 + 0.01 * (i % 5) for i in range(20))]))] == ["series/divergence"]
