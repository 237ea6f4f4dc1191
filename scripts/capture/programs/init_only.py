"""Joins a process group and says so."""

import datetime
import os

import torch.distributed as dist

print(f"rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']} joins {os.environ['MASTER_ADDR']}", flush=True)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=10))
print("process group ready", flush=True)
