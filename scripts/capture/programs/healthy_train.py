"""Trains a small classifier to the end, with the warnings a healthy run has."""

import logging
import time
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(message)s", level=logging.INFO)
log = logging.getLogger("train")
torch.manual_seed(0)
inputs = torch.randn(8000, 64)
targets = (inputs @ torch.randn(64, 10)).argmax(1)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=128, shuffle=True, num_workers=2, pin_memory=True)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
scaler = torch.amp.GradScaler("cuda")
schedule.step()
log.info("CUDA available: %s; training on cpu with %d workers", torch.cuda.is_available(), 2)
log.warning("no checkpoint found in /home/user/run/checkpoints, starting from scratch")
step = 0
for epoch in range(8):
    for batch, labels in loader:
        loss = nn.functional.cross_entropy(model(batch), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        if step % 10 == 0:
            log.info(
                "epoch %d step %d loss %.4f grad_norm %.3f lr %.2e",
                epoch,
                step,
                loss.item(),
                norm,
                schedule.get_last_lr()[0],
            )
        step += 1
        time.sleep(0.05)
    schedule.step()
    with torch.no_grad():
        accuracy = (model(inputs).argmax(1) == targets).float().mean().item()
    log.info("epoch %d done: validation accuracy %.4f, error rate %.4f", epoch, accuracy, 1 - accuracy)
    torch.save(model.state_dict(), "checkpoint.pt")
    log.info("saved checkpoint.pt")
warnings.warn("evaluate() is deprecated and will be removed; use validate()", DeprecationWarning, stacklevel=1)
log.info("training finished: %d steps, 0 failed", step)
