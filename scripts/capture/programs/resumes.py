"""Trains 100 steps from its last checkpoint on; a checkpoint that cannot be written is told, and the training goes on."""

import io
import logging
import pathlib
import time

import torch

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
CHECKPOINT = pathlib.Path("checkpoints/last.pt")


def save(step: int) -> None:
    """Write the checkpoint, which grows with the steps, over the one before."""
    made = io.BytesIO()
    torch.save({"step": step, "weights": torch.randn(step * 20_000)}, made)
    try:
        with CHECKPOINT.open("wb", buffering=0) as file:
            left = memoryview(made.getvalue())
            while left:
                left = left[file.write(left) :]
        log.info("saved checkpoint at step %d", step)
    except OSError as trouble:
        log.warning("could not write checkpoint: %s", trouble)


start = 0
if CHECKPOINT.exists():
    log.info("resuming from %s", CHECKPOINT)
    start = torch.load(CHECKPOINT)["step"]
for step in range(start, start + 100):
    if step % 20 == 19:
        save(step)
    if step % 10 == 0:
        log.info("step %d loss %.4f", step, 2.3 / (step + 1) ** 0.3)
    time.sleep(0.02)
log.info("epoch finished")
