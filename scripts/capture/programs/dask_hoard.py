"""Collects arrays on a Dask worker with a memory limit of 400 MB."""

import time

import numpy as np
from distributed import Client, LocalCluster


def decode(count):
    """Decode `count` images into one list."""
    images = []
    for _ in range(count):
        images.append(np.random.rand(512, 512))
        time.sleep(0.01)
    return len(images)


if __name__ == "__main__":
    limits = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": "400MB", "dashboard_address": None}
    with LocalCluster(**limits) as cluster, Client(cluster) as client:
        print("decoded", client.submit(decode, 2000).result())
