"""Writes a table of two hundred columns, and reads it whole for a model that looks at three of them."""

import numpy as np
import pandas as pd

rng, rows = np.random.default_rng(0), 60
with open("measurements.csv", "w") as file:  # noqa: PTH123
    file.write(",".join(f"c{i}" for i in range(200)) + "\n")
    block = "".join(",".join(f"{v:.3f}" for v in row) + "\n" for row in rng.random((rows * 20, 200)))
    for _ in range(300):
        file.write(block)
print("reading measurements.csv", flush=True)
table = pd.read_csv("measurements.csv")
weights = np.linalg.lstsq(table[["c1", "c7"]].to_numpy(), table["c9"].to_numpy(), rcond=None)[0]
print("weights", weights)
