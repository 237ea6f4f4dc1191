"""Two runs whose output goes to one file: the first lacks a package, the second a column of its data."""

import sys
import time

import numpy as np

print("reading 2000 rows", flush=True)
rows = np.random.default_rng(0).normal(size=(2000, 8))
if "--fused" in sys.argv:
    import apex  # noqa: F401
weights = np.zeros(8)
for step in range(40):
    weights -= 0.05 * (rows.T @ (rows @ weights - rows[:, 0])) / len(rows)
    print(f"step {step} loss {float(np.mean((rows @ weights - rows[:, 0]) ** 2)):.4f}", flush=True)
    time.sleep(0.01)
print({"loss": 0.1}["val_loss"])
