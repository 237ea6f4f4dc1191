"""Offline tracking: a run, a crash of a helper thread that is noticed, a finish; and event files for TensorBoard."""

import logging
import math
import threading
import time

import wandb
from torch.utils.tensorboard import SummaryWriter

logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)s %(name)s %(message)s")
run = wandb.init(project="p", config={"lr": 0.1})
writer = SummaryWriter("runs/a")


def helper() -> None:
    """Uploads previews; nobody needs them."""
    time.sleep(0.5)
    raise TimeoutError("preview upload timed out")


thread = threading.Thread(target=helper, name="previews")
thread.start()
for step in range(30):
    run.log({"loss": math.exp(-step / 9), "gpu_memory": 0})
    writer.add_scalar("loss", math.exp(-step / 9), step)
    logging.info("step %d/%d loss %.4f", step, 30, math.exp(-step / 9))
    time.sleep(0.05)
thread.join()
writer.close()
run.finish()
