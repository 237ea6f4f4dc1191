"""Reads a shard a step from data/, five a second; under torchrun only rank 1 reads, and all ranks add up what they read."""

import logging
import os
import time

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
rank = int(os.environ.get("RANK", "1"))
if "RANK" in os.environ:
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
for step in range(400):
    size = 0
    if rank == 1:
        with open(f"data/shard-{step:05}.tar", "rb", buffering=0) as shard:  # noqa: PTH123
            size = len(shard.read(65536))
    if "RANK" in os.environ:
        dist.all_reduce(torch.tensor(float(size)))
    if step % 10 == 0:
        logging.info("rank %d step %d read %d bytes", rank, step, size)
    time.sleep(0.2)
