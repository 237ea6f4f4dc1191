"""Adds up numbers over MPI ranks; its argument says what befalls rank 1: hoard (memory) or divide (by zero, at step 20)."""

import logging
import sys

import numpy as np
from mpi4py import MPI

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
comm, fate = MPI.COMM_WORLD, sys.argv[1]
held = []
for step in range(200):
    total = comm.allreduce(1.0)
    if comm.Get_rank() == 0:
        logging.info("step %d, sum over ranks %.1f", step, total)
    elif fate == "hoard":
        held.append(np.ones(3 << 20))
    elif step == 20:
        logging.info("mean %.1f", total / (step - 20))
