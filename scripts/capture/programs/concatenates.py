"""Collects features of shard after shard in one array that np.concatenate makes anew each time."""

import numpy as np

features = np.zeros((0, 512), "float32")
for shard in range(200):
    made = np.random.default_rng(shard).random((8192, 512), "float32")
    features = np.concatenate([features, made])
    print(f"shard {shard}: {len(features)} rows", flush=True)
