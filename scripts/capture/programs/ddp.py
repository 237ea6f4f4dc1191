"""Data-parallel training over gloo; its argument says what befalls rank 1 at step 40, if anything."""

import logging
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = int(os.environ.get("STEPS", "400"))


def samples(rank: int, shard: str):
    """Batches of this rank's shard, as dictionaries."""
    for step in range(STEPS):
        width = 48 if (rank, shard, step >= 40) == (1, "narrow", True) else 64
        label = "target" if (rank, shard, step >= 40) == (1, "unlabelled", True) else "label"
        yield {"features": torch.randn(32, width), label: torch.randint(0, 10, (32,))}


def train(shard: str) -> None:
    """Train on one shard a rank."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(format=f"%(asctime)s %(levelname)s [rank {rank}] %(message)s", level=logging.INFO)
    pathlib.Path(f"rank{rank}.pid").write_text(str(os.getpid()))
    logging.info("pid %d, world size %d", os.getpid(), dist.get_world_size())
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    hoard = []
    for step, batch in enumerate(samples(rank, shard)):
        loss = nn.functional.cross_entropy(model(batch["features"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if shard == "hoard" and rank == 1:
            hoard.append(torch.ones(4 << 20))
        if step % 20 == 0:
            logging.info("step %d loss %.4f", step, loss.item())
        time.sleep(0.05)
    dist.barrier()
    logging.info("finished")
    dist.destroy_process_group()


if __name__ == "__main__":
    train(sys.argv[1] if len(sys.argv) > 1 else "whole")
