"""Trains with a batch of sys.argv[1]: a large one fills the memory, a small one saves checkpoints until the disk is full."""

import logging
import os
import sys
import time

import numpy as np

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
batch = int(sys.argv[1])
log.info("pid %d, batch size %d", os.getpid(), batch)
held = []
for step in range(60):
    if batch > 16:
        held.append(np.ones(batch * 20_000))
    log.info("step %d loss %.4f", step, 2.0 / (step + 1))
    time.sleep(0.05 if batch > 16 else 2.0)
    if step % 10 == 9:
        np.save(f"checkpoints/step{step}.npy", np.random.rand(600_000))
        log.info("saved checkpoint %d", step)
