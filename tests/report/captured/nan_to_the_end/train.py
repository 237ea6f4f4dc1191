"""A linear model whose learning rate is too high; the program goes on to its last step and says so."""

import numpy as np

rng = np.random.default_rng(0)
x, y = rng.normal(size=(256, 4)) * 1e30, rng.normal(size=256)
weights = np.zeros(4)
with np.errstate(all="ignore"):
    for step in range(1, 24):
        wrong = x @ weights - y
        weights -= 1e-2 * x.T @ wrong / len(y)
        print(f"step {step} loss {np.mean(wrong**2):.4g}")
print("training finished")
