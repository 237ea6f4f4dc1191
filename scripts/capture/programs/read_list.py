"""Opens the shards of a data set in turn."""

import pathlib

for number in range(400):
    path = pathlib.Path(f"data/shard-{number:03d}.txt")
    if int(path.read_text()) % 20 == 0:
        print(f"step {number}: {path}")
