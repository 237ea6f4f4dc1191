"""Counts training steps, half a second each; its second argument says how it ends: done, keyerror or segfault (of task 1)."""

import ctypes
import logging
import os
import sys
import time

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
steps, ending = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "done"
log.info("pid %d trains for %d steps", os.getpid(), steps)
for step in range(steps):
    log.info("step %d loss %.4f", step, 2.3 / (step + 1) ** 0.3)
    time.sleep(0.5 if ending == "done" else 0.1)
    if step == steps // 2 and ending == "keyerror":
        batch = {"features": [0.1, 0.2], "target": 1}
        print(batch["label"])
    if step == steps // 2 and ending == "segfault" and os.environ.get("SLURM_PROCID", "1") == "1":
        ctypes.string_at(0)
log.info("training finished")
