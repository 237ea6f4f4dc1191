"""Processes are started by spawn from a script without a main guard."""

import multiprocessing as mp

mp.set_start_method("spawn", force=True)
print("loading", flush=True)
p = mp.Process(target=print, args=("worker",))
p.start()
p.join()
