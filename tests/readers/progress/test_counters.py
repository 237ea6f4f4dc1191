"""What a line says of how far its run had come."""

import pytest

from forensics.readers.progress.counters import (
    COUNT_TEXTS,
    NAMED_COUNT_TEXTS,
    TOTAL_PATTERN,
    bar_counter,
    item_counter,
    named_counters,
    planned,
    positions,
)


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("[Epoch 3/5] step 200 loss 2.31", ["epoch 3 of 5", "step 200"]),
        ("{'loss': 2.98, 'epoch': 3}", ["epoch 3"]),
        ("Iterations: 12 of 20", ["iteration 12 of 20"]),
        (" iteration     5794/  500000 | consumed samples:        51152", ["iteration 5794 of 500000"]),
        ("round 4/0", ["round 4"]),
        ("step 3/10/2026", ["step 3"]),
        ("epoch 2/4.5", ["epoch 2"]),
        ("one more stepping stone 3/5", []),
        ("steps_per_epoch=100", []),
        ("best of each epoch: [-1, -1, -1]", []),
        ("best epoch: -1", []),
        ("slurmstepd: error: *** STEP 8812302.0 ON gpu-b01 CANCELLED AT 2026-11-23T10:44:12 ***", []),
        ("step=-1 is not known yet", []),
        ("epoch-12 of 20", ["epoch 12 of 20"]),
        ("slurmstepd: error: *** STEP 4711.0 ON gpu-03 CANCELLED AT 2026-11-23T13:00:15 ***", []),
        ("step 400 loss 2.5 tokens/step 8192", ["step 400"]),
        ("step 400 loss 2.5 ms/step=410", ["step 400"]),
        ("step 400 loss 2.5 sec per step: 0.41, avg step 0.41s", ["step 400"]),
        ("epoch 1 step 300 loss 2.6 time/step 0.72s", ["epoch 1", "step 300"]),
        ("it/step 3, step: 410 ms, timing_s/step:12", []),
        ("train/step 400 train/epoch 3", ["step 400", "epoch 3"]),
    ],
)
def test_counters_with_a_name(line: str, counted: list[str]) -> None:
    assert [str(c) for c in named_counters(line)] == counted
    assert not counted or any(text.decode() in line.lower() for text in NAMED_COUNT_TEXTS)
    assert bool(TOTAL_PATTERN.search(line.lower().encode())) or not any(c.total for c in named_counters(line))


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("  8%|3  | 200/2515 [46:16<9:01:34, 14.04s/it]", "200 of 2515"),
        ("1/9 [00:01<00:08,  1.00it/s] 2/9 [00:02<00:07,  1.00it/s]", "2 of 9"),
        ("103/103 [==============================] - 53s 518ms/step - loss: 0.6211", "103 of 103"),
        (" 1%|  | 1.25k/100k [10:02<13:12:00, 2.08it/s]", "1250 of 100000"),
        ("Progress on: 978it/100kit rate:1.2it/s remaining:23:22:30 elapsed:15:34", "978 of 100000"),
        ("Progress on:train 1.00kit/1.50kit rate:5.1s/it remaining:42:30 elapsed:16:07", "1000 of 1500"),
        ("scored 3/4 rate:fair", "None"),
        ("served 3/4 [ok]", "None"),
        ("2026/11/12 [10:00:00]", "None"),
    ],
)
def test_counters_of_bars(line: str, counted: str) -> None:
    assert str(bar_counter(line)) == counted
    assert counted == "None" or any(text.decode() in line.lower() for text in COUNT_TEXTS)
    assert counted == "None" or TOTAL_PATTERN.search(line.lower().encode())


@pytest.mark.parametrize(
    ("line", "of_steps"),
    [
        ("2/9 [00:02<00:07,  1.00it/s]", True),
        ("2/9 [00:02<00:07,  3.50s/it]", True),
        ("2/9 [==>...........] - ETA: 4s", True),
        ("1.00kit/100kit rate:5.1s/it remaining:139:20:29", True),
        ("1.20M/4.50M [00:01<00:03, 1.10MB/s]", False),
        ("0/1 [00:00<?, ?cell/s]", False),
        ("40/90 [00:02<00:07, 20.1 examples/s]", False),
        ("2/9 [00:02", False),
    ],
)
def test_a_bar_of_files_or_cells_counts_no_steps(line: str, of_steps: bool) -> None:
    counter = bar_counter(line)
    assert counter
    assert counter.of_steps is of_steps


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("Epoch: [5][128/500]\tTime 0.834 loss 2.62", ["epoch 5", "batch 128 of 500"]),
        ("[TRAIN] Epoch[7](500/1500); Loss: 0.0998", ["epoch 7", "batch 500 of 1500"]),
        ("Epoch: [5/90][ 128/500] Time 0.8", ["epoch 5 of 90", "batch 128 of 500"]),
        ("Train Epoch: 3 [640/60000 (1%)]\tLoss: 2.29", ["epoch 3", "batch 640 of 60000"]),
        ("Epoch: 3 [saved 4/5]", ["epoch 3"]),
        ("[41, 2040] loss: 0.31", ["epoch 41", "step 2040"]),
        ("batch 7 of 40, update 3", ["batch 7 of 40", "update 3"]),
        ("batch 7 of 40, s/batch 12, avg batch 0.41", ["batch 7 of 40"]),
    ],
)
def test_counters_that_their_place_names(line: str, counted: list[str]) -> None:
    assert [str(c) for c in positions(line)] == counted
    assert any(text.decode() in line.lower() for text in COUNT_TEXTS)
    assert bool(TOTAL_PATTERN.search(line.lower().encode())) or not any(c.total for c in positions(line))


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("[5/50] Running medium_001...", "5 of 50"),
        ("[ 10/ 11] seed=0", "10 of 11"),
        ("[5/50]", "None"),
        ("rows [5/50] of it", "None"),
    ],
)
def test_counters_of_a_list_of_tasks(line: str, counted: str) -> None:
    assert str(item_counter(line)) == counted


def test_a_counter_without_a_total_is_never_complete() -> None:
    whole, open_end = named_counters("epoch 5/5 step 9")
    assert (whole.is_complete, open_end.is_complete) == (True, False)


def test_lines_of_one_shape_have_counters_of_their_own() -> None:
    told = [[str(c) for c in named_counters(f"[Epoch {i}/40] step {i}00")] for i in (17, 18)]
    assert told == [["epoch 17 of 40", "step 1700"], ["epoch 18 of 40", "step 1800"]]
    assert [str(bar_counter(f"{i}/90 [00:02<00:07, 3.5s/it]")) for i in (41, 42)] == ["41 of 90", "42 of 90"]


@pytest.mark.parametrize(
    ("line", "plan"),
    [
        ("Training for 5000 steps, starting at 0...", "step 0 of 5000"),
        ("Start training the model for 100 epochs", "epoch 0 of 100"),
        ("  Total optimization steps = 2515", "step 0 of 2515"),
        ("  Num Epochs = 3", "epoch 0 of 3"),
        ("trained for 2 days", "None"),
        ("Total training steps: -1", "None"),
    ],
)
def test_what_a_run_says_that_it_will_count_to(line: str, plan: str) -> None:
    assert str(planned(line)) == plan
