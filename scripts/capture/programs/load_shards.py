"""Loads the whole training set into memory before it trains, one shard after the other."""

import logging

import numpy as np
import torch

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
SHARDS, ROWS, WIDTH = 16, 24_000, 512


def load(shard: int) -> np.ndarray:
    """Read one shard: float32 features of ROWS samples."""
    return np.random.default_rng(shard).standard_normal((ROWS, WIDTH), dtype=np.float32)


log.info("torch %s, %d threads", torch.__version__, torch.get_num_threads())
shards = []
for index in range(SHARDS):
    shards.append(load(index))
    log.info(
        "loaded shard %d/%d: %d samples, %.0f MB in memory",
        index + 1,
        SHARDS,
        ROWS,
        sum(shard.nbytes for shard in shards) / 1e6,
    )
features = np.concatenate(shards)
log.info("training on %d samples", len(features))
