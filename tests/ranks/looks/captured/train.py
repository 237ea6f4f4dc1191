"""Four of these are ranks: rank 2 loads a batch that never comes, and the others wait in all_reduce. `site-packages/torch` is a
stand-in with one call, which waits as PyTorch's does."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))
from torch.distributed.distributed_c10d import all_reduce


def load_batch():
    while True:
        time.sleep(1000)


def train(rank):
    if rank == 2:
        load_batch()
    all_reduce(1)


train(int(os.environ["RANK"]))
