"""What a run tells of the checkpoints that it saved, and the advice to start again from the last one."""

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Region
from forensics.readers.progress.saved_files import saved_in
from tests.conftest import text_source


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I0103 21:54:09 checkpoints.py:149] Saved checkpoint at /runs/5/vit/checkpoint_3500", "/runs/5/vit/checkpoint_3500"),
        ("Epoch 5: val_iou improved from 0.04 to 0.08, saving model to best_unet.h5", "best_unet.h5"),
        ("SAVED CHECKPOINT @ EPOCH 15", "the checkpoint of epoch 15"),
        ("Model saved: results/run_3/last.ckpt.", "results/run_3/last.ckpt"),
        ("Gradients will be saved; saved checkpoints go to /runs/checkpoints", ""),
        ("Error while saving model to /runs/model.pt", ""),
        ("Saving model", ""),
        ("2026-11-30 22:58:40,118 INFO train: saved ckpt/epoch_12.pt", "ckpt/epoch_12.pt"),
        ("wrote checkpoint out/last.safetensors", "out/last.safetensors"),
        ("saved plots/epoch_3/loss.png", ""),
        ("saved features.pt", ""),
        ("INFO retrieval.model:on_predict_epoch_end:521 - predictions saved to test_3.pkl", ""),
    ],
)
def test_what_was_saved(text: str, name: str) -> None:
    assert saved_in(Region("train.log", 1, text)) == name


def test_an_interrupted_run_is_started_again_from_what_it_saved(knowledge: Database) -> None:
    log = (
        "".join(f"epoch {n} loss 0.{9 - n}\nsaved checkpoint to out/model_{n}.pt\n" for n in range(1, 8))
        + 'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    step(batch)\nKeyboardInterrupt\n'
    )
    report = pipeline.analyze([text_source("train.log", log)], "case", knowledge)
    assert "out/model_7.pt" in report.causes[0].remediations[0].action
