"""Draws its samples at random from an array that is larger than the memory it may use."""

import sys
import time

import numpy as np

MIB = 1 << 20
samples = np.ones((int(sys.argv[1]) * MIB // 4096, 1024), "float32")
rng, start = np.random.default_rng(0), time.monotonic()
for step in range(int(sys.argv[2])):
    batch = samples[rng.integers(0, len(samples), 4096)]
    print(f"step {step} mean {batch.mean():.4f} {time.monotonic() - start:.1f} s", flush=True)
