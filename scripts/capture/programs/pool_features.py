"""Computes features in a pool of two processes; one item of the list is far larger than all others."""

import logging
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")


def features(blocks: int) -> int:
    """Hold so many blocks of 8 MiB at once."""
    held = []
    for _ in range(blocks):
        held.append(np.ones(1 << 20))
        time.sleep(0.02)
    return len(held)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        for item, blocks in enumerate(pool.map(features, [2, 3, 2, 4, 300, 2, 3])):
            log.info("item %d done, %d blocks", item, blocks)
