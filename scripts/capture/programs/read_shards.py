"""Writes shards of a data set, or reads them as a training does."""

import os
import pathlib
import sys

import numpy as np

folder = pathlib.Path("data")
if sys.argv[1] == "write":
    for number in range(16):
        np.random.default_rng(number).standard_normal(1 << 19).tofile(folder / f"shard-{number:03d}.bin")
else:
    for number in range(16):
        path = folder / f"shard-{number:03d}.bin"
        with path.open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            shard = np.frombuffer(file.read(), dtype=np.float64)
        print(f"step {number}: {path} mean {shard.mean():.5f}")
