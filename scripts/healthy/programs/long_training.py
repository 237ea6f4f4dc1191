"""A script that logs each step: spikes of the loss, steps with a non-finite gradient that are skipped, evaluations, slow steps."""

import json
import logging
import math
import random
import time

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)-7s | %(name)s:%(lineno)d | %(message)s")
log = logging.getLogger("trainer")
chance = random.Random(4)
scale = 65536.0
log.info("config %s", json.dumps({"lr": 3e-4, "oom_retry": True, "timeout": 1800, "nan_policy": "skip", "kill_on_stall": False}))
for step in range(600):
    loss = 8 * math.exp(-step / 200) + 2 + chance.random() / 5 + (3 if step in (150, 420) else 0)
    if step % 97 == 50:
        scale /= 2
        log.warning("step %d: gradient is inf, skipping step, loss scale reduced to %.0f", step, scale)
        continue
    if step == 300:
        time.sleep(2)
        log.warning("step 300 took 2.0 s, data loader was slow")
    log.info(
        "step %d/600 loss %.4f grad_norm %.3f lr %.2e tokens/s %.0f mem %.1f GiB",
        step,
        loss,
        chance.random() * 2,
        3e-4 * (1 - step / 600),
        41_000 + chance.random() * 900,
        71.2,
    )
    if step % 100 == 99:
        log.info("evaluation: perplexity %.2f, accuracy %.3f, 0 errors", math.exp(min(loss, 9)), 1 / loss)
log.info("training finished successfully in 0:00:02")
