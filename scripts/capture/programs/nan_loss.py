"""Diverges: plain gradient descent on a deep linear regression with a learning rate far too high."""

import logging
import math
import sys

import torch
from torch import nn

logging.basicConfig(format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s", level=logging.INFO)
log = logging.getLogger("trainer")
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[1]), momentum=0.9)
skipped = 0
for step in range(400):
    inputs = torch.randn(64, 32)
    loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True) * 3)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), math.inf)
    optimizer.step()
    log.info("step=%d train_loss=%.6g grad_norm=%.6g", step, loss.item(), norm.item())
    skipped += not math.isfinite(loss.item())
    if skipped >= 5:
        raise FloatingPointError(f"loss is {loss.item()} at step {step}, stopping after {skipped} non-finite steps")
