"""Trains a linear model on random data; each evaluation keeps its predictions in a list that nobody empties."""

import sys

import numpy as np
import psutil

FEATURES, EVERY, ROWS = 64, 15, int(sys.argv[1])
rng, process, history = np.random.default_rng(0), psutil.Process(), []
truth, weights = rng.normal(size=FEATURES), np.zeros(FEATURES)

for step in range(1000):
    inputs = rng.normal(size=(2048, FEATURES))
    error = inputs @ (weights - truth)
    weights -= 0.05 * inputs.T @ error / len(error)
    print(f"step {step} loss {np.mean(error**2):.5f} rss {process.memory_info().rss / 2**20:.1f} MiB")
    if step % EVERY == EVERY - 1:
        held_out = np.random.default_rng(1).normal(size=(ROWS, FEATURES))
        history.append(held_out @ np.outer(weights, np.ones(16)))
        print(f"step {step} val_loss {np.mean((history[-1][:, 0] - held_out @ truth) ** 2):.5f} on {ROWS} rows")
