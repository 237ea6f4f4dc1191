"""Rank 1 fails at step 10 of the first attempt, as of a store that was away for a moment; the second attempt ends well."""

import logging
import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
logging.basicConfig(format=f"%(asctime)s %(levelname)s [rank {rank}] %(message)s", level=logging.INFO)
for step in range(30):
    dist.all_reduce(torch.ones(2))
    logging.info("step %d", step)
    if step == 10 and rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        raise RuntimeError("the object store answered 503")
logging.info("finished training")
dist.destroy_process_group()
