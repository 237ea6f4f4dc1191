"""Fits a line to records read in order; one of them is infinite, so that every start ends at the same step."""

import sys

import numpy as np

rng = np.random.default_rng(int(sys.argv[1]))
records = np.random.default_rng(0).normal(size=(6400, 17))
records[32 * 141 + 5, 3] = np.inf
weights = rng.normal(size=16) / 16
for step in range(200):
    batch = records[32 * step : 32 * step + 32]
    error = batch[:, :16] @ weights - batch[:, 16]
    weights -= 0.01 * batch[:, :16].T @ error / 32
    print(f"step {step} loss {np.mean(error**2):.4f}", flush=True)
    if not np.isfinite(error).all():
        raise FloatingPointError(f"loss is not finite at step {step}")
