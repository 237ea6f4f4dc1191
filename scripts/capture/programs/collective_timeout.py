"""Rank 1 writes a long evaluation while rank 0 already waits in the next all-reduce, which times out."""

import datetime
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=15))
rank = dist.get_rank()
for step in range(30):
    value = torch.ones(1000) * rank
    if step == 20 and rank == 1:
        print(f"[rank{rank}] step {step}: evaluating", flush=True)
        time.sleep(40)
    dist.all_reduce(value)
    if step % 5 == 0:
        print(f"[rank{rank}] step {step} mean {value.mean().item():.2f}", flush=True)
