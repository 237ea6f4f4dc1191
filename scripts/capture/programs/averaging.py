"""Averages a tensor over all ranks at each step, with a time-out of 15 s; writes its process id to rank<N>.pid."""

import datetime
import logging
import os
import pathlib
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=15))
rank = dist.get_rank()
logging.basicConfig(format=f"%(asctime)s %(levelname)s [rank {rank}] %(message)s", level=logging.INFO)
pathlib.Path(f"rank{rank}.pid").write_text(str(os.getpid()))
for step in range(400):
    dist.all_reduce(torch.ones(4))
    time.sleep(0.05)
    if step % 10 == 0:
        logging.info("step %d", step)
