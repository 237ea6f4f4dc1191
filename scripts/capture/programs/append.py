"""Appends metrics to a file after every step."""

import logging
import os
import pathlib
import time

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
path = pathlib.Path("data/metrics.csv")
for step in range(80):
    with path.open("a") as file:
        file.write(f"{step},{1 / (step + 1):.5f}\n")
        file.flush()
        os.fsync(file.fileno())
    logging.info("step %d loss %.5f", step, 1 / (step + 1))
    time.sleep(0.5)
