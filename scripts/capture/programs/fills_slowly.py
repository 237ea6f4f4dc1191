"""Loads small pieces of a data set one after the other, and keeps them all."""

import sys
import time

import numpy as np

pieces = []
for piece in range(int(sys.argv[1])):
    pieces.append(np.full(1 << 17, piece, "float64"))  # 1 MiB
    time.sleep(0.02)
print(f"loaded {len(pieces)} pieces")
