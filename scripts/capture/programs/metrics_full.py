"""Writes every prediction to a file until its disk is full."""

import json
import pathlib
import random

path = pathlib.Path("checkpoints/predictions.jsonl")
for step in range(1, 5000):
    print(f"step {step} loss {1 / step + random.random() / 100:.4f}")
    with path.open("a") as file:
        for sample in range(500):
            scores = [random.random() for _ in range(20)]
            file.write(json.dumps({"step": step, "sample": sample, "scores": scores}) + "\n")
