"""A trainer and the thread that writes its checkpoints take two locks in opposite order."""

import logging
import threading
import time

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
weights, metrics = threading.Lock(), threading.Lock()


def write_checkpoints() -> None:
    """Save again and again."""
    while True:
        with metrics:
            time.sleep(0.001)
            with weights:
                pass
        time.sleep(0.5)


threading.Thread(target=write_checkpoints, name="checkpoint-writer", daemon=True).start()
for step in range(100_000):
    with weights:
        time.sleep(0.001)
        with metrics:
            pass
    if step % 20 == 0:
        log.info("step %d", step)
