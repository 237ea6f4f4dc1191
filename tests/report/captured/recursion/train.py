"""A recursion of C functions that overruns the stack: the fault lies just below the stack pointer."""

import os
import sys

print(f"start pid {os.getpid()}", flush=True)
sys.setrecursionlimit(10**9)
nested: list = []  # type: ignore[type-arg]
for _ in range(10**6):
    nested = [nested]
print(len(repr(nested)))
