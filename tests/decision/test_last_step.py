"""How far a log shows that its run had come. The bars are tqdm's and Keras' own format."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.advice.findings import NO_END_SHOWN
from forensics.database import HEALTHY, Database
from forensics.decision.doubts import BROKEN_OFF_MAX, OPEN_END_MAX
from forensics.model import Report
from forensics.pipeline import analyze_paths

Analyze = Callable[..., Report]
BAR = "  8%|###  | 200/2515 [46:16<9:01:34, 14.04s/it]"


def told(analyze: Analyze, *lines: str) -> tuple[str, str, str]:
    return _of(analyze(train_log="".join(f"{line}\n" for line in lines)))


def _of(report: Report) -> tuple[str, str, str]:
    assert report.subject is not None
    first = report.causes[0]
    assert first.id == HEALTHY
    assert ("breaks off" in first.title) == (report.subject.outcome == "cut_off")  # one truth in both sentences
    if report.verdict == "undetermined":
        assert first.probability <= BROKEN_OFF_MAX
        assert [q.what for q in report.missing] == [q.what for q in NO_END_SHOWN]
    return report.subject.outcome, report.subject.why, report.verdict


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["{'loss': 3.1}", BAR, "{'loss': 2.98, 'epoch': 0.08}"], "at 200 of 2515"),
        ([BAR.replace("200/2515", "2515/2515"), "{'loss': 2.98, 'lr': 1e-05, 'epoch': 0.08}"], "at epoch 0.08"),
        (["Epoch 3/5", "103/103 [==============================] - 53s 518ms/step - loss: 0.6211"], "after epoch 3 of 5"),
        (["Epoch 3/5", " 50/103 [=============>................] - ETA: 9s - loss: 0.6211"], "in epoch 3 of 5, at 50 of 103"),
        (["Epoch [2/4] loss 0.7", "Epoch [3/4] loss 0.6"], "after epoch 3 of 4"),
        ([f"step:{n}/3250 train_loss:3.2" for n in (2875, 3000)], "after step 3000 of 3250"),
        ([f"Epoch {n}/100 - loss: 0.{n}000 - 12s" for n in range(1, 9)], "after epoch 8 of 100"),
        ([f"Epoch {n} of 100: loss 0.{n}" for n in range(1, 9)], "after epoch 8 of 100"),
        ([f"[iter {n}/90000] loss 2.{n}" for n in range(100, 900, 100)], "after iter 800 of 90000"),
        ([f"Round {n}/50 accuracy 0.{n}" for n in range(3)], "after round 2 of 50"),
        (["Training for 50 steps", *(f"(step=00{n}) Train Loss: 0.{n}" for n in range(10, 15))], "after step 14 of 50"),
        (["  Num Epochs = 3", "epoch 1 loss 0.7", "epoch 2 loss 0.6"], "after epoch 2 of 3"),
        ([f"Progress on: {n}.00kit/100kit rate:1.2it/s remaining:23:22:30" for n in range(1, 5)], "at 4000 of 100000"),
        ([f"Epoch: [5][{n}/500] Time 0.834 loss 2.62" for n in range(120, 129)], "after batch 128 of 500"),
        ([f"[{n}/50] scored sample_{n}" for n in range(1, 6)], "at 5 of 50"),
        (["epochs: 20, lr: 0.1", *(f"epoch: {n}, AUC: 0.8{n}" for n in range(1, 9))], "after epoch 8 of 20"),
        (["--max_steps=5000", *(f"step {n} loss 0.{n}" for n in range(100, 900, 100))], "after step 800 of 5000"),
        (
            ["epochs: 20", "x", "y", *(f"epoch {n} done" for n in range(7)), *(f"epoch {n} done" for n in range(9))],
            "after epoch 8 of 20",
        ),
        ([f"\rscored {n}/2106 rows in {n}.1 s" for n in range(640, 649)], "at 648 of 2106"),
        (["Epoch 8/10", "batch 40", " 40%|####      | 40/100 [00:21<00:31,  1.9it/s]"], "in epoch 8 of 10, at 40 of 100"),
    ],
)
def test_a_log_that_stops_before_the_last_step_says_where(analyze: Analyze, lines: list[str], place: str) -> None:
    outcome, why, verdict = told(analyze, *lines)
    assert (outcome, verdict) == ("cut_off", "undetermined")
    assert f"stops {place}," in why


@pytest.mark.seconds
def test_a_log_that_reaches_its_last_step_does_not_break_off(analyze: Analyze) -> None:
    outcome, why, verdict = told(analyze, *(f"step:{n}/3250 val_loss:3.27 step_avg:156.8ms" for n in (3000, 3125, 3250)))
    assert (outcome, verdict) == ("ended_well", "no_crash")
    assert "step 3250 of 3250" in why


@pytest.mark.seconds
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([f"Epoch [{n}/10] loss 0.{n}" for n in range(10)], id="counted from zero"),
        pytest.param(
            ["Training for 10 epochs", *(f"epoch {n} loss 0.{n}" for n in range(10))], id="of a plan, counted from zero"
        ),
        pytest.param([f"step {n}/1000 loss 0.{n}" for n in range(0, 1000, 50)], id="each 50th, counted from zero"),
        pytest.param([f"Epoch: [5][{n}/500] loss 0.{n}" for n in range(0, 500, 50)], id="batches of an epoch, without its total"),
        pytest.param(
            [f"step {n}/1184 loss 0.{n}" for n in range(50, 1184, 50)], id="each 50th, which the total is no multiple of"
        ),
        pytest.param([f"scored {n}/12 rows, loss 0.{n}" for n in range(12)], id="of no known name, counted from zero"),
    ],
)
def test_a_counter_that_would_be_beyond_its_total_next_may_be_the_last_one(analyze: Analyze, lines: list[str]) -> None:
    outcome, _, verdict = told(analyze, *lines)
    assert (outcome, verdict) == ("cut_off", "no_crash")
    assert told(analyze, *lines[:-1])[2] == "undetermined"


@pytest.mark.seconds
def test_a_trainer_that_told_the_time_of_its_run_has_ended(analyze: Analyze) -> None:
    records = ["{'loss': '2.98', 'epoch': '1.98'}", "{'train_runtime': '61.2', 'train_loss': '2.99', 'epoch': '1.99'}"]
    assert told(analyze, *records, "{'eval_loss': 3.01, 'epoch': 1.99}")[2] == "no_crash"
    assert told(analyze, records[0])[2] == "undetermined"


@pytest.mark.seconds
def test_a_program_that_always_tells_its_end_has_not_ended_before_it(analyze: Analyze) -> None:
    """The table of steps of LAMMPS names no total, and its last line looks like any other."""
    rows = [f"  {n}000   0.9999   -8.6131   1.4998" for n in range(1, 40)]
    begun = ["LAMMPS (22 Jul 2025)", "Reading data file ...", *rows]
    for lines, outcome, verdict in (
        (begun, "cut_off", "undetermined"),
        ([*begun, "Total wall time: 18:07:28"], "ended_well", "no_crash"),
        ([*begun, "Total wall time: 18:07:28", *begun], "cut_off", "undetermined"),
    ):
        report = analyze(job_out="".join(f"{line}\n" for line in lines))
        assert report.subject is not None
        assert (report.subject.outcome, report.verdict) == (outcome, verdict)
        assert "LAMMPS" in report.subject.why


@pytest.mark.seconds
def test_an_end_that_a_program_tells_of_failed_runs_too_is_no_good_one(analyze: Analyze) -> None:
    begun = "Jan-19 09:00:01.826 [main] DEBUG nextflow.cli.Launcher - $> nextflow run main.nf\n"
    end = "Jan-19 09:00:40.826 [main] DEBUG nextflow.script.ScriptRunner - > Execution complete -- Goodbye\n"
    for text, ended in ((begun + "x\n" * 9, False), (begun + "x\n" * 9 + end, True)):
        subject = analyze(nextflow_log=text).subject
        assert subject is not None
        assert ("always ends" in subject.why, "tells of its end" in subject.why) == (not ended, False)


@pytest.mark.seconds
@pytest.mark.parametrize("lines", [["hello"], ["x x x"] * 500], ids=["one line", "one line again and again"])
def test_a_log_without_any_known_line_is_called_healthy_with_doubt(analyze: Analyze, lines: list[str]) -> None:
    report = analyze(job_log="".join(f"{line}\n" for line in lines))
    assert (report.causes[0].id, report.verdict) == (HEALTHY, "no_crash")
    assert report.causes[0].probability <= OPEN_END_MAX
    assert report.subject is not None
    assert "a known sign of an end" in report.subject.why
    assert report.missing


@pytest.mark.seconds
def test_a_training_whose_log_tells_of_no_end_and_of_no_plan_is_called_healthy_with_doubt(analyze: Analyze) -> None:
    rows = [f"Epoch {n} train loss {3 - n / 100:.3f} val acc {n / 4:.1f}" for n in range(300)]
    report = analyze(train_log="".join(f"{row}\n" for row in rows))
    assert report.subject is not None
    assert (report.subject.outcome, report.causes[0].id) == ("cut_off", HEALTHY)
    assert report.causes[0].probability == OPEN_END_MAX


@pytest.mark.seconds
def test_an_end_that_is_told_behind_the_last_counter_is_an_end(analyze: Analyze) -> None:
    """Early stopping ends a run before its last epoch."""
    outcome, _, verdict = told(analyze, "Epoch 4/10 loss 0.41", "Epoch 5/10 loss 0.40", "Training completed successfully.")
    assert (outcome, verdict) == ("ended_well", "no_crash")
    again, why, _ = told(analyze, "Training completed successfully.", "Epoch 4/10 loss 0.41", "Epoch 5/10 loss 0.40")
    assert again == "cut_off"
    assert "epoch 5 of 10" in why


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("count", "last", "verdict"),
    [
        (None, BAR, "undetermined"),
        (2, BAR, "no_crash"),  # the cell came to its end, by a `break`
        (None, "100%|####| 2515/2515 [46:16<00:00, 14.04s/it]", "no_crash"),
    ],
)
def test_a_notebook_that_was_saved_while_a_cell_ran_breaks_off(
    knowledge: Database, tmp_path: Path, count: int | None, last: str, verdict: str
) -> None:
    cells = [
        {"cell_type": "code", "execution_count": n, "outputs": [{"output_type": "stream", "name": "stderr", "text": [text]}]}
        for n, text in ((1, "loading\n"), (count, last))
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}))
    assert analyze_paths([path], "case", knowledge).verdict == verdict


@pytest.mark.seconds
def test_a_full_epoch_of_unknown_number_is_no_end_of_the_run(analyze: Analyze) -> None:
    assert told(analyze, *(f"Epoch: [5][{n}/30] loss 0.{n}" for n in range(1, 31)))[0] == "cut_off"


ROUND = tuple(f"[{{}}, {n}] loss: 0.9" for n in (2000, 4000, 6000))  # as the tutorials of PyTorch print it


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ([r.format(e) for e in range(1, 4) for r in ROUND][:-1], "at 4000, where each round before counted to 6000"),
        ([f"loss 0.{e} at batch_id: {n}" for e in range(3) for n in (0, 500, 1000)][:-1], "at batch_id 500, where each round"),
        ([f"row of fold {n}" for _ in range(3) for n in (1, 2, 3, 4)][:-2], "at fold 2, where each round before counted to 4"),
        ([f"é fold {n}" for _ in range(3) for n in (1, 2, 3, 4)][:-2], "at fold 2, where each round before counted to 4"),
        ([f"\x1b[32m12\x1b[0m fold {n}" for _ in range(3) for n in (1, 2, 3, 4)][:-2], "at fold 2, where each round before"),
    ],
)
def test_a_round_that_stops_short_of_those_before_it_is_broken_off(analyze: Analyze, lines: list[str], place: str) -> None:
    outcome, why, verdict = told(analyze, "start", *lines)
    assert (outcome, verdict) == ("cut_off", "undetermined")
    assert f"stops {place}" in why


@pytest.mark.seconds
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([r.format(e) for e in range(1, 4) for r in ROUND], id="whole rounds"),
        pytest.param([f"batch {n} took 3 s" for n in (1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 1, 2)], id="rounds of several lengths"),
        pytest.param([f"12:00:{n:02} tick" for _ in range(3) for n in range(60)][:-20], id="seconds of a clock"),
        pytest.param([*(f"batch {n} loss 0.1" for n in (1, 2, 3, 1, 2, 3, 1, 2)), "Training finished."], id="an end told"),
    ],
)
def test_whole_rounds_and_measurements_are_no_broken_off_round(analyze: Analyze, lines: list[str]) -> None:
    assert told(analyze, "start", *lines)[2] == "no_crash"


@pytest.mark.seconds
def test_a_line_that_is_torn_breaks_off(analyze: Analyze) -> None:
    """Output to a file is written in buffers; a process that is killed leaves whole ones, and so a part of a line."""
    lines = "".join(f"sample {n} took {n * 7 % 13}.25 s\n" for n in range(400))
    out = lines[: lines.index("sample 200") + len("sample 200 to")]
    outcome, why, verdict = _of(analyze(train_log=out))
    assert (outcome, verdict) == ("cut_off", "undetermined")
    assert "stops within a line" in why
    assert _of(analyze(train_log=out.rpartition("\n")[0]))[2] == "no_crash"  # whole lines, without the last line end


@pytest.mark.seconds
@pytest.mark.parametrize(
    "last",
    [
        *("Done!", "SUCCESS: saved the model to out/", "Model pushed to hub: user/model", "Training complete", "Early stopping."),
        *("final_int8 val_loss:0.97 eval_time:88ms", "`Trainer.fit` stopped: `max_epochs=500` reached.", "Total time: 3.2 h"),
        *("Finished after 4 epochs (target reached).", "Experiment finished", "All runs completed.", "Converged after 5 epochs"),
    ],
)
def test_words_of_an_end_behind_the_last_counter_are_an_end(analyze: Analyze, last: str) -> None:
    lines = [f"Epoch {n}/100 - loss: 0.{n}000 - 12s" for n in range(1, 6)]
    assert told(analyze, *lines, last)[::2] == ("ended_well", "no_crash")
    assert told(analyze, *lines, last, *lines[:4])[2] == "undetermined"  # work stands behind it
    each = [text for line in lines for text in (line, last)]
    assert told(analyze, *each)[2] == "undetermined"  # each epoch ends so


@pytest.mark.seconds
@pytest.mark.parametrize("last", ['    print("Training done")', "best accuracy so far: 0.71", "Saved checkpoint to out/5.pt"])
def test_other_words_behind_the_last_counter_are_none(analyze: Analyze, last: str) -> None:
    assert told(analyze, *(f"Epoch {n}/100 - loss: 0.{n}000 - 12s" for n in range(1, 6)), last)[2] == "undetermined"
